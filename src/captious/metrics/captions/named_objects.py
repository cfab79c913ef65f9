"""Objects that captions name: nouns of each sentence, without negated ones and words about the picture."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from captious.corpus import Captions
from captious.corpus.paragraphs import sentences_of
from captious.metrics.captions.negated_nouns import negated
from captious.parser import Parser
from captious.parser.choice import batch_of
from captious.text.hedges import ALTERNATIVES, HEDGES
from captious.text.stopwords import ENGLISH

#: Nouns about the picture, its parts and amounts, which name no object.
NOT_OBJECTS = frozenset(
    [
        "image",
        "picture",
        "photo",
        "photograph",
        "view",
        "scene",
        "background",
        "foreground",
        "front",
        "side",
        "top",
        "middle",
        "left",
        "right",
        "close",
        "closeup",
        "shot",
        "number",
        "group",
        "couple",
        "bunch",
        "kind",
        "type",
        "set",
        "pair",
        "lot",
        "piece",
        "one",
        "part",
        "area",
    ]
)
#: Words after a hedge that it can apply to.
_REACH = 5


class Noun(NamedTuple):
    """A noun of a sentence that names an object."""

    form: str
    lemma: str
    #: Place among the words of the sentence.
    position: int
    #: Whether it modifies another noun, as "tree" in "tree branch".
    is_modifier: bool
    #: Whether a hedge precedes it ("possibly a dog").
    is_hedged: bool
    #: Position of the first of several alternatives ("a cat or a dog"), −1 outside of them.
    alternative: int


class CaptionWords(NamedTuple):
    """Words of captions: distinct sentences, and the sentences that each caption consists of."""

    #: Nouns of each distinct sentence.
    nouns: list[list[Noun]]
    #: Forms and lemmas of the content words of each distinct sentence.
    words: list[frozenset[str]]
    #: Lemmas of the content words of each distinct sentence.
    lemmas: list[frozenset[str]]
    #: Distinct sentences of caption i: ``sentence_of[offsets[i]:offsets[i + 1]]``.
    sentence_of: list[int]
    offsets: list[int]
    #: Number of each of them among the sentences of the text. The parser may cut a long one into several.
    places: list[int]

    def sentences(self, caption: int) -> list[int]:
        """Return the distinct sentences of a caption."""
        return self.sentence_of[self.offsets[caption] : self.offsets[caption + 1]]


def caption_words(captions: Captions, parser: Parser) -> CaptionWords:
    """Parse captions sentence by sentence, and return their nouns and content words."""
    return captions.cached(
        ("words of sentences", parser.label, parser.digest), lambda: _caption_words(captions, parser)
    )


def _caption_words(captions: Captions, parser: Parser) -> CaptionWords:
    split = sentences_of(captions)
    batch = batch_of(split, parser)
    nouns: list[list[Noun]] = []
    words: list[frozenset[str]] = []
    lemmas: list[frozenset[str]] = []
    for sentence in batch.sentences():
        absent = negated(sentence.forms, sentence.tags, sentence.relations, sentence.heads)
        named = _nouns(sentence.forms, sentence.lemmas, sentence.tags, sentence.relations, sentence.heads)
        nouns.append([noun for noun in named if noun.position not in absent])
        present = [i for i in range(len(sentence.forms)) if i not in absent]
        own = frozenset(sentence.lemmas[i] for i in present)
        words.append(own.union(sentence.forms[i] for i in present) - ENGLISH)
        lemmas.append(own - ENGLISH)
    listed, bounds, numbers = (
        batch.sentence_of.tolist(),
        batch.caption_offsets.tolist(),
        split.unique[1].tolist(),
    )
    sentence_of: list[int] = []
    places: list[int] = []
    offsets = [0]
    for a, b in itertools.pairwise(split.image_offsets.tolist()):
        for i in range(a, b):
            own = listed[bounds[numbers[i]] : bounds[numbers[i] + 1]]
            sentence_of += own
            places += [i - a] * len(own)
        offsets.append(len(sentence_of))
    return CaptionWords(nouns, words, lemmas, sentence_of, offsets, places)


def _nouns(
    forms: list[str], lemmas: list[str], tags: list[str], relations: list[str], heads: list[int]
) -> list[Noun]:
    hedges = [i for i, form in enumerate(forms) if form in HEDGES]
    alternative = _alternatives(forms, tags, relations, heads) if not ALTERNATIVES.isdisjoint(forms) else {}
    return [
        Noun(
            forms[i],
            lemma,
            i,
            relations[i] == "compound",
            any(0 < i - hedge <= _REACH for hedge in hedges),
            alternative.get(i, -1),
        )
        for i, (tag, lemma) in enumerate(zip(tags, lemmas))
        if tag.startswith("NN") and lemma not in NOT_OBJECTS and any(map(str.isalpha, lemma))
    ]


def _alternatives(
    forms: list[str], tags: list[str], relations: list[str], heads: list[int]
) -> dict[int, int]:
    """Return the first noun of each list of alternatives, by the position of its nouns."""
    first: dict[int, int] = {}
    for i, form in enumerate(forms):
        if form not in ALTERNATIVES or relations[i] != "cc" or not heads[i]:
            continue
        head = heads[i] - 1
        members = [head, *(k for k, h in enumerate(heads) if h == head + 1 and relations[k] == "conj")]
        nouns = [k for k in members if tags[k].startswith("NN")]
        for k in nouns:
            first[k] = nouns[0]
    return first
