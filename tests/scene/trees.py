"""Random trees over the words, tags and relations that rules test, so that rare rules apply often."""

from __future__ import annotations

import itertools
import random

from captious.parser import Sentence
from captious.parser.graph_codes import (
    AFTER_A,
    ALONE,
    BEFORE_DEFINITE,
    SINGULAR_PRONOUNS,
    THREE_WORDS,
    TWO_WORDS_FLAT,
    TWO_WORDS_NESTED,
)


def _listed(text: str) -> list[str]:
    """Return words, each as often as written: some are needed more often."""
    return text.split()


_PREPOSITIONS = sorted(THREE_WORDS | TWO_WORDS_FLAT | TWO_WORDS_NESTED)
_WORDS = [
    *sorted({word for phrase in _PREPOSITIONS for word in phrase}),
    *["of"] * 12,
    *_listed(
        "a an the by by poss agent as well as_well_as and or be be is on in with dog man couch sofa "
        "12 12s 3 They OF a_b"
    ),
    "be on",
    "",
    *(word for words in (AFTER_A, ALONE, BEFORE_DEFINITE, SINGULAR_PRONOUNS) for word in sorted(words)[:6]),
]
_TAGS = _listed("NN NN NN NNS NNS NNP NNPS JJ JJ VB VBZ VBG VBN PRP PRP$ IN DT CD RB PRPX VBX JJR")
_RELATIONS = _listed("""
    case case case case nmod nmod nmod nmod nmod conj conj conj cc cc mwe det det nsubj nsubj nsubjpass
    csubj csubjpass auxpass acl advcl amod dobj iobj cop compound compound:prt nummod nummod det:qmod
    nmod:poss nmod:tmod nmod:of nmod:agent nmod:a_b acl:relcl ccomp mark advmod dep parataxis xcomp
""")


def tree(rng: random.Random, size: int) -> Sentence:
    """A tree with one root, not always projective."""
    order = rng.sample(range(1, size + 1), size)
    heads = [0] * size
    for i, word in enumerate(order[1:], 1):
        near = min(order[:i], key=lambda other: abs(other - word))
        heads[word - 1] = near if rng.random() < 0.4 else rng.choice(order[:i])
    forms = [rng.choice(_WORDS) for _ in range(size)]
    for i in range(size):
        if rng.random() < 0.2:
            phrase = rng.choice(_PREPOSITIONS)[: size - i]
            forms[i : i + len(phrase)] = phrase
    relations = ["root" if head == 0 else rng.choice(_RELATIONS) for head in heads]
    lemmas = [form.lower() if rng.random() < 0.5 else rng.choice(_WORDS) for form in forms]
    return Sentence(forms, [rng.choice(_TAGS) for _ in forms], lemmas, heads, relations)


