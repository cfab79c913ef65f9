"""Which objects a caption names: a table of synonyms, read longest match first, with plurals by rule."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.io.content import read_json
from captious.metrics.chair_matching import Rules, code, find, rules_of, spans
from captious.metrics.chair_plurals import singulars
from captious.ragged import offsets_of
from captious.scene.wordlists import word_set

_FORMAT = "captious-chair"
_VERSION = 1

# After an adjective that is also the name of an object ("an orange"), these say that no noun follows.
_NO_NOUN_FOLLOWS = word_set(
    "a an the and or but with in on at of by to from near next beside behind under over inside into sitting sit sits lying "
    "laying lay is are cut that which while as for hanging placed growing being"
)

_Phrase = tuple[str, ...]


class Mention(NamedTuple):
    """An object named in a caption, and the words that name it."""

    text: str
    object: str


class ObjectTable:
    """Phrases and the objects they name; ``None`` for a phrase that names no object whatever its words say."""

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
        # A phrase may be written with plurals ("birds nest"); captions and phrases are compared by the same forms.
        self.phrases = {tuple(map(self._base, phrase)): kind for phrase, kind in phrases.items()}
        self.modifiers = frozenset(modifiers)
        self.not_beside = {word: frozenset(others) for word, others in (not_beside or {}).items()}
        self.adjectives = frozenset(adjectives)
        self.name = name
        #: The classes of objects.
        self.objects = frozenset(kind for kind in self.phrases.values() if kind is not None)
        #: The classes by number.
        self.kinds = tuple(sorted(self.objects))

    def __contains__(self, kind: str) -> bool:
        return kind in self.objects

    def class_of(self, name: str) -> str | None:
        """The class that an object's name or synonym stands for."""
        return name if name in self.objects else self.phrases.get(tuple(name.split()))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """Every base form that some rule speaks of, from 1."""
        listed = [*(word for phrase in self.phrases for word in phrase), *self.modifiers, *self.adjectives, *self.not_beside, *chain(*self.not_beside.values())]
        return {word: number for number, word in enumerate(dict.fromkeys(listed), start=1)}

    @cached_property
    def rules(self) -> Rules:
        """What the table says, in arrays."""
        number = {kind: place for place, kind in enumerate(self.kinds)}
        phrases = {phrase: None if kind is None else number[kind] for phrase, kind in self.phrases.items()}
        return rules_of(phrases, self._numbers, modifiers=self.modifiers, adjectives=self.adjectives, not_beside=self.not_beside)

    def codes(self, words: Sequence[str]) -> NDArray[np.int32]:
        """What is to be known of words to find phrases among them (:func:`captious.metrics.chair_matching.code`)."""
        known = self._numbers

        def one(word: str) -> int:
            base = "" if word in self.unread else self._base(word)
            return code(known.get(base, 0), word == base, word in _NO_NOUN_FOLLOWS)

        return np.fromiter(map(one, words), np.int32, len(words))

    def mentions(self, words: Sequence[str]) -> list[Mention]:
        """The objects a tokenized caption names, in order, repeated ones repeatedly."""
        found = find(np.arange(len(words), dtype=np.int32), offsets_of([len(words)]), self.codes(words), self.rules)
        return list(map(Mention, spans(found, words), [self.kinds[kind] for kind in found.kind.tolist()]))

    def _base(self, word: str) -> str:
        """The form of a word that the table knows, itself or a singular: best as a name by itself, else within a phrase."""
        if word in self._single:
            return word
        forms = [word, *singulars(word)]
        return next((form for words in (self._single, self._words) for form in forms if form in words), word)

    @property
    def label(self) -> str:
        """Where it comes from."""
        return self.name

    @cached_property
    def digest(self) -> str:
        """Names what it says."""
        rules = [sorted(self.modifiers), sorted((w, sorted(o)) for w, o in self.not_beside.items()), sorted(self.adjectives), sorted(self.unread)]
        content = json.dumps([sorted((" ".join(p), k or "") for p, k in self.phrases.items()), rules])
        return hashlib.sha256(content.encode()).hexdigest()[:8]


def read_table(path: str | Path) -> ObjectTable:
    """A synonym table from JSON: our own format, ``{class: [synonyms]}``, or the table of Rohrbach et al. 2018."""
    return table_from(read_json(path, "a synonym table is {class: [synonyms, …], …}"), str(path))


def table_from(value: Any, where: str = "the synonym table") -> ObjectTable:
    """A synonym table from a dictionary of one of the three shapes."""
    if isinstance(value, dict) and "inverse_synonym_dict" in value:
        return _published(value, where)
    rules: dict[str, Any] = {}
    name = "own"
    if isinstance(value, dict) and value.get("format") == _FORMAT:
        if value.get("version") != _VERSION:
            raise InputError(f"{where}: a synonym table of version {value.get('version')!r}, this reads {_VERSION}")
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
    lists = [none, rules.get("modifiers", []), rules.get("adjectives", []), *(beside.values() if isinstance(beside, dict) else [0])]
    if not all(map(_is_words, lists)):
        raise InputError(f"{where}: 'none', 'modifiers', 'adjectives' and 'not_beside' hold lists of words")
    for text in none:
        phrases.setdefault(tuple(text.lower().split()), None)
    return ObjectTable(
        phrases, modifiers=rules.get("modifiers", ()), not_beside=beside, adjectives=rules.get("adjectives", ()), name=name
    )


def _is_words(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _published(value: dict[str, Any], where: str) -> ObjectTable:
    """The published table: single words, and a list of pairs of words that stand for one word, known or not."""
    single, pairs = value.get("inverse_synonym_dict"), value.get("double_word_dict", {})
    for part in (single, pairs):
        if not isinstance(part, dict) or not all(isinstance(text, str) for item in part.items() for text in item):
            raise InputError(f"{where}: 'inverse_synonym_dict' and 'double_word_dict' map words to words")
    assert isinstance(single, dict)
    # Names with a space or a capital never equal a single lower-case word, so they only count as pairs.
    phrases: dict[_Phrase, str | None] = {(word,): kind for word, kind in single.items() if word and " " not in word}
    for pair, word in pairs.items():
        if len(pair.split()) == 2:
            phrases[tuple(pair.split())] = single.get(word)
    # The published tool first strips the plural from every word, and what it makes of these it does not find in the
    # table ("bus" becomes "bu"); the published lists of objects per image agree.
    unread = ("bus", "minibus", "airbus", "ties")
    return ObjectTable(phrases, not_beside={"seat": ["toilet"]}, unread=unread, name="published")


@lru_cache(maxsize=1)
def default_table() -> ObjectTable:
    """The table that comes with captious, for the 80 classes of COCO."""
    text = files("captious.data").joinpath("chair_synonyms.json").read_text(encoding="utf-8")
    return table_from(json.loads(text), "chair_synonyms.json")
