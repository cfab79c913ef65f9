"""Words, tags and relations of sentences as numbers whose bits answer the questions of the rules.

The rules collapse trees to graphs (:mod:`captious.parser.dependency_graph`) and read tuples from graphs
(:mod:`captious.scene`). They are kernels that share one workspace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.text.vocabulary import Vocabulary

Numbers = NDArray[np.int32]


def word_set(text: str) -> frozenset[str]:
    """Split a list of words that is written as text."""
    return frozenset(text.split())


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    """Split a list of phrases, separated by commas."""
    return frozenset(tuple(phrase.split()) for phrase in text.split(","))


# Prepositions of several words.
THREE_WORDS = _phrases(
    "by means of, in accordance with, in addition to, in case of, in front of, in lieu of, in place of, "
    "in spite of, on account of, on behalf of, on top of, with regard to, with respect to"
)
# The first word governs the noun and depends on another word: "sits [next [to a tree]]".
TWO_WORDS_NESTED = _phrases(
    "apart from, as from, aside from, away from, close by, close to, contrary to, far from, next to, "
    "near to, out of, outside of, pursuant to, regardless of, together with"
)
# Both words depend on the noun.
TWO_WORDS_FLAT = (TWO_WORDS_NESTED - {("away", "from")}) | _phrases(
    "across from, along with, alongside of, as for, as of, as per, as to, based on, compared to, "
    "compared with, except for, exclusive of, followed by, inside of, irrespective of, off of, owing to, "
    "preliminary to, preparatory to, previous to, prior to, subsequent to, thanks to"
)
_FIRST_OF_SEVERAL = frozenset(words[0] for words in THREE_WORDS | TWO_WORDS_NESTED | TWO_WORDS_FLAT)

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

# Relations that a rule asks about, then those that a graph names by a word of the sentence: clauses with a
# preposition, conjuncts with a conjunction, and MARKED, an nmod with a preposition.
_RELATIONS = (
    "root", "case", "cc", "auxpass", "nsubj", "nsubjpass", "csubj", "csubjpass", "nmod", "acl", "advcl",
    "conj", "mwe", "mark", "ccomp", "acl:relcl", "parataxis", "advmod", "dep", "amod", "dobj", "iobj",
    "cop", "compound", "compound:prt", "nummod", "det:qmod", "det",
)  # fmt: skip
(
    ROOT, CASE, CC, AUXPASS, NSUBJ, NSUBJPASS, CSUBJ, CSUBJPASS, NMOD, ACL, ADVCL, CONJ,
    MWE, MARK, CCOMP, RELCL, PARATAXIS, ADVMOD, DEP, AMOD, DOBJ, IOBJ, COP, COMPOUND,
    PARTICLE, NUMMOD, QUANTIFIER, DET, MARKED_ACL, MARKED_ADVCL, MARKED_CONJ, MARKED, POSS, AGENT, OF,
) = range(1, 36)  # fmt: skip
# Subtypes of nmod with codes of their own. All other subtypes follow, one code each.
_SUBTYPES = ("poss", "agent", "of")
#: Relation of the root. A parser's relations that no rule asks about have negative codes.
NONE = 0

# Bits of tags.
NOUN, ONE, MANY, ADJECTIVE, VERB, SHARES, FINITE, PRONOUN, PERSONAL = (1 << bit for bit in range(9))
# Bits of words. A word with a space or an underscore is ODD: it may read like a phrase of several words.
EMPTY, ODD, BE, BY, IS_OF, IS_POSS, IS_AGENT, FIRST, ARTICLE, LOT, LOTS, DEFINITE, SINGLE = (
    1 << bit for bit in range(13)
)
#: Text numbers start with "have" and the words of prepositions, which are the same for all sentences.
HAVE = 0
_TEXTS = Vocabulary(
    ["have", *sorted({word for words in THREE_WORDS | TWO_WORDS_NESTED | TWO_WORDS_FLAT for word in words})]
)
_TEXTS.freeze()

# Nodes count from 1, copies of words after the words; 0 is the root.
(
    # For each node: text numbers of form and lemma, bits of the tag.
    WORD,
    LEMMA,
    TAG,
    # The tree while prepositions are joined.
    HEAD,
    RELATION,
    # For each word of the tree: its last preposition, how many words continue the expression that it begins,
    # whether it is passive, its first subject and the relation of that subject.
    LAST_CASE,
    EXPRESSION,
    VOICE,
    SUBJECT,
    SUBJECT_RELATION,
    # The arcs: governor, dependent, relation and the word that names the relation. While arcs are collected,
    # word x is 2x and its copy 2x + 1.
    GOVERNOR,
    DEPENDENT,
    KIND,
    MARKER_WORD,
    # Words and their conjuncts.
    JOINT,
    CONJUNCT,
    # Arcs by governor.
    START,
    BELOW,
    # Queues and sets of nodes.
    QUEUE,
    SEEN,
    # Tuples with the rule that states them, and starts of phrases in the pool.
    RULE,
    ONE_END,
    MIDDLE,
    OTHER_END,
    PHRASE,
    POOL,
    STATE,
) = range(27)

# Columns of the last row: numbers of arcs, joined words, nodes, tuples, phrases and elements of the pool;
# whether one of them exceeded the room; the room for each.
ARCS, JOINED, NODES, TUPLES, PHRASES, PARTS, FULL, ROOM = range(8)


def workspace(width: int) -> NDArray[np.int32]:
    """Allocate room for `width` arcs, tuples and phrases.

    Kernels set ``FULL`` where a sentence needs more.
    """
    space = np.zeros((STATE + 1, width), np.int32)
    space[STATE, ROOM] = width
    return space


def encode_relations(names: Sequence[str], texts: Vocabulary) -> tuple[Numbers, Numbers]:
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


def bits_of_tags(names: Sequence[str]) -> Numbers:
    return np.array([_tag_bits(name) for name in names], np.int32)


def new_texts() -> Vocabulary:
    """Return a numbering of texts to which the texts of some sentences are added."""
    return Vocabulary(base=_TEXTS)


def bits_of_texts(texts: Vocabulary) -> Numbers:
    """Return the bits of each text of a numbering that :func:`new_texts` began."""
    return np.concatenate([_TEXT_BITS, np.array([_word_bits(text) for text in texts.new], np.int32)])


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
        | FIRST * (text in _FIRST_OF_SEVERAL)
        | ARTICLE * (text in ("a", "an"))
        | LOT * (text in AFTER_A)
        | LOTS * (text in ALONE or bool(digits and digits[1]))
        | DEFINITE * (text in BEFORE_DEFINITE or digits is not None)
        | SINGLE * (text in SINGULAR_PRONOUNS)
    )


_TEXT_BITS = np.array([_word_bits(text) for text in _TEXTS.words], np.int32)
#: Prepositions of three words, and of two words that are nested or flat, as rows of text numbers.
THREE_ROWS, NESTED_ROWS, FLAT_ROWS = (
    np.stack([_TEXTS.encode(phrase) for phrase in sorted(phrases)])
    for phrases in (THREE_WORDS, TWO_WORDS_NESTED, TWO_WORDS_FLAT)
)