class Grower:
    """Sentences of phrases that rules treat, with a little noise.

    Prepositions of several words, conjoined ones, quantifiers, passives, pronouns.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        # Of each word: form, tag, head as the number of a word, relation; and the words in order.
        self.rows: list[list[object]] = []
        self.order: list[int] = []

    def one(self, chance: float = 0.5) -> bool:
        return self.rng.random() < chance

    def word(self, form: str, tag: str, head: int, relation: str) -> int:
        self.rows.append([form, tag, head, relation])
        return len(self.rows) - 1

    def put(self, form: str, tag: str, head: int, relation: str) -> int:
        """Add a word, and return its number."""
        number = self.word(form, tag, head, relation)
        self.order.append(number)
        return number

    def noun(self, head: int, relation: str, depth: int, before: list[tuple[str, str]] | None = None) -> int:
        """A noun phrase with words before it: (form, relation)."""
        rng = self.rng
        noun = self.word(
            rng.choice(["dog", "man", "sofa", "couch", "men", "poss"]),
            rng.choice(["NN", "NNS", "NNP", "NNPS", "NNS"]),
            head,
            relation,
        )
        for form, kind in before or []:
            self.put(form, "IN", noun, kind)
        if self.one(0.1):
            self.rows[noun][:2] = [rng.choice(["they", "it", "he", "them"]), rng.choice(["PRP", "PRP$"])]
        if self.one():
            self.put(rng.choice(["a", "the", "an"]), "DT", noun, "det")
        for _ in range(rng.choice([0, 0, 1, 2])):
            self.put(
                rng.choice(["two", "12", "red"]),
                "CD",
                noun,
                rng.choice(["nummod", "amod", "compound", "nmod:poss"]),
            )
        self.order.append(noun)
        if depth > 0:
            for _ in range(rng.choice([0, 0, 1, 1, 2])):
                self.modifier(noun, depth - 1)
            if self.one(0.15):
                self.put(rng.choice(["and", "or", "as"]), "CC", noun, "cc")
                self.noun(noun, "conj", depth - 1, [("with", "case")] if self.one(0.3) else None)
            if self.one(0.15):
                self.clause(noun, rng.choice(["acl", "acl", "acl:relcl"]), depth - 1, subject=self.one(0.3))
        return noun

    def modifier(self, head: int, depth: int) -> None:
        """A prepositional phrase."""
        rng = self.rng
        role = rng.choice(["nmod", "nmod", "nmod", "acl", "advcl"])
        way = rng.randrange(8)
        if way == 0:  # in front of
            first, second, third = rng.choice(sorted(THREE_WORDS))
            middle = self.word(second, "NN", head, rng.choice(["nmod", "nmod", "dobj"]))
            self.put(first, "IN", middle, "case")
            self.order.append(middle)
            self.noun(middle, role, depth, [(third, rng.choice(["case", "case", "mark"]))])
        elif way == 1:  # next to
            first, second = rng.choice(sorted(TWO_WORDS_NESTED))
            outer = self.put(first, "RB", head, rng.choice(["advmod", "ccomp", "nmod", "parataxis"]))
            self.noun(outer, "nmod", depth, [(second, "case")])
        elif way == 2:  # along with
            first, second = rng.choice(sorted(TWO_WORDS_FLAT))
            self.noun(head, role, depth, [(first, rng.choice(["advmod", "case", "dep"])), (second, "case")])
        elif way == 3:  # with a hat and with a cane
            noun = self.noun(head, role, depth, [(rng.choice(["with", "by", "of"]), "case")])
            self.put("and", "CC", noun, "cc")
            self.noun(noun, "conj", depth, [(rng.choice(["in", "by", "agent", "of"]), "case")])
        elif way == 4:  # in and around the house
            noun = self.word("house", rng.choice(["NN", "NNS"]), head, role)
            case = self.put("in", "IN", noun, "case")
            self.put("and", "CC", case, "cc")
            self.put(rng.choice(["around", "by", "of", "poss"]), "IN", case, "conj")
            self.order.append(noun)
        elif way == 5:  # as well as
            noun = self.word("boy", "NN", head, role)
            marker = self.put("as", "RB", noun, "case")
            self.put("well", "RB", marker, "mwe")
            self.put("as", "IN", marker, "mwe")
            self.order.append(noun)
        elif way == 6:  # with a couple of men; with a dog and a couple of men
            listed = sorted(AFTER_A) + sorted(ALONE) + sorted(BEFORE_DEFINITE) + ["7", "70s"]
            quantifier = self.word(rng.choice(listed), "NN", head, "nmod")
            if self.one(0.4):
                self.rows[quantifier][2:] = [self.noun(head, rng.choice(["nmod", "dobj"]), 0), "conj"]
                self.put("and", "CC", int(str(self.rows[quantifier][2])), "cc")
            else:
                self.put(rng.choice(["with", "on"]), "IN", quantifier, "case")
            if self.one(0.7):
                self.put("a", "DT", quantifier, "det")
            self.order.append(quantifier)
            self.noun(quantifier, "nmod", depth, [("of", "case")])
        else:
            self.noun(
                head, rng.choice([role, "nmod:tmod"]), depth, [(rng.choice(["on", "by", "of", "at"]), "case")]
            )

    def clause(self, head: int, relation: str, depth: int, subject: bool = True) -> int:
        rng = self.rng
        passive = self.one(0.4)
        verb = self.word(
            rng.choice(["be", "sit", "chase", "red"]),
            rng.choice(["VBZ", "VBN", "VBG", "VB", "JJ", "NN"]),
            head,
            relation,
        )
        for _ in range(rng.choice([1, 1, 2]) if subject else 0):
            self.noun(verb, rng.choice(["nsubjpass" if passive else "nsubj", "nsubj", "csubj"]), depth)
        if passive:
            self.put("is", "VBZ", verb, "auxpass")
        elif self.one(0.3):
            self.put("is", "VBZ", verb, "cop")
        self.order.append(verb)
        if self.one(0.3):
            self.put(rng.choice(["up", "be", "on"]), "RP", verb, "compound:prt")
        for _ in range(rng.choice([0, 1, 1, 2])):
            self.noun(verb, rng.choice(["dobj", "iobj"]), depth)
        for _ in range(rng.choice([0, 1, 2])):
            self.modifier(verb, depth)
        if self.one(0.3) and depth > 0:
            self.put("and", "CC", verb, "cc")
            self.clause(verb, "conj", depth - 1, subject=self.one(0.2))
        return verb

    def sentence(self) -> Sentence:
        (self.clause if self.one() else self.noun)(-1, "root", 2)
        places = {number: place for place, number in enumerate(self.order, 1)}
        rows = [self.rows[number] for number in self.order]
        rng = self.rng
        forms = [rng.choice(_WORDS) if self.one(0.02) else str(row[0]) for row in rows]
        tags = [rng.choice(_TAGS) if self.one(0.03) else str(row[1]) for row in rows]
        heads = [places.get(int(str(row[2])), 0) for row in rows]
        relations = [
            rng.choice(_RELATIONS) if head and self.one(0.03) else str(row[3])
            for row, head in zip(rows, heads)
        ]
        return Sentence(forms, tags, [form.lower() for form in forms], heads, relations)


def trees(seed: int, count: int) -> list[Sentence]:
    """A third of them grown at random, the others from phrases."""
    rng = random.Random(seed)
    sizes = (rng.randint(1, 14) if rng.random() < 0.95 else rng.randint(15, 60) for _ in itertools.count())
    return [tree(rng, next(sizes)) if i % 3 == 0 else Grower(rng).sentence() for i in range(count)]
