"""Repair of part-of-speech tags for captions.

Captions are noun phrases with participles ("a dog standing on a beach"). A tagger that was trained on
newspapers tags many such participles as nouns, the prepositions after verbs of movement ("walking down a
street") as particles, and nouns before nouns ("laptop computer") as adjectives or verbs. Composition measures
would count false compounds and miss real ones, so a few rules repair the tags:

1. A noun (NN) in -ing directly after a noun is a participle (VBG), unless it is one of the words in -ing that
   name things ("building", "painting").
2. A particle or adverb (RP, RB) that can be a preposition is one (IN) directly before a noun phrase or "of".
   "up" must be an adverb, since as a particle it precedes its verb's object ("holding up a sign").
3. Some words directly before a noun are nouns (NN): those that are never adjectives ("laptop", "teddy"), and
   after a determiner or adjective those in -ing that name a purpose ("living room", "cutting board").
4. A plural verb (VBP) directly after a singular noun is a noun (NN): "a fire hydrant".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray
from captious.text.vocabulary import Vocabulary


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_THINGS = _words(
    """anything awning bedding building ceiling clearing clothing covering crossing drawing dressing duckling
    dumpling dwelling earring engraving evening everything fencing filling fitting flooring frosting
    furnishing gathering gosling grating greeting handwriting heading helping herring housing icing inning
    king landing lettering lightning lighting lining listing living meeting molding morning mooring nothing
    offering opening outbuilding outing padding painting paneling parking paving piping planking plating
    plumbing pudding railing reading rigging ring roofing sapling saying scaffolding seasoning seating
    serving setting shelving siding sibling sling something spring starling sterling stitching string
    stuffing thing tiling topping trimming tubing wedding wing wiring wrapping writing yearling"""
)
#: Nouns that are never adjectives but often tagged as such.
_NOUNS = _words(
    "laptop desktop video teddy skate ski stove luggage christmas computer tennis baseball soccer frisbee"
)
#: Words in -ing that name a purpose.
_PURPOSES = _words(
    "living dining cutting parking swimming baking shopping washing waiting changing walking bathing"
)
_PREPOSITIONS = _words(
    """down over out off around along through across past by on in inside outside near under above behind
    below between about round"""
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
    """Return repaired tags, and which of them became prepositions."""
    if not len(words):
        return tags, np.zeros(0, dtype=np.bool_)
    participle, preposition, thing = (int(number) for number in tag_names.encode(["VBG", "IN", "NN"]))
    noun = _marked(tag_names, lambda tag: tag.startswith("NN"))
    singular = _marked(tag_names, lambda tag: tag == "NN")
    opening = _marked(tag_names, _OPENING.__contains__)
    loose = _marked(tag_names, lambda tag: tag in ("RP", "RB"))
    ing = _marked(word_names, lambda word: word.endswith("ing") and word not in _THINGS)
    possible = _marked(word_names, _PREPOSITIONS.__contains__)
    of = _marked(word_names, lambda word: word == "of")
    up = _marked(word_names, lambda word: word == "up")
    next_to = _marked(word_names, lambda word: word == "next")
    adverb = _marked(tag_names, lambda tag: tag == "RB")
    adjective = _marked(tag_names, lambda tag: tag == "JJ")
    gerund = _marked(tag_names, lambda tag: tag == "VBG")
    plural_verb = _marked(tag_names, lambda tag: tag == "VBP")
    determiner = _marked(tag_names, lambda tag: tag in ("DT", "PRP$", "JJ", "CD"))
    never = _marked(word_names, _NOUNS.__contains__)
    purpose = _marked(word_names, _PURPOSES.__contains__)

    inside = np.ones(len(words), dtype=np.bool_)
    inside[sentences[:-1][np.diff(sentences) > 0]] = False
    repaired = tags.copy()
    repaired[ing[words] & singular[tags] & _after(noun[tags], inside)] = participle
    phrase_next = _before((opening[tags] & ~next_to[words]) | of[words], inside)
    became = ((possible[words] & loose[tags]) | (up[words] & adverb[tags])) & phrase_next
    repaired[became] = preposition
    before_noun = _before(noun[tags] | plural_verb[tags], inside)
    repaired[never[words] & adjective[tags] & before_noun] = thing
    repaired[purpose[words] & gerund[tags] & before_noun & _after(determiner[tags], inside)] = thing
    repaired[plural_verb[tags] & _after(singular[repaired], inside)] = thing
    return repaired, became


def _after(marked: NDArray[np.bool_], inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the tokens directly after a marked one of the same sentence (``inside``: not its first)."""
    out = np.zeros_like(marked)
    out[1:] = marked[:-1] & inside[1:]
    return out


def _before(marked: NDArray[np.bool_], inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the tokens directly before a marked one of the same sentence."""
    out = np.zeros_like(marked)
    out[:-1] = marked[1:] & inside[1:]
    return out


def _marked(names: Vocabulary, keep: Callable[[str], bool]) -> NDArray[np.bool_]:
    return np.fromiter(map(keep, names.words), dtype=np.bool_, count=len(names))
