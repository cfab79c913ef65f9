"""Synonym tables of CHAIR: which objects a caption names, longest match first, with plurals by rule."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.core.ragged import offsets_of
from captious.io.content import read_json
from captious.metrics.captions.chair_matching import PhraseRules, code, find, rules_of, spans
from captious.parser.graph_codes import word_set

_FORMAT = "captious-chair"
_VERSION = 1

# After an adjective that is also the name of an object ("orange"), these words show that no noun follows.
_NO_NOUN_FOLLOWS = word_set(
    "a an the and or but with in on at of by to from near next beside behind under over inside into sitting "
    "sit sits lying laying lay is are cut that which while as for hanging placed growing being"
)

_Phrase = tuple[str, ...]


_IRREGULAR = {
    "children": "child",
    "grandchildren": "grandchild",
    "feet": "foot",
    "geese": "goose",
    "men": "man",
    "mice": "mouse",
    "oxen": "ox",
    "people": "person",
    "teeth": "tooth",
    "lice": "louse",
    "buses": "bus",
    "busses": "bus",
}

#: Endings of plurals and their replacements. All that apply are tried, in this order.
_ENDINGS = (("men", "man"), ("ves", "f"), ("ves", "fe"), ("ies", "y"), ("s", ""))
#: Last letters of all these endings. Most words have other ones and need no further test.
_LAST = ("s", "men")
#: After these endings, the plural ends in -es.
_BEFORE_ES = ("s", "x", "z", "ch", "sh", "o")


def singulars(word: str) -> list[str]:
    """Return possible singulars of a word, the likelier ones first, or nothing if it cannot be a plural."""
    forms = [_IRREGULAR[word]] if word in _IRREGULAR else []
    if not word.endswith(_LAST):
        return forms
    if len(word) > 2 and not word.endswith("ss"):
        forms += [
            word[: -len(end)] + new for end, new in _ENDINGS if word.endswith(end) and len(word) > len(end)
        ]
        if word.endswith("es") and word[:-2].endswith(_BEFORE_ES):
            forms.append(word[:-2])
    return forms


class Mention(NamedTuple):
    """Object named in a caption, and the words that name it."""

    text: str
    object: str


class ObjectTable:
    """Phrases and the objects they name. ``None`` marks phrases that name no object, whatever their words."""

    def __init__(
        self,
        phrases: Mapping[_Phrase, str | None],
        *,
        modifiers: Iterable[str] = (),
        not_beside: Mapping[str, Iterable[str]] | None = None,
        adjectives: Iterable[str] = (),
        unread: Iterable[str] = (),
        name: str = "table",
    ) -> None:
        # Words that are never looked up.
        self.unread = frozenset(unread)
        self._single = {phrase[0] for phrase in phrases if len(phrase) == 1}
        self._words = {word for phrase in phrases for word in phrase}
        # Phrases may contain plurals ("birds nest"). Captions and phrases are compared by the same forms.
        self.phrases = {tuple(map(self._base, phrase)): kind for phrase, kind in phrases.items()}
        self.modifiers = frozenset(modifiers)
        self.not_beside = {word: frozenset(others) for word, others in (not_beside or {}).items()}
        self.adjectives = frozenset(adjectives)
        self.name = name
        #: Classes of objects.
        self.objects = frozenset(kind for kind in self.phrases.values() if kind is not None)
        #: Classes by number.
        self.kinds = tuple(sorted(self.objects))

    def __contains__(self, kind: str) -> bool:
        return kind in self.objects

    def class_of(self, name: str) -> str | None:
        """Return the class of an object's name or synonym."""
        return name if name in self.objects else self.phrases.get(tuple(name.split()))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Numbers, from 1, of all base forms in the rules."""
        listed = [
            *(word for phrase in self.phrases for word in phrase),
            *self.modifiers,
            *self.adjectives,
            *self.not_beside,
            *chain(*self.not_beside.values()),
        ]
        return {word: number for number, word in enumerate(dict.fromkeys(listed), start=1)}

    @cached_property
    def rules(self) -> PhraseRules:
        """Content of the table, in arrays."""
        number = {kind: place for place, kind in enumerate(self.kinds)}
        phrases = {phrase: None if kind is None else number[kind] for phrase, kind in self.phrases.items()}
        return rules_of(
            phrases,
            self._numbers,
            modifiers=self.modifiers,
            adjectives=self.adjectives,
            not_beside=self.not_beside,
        )

    def codes(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the :func:`~captious.metrics.captions.chair_matching.code` of each word."""

        def one(word: str) -> int:
            base = "" if word in self.unread else self._base(word)
            return code(self._numbers.get(base, 0), word == base, word in _NO_NOUN_FOLLOWS)

        return np.fromiter(map(one, words), np.int32, len(words))

    def mentions(self, words: Sequence[str]) -> list[Mention]:
        """Return the objects that a tokenized caption names, in order and with repeats."""
        phrases = find(
            np.arange(len(words), dtype=np.int32), offsets_of([len(words)]), self.codes(words), self.rules
        )
        return list(map(Mention, spans(phrases, words), [self.kinds[kind] for kind in phrases.kind.tolist()]))

    def _base(self, word: str) -> str:
        """Return the form of a word in the table: itself or a singular, preferably a single-word name."""
        if word in self._single:
            return word
        forms = [word, *singulars(word)]
        return next((form for words in (self._single, self._words) for form in forms if form in words), word)

    @property
    def label(self) -> str:
        """Origin of the table."""
        return self.name

    @cached_property
    def digest(self) -> str:
        """Digest of the content."""
        rules = [
            sorted(self.modifiers),
            sorted((w, sorted(o)) for w, o in self.not_beside.items()),
            sorted(self.adjectives),
            sorted(self.unread),
        ]
        content = json.dumps([sorted((" ".join(p), k or "") for p, k in self.phrases.items()), rules])
        return hashlib.sha256(content.encode()).hexdigest()[:8]


