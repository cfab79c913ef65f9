"""Questions about a phrase that the rules for relations share."""

from __future__ import annotations

from captious.parser.exact.phrase_trees import (
    BE,
    NEGATIONS,
    NOUN_PHRASES,
    NOUNS,
    PASSIVE,
    TEMPORAL,
    VERBS,
    Node,
)


def adverbial(child: Node) -> str:
    word = child.head.word
    assert word is not None
    return "neg" if word.lower() in NEGATIONS else "advmod"


def prepositional(phrase: Node, clausal: str, alone: str = "nmod") -> str:
    """Return the relation of a prepositional phrase to a verb or an adjective.

    It is `nmod` if the phrase contains a noun phrase, `alone` for a preposition without complement, otherwise
    `clausal`.
    """
    children = phrase.children
    kinds = [c.label for c in children]
    if any(kind in NOUN_PHRASES for kind in kinds):
        return "nmod"
    others = [kind for kind in kinds if kind != "PP"]
    if len(others) < len(kinds):
        if not others or kinds[0] == "PP":
            return "nmod"
        if all(kind == "IN" for kind in others):
            inner = next(c for c in children if c.label == "PP")
            return "nmod" if any(c.label in NOUN_PHRASES for c in inner.children) else "dep"
        return clausal
    if len(children) == 1 and children[0].label in ("IN", "TO"):
        return alone
    return clausal


def has_noun_phrase(phrase: Node, inner_prepositions: tuple[str, ...]) -> bool:
    """Return whether a prepositional phrase has a noun phrase, directly or inside an inner one."""
    for child in phrase.children:
        if child.label in NOUN_PHRASES:
            return True
    for child in phrase.children:
        if child.label == "PP":
            if len(phrase.children) == 1 or phrase.children[0] is child:
                return True
            kinds = [c.label for c in child.children]
            return any(kind in NOUN_PHRASES for kind in kinds) and any(
                kind in inner_prepositions for kind in kinds
            )
    return False


def temporal(phrase: Node) -> bool:
    if phrase.label == "NP-TMP":
        return True
    while len(phrase.children) == 1 and phrase.children[0].label == "NP":
        phrase = phrase.children[0]
    head = phrase.head_child
    return (
        head is not None and head.word is not None and head.label in NOUNS and head.word.lower() in TEMPORAL
    )


def has_participle(phrase: Node) -> bool:
    return any(c.label in ("VBG", "VBN", "VBD") for c in phrase.children)


def parenthetical(phrase: Node) -> str:
    """Return the relation of a parenthetical phrase beside a noun."""
    kinds = [c.label for c in phrase.children]
    if "NP" in kinds and kinds[0] == "-LRB-":
        return "appos"
    return "nmod" if "PP" in kinds else "dep"


def infinitive(clause: Node) -> bool:
    return any(c.label == "VP" and any(v.label == "TO" for v in c.children) for c in clause.children)


def coordinated(phrase: Node) -> bool:
    return any(c.label in ("CC", "CONJP") for c in phrase.children)


def participle(phrase: Node) -> bool:
    """Return whether a phrase or one of its conjuncts has a participle that can be passive."""
    children = phrase.children
    for child in children:
        if child.label in ("VBN", "VBD"):
            return True
    if any(c.label in ("CC", "CONJP") for c in children):
        for child in children:
            if child.label in ("VP", "ADJP") and any(c.label in ("VBN", "VBD") for c in child.children):
                return True
    return False


def auxiliary(parent: Node, child: Node, head: Node) -> str:
    word = (child.head.word or "").lower()
    if (
        child.label != "MD"
        and child.label != "POS"
        and word in PASSIVE
        and head.label in ("VP", "ADJP")
        and participle(head)
    ):
        return "auxpass"
    if word in BE and child.label not in ("MD", "POS") and parent.label != "SINV":
        if head.label == "VP":
            return (
                "cop"
                if parent.label != "SQ"
                and any(c.label in ("ADJP", "NP", "PP", "WHNP") for c in parent.children)
                else "aux"
            )
        return "cop" if head.word is None and head.label != "WHADJP" else "dep"
    return "aux" if head.label == "VP" else "dep"


def passive(node: Node) -> bool:
    """Return whether the clause's verb has a passive auxiliary."""
    head = node.head_child
    while head is not None:
        if node.label in ("VP", "SQ", "SINV"):
            for child in node.children:
                if child is not head and child.label in VERBS and auxiliary(node, child, head) == "auxpass":
                    return True
        node = head
        head = node.head_child
    return False


def follows(parent: Node, child: Node, label: str) -> bool:
    return any(c.label == label and c.start > child.start for c in parent.children)
