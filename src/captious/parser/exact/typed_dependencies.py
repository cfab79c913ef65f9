"""Basic Universal Dependencies (version 1) of a phrase-structure tree, as CoreNLP 3.6.0 derives them.

The rules follow the published descriptions (Collins 1999 on heads; de Marneffe et al. 2006 and 2014 on
relations and on content words as heads; the guidelines of Universal Dependencies 1) and the observed output
of the tool.
"""

from __future__ import annotations

from captious.parser.exact.clause_relations import (
    in_clause,
    in_fragment,
    in_inverted,
    in_subordinate,
    in_verb_phrase,
)
from captious.parser.exact.context import adverbial, coordinated, has_noun_phrase, infinitive
from captious.parser.exact.coordination import regroup
from captious.parser.exact.phrase_relations import (
    in_adjective_phrase,
    in_adverb_phrase,
    in_noun_phrase,
    in_prepositional,
    in_prepositions,
    in_quantity,
)
from captious.parser.exact.phrase_trees import ADVERBS, NOMINAL, NOUN_PHRASES, PUNCTUATION, Node, find_head


def convert(tree: Node) -> tuple[list[int], list[str]]:
    """Return the head of each word (from 1; 0 is the root) and its relation to the head.

    Temporal noun phrases have to be labelled `NP-TMP`; other functional annotations have to be removed. The
    tree is modified: flat coordinations get phrases of their own.
    """
    phrases = _prepare(tree)
    for node in phrases:
        head_child = find_head(node)
        node.head_child = head_child
        node.head = head_child.head
    heads = [0] * tree.end
    relations = ["root"] * tree.end
    for node in phrases:
        head = node.head_child
        for child in node.children:
            if child is not head:
                governor, name = attach(node, child)
                dependent = child.head.start
                heads[dependent] = governor.head.start + 1
                relations[dependent] = name
    return heads, relations


def _prepare(tree: Node) -> list[Node]:
    """Return the phrases, daughters before parents, after setting spans and parents."""
    phrases: list[Node] = []
    position = 0
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.word is not None:
            node.start = position
            position += 1
            node.end = position
            node.head = node
        else:
            regroup(node)
            phrases.append(node)
            children = node.children
            for child in children:
                child.parent = node
            stack.extend(reversed(children))
    phrases.reverse()
    for node in phrases:
        node.start = node.children[0].start
        node.end = node.children[-1].end
    return phrases


def attach(parent: Node, child: Node) -> tuple[Node, str]:
    """Return the node whose head governs `child`, and the relation. Head children have to be set.

    The governor is `parent`, except for a few words that belong to a sister or to the clause above.
    """
    label = child.label
    kind = parent.label
    if label == "ADVP" or (label == "RB" and kind == "VP"):
        at = parent.children.index(child)
        if (
            0 < at < len(parent.children) - 1
            and parent.children[at - 1].label == "CC"
            and parent.children[at + 1].label == kind
            and all(c.word is not None for c in child.children)
        ):
            return parent.children[at + 1], adverbial(child)
    elif label == "PP":
        if kind in ("VP", "ADJP") and len(child.children) == 1 and child.children[0].label in ("IN", "TO"):
            for other in parent.children:
                if other is child:
                    break
                if (
                    other.label == "PP"
                    and other is not parent.head_child
                    and has_noun_phrase(other, ("IN", "TO"))
                ):
                    return other, "case"
    elif label == "NP" and kind == "S" and parent.parent is not None and parent.parent.label == "VP":
        above = parent.parent
        if parent is not above.head_child and infinitive(parent) and child.start < parent.head.start:
            return above, "dobj"
    return parent, relation(parent, child)


def relation(parent: Node, child: Node) -> str:
    """Return the relation of `child` to the head of `parent`."""
    label = child.label
    kind = parent.label
    if label in PUNCTUATION:
        return "punct"
    if kind == "MWE":
        return "mwe"
    if label == "CC" or label == "CONJP":
        if label == "CC":
            early = child.word is not None and child.word.lower() in ("both", "either", "neither")
            if kind in ("PP", "WHPP") and child is parent.children[0]:
                if parent.head_child is not None and parent.head_child.label in NOUN_PHRASES:
                    return "case"
                return "dep" if early else "cc"
            if early:
                head = parent.head_child
                assert head is not None
                return "cc:preconj" if child.start < head.start or coordinated(parent.children[0]) else "dep"
        return "cc"
    head = parent.head_child
    assert head is not None
    if label == "INTJ":
        return "discourse"
    rule = _RULES.get(kind)
    name = rule(parent, child, head) if rule is not None else "dep"
    if not _is_conjunct(parent, child, head):
        return name
    # Relations that a child can have even after a conjunction.
    if kind in ("FRAG", "X", "PRT") or label == "PRN" or name == "compound:prt":
        return name
    if (
        name == "compound"
        and kind in NOMINAL
        and parent.children[parent.children.index(child) - 1].label in ("CC", "CONJP")
    ):
        return name
    if name == "case" and kind == "PP":
        return name
    if (name == "acl" and label != "PP") or (name == "acl:relcl" and label == "RRC"):
        return name
    if (label == "SBAR" and kind in ("VP", "S")) or (label == "S" and name == "ccomp"):
        return name
    if name in ("advmod", "neg") and kind not in ("ADVP", "PP", "WHADVP"):
        return name
    if name == "acl:relcl" and child.children[0].label == "WHADVP":
        return name
    return "conj"


def _is_conjunct(parent: Node, child: Node, head: Node) -> bool:
    children = parent.children
    at = children.index(child)
    if at == 0:
        return False
    at -= 1
    while at > 0 and children[at].label in PUNCTUATION:
        at -= 1
    before = children[at]
    if before.label in ("CC", "CONJP") and at > 0:
        return before is not head or (child.word is None and child.label not in ADVERBS)
    if (
        (before.label == "ADVP" or (before.label == "RB" and parent.label == "VP"))
        and at > 0
        and children[at - 1].label == "CC"
        and before is not head
    ):
        return child.label == parent.label or (parent.label == "UCP" and child.label == "SBAR")
    # Members of a list precede the conjunction, separated by commas.
    at = children.index(child)
    if children[at - 1].label in (",", ":"):
        for other in children[at + 1 :]:
            if other.label in ("CC", "CONJP"):
                return child.label[0] == head.label[0] or child.label == "PP"
    return False


_RULES = {
    **dict.fromkeys(("NP", "NP-TMP", "NX", "WHNP", "NAC"), in_noun_phrase),
    "VP": in_verb_phrase,
    "S": in_clause,
    "SBAR": in_subordinate,
    "SBARQ": in_subordinate,
    **dict.fromkeys(("FRAG", "X", "PRN", "RRC"), in_fragment),
    **dict.fromkeys(("SINV", "SQ"), in_inverted),
    **dict.fromkeys(("PP", "WHPP"), in_prepositional),
    **dict.fromkeys(("ADJP", "WHADJP"), in_adjective_phrase),
    **dict.fromkeys(("ADVP", "WHADVP", "CONJP"), in_adverb_phrase),
    "QP": in_quantity,
    "IN": in_prepositions,
}
