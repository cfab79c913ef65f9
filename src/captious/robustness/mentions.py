"""People and places mentioned in a caption, extracted from its dependency tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from captious.parser.sentences import Sentence
from captious.robustness.replacement_words import NO_SCENE, PEOPLE, PLACES, Person

_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_PLURAL = ("NNS", "NNPS")
#: Relations in which a noun modifies another noun and is not a mention of its own.
_MODIFIERS = ("compound", "nmod:poss", "amod")


@dataclass(frozen=True)
class MentionSpan:
    """A noun and its preceding dependents: words ``start`` to ``end`` of a sentence."""

    start: int
    end: int
    lemma: str
    plural: bool
    #: For places: index of the preposition, or ``start`` without one.
    outer: int

    def phrase(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[self.start : self.end])

    def with_preposition(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[self.outer : self.end])


def people(sentence: Sentence) -> list[MentionSpan]:
    """Return the mentions of people, in order."""
    return [
        _mention(sentence, k)
        for k in range(len(sentence))
        if _is_noun(sentence, k) and sentence.lemmas[k] in PEOPLE
    ]


def places(sentence: Sentence) -> list[MentionSpan]:
    """Return the mentions of places after a preposition, in order."""
    mentions = []
    for k in range(len(sentence)):
        if _is_noun(sentence, k) and sentence.lemmas[k] in PLACES and sentence.lemmas[k] not in NO_SCENE:
            mention = _mention(sentence, k)
            if mention.outer < mention.start:
                mentions.append(mention)
    return mentions


def kinds_of_people(sentences: Sequence[Sentence]) -> set[Person]:
    """Return the gender and age of all people named anywhere in the sentences."""
    return {PEOPLE[lemma] for s in sentences for lemma in s.lemmas if lemma in PEOPLE}


def kinds_of_places(sentences: Sequence[Sentence]) -> set[str]:
    """Return the kinds of all places named anywhere in the sentences."""
    return {PLACES[lemma] for s in sentences for lemma in s.lemmas if lemma in PLACES}


def _is_noun(sentence: Sentence, k: int) -> bool:
    return sentence.tags[k] in _NOUNS and sentence.relations[k] not in _MODIFIERS


def _mention(sentence: Sentence, head: int) -> MentionSpan:
    start = head
    while start > 0 and _depends_on(sentence, start - 1, head):
        start -= 1
    outer = start
    # Skip prepositions at the front of the phrase; "in front of" is three words.
    while start < head and sentence.relations[start] in ("case", "mwe", "mark", "advmod", "cc", "punct"):
        start += 1
    has_preposition = any(sentence.relations[k] == "case" for k in range(outer, start))
    return MentionSpan(
        start,
        head + 1,
        sentence.lemmas[head],
        sentence.tags[head] in _PLURAL,
        outer if has_preposition else start,
    )


def _depends_on(sentence: Sentence, word: int, head: int) -> bool:
    """Return whether ``word`` depends on ``head``, directly or indirectly."""
    for _ in range(len(sentence)):
        above = sentence.heads[word] - 1
        if above == head:
            return True
        if above < 0:
            return False
        word = above
    return False
