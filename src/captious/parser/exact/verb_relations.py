"""Relations within verb phrases: objects, complements, auxiliaries."""

from __future__ import annotations

from captious.parser.exact.context import (
    adverbial,
    auxiliary,
    coordinated,
    infinitive,
    passive,
    prepositional,
    temporal,
)
from captious.parser.exact.phrase_trees import Node
from captious.parser.exact.word_forms import ADVERBS, BE, CONTROL, HAVE, LINKING, VERBS


def in_verb_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if child.word is not None:
        if label in VERBS or label == "POS":
            return auxiliary(parent, child, head)
        if label == "TO":
            return "mark" if head.label == "VP" else "dep"
        if label in ADVERBS:
            return adverbial(child)
        return "dep"
    if label in ("NP", "WHNP"):
        return _object(parent, child, head)
    if label == "NP-TMP":
        return "nmod:tmod"
    if label == "PRT":
        return "compound:prt"
    if label in ADVERBS:
        return adverbial(child)
    if label in ("PP", "WHPP"):
        return prepositional(child, "advcl")
    if label == "ADJP":
        return "xcomp"
    if label == "S":
        return _bare_complement(parent, child, head)
    if label == "SBAR":
        return _complement(parent, child)
    if label == "SBARQ":
        return "ccomp"
    if label == "VP":
        return _verb_phrase_complement(parent, child, head)
    if label == "PRN":
        return "parataxis" if any(c.label in ("S", "SINV", "SBAR") for c in child.children) else "dep"
    return "dep"


def _verb_phrase_complement(parent: Node, child: Node, head: Node) -> str:
    if (
        head.word is None
        or head.label not in VERBS
        or parent.children[parent.children.index(child) - 1] is not head
    ):
        return "dep"
    first = child.children[0].label
    if first in ("VB", "VBG") or (head.word.lower() in LINKING and first == "VBN"):
        return "xcomp"
    return "dep"


def _object(parent: Node, child: Node, head: Node) -> str:
    if child.label == "NP":
        if temporal(child):
            return "nmod:tmod"
        if child.start > head.start:
            following = parent.children.index(child) + 1
            if following < len(parent.children):
                other = parent.children[following]
                if other.label == "NP" and not temporal(other):
                    return "dep" if any(c.label == "PRP$" for c in child.children) else "iobj"
    copula = False
    for verb in parent.children:
        if verb.word is not None and verb.label in VERBS:
            word = verb.word.lower()
            if word in LINKING and verb is head:
                return "xcomp"
            if word in BE:
                copula = True
    if copula:
        clause = parent.parent
        if child.label != "NP" or clause is None or clause.label != "S":
            return "dep"
        if any(
            c.label == "NP" and len(c.children) == 1 and c.children[0].label == "EX" for c in clause.children
        ):
            return "nsubjpass" if passive(parent) else "nsubj"
        return "dep"
    return "dobj"


def _has_object(parent: Node, child: Node) -> bool:
    return any(c.label == "NP" and c.start < child.start and not temporal(c) for c in parent.children)


def _bare_complement(parent: Node, child: Node, head: Node) -> str:
    """Return the relation of a clause without conjunction within a verb phrase."""
    verb_phrase = next((c for c in child.children if c.label == "VP"), None)
    if verb_phrase is None:
        return "xcomp"
    word = head.word.lower() if head.word is not None else ""
    subject = any(c.label == "NP" for c in child.children)
    tags = [c.label for c in verb_phrase.children]
    if "TO" in tags:
        if _has_object(parent, child):
            return "xcomp" if word in CONTROL else "advcl"
        return "ccomp" if subject and word in HAVE else "xcomp"
    if "VBG" in tags:
        if any(c.label == "VBG" for c in parent.children):
            return "advcl"
        if subject:
            return "ccomp" if word in HAVE else "dep"
        return "xcomp" if tags[0] == "VBG" or _has_object(parent, child) else "ccomp"
    if "VBN" in tags or _has_object(parent, child):
        return "dep"
    return "ccomp"


def _complement(parent: Node, child: Node) -> str:
    """Return the relation of a subordinate clause within a verb phrase."""
    first = child.children[0]
    body = child.head_child
    assert body is not None
    word = first.head.word
    assert word is not None
    word = word.lower()
    if first.label in ("IN", "DT") and word in ("that", "whether"):
        clause = body.children[0] if body.children and body.children[0].label == "S" else body
        return "ccomp" if any(c.label == "VP" for c in clause.children) else "dep"
    for other in child.children:
        if other.label in ("IN", "MWE"):
            return "dep" if other.word in ("that", "whether") else "advcl"
    if first.label == "WHADVP":
        if any(c.label == "WRB" for c in first.children):
            if not any(c.word is not None and c.word.lower() == "how" for c in first.children):
                return "xcomp" if infinitive(body) else "advcl"
        else:
            return "xcomp" if infinitive(body) else "dep"
    if body.label == "SINV":
        return "advcl"
    if first.label == "SBAR":
        return _complement(parent, first) if first.children[0].label == "IN" else "dep"
    if _has_object(parent, child):
        return "xcomp" if infinitive(body) else "dep"
    if body.children and body.children[0].label == "S" and coordinated(body):
        return "dep"
    return "ccomp"
