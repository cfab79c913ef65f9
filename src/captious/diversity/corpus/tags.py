"""Tags as captions need them.

Captions are noun phrases with participles ("a dog standing on a beach"), and a tagger that learned from a newspaper
takes many such participles for nouns, and the prepositions after verbs of movement ("walking down a street") for
particles. Both would count as composition where there is none, or hide it where there is some, so two rules repair them:

1. a noun (NN) in -ing that directly follows a noun is a participle (VBG), unless it is one of the words in -ing that
   name things ("building", "painting");
2. a particle or adverb (RP, RB) that can be a preposition and stands directly before a noun phrase, or before "of", is
   one (IN).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from captious.corpus import IntArray
from captious.text.vocabulary import Vocabulary


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_THINGS = _words(
    """anything awning bedding building ceiling clearing clothing covering crossing drawing dressing duckling
    dumpling dwelling earring engraving evening everything fencing filling fitting flooring frosting furnishing
    gathering gosling grating greeting handwriting heading helping herring housing icing inning king
    landing lettering lightning lighting lining listing living meeting molding morning mooring nothing offering opening
    outbuilding outing padding painting paneling parking paving piping planking plating plumbing pudding railing reading
    rigging ring roofing sapling saying scaffolding seasoning seating serving setting shelving siding
    sibling sling something spring starling sterling stitching string stuffing thing tiling
    topping trimming tubing wedding wing wiring wrapping writing yearling"""
)
_PREPOSITIONS = _words(
    """up down over out off around along through across past by on in inside outside near under above behind below
    between about round"""
)
#: Tags that open a noun phrase.
_OPENING = frozenset(["DT", "PDT", "PRP$", "CD", "JJ", "JJR", "JJS", "NN", "NNS", "NNP", "NNPS"])


def repair(
    words: NDArray[np.int32],
    tags: NDArray[np.int32],
    sentences: IntArray,
    word_names: Vocabulary,
    tag_names: Vocabulary,
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Repaired tags, and which of them became prepositions."""
    if not len(words):
        return tags, np.zeros(0, dtype=np.bool_)
    participle, preposition = (int(number) for number in tag_names.encode(["VBG", "IN"]))
    noun = _marked(tag_names, lambda tag: tag.startswith("NN"))
    singular = _marked(tag_names, lambda tag: tag == "NN")
    opening = _marked(tag_names, _OPENING.__contains__)
    loose = _marked(tag_names, lambda tag: tag in ("RP", "RB"))
    ing = _marked(word_names, lambda word: word.endswith("ing") and word not in _THINGS)
    possible = _marked(word_names, _PREPOSITIONS.__contains__)
    of = _marked(word_names, lambda word: word == "of")

    first = np.zeros(len(words), dtype=np.bool_)
    first[sentences[:-1][np.diff(sentences) > 0]] = True
    repaired = tags.copy()
    after_noun = np.zeros(len(words), dtype=np.bool_)
    after_noun[1:] = noun[tags[:-1]]
    repaired[ing[words] & singular[tags] & after_noun & ~first] = participle
    before_phrase = np.zeros(len(words), dtype=np.bool_)
    before_phrase[:-1] = (opening[tags[1:]] | of[words[1:]]) & ~first[1:]
    became = possible[words] & loose[tags] & before_phrase
    repaired[became] = preposition
    return repaired, became


def _marked(names: Vocabulary, keep: Callable[[str], bool]) -> NDArray[np.bool_]:
    return np.fromiter(map(keep, names.words), dtype=np.bool_, count=len(names))
