"""Parsed sentences as numbers: words, tags and relations whose bits answer the questions of the rules."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from captious.core.errors import InputError
from captious.core.ragged import IntArray, places_in
from captious.kernels.types import Int32, Int32x2, Int64
from captious.parser import Edge, Sentence
from captious.parser.fast_parser import ParsedBatch
from captious.parser.graph_codes import (
    FLAT_ROWS,
    NESTED_ROWS,
    THREE_ROWS,
    bits_of_tags,
    bits_of_texts,
    encode_relations,
    new_texts,
)
from captious.text.vocabulary import Vocabulary

# (governor, dependent, relation); words are numbered from 1, 0 is the root.
Arc = tuple[int, int, str]


class Dependencies(NamedTuple):
    """Words and arcs of a sentence.

    Index 0 of the lists is the root. Numbers above `words` are copies of words, which appear where a
    conjunction repeats a word that is written once.
    """

    words: int
    forms: list[str]
    tags: list[str]
    lemmas: list[str]
    arcs: list[Arc]

    @classmethod
    def of(cls, sentence: Sentence) -> Dependencies:
        """Return the collapsed graph of a parsed sentence, with all words in lower case."""
        forms = ["", *map(str.lower, sentence.forms)]
        tags = ["", *sentence.tags]
        lemmas = ["", *map(str.lower, sentence.lemmas)]
        words = len(forms) - 1
        return cls(words, forms, tags, lemmas, _number_copies(sentence.graph, forms, tags, lemmas))


def _number_copies(edges: list[Edge], *columns: list[str]) -> list[Arc]:
    """Give each copied word a number of its own, and a row of its own in the columns."""
    copies: dict[float, int] = {}

    def number(end: float) -> int:
        if end % 1 == 0:
            return int(end)
        if end not in copies:
            copies[end] = len(columns[0])
            for column in columns:
                column.append(column[int(end)])
        return copies[end]

    return [(number(governor), number(dependent), relation) for governor, dependent, relation in edges]


class Codes(NamedTuple):
    """Sentences as arcs between nodes, all in numbers.

    Sentence s has the nodes ``offsets[s]:offsets[s + 1]``: its words, then copies of words. Its arcs are
    ``arc_offsets[s]:arc_offsets[s + 1]``. Nodes count from 1 in their sentence; 0 is the root.
    """

    offsets: Int64
    #: Words of each sentence, without copies.
    sizes: Int64
    #: Forms and lemmas in lower case, as text numbers.
    words: Int32
    lemmas: Int32
    #: Bits of the tags.
    tags: Int32
    arc_offsets: Int64
    governors: Int32
    dependents: Int32
    relations: Int32
    #: Bits of each text.
    bits: Int32
    #: Text numbers of the prepositions of the relations from POSS on.
    prepositions: Int32
    #: Prepositions of three words, and of two words that are nested or flat.
    three: Int32x2
    nested: Int32x2
    flat: Int32x2


def encode_batch(batch: ParsedBatch) -> tuple[Codes, Vocabulary]:
    """Encode the trees of a parsed batch. Return the codes and the texts that they number."""
    texts = new_texts()
    lengths = np.diff(batch.offsets)
    _check_heads(batch, lengths)
    words = texts.encode([name.lower() for name in batch.word_names])[batch.words]
    lemmas = texts.encode([name.lower() for name in batch.lemma_names])[batch.lemmas]
    relations, prepositions = encode_relations(batch.relation_names, texts)
    codes = Codes(
        offsets=batch.offsets,
        sizes=lengths,
        words=words,
        lemmas=lemmas,
        tags=bits_of_tags(batch.tag_names)[batch.tags],
        arc_offsets=batch.offsets,
        governors=batch.heads.astype(np.int32),
        dependents=(1 + places_in(lengths)).astype(np.int32),
        relations=relations[batch.relations],
        bits=bits_of_texts(texts),
        prepositions=prepositions,
        three=THREE_ROWS,
        nested=NESTED_ROWS,
        flat=FLAT_ROWS,
    )
    return codes, texts


def encode_graph(graph: Dependencies) -> tuple[Codes, Vocabulary]:
    """Encode the graph of one sentence."""
    texts = new_texts()
    nodes = len(graph.forms) - 1
    for governor, dependent, relation in graph.arcs:
        if not (0 <= governor <= nodes and 1 <= dependent <= nodes):
            raise InputError(
                f"The edge {relation}({governor}, {dependent}) leaves its sentence, which has {graph.words} "
                "words. Words count from 1; 0 is the root."
            )
    names = list(dict.fromkeys(relation for _, _, relation in graph.arcs))
    relations, prepositions = encode_relations(names, texts)
    number = {name: i for i, name in enumerate(names)}
    words, lemmas = texts.encode(graph.forms[1:]), texts.encode(graph.lemmas[1:])
    ends = np.array([(g, d) for g, d, _ in graph.arcs], np.int32).reshape(-1, 2)
    codes = Codes(
        offsets=np.array([0, nodes], np.int64),
        sizes=np.array([graph.words], np.int64),
        words=words,
        lemmas=lemmas,
        tags=bits_of_tags(graph.tags[1:]),
        arc_offsets=np.array([0, len(ends)], np.int64),
        governors=np.ascontiguousarray(ends[:, 0]),
        dependents=np.ascontiguousarray(ends[:, 1]),
        relations=relations[[number[relation] for _, _, relation in graph.arcs]],
        bits=bits_of_texts(texts),
        prepositions=prepositions,
        three=THREE_ROWS,
        nested=NESTED_ROWS,
        flat=FLAT_ROWS,
    )
    return codes, texts


def _check_heads(batch: ParsedBatch, lengths: IntArray) -> None:
    outside = np.flatnonzero((batch.heads < 0) | (batch.heads > np.repeat(lengths, lengths)))
    if len(outside):
        word = int(outside[0])
        sentence = int(np.searchsorted(batch.offsets, word, side="right")) - 1
        place = word - batch.offsets[sentence] + 1
        raise InputError(
            f"Word {place} of a parsed sentence has the head {batch.heads[word]}, but the sentence has "
            f"{lengths[sentence]} words. Heads count from 1; 0 is the root."
        )