def read_table(path: str | Path) -> ObjectTable:
    """Read a synonym table: our own format, ``{class: [synonyms]}``, or that of Rohrbach et al. 2018."""
    return table_from(read_json(path, "a synonym table is {class: [synonyms, …], …}"), str(path))


def table_from(value: Any, where: str = "the synonym table") -> ObjectTable:
    """Create a synonym table from a dictionary in one of the three formats."""
    if isinstance(value, dict) and "inverse_synonym_dict" in value:
        return _published(value, where)
    rules: dict[str, Any] = {}
    name = "own"
    if isinstance(value, dict) and value.get("format") == _FORMAT:
        if value.get("version") != _VERSION:
            raise InputError(
                f"{where}: the synonym table has version {value.get('version')!r}; "
                f"this captious reads version {_VERSION}"
            )
        rules = value
        name = "captious"
        value = value.get("objects")
    if not isinstance(value, dict) or not value or not all(_is_words(words) for words in value.values()):
        raise InputError(f"{where}: a synonym table is a JSON object {{class: [synonyms, …], …}}")
    phrases: dict[_Phrase, str | None] = {}
    for kind, words in value.items():
        for word in (kind, *words):
            phrase = tuple(word.lower().split())
            if phrase and phrases.setdefault(phrase, kind) != kind:
                raise InputError(f"{where}: '{word}' is listed for '{phrases[phrase]}' and for '{kind}'")
    none = rules.get("none", [])
    beside = rules.get("not_beside", {})
    lists = [
        none,
        rules.get("modifiers", []),
        rules.get("adjectives", []),
        *(beside.values() if isinstance(beside, dict) else [0]),
    ]
    if not all(map(_is_words, lists)):
        raise InputError(f"{where}: 'none', 'modifiers', 'adjectives' and 'not_beside' hold lists of words")
    for text in none:
        phrases.setdefault(tuple(text.lower().split()), None)
    return ObjectTable(
        phrases,
        modifiers=rules.get("modifiers", ()),
        not_beside=beside,
        adjectives=rules.get("adjectives", ()),
        name=name,
    )


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _published(value: dict[str, Any], where: str) -> ObjectTable:
    """Convert the published table: single words, and pairs of words that stand for one word."""
    single, pairs = value.get("inverse_synonym_dict"), value.get("double_word_dict", {})
    for part in (single, pairs):
        if not isinstance(part, dict) or not all(
            isinstance(text, str) for item in part.items() for text in item
        ):
            raise InputError(f"{where}: 'inverse_synonym_dict' and 'double_word_dict' map words to words")
    assert isinstance(single, dict)
    # Names with a space or a capital never equal a single lower-case word, so they only count as pairs.
    phrases: dict[_Phrase, str | None] = {
        (word,): kind for word, kind in single.items() if word and " " not in word
    }
    for pair, word in pairs.items():
        if len(pair.split()) == 2:
            phrases[tuple(pair.split())] = single.get(word)
    # The published tool strips plurals first and then does not find the result of these words in the table
    # ("bus" becomes "bu"). The published lists of objects per image agree.
    unread = ("bus", "minibus", "airbus", "ties")
    return ObjectTable(phrases, not_beside={"seat": ["toilet"]}, unread=unread, name="published")


@lru_cache(maxsize=1)
def default_table() -> ObjectTable:
    """Return the built-in table for the 80 classes of COCO."""
    text = files("captious.data").joinpath("chair_synonyms.json").read_text(encoding="utf-8")
    return table_from(json.loads(text), "chair_synonyms.json")
