"""Parsed sentences as numbers: words, tags and relations whose bits answer the questions of the rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.kernels.types import Int32, Int32x2, Int64
from captious.parser import Edge, Sentence
from captious.parser.dependency_graph import FIRST_OF_SEVERAL, THREE_WORDS, TWO_WORDS_FLAT, TWO_WORDS_NESTED
from captious.parser.fast_parser import ParsedBatch
from captious.scene.tuple_match import word_set
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


NOUN_TAGS = frozenset({"NN", "NNS", "NNP", "NNPS"})
SINGULAR_TAGS = frozenset({"NN", "NNP"})
PLURAL_TAGS = frozenset({"NNS", "NNPS"})

#: Quantifiers written "a … of".
AFTER_A = word_set(
    "lot assortment number couple bunch handful litany sheaf slew dozen series variety multitude wad "
    "clutch wave mountain array spate string ton range plethora heap sort form kind type version bit pair "
    "triple total"
)
#: Quantifiers written "… of".
ALONE = word_set(
    "lots many several plenty tons dozens multitudes mountains loads pairs tens hundreds thousands millions "
    "billions trillions"
)
#: Quantifiers written "… of the", "… of these", …, or "… of them".
BEFORE_DEFINITE = word_set(
    "some all both neither everyone nobody one two three four five six seven eight nine ten hundred thousand "
    "million billion trillion"
)
#: Digits are quantifiers before a definite noun; with an s they are quantifiers of any noun.
DIGITS = re.compile(r"[0-9]+(s?)")
SINGULAR_PRONOUNS = word_set(
    "one i me my myself yourself he him his himself she her herself it its itself oneself"
)

# Relations that a rule asks about. MARKED is an nmod whose preposition is a word of the sentence.
_RELATIONS = (
    "root", "case", "cc", "auxpass", "nsubj", "nsubjpass", "csubj", "csubjpass", "nmod", "acl", "advcl",
    "conj", "mwe", "mark", "ccomp", "acl:relcl", "parataxis", "advmod", "dep", "amod", "dobj", "iobj",
    "cop", "compound", "compound:prt", "nummod", "det:qmod", "det",
)  # fmt: skip
(
    ROOT, CASE, CC, AUXPASS, NSUBJ, NSUBJPASS, CSUBJ, CSUBJPASS, NMOD, ACL, ADVCL, CONJ,
    MWE, MARK, CCOMP, RELCL, PARATAXIS, ADVMOD, DEP, AMOD, DOBJ, IOBJ, COP, COMPOUND,
    PARTICLE, NUMMOD, QUANTIFIER, DET, MARKED, POSS, AGENT, OF,
) = range(1, 33)  # fmt: skip
# Subtypes of nmod with codes of their own. All other subtypes follow, one code each.
_SUBTYPES = ("poss", "agent", "of")
#: A relation of the collapsed graph that no rule asks about. Others of a parser's relations have negative
#: codes.
OTHER = 0

# Bits of tags.
NOUN, ONE, MANY, ADJECTIVE, VERB, SHARES, FINITE, PRONOUN, PERSONAL = (1 << bit for bit in range(9))
# Bits of words. A word with a space or an underscore is ODD: it may read like a phrase of several words.
EMPTY, ODD, BE, BY, IS_OF, IS_POSS, IS_AGENT, FIRST, ARTICLE, LOT, LOTS, DEFINITE, SINGLE = (
    1 << bit for bit in range(13)
)
#: Number of the text "have".
HAVE = 0

Numbers = NDArray[np.int32]


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
    texts = Vocabulary(["have"])
    lengths = np.diff(batch.offsets)
    _check_heads(batch, lengths)
    words = texts.encode([name.lower() for name in batch.word_names])[batch.words]
    lemmas = texts.encode([name.lower() for name in batch.lemma_names])[batch.lemmas]
    relations, prepositions = _encode_relations(batch.relation_names, texts)
    multiword = [_rows(texts, phrases) for phrases in (THREE_WORDS, TWO_WORDS_NESTED, TWO_WORDS_FLAT)]
    codes = Codes(
        offsets=batch.offsets,
        sizes=lengths,
        words=words,
        lemmas=lemmas,
        tags=_bits_of_tags(batch.tag_names)[batch.tags],
        arc_offsets=batch.offsets,
        governors=batch.heads.astype(np.int32),
        dependents=_places(batch.offsets, lengths),
        relations=relations[batch.relations],
        bits=_bits_of_texts(texts),
        prepositions=prepositions,
        three=multiword[0],
        nested=multiword[1],
        flat=multiword[2],
    )
    return codes, texts


def encode_graph(graph: Dependencies) -> tuple[Codes, Vocabulary]:
    """Encode the graph of one sentence."""
    texts = Vocabulary(["have"])
    nodes = len(graph.forms) - 1
    for governor, dependent, relation in graph.arcs:
        if not (0 <= governor <= nodes and 1 <= dependent <= nodes):
            raise InputError(
                f"The edge {relation}({governor}, {dependent}) leaves its sentence, which has {graph.words} "
                "words. Words count from 1; 0 is the root."
            )
    names = list(dict.fromkeys(relation for _, _, relation in graph.arcs))
    relations, prepositions = _encode_relations(names, texts)
    number = {name: i for i, name in enumerate(names)}
    words, lemmas = texts.encode(graph.forms[1:]), texts.encode(graph.lemmas[1:])
    ends = np.array([(g, d) for g, d, _ in graph.arcs], np.int32).reshape(-1, 2)
    codes = Codes(
        offsets=np.array([0, nodes], np.int64),
        sizes=np.array([graph.words], np.int64),
        words=words,
        lemmas=lemmas,
        tags=_bits_of_tags(graph.tags[1:]),
        arc_offsets=np.array([0, len(ends)], np.int64),
        governors=np.ascontiguousarray(ends[:, 0]),
        dependents=np.ascontiguousarray(ends[:, 1]),
        relations=relations[[number[relation] for _, _, relation in graph.arcs]],
        bits=_bits_of_texts(texts),
        prepositions=prepositions,
        three=np.zeros((0, 3), np.int32),
        nested=np.zeros((0, 2), np.int32),
        flat=np.zeros((0, 2), np.int32),
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


def _places(offsets: IntArray, lengths: IntArray) -> Numbers:
    """Place of each word in its sentence, from 1."""
    return (np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], lengths)).astype(np.int32)


def _encode_relations(names: Sequence[str], texts: Vocabulary) -> tuple[Numbers, Numbers]:
    """Return the code of each relation, and the text numbers of prepositions.

    Distinct names have distinct codes.
    """
    codes = {name: code for code, name in enumerate(_RELATIONS, 1)}
    codes |= {f"nmod:{subtype}": POSS + i for i, subtype in enumerate(_SUBTYPES)}
    prepositions = list(_SUBTYPES)
    others = 0
    for name in names:
        if name in codes:
            continue
        if name.startswith("nmod:"):
            codes[name] = POSS + len(prepositions)
            prepositions.append(name.removeprefix("nmod:").replace("_", " "))
        else:
            others += 1
            codes[name] = -others
    return np.array([codes[name] for name in names], np.int32), texts.encode(prepositions)


def _rows(texts: Vocabulary, phrases: frozenset[tuple[str, ...]]) -> Numbers:
    return np.stack([texts.encode(phrase) for phrase in sorted(phrases)])


def _bits_of_tags(names: Sequence[str]) -> Numbers:
    return np.array([_tag_bits(name) for name in names], np.int32)


def _bits_of_texts(texts: Vocabulary) -> Numbers:
    return np.array([_word_bits(text) for text in texts.words], np.int32)


def _tag_bits(name: str) -> int:
    return (
        NOUN * (name in NOUN_TAGS)
        | ONE * (name in SINGULAR_TAGS)
        | MANY * (name in PLURAL_TAGS)
        | ADJECTIVE * (name[:1] == "J")
        | VERB * (name[:1] == "V")
        | SHARES * name.startswith(("VB", "JJ"))
        | FINITE * (name in ("VB", "VBZ", "VBP", "JJ", "JJR", "JJS"))
        | PRONOUN * name.startswith("PRP")
        | PERSONAL * (name in ("PRP", "PRP$"))
    )


def _word_bits(text: str) -> int:
    digits = DIGITS.fullmatch(text)
    return (
        EMPTY * (not text)
        | ODD * (" " in text or "_" in text)
        | BE * (text == "be")
        | BY * (text == "by")
        | IS_OF * (text == "of")
        | IS_POSS * (text == "poss")
        | IS_AGENT * (text == "agent")
        | FIRST * (text in FIRST_OF_SEVERAL)
        | ARTICLE * (text in ("a", "an"))
        | LOT * (text in AFTER_A)
        | LOTS * (text in ALONE or bool(digits and digits[1]))
        | DEFINITE * (text in BEFORE_DEFINITE or digits is not None)
        | SINGLE * (text in SINGULAR_PRONOUNS)
    )
