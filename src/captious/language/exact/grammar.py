"""CoreNLP's English grammar as arrays: states, rules, and what its lexicon has counted.

`read_grammar` takes them from the serialised Java objects. Nothing of the grammar is part of captious.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.language.exact.javastream import JavaObject, JavaStream

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

START = "ROOT"
BOUNDARY_TAG = ".$$."  # the tag of the end of the sentence, which is a word to the grammar

_MAX_STATES = 1 << 20


@dataclass
class Grammar:
    """The grammar. Rules and counts are in the order in which the file has them; scores are natural logarithms."""

    states: list[str]
    tags: list[str]
    words: list[str]
    binary: Ints  # (rules, 3): parent, left child, right child
    binary_scores: Floats
    unary: Ints  # (rules, 2): parent, child
    unary_scores: Floats
    seen: Ints  # (counts, 2): word, tag; -1 for all words or all tags
    seen_counts: Doubles
    unseen: Ints  # the same for words that were rare in training, by the way they are written
    unseen_counts: Doubles

    def check(self) -> None:
        """Refuse numbers that do not belong to a grammar: everything after this trusts them."""
        states, words, tags = len(self.states), len(self.words), len(self.tags)
        for name, rows, limits in (
            ("binary rule", self.binary, (states, states, states)),
            ("unary rule", self.unary, (states, states)),
        ):
            for column, limit in enumerate(limits):
                if len(rows) and not (rows[:, column].min() >= 0 and rows[:, column].max() < limit):
                    raise InputError(f"a {name} of the grammar names a state that is not there (there are {limit})")
        for rows in (self.seen, self.unseen):
            for column, limit in enumerate((words, tags)):
                if len(rows) and not (rows[:, column].min() >= -1 and rows[:, column].max() < limit):
                    raise InputError(f"the grammar's lexicon names a word or tag that is not there (there are {limit})")
        for scores in (self.binary_scores, self.unary_scores, self.seen_counts, self.unseen_counts):
            if not np.isfinite(scores).all():
                raise InputError("the grammar has scores that are not numbers")
        for needed in (START, BOUNDARY_TAG):
            if needed not in self.states:
                raise InputError(f"the grammar has no state {needed}; expected CoreNLP's englishPCFG")
        if missing := set(self.tags) - set(self.states):
            raise InputError(f"the grammar's tag {min(missing)} is not a state")

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, by name; the lists of names are left out."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("states", "tags", "words")}


def _object(owner: JavaObject, name: str, class_name: str) -> JavaObject:
    found = owner.fields.get(name)
    if not isinstance(found, JavaObject) or not found.class_name.endswith(class_name):
        kind = found.class_name if isinstance(found, JavaObject) else type(found).__name__
        raise InputError(f"the grammar's {owner.class_name} has no {name} of the class {class_name}, but {kind}; expected CoreNLP 3.6.0's englishPCFG")
    return found


def _items(collection: JavaObject) -> list[Any]:
    """What a list or a map was written with, after its size."""
    return collection.annotations[1:]


def _names(index: JavaObject) -> list[str]:
    names = _items(_object(index, "objects", "ArrayList"))
    if len(names) > _MAX_STATES or not all(isinstance(name, str) for name in names):
        raise InputError("an index of the grammar is not a list of names; expected CoreNLP 3.6.0's englishPCFG")
    return names


def _rows(rules: list[Any], columns: tuple[str, ...]) -> tuple[Ints, Floats]:
    if not all(isinstance(rule, JavaObject) and rule.fields.keys() >= {*columns, "score"} for rule in rules):
        raise InputError("the grammar's rules are not rules; expected CoreNLP 3.6.0's englishPCFG")
    numbers = np.array([[rule.fields[c] for c in columns] for rule in rules], np.int32).reshape(-1, len(columns))
    return numbers, np.array([rule.fields["score"] for rule in rules], np.float32)


def _counts(counter: JavaObject) -> tuple[Ints, Doubles]:
    items = _items(_object(counter, "map", "HashMap"))
    keys, values = items[::2], items[1::2]
    if len(keys) != len(values) or not all(
        isinstance(k, JavaObject) and k.fields.keys() >= {"word", "tag"} and isinstance(v, JavaObject) and "d" in v.fields
        for k, v in zip(keys, values)
    ):
        raise InputError("the grammar's lexicon does not have counts of words and tags; expected CoreNLP 3.6.0's englishPCFG")
    numbers = np.array([[k.fields["word"], k.fields["tag"]] for k in keys], np.int32).reshape(-1, 2)
    return numbers, np.array([v.fields["d"] for v in values], np.float64)


# The settings that the search and the lexicon here stand for; a grammar trained with others would be read wrongly.
_SETTINGS = {
    "flexiTag": True,
    "smartMutation": False,
    "smoothInUnknownsThreshold": 100,
    "useSignatureForKnownSmoothing": False,
    "smooth": [1.0, 0.2],
}
_UNKNOWN_SETTINGS = {"unknownLevel": 2, "endLength": 1, "useEnd": True, "useFirst": False, "useFirstCap": True, "useGT": False}


def _check_settings(owner: JavaObject, wanted: dict[str, Any]) -> None:
    for name, value in wanted.items():
        found = owner.fields.get(name)
        equal = np.allclose(found, value) if isinstance(value, list) and isinstance(found, list) and len(found) == len(value) else found == value
        if not equal:
            raise InputError(f"the grammar was trained with {name} = {found!r}, this program is for {value!r}; expected CoreNLP 3.6.0's englishPCFG")


def read_grammar(data: bytes, name: str = "the grammar") -> Grammar:
    """The grammar in serialised Java objects."""
    parser = JavaStream(data, name).read()
    if not isinstance(parser, JavaObject) or not parser.class_name.endswith(".LexicalizedParser"):
        kind = parser.class_name if isinstance(parser, JavaObject) else type(parser).__name__
        raise InputError(f"{name}: a serialised {kind}, not a parser; expected CoreNLP 3.6.0's englishPCFG.ser.gz")
    lexicon = _object(parser, "lex", "BaseLexicon")
    unknown = _object(lexicon, "uwModel", "EnglishUnknownWordModel")
    _check_settings(lexicon, _SETTINGS)
    _check_settings(unknown, _UNKNOWN_SETTINGS)
    _object(_object(parser, "op", "Options"), "wordFunction", "AmericanizeFunction")
    if parser.fields.get("dg") is not None:
        raise InputError(f"{name}: a lexicalised (factored) grammar; expected CoreNLP 3.6.0's englishPCFG.ser.gz")
    binary, binary_scores = _rows(_items(_object(_object(parser, "bg", "BinaryGrammar"), "allRules", "ArrayList")), ("parent", "leftChild", "rightChild"))
    unary, unary_scores = _rows(_items(_object(_object(parser, "ug", "UnaryGrammar"), "coreRules", "HashMap"))[::2], ("parent", "child"))
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
