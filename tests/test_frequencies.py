"""Document frequencies: counted, saved, imported, and refused."""

from __future__ import annotations

import collections
import gzip
import pickle
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.corpus import Captions, Corpus
from captious.frequencies import FrequencyTable
from captious.io.frequencies import read_frequencies, save_frequencies

REFERENCES = [["a dog runs", "the dog runs fast"], ["a cat"], ["a dog sleeps", "a dog"], [""]]
COUNTS = {("a",): 3, ("dog",): 2, ("a", "dog"): 2, ("the", "dog", "runs", "fast"): 1, ("cat", "a"): 0}


def corpus() -> Corpus:
    candidates = [["a dog runs"], ["a cat sits"], ["zebra"], ["a dog sleeps"]]
    return Corpus.build(list("1234"), candidates, REFERENCES, tokenizer="none")


def count(table: FrequencyTable, *words: str) -> int:
    captions = Captions.of([[" ".join(words)]], "none")
    n = len(words)
    return int(table.counts(captions, n)[0])


def test_counts_images_not_captions(tmp_path: Path) -> None:
    table = FrequencyTable.build(Captions.of(REFERENCES, "none"))
    save_frequencies(table, tmp_path / "x.df")
    for held in (table, read_frequencies(tmp_path / "x.df")):
        assert held.images == 4
        for words, expected in COUNTS.items():
            assert count(held, *words) == expected
        assert count(held, "unheard") == 0
        assert held.digest == table.digest
        assert held.tokenizer == "none"


def test_a_table_of_the_same_references_changes_nothing_but_the_signature() -> None:
    own = captious.score(corpus(), "CIDEr-D,CIDEr")
    table = FrequencyTable.build(Captions.of(REFERENCES, "none"))
    other = captious.score(corpus(), "CIDEr-D,CIDEr", df=table)
    for name in own:
        np.testing.assert_allclose(other[name].per_caption, own[name].per_caption, atol=1e-12)
        assert own[name].signature != other[name].signature


def test_large_vocabularies_look_up_by_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("captious.text.ngrams.BITS", 2)
    table = FrequencyTable.build(Captions.of(REFERENCES, "none"))
    for words, expected in COUNTS.items():
        assert count(table, *words) == expected


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
@pytest.mark.parametrize("stated", [40, float(np.log(40)), np.float64(40)])
def test_pickles_of_the_coco_tools(tmp_path: Path, protocol: int, stated: float) -> None:
    table: dict[tuple[str, ...], float] = collections.defaultdict(float)
    table.update({k: float(30 * v if v else 1) for k, v in {("a",): 1, ("a", "dog"): 0}.items()})
    path = tmp_path / "coco-val-df.p"
    path.write_bytes(pickle.dumps({"document_frequency": table, "ref_len": stated}, protocol=protocol))
    loaded = read_frequencies(path)
    assert loaded.images == 40
    assert count(loaded, "a") == 30
    assert count(loaded, "a", "dog") == 1


def test_lists_of_ngrams(tmp_path: Path) -> None:
    path = tmp_path / "df.tsv.gz"
    path.write_bytes(gzip.compress("a\t3\na dog\t2\ncafé\t1\n".encode()))
    assert count(read_frequencies(path, images=9), "café") == 1
    with pytest.raises(captious.InputError, match=r"how many images.*--images"):
        read_frequencies(path)


class Evil:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("executed!",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (pickle.dumps(Evil()), "asks for builtins.print"),
        (pickle.dumps({"document_frequency": {("a",): "many"}, "ref_len": 3}), "'many', not a number"),
        (pickle.dumps({"document_frequency": {3: 1.0}, "ref_len": 3}), "not an n-gram"),
        (pickle.dumps([1, 2]), "pickled list"),
        (pickle.dumps({("a",): 50.0}), "how many images"),
        (b"a dog\n", "line 1: expected an n-gram, a tab and a count"),
        (b"a\t1\na dog\tmany\n", "line 2"),
        (b"\xff\xfe\x00", "byte 0"),
        (b"PK\x03\x04broken", "not a table of document frequencies"),
        (b"\x1f\x8bbroken", "cannot be read"),
    ],
)
def test_bad_tables_are_refused(
    tmp_path: Path, content: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad"
    path.write_bytes(content)
    with pytest.raises(captious.InputError, match=message) as caught:
        read_frequencies(path)
    assert str(path) in str(caught.value)
    assert "executed!" not in capsys.readouterr().out


def test_too_few_images_for_the_counts(tmp_path: Path) -> None:
    path = tmp_path / "df.tsv"
    path.write_text("a\t30\n")
    with pytest.raises(captious.InputError, match="cannot count an n-gram in 30"):
        read_frequencies(path, images=5)
