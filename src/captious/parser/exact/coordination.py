"""Phrases that flat trees lack: conjuncts (`a [black and white] dog`) and expressions (`because of`)."""

from __future__ import annotations

from captious.parser.exact.phrase_trees import BE, PUNCTUATION, VERBS, Node

# Multi-word expressions by the category that contains them, with the possible tags of both words.
_PREPOSITIONS = {
    ("as", "to"): ("IN", "IN TO"),
    ("because", "of"): ("IN RB", "IN"),
    ("due", "to"): ("IN JJ", "IN TO"),
    ("instead", "of"): ("IN RB", "IN"),
    ("rather", "than"): ("IN RB", "IN"),
    ("such", "as"): ("JJ", "IN"),
    ("so", "that"): ("IN RB JJ", "IN TO"),
    ("in", "between"): ("IN RB", "IN RB"),
    ("prior", "to"): ("JJ RB", "IN TO"),
    ("in", "order"): ("IN RB", "NN RB"),
    ("of", "course"): ("IN RB", "NN RB"),
}
_FIXED: dict[str, dict[tuple[str, str], tuple[str, str]]] = {
    "PP": _PREPOSITIONS,
    "SBAR": {
        ("as", "if"): ("IN RB", "IN"),
        ("rather", "than"): ("IN RB", "IN"),
        ("so", "that"): ("IN RB JJ", "IN TO"),
        ("in", "order"): ("IN", "NN"),
    },
    "ADVP": {
        ("as", "well"): ("RB", "RB IN"),
        ("in", "case"): ("IN RB", "NN"),
        ("in", "between"): ("IN RB", "IN RB"),
        ("that", "is"): ("RB", "RB"),
        ("of", "course"): ("IN RB", "NN RB"),
        ("let", "alone"): ("RB", "RB JJ"),
        ("all", "but"): ("RB", "IN RB"),
    },
    "QP": {
        ("up", "to"): ("IN RB", "IN TO"),
        ("more", "than"): ("IN JJR RBR", "IN"),
        ("less", "than"): ("IN JJR RBR", "IN"),
        ("all", "but"): ("RB", "IN RB"),
    },
    "ADJP": {("all", "but"): ("RB", "IN RB")},
    "CONJP": {
        ("as", "well"): ("RB", "RB IN"),
        ("because", "of"): ("IN RB", "IN"),
        ("instead", "of"): ("IN RB", "IN"),
        ("rather", "than"): ("IN RB", "IN"),
        ("let", "alone"): ("RB", "RB JJ"),
    },
}
_NOUN_LIKE = ("NP", "NN", "NNP", "NNS", "NAC", "NP-TMP")


def regroup(node: Node) -> None:
    """Insert the phrases that a flat phrase lacks."""
    label = node.label
    if label == "NP" or label == "NP-TMP":
        if len(node.children) >= 4:
            _noun_phrase(node)
        return
    fixed = _FIXED.get(label)
    if fixed is not None:
        _fixed_words(node, fixed)
    if label == "PP":
        _prepositions(node)
    elif label == "QP":
        _at_least(node)
    elif label == "SBARQ":
        _copular_question(node)
    elif label == "UCP":
        first = node.children[0].label
        if first in ("ADJP", "JJ", "JJR"):
            node.label = "ADJP"
        elif first in _NOUN_LIKE:
            node.label = "NP"
        elif first == "ADVP":
            node.label = "ADVP"


def _fixed_words(node: Node, fixed: dict[tuple[str, str], tuple[str, str]]) -> None:
    children = node.children
    if len(children) < 2:
        return
    first, second = children[0], children[1]
    if first.word is None:
        return
    if second.word is None:
        # `in order` may be parsed as a preposition with a noun phrase
        if second.label != "NP" or len(second.children) != 1 or second.children[0].word is None:
            return
        second = second.children[0]
    assert second.word is not None
    tags = fixed.get((first.word.lower(), second.word.lower()))
    if tags is None or first.label not in tags[0].split() or second.label not in tags[1].split():
        return
    if node.label == "ADVP" and len(children) > 2:
        return
    if node.label == "CONJP":
        node.children = [Node("MWE", [first, *children[1:]])]
    else:
        node.children = [Node("MWE", [first, children[1]]), *children[2:]]


def _prepositions(node: Node) -> None:
    """`in and out of`: coordinated prepositions before their complement."""
    children = node.children
    if (
        len(children) >= 4
        and children[1].label == "CC"
        and children[0].label in ("IN", "TO")
        and children[2].label in ("IN", "TO")
    ):
        node.children = [Node("IN", children[:3]), *children[3:]]


def _at_least(node: Node) -> None:
    children = node.children
    if (
        len(children) > 2
        and children[0].label == "IN"
        and children[0].word == "at"
        and children[1].label == "JJS"
    ):
        node.children = [Node("PP", children[:2]), *children[2:]]


def _copular_question(node: Node) -> None:
    """`What is this`: make verb and subject sisters of the pronoun, which is the predicate."""
    children = node.children
    if not any(c.label == "WHNP" and c.children[0].label in ("WP", "WDT") for c in children):
        return
    for at, child in enumerate(children):
        if child.label == "SQ":
            inner = [c.label for c in child.children if c.label not in PUNCTUATION]
            verb = child.children[0]
            if (
                len(inner) == 2
                and inner[1] == "NP"
                and verb.word is not None
                and verb.label in VERBS
                and verb.word.lower() in BE
            ):
                node.children = [*children[:at], *child.children, *children[at + 1 :]]
            return


def _noun_phrase(node: Node) -> None:
    children = node.children
    n = len(children)
    at = -1
    for i in range(n - 1, 0, -1):
        if children[i].label == "CC":
            at = i
            break
    if at < 1 or at == n - 1 or children[at - 1].label == "NP" or children[at + 1].label == "NP":
        return
    # a [black and white] dog
    first = 0
    while first < at and children[first].label == "DT":
        first += 1
    start = first if first == 1 and n == at + 3 else 0
    if at + 2 < n and start < at and _plain(children[at + 2]):
        conjuncts = children[start : at + 1]
        if all((i % 2 == 1) == (c.label in (",", "CC")) for i, c in enumerate(conjuncts)):
            kind = conjuncts[0].label
            if kind not in ("NNS", "ADJP") or (kind == "ADJP" and start == 1):
                label = "ADJP" if kind.startswith("JJ") else "NP"
                node.children = [
                    *children[:start],
                    Node(label, children[start : at + 2]),
                    *children[at + 2 :],
                ]
                return
    if at + 2 < n and _plain(children[at + 2]):
        left = Node(_name(children[at - 1]), children[:at])
        right = Node(_name(children[-1]), children[at + 1 :])
        if len(left.children) >= 4:
            _noun_phrase(left)
        node.children = [left, children[at], right]


def _plain(node: Node) -> bool:
    return node.word is not None and node.label not in PUNCTUATION and node.label != "CC"


def _name(last: Node) -> str:
    return "ADJP" if last.label.startswith("JJ") else "NP"
