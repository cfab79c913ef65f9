"""Scenes of descriptions: sentences are parsed one by one, and their tuples are merged into one scene.

A pronoun at the start of a sentence is replaced by the noun that it stands for in the sentences before. The
scene graph merges further mentions of an object and its synonyms.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from captious.corpus import Captions
from captious.corpus.paragraphs import sentences_of
from captious.metrics.captions.named_objects import NOT_OBJECTS, CaptionWords, caption_words
from captious.metrics.captions.negated_nouns import negated
from captious.parser import Parser
from captious.parser.choice import batch_of
from captious.scene import Tuple, caption_tuples

_PRONOUN = re.compile(r"(it|he|she|they)\b", re.IGNORECASE)
#: Texts in which a noun may be negated.
_NEGATION = re.compile(r"\b(no|not|without|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_PERSONS = frozenset(
    ("man", "woman", "boy", "girl", "person", "child", "kid", "baby", "lady", "guy", "player", "surfer")
) | frozenset(("skier", "skateboarder", "rider", "toddler", "chef", "officer", "worker", "batter", "people"))


class SentenceTuple(NamedTuple):
    """A tuple, and the number of the sentence that states it first."""

    items: Tuple
    sentence: int


def paragraph_tuples(captions: Captions, parser: Parser) -> list[list[SentenceTuple]]:
    """Return the distinct tuples of each caption, without words about the picture itself."""
    return captions.cached(
        ("tuples of paragraphs", parser.label, parser.digest), lambda: _paragraph_tuples(captions, parser)
    )


def _paragraph_tuples(captions: Captions, parser: Parser) -> list[list[SentenceTuple]]:
    resolved = resolved_sentences(captions, parser)
    rows = caption_tuples(resolved, parser)
    absent = _absent_names(resolved, parser)
    results = []
    for a, b in itertools.pairwise(resolved.image_offsets.tolist()):
        own: dict[Tuple, int] = {}
        for i in range(a, b):
            # A relation to "the image" or "the background" is none between objects.
            excluded = NOT_OBJECTS | absent[i] if i in absent else NOT_OBJECTS
            for item in rows[i]:
                if item[0] not in excluded and (len(item) < 3 or item[2] not in excluded):
                    own.setdefault(item, i - a)
        results.append([SentenceTuple(item, sentence) for item, sentence in own.items()])
    return results


def _absent_names(sentences: Captions, parser: Parser) -> dict[int, frozenset[str]]:
    """Return the nouns that sentences negate, by the number of the sentence."""
    numbers = [i for i, text in enumerate(sentences.texts) if _NEGATION.search(text)]
    if not numbers:
        return {}
    batch = batch_of(sentences, parser)
    parsed = list(batch.sentences())
    unique, chosen = sentences.unique[1].tolist(), batch.sentence_of.tolist()
    bounds = batch.caption_offsets.tolist()
    names = {}
    for i in numbers:
        absent: set[str] = set()
        present: set[str] = set()
        for number in chosen[bounds[unique[i]] : bounds[unique[i] + 1]]:
            own = parsed[number]
            places = negated(own.forms, own.tags, own.relations, own.heads)
            for k, lemma in enumerate(own.lemmas):
                (absent if k in places else present).add(lemma)
        names[i] = frozenset(absent - present)
    return names


def resolved_sentences(captions: Captions, parser: Parser) -> Captions:
    """Return the sentences of each caption, with nouns in place of pronouns at their start."""

    def make() -> Captions:
        split = sentences_of(captions)
        texts = list(split.texts)
        bounds = split.image_offsets.tolist()
        words = caption_words(captions, parser)
        is_changed = False
        for caption, (a, b) in enumerate(itertools.pairwise(bounds)):
            if not any(_PRONOUN.match(texts[i]) for i in range(a + 1, b)):
                continue
            topic, person = "", ""
            nouns = _nouns_by_sentence(words, caption, b - a)
            for i in range(a, b):
                pronoun = _PRONOUN.match(texts[i])
                if pronoun:
                    is_person = pronoun[0].lower() in ("he", "she")
                    noun = person or topic if is_person else topic
                    if noun:
                        texts[i] = f"the {noun}{texts[i][pronoun.end() :]}"
                        is_changed = True
                else:
                    topic = nouns[i - a][0] if nouns[i - a] else topic
                person = next((noun for noun in nouns[i - a] if noun in _PERSONS), person)
        if not is_changed:
            return split
        groups = [texts[a:b] for a, b in itertools.pairwise(bounds)]
        return Captions.of(groups, captions.tokenizer)

    return captions.cached(("resolved sentences", parser.label, parser.digest), make)


def _nouns_by_sentence(words: CaptionWords, caption: int, count: int) -> list[list[str]]:
    """Return the nouns of each sentence of a caption that modify no other."""
    rows: list[list[str]] = [[] for _ in range(count)]
    for k in range(words.offsets[caption], words.offsets[caption + 1]):
        rows[words.places[k]] += [
            noun.lemma for noun in words.nouns[words.sentence_of[k]] if not noun.is_modifier
        ]
    return rows
