"""Words, tags and relations of parsed sentences as numbers whose bits say what the rules ask about them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.language.graph import FIRST_OF_SEVERAL, THREE_WORDS, TWO_WORDS_FLAT, TWO_WORDS_NESTED
from captious.language.parser import ParsedBatch
from captious.scene.dependencies import NOUNS, PLURAL, SINGULAR
from captious.scene.enhance import AFTER_A, ALONE, BEFORE_DEFINITE, DIGITS, SINGULAR_PRONOUNS
from captious.text.vocabulary import Vocabulary

Numbers = NDArray[np.int32]

# Relations. Those that no rule asks for are all the same.
(
    OTHER, ROOT, CASE, CC, AUXPASS, NSUBJ, NSUBJPASS, CSUBJ, CSUBJPASS, NMOD, ACL, ADVCL, CONJ, MWE, MARK, CCOMP, RELCL, PARATAXIS, ADVMOD, DEP, AMOD,
    DOBJ, IOBJ, COP, COMPOUND, PARTICLE, NUMMOD, QUANTIFIER, DET, MARKED, POSS, AGENT, OF,
) = range(33)  # fmt: skip
# MARKED is an nmod with a preposition, which the arc names by its word. POSS, AGENT and OF are nmod:poss, nmod:agent and nmod:of;
# other relations that begin with nmod: follow, one number each.
_RELATIONS = (
    "", "root", "case", "cc", "auxpass", "nsubj", "nsubjpass", "csubj", "csubjpass", "nmod", "acl", "advcl", "conj", "mwe", "mark", "ccomp", "acl:relcl",
    "parataxis", "advmod", "dep", "amod", "dobj", "iobj", "cop", "compound", "compound:prt", "nummod", "det:qmod", "det", "", "nmod:poss", "nmod:agent",
    "nmod:of",
)  # fmt: skip

# What a tag is.
NOUN, ONE, MANY, ADJECTIVE, VERB, SHARES, FINITE, PRONOUN, PERSONAL = (1 << bit for bit in range(9))
# What a word is. A word with a space or an underscore in it is ODD: it may read like a phrase of several words.
EMPTY, ODD, BE, BY, IS_OF, IS_POSS, IS_AGENT, FIRST, ARTICLE, LOT, LOTS, DEFINITE, SINGLE = (1 << bit for bit in range(13))


class Coded(NamedTuple):
    """Distinct sentences, one after the other, and what their numbers mean."""

    offsets: NDArray[np.int64]
    #: Words as they are written (in lower case), and their base forms: numbers of ``texts``.
    words: Numbers
    lemmas: Numbers
    #: Bits of tags.
    tags: Numbers
    heads: Numbers
    #: Numbers of relations, as above.
    relations: Numbers
    #: Bits of words.
    bits: Numbers
    #: What follows nmod: in the relations from POSS on, as numbers of ``texts``.
    kinds: Numbers
    #: Prepositions of several words.
    three: Numbers
    nested: Numbers
    flat: Numbers
    texts: Vocabulary
    #: The number of "have".
    have: int


def coded(batch: ParsedBatch) -> Coded:
    """The numbers of a parsed batch."""
    texts = Vocabulary()
    words = texts.encode([name.lower() for name in batch.word_names])[batch.words]
    lemmas = texts.encode([name.lower() for name in batch.lemma_names])[batch.lemmas]
    known = {name: number for number, name in enumerate(_RELATIONS) if name}
    kinds = [name.removeprefix("nmod:") for name in _RELATIONS[POSS:]]
    for name in batch.relation_names:
        if name.startswith("nmod:") and name not in known:
            known[name] = POSS + len(kinds)
            kinds.append(name.removeprefix("nmod:"))
    relations = np.array([known.get(name, OTHER) for name in batch.relation_names], np.int32)
    tags = np.array([_tag(name) for name in batch.tag_names], np.int32)
    prepositions = [_rows(texts, listed) for listed in (THREE_WORDS, TWO_WORDS_NESTED, TWO_WORDS_FLAT)]
    numbers, have = texts.encode(kinds), int(texts.encode(["have"])[0])
    return Coded(
        offsets=batch.offsets,
        words=words,
        lemmas=lemmas,
        tags=tags[batch.tags],
        heads=batch.heads.astype(np.int32),
        relations=relations[batch.relations],
        bits=np.array([_word(text) for text in texts.words], np.int32),
        kinds=numbers,
        three=prepositions[0],
        nested=prepositions[1],
        flat=prepositions[2],
        texts=texts,
        have=have,
    )


def _rows(texts: Vocabulary, phrases: frozenset[tuple[str, ...]]) -> Numbers:
    return np.stack([texts.encode(phrase) for phrase in sorted(phrases)])


def _tag(name: str) -> int:
    return (
        NOUN * (name in NOUNS)
        | ONE * (name in SINGULAR)
        | MANY * (name in PLURAL)
        | ADJECTIVE * (name[:1] == "J")
        | VERB * (name[:1] == "V")
        | SHARES * name.startswith(("VB", "JJ"))
        | FINITE * (name in ("VB", "VBZ", "VBP", "JJ", "JJR", "JJS"))
        | PRONOUN * name.startswith("PRP")
        | PERSONAL * (name in ("PRP", "PRP$"))
    )


def _word(text: str) -> int:
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
