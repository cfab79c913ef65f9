"""Who and where: the people and the places that a caption mentions, found in its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from captious.language.parse_types import Sentence
from captious.robustness.word_lists import NO_SCENE, PEOPLE, PLACES, Person

_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_PLURAL = ("NNS", "NNPS")
#: A noun in these relations says something of another noun and is not a mention by itself.
_MODIFIERS = ("compound", "nmod:poss", "amod")


@dataclass(frozen=True)
class MentionSpan:
    """A noun with all that stands before it and belongs to it: words ``start`` to ``end`` of a sentence."""

    start: int
    end: int
    lemma: str
    plural: bool
    #: For places: where the preposition stands, if there is one; else ``start``.
    outer: int

    def phrase(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[self.start : self.end])

    def with_preposition(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words[self.outer : self.end])


def people(sentence: Sentence) -> list[MentionSpan]:
    """Mentions of people, first to last."""
    return [_mention(sentence, k) for k in range(len(sentence)) if _is_noun(sentence, k) and sentence.lemmas[k] in PEOPLE]


def places(sentence: Sentence) -> list[MentionSpan]:
    """Mentions of places after a preposition, first to last."""
    found = []
    for k in range(len(sentence)):
        if _is_noun(sentence, k) and sentence.lemmas[k] in PLACES and sentence.lemmas[k] not in NO_SCENE:
            mention = _mention(sentence, k)
            if mention.outer < mention.start:
                found.append(mention)
    return found


def kinds_of_people(sentences: Sequence[Sentence]) -> set[Person]:
    """What captions say of people, wherever in them."""
    return {PEOPLE[lemma] for s in sentences for lemma in s.lemmas if lemma in PEOPLE}


def kinds_of_places(sentences: Sequence[Sentence]) -> set[str]:
    """The kinds of places that captions name, wherever in them."""
    return {PLACES[lemma] for s in sentences for lemma in s.lemmas if lemma in PLACES}


def _is_noun(sentence: Sentence, k: int) -> bool:
    return sentence.tags[k] in _NOUNS and sentence.relations[k] not in _MODIFIERS


def _mention(sentence: Sentence, head: int) -> MentionSpan:
    start = head
    while start > 0 and _below(sentence, start - 1, head):
        start -= 1
    outer = start
    # Prepositions stand at the front of the phrase; "in front of" is three of them.
    while start < head and sentence.relations[start] in ("case", "mwe", "mark", "advmod", "cc", "punct"):
        start += 1
    case = any(sentence.relations[k] == "case" for k in range(outer, start))
    return MentionSpan(start, head + 1, sentence.lemmas[head], sentence.tags[head] in _PLURAL, outer if case else start)


def _below(sentence: Sentence, word: int, head: int) -> bool:
    """Whether ``word`` depends on ``head``, directly or through others."""
    for _ in range(len(sentence)):
        above = sentence.heads[word] - 1
        if above == head:
            return True
        if above < 0:
            return False
        word = above
    return False
