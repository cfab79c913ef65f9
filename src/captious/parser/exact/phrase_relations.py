"""Relations within noun, prepositional, adjective, adverb and quantity phrases."""

from __future__ import annotations

from captious.parser.exact.context import (
    adverbial,
    auxiliary,
    coordinated,
    has_noun_phrase,
    has_participle,
    infinitive,
    parenthetical,
    prepositional,
    temporal,
)
from captious.parser.exact.phrase_trees import ADJECTIVES, ADVERBS, BE, NOMINAL, NOUNS, REFLEXIVE, VERBS, Node


def in_noun_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    head_label = head.label
    if label == "DT":
        if not before:
            return "dep"
        word = (child.head.word or "").lower()
        if word == "no":
            return "neg"
        joined = coordinated(parent)
        above = parent.parent
        if not joined and above is not None and above.label == "NP" and above.children[0] is parent:
            joined = word in ("both", "either", "neither") and coordinated(above)
        if joined and word in ("both", "either", "neither"):
            return "cc:preconj"
        if head_label in ("DT", "WDT", "WP", "$", "ADVP", "WHPP"):
            return "dep"
        if joined and not any(c.label in NOUNS for c in parent.children):
            return "dep"
        following = parent.children[parent.children.index(child) + 1]
        return "det:predet" if following.label in ("DT", "PRP$") else "det"
    if label in ("WDT", "WP"):
        return "det" if before else "dep"
    if label == "PDT":
        following = parent.children[parent.children.index(child) + 1] if before else head
        return "det:predet" if before and (following.label in ("DT", "PRP$") or head_label == "DT") else "dep"
    if label in ("CD", "QP"):
        return "nummod"
    if label in ("PRP$", "WP$"):
        return "nmod:poss"
    if label == "POS":
        return "case"
    if label in ADJECTIVES:
        return "nummod" if len(child.children) == 1 and child.children[0].label == "QP" else "amod"
    if label in NOUNS:
        at = parent.children.index(child)
        if not before or (
            head_label in ("JJR", "WP", "NX") and not any(c.label in NOUNS for c in parent.children[at + 1 :])
        ):
            return "dep"
        return "dep" if at > 0 and parent.children[at - 1].label == "," else "compound"
    if label == "FW":
        return "compound" if before and (head_label in NOUNS or head_label in ("CD", "FW")) else "dep"
    if label == "NP":
        if child.children[-1].label == "POS":
            return "nmod:poss"
        if before:
            return "dep" if head_label in ("JJR", "WP", "NX") else "compound"
        return _second_noun_phrase(parent, child, head_label)
    if label == "NP-TMP":
        return "nmod:tmod"
    if label in ADVERBS:
        if child.word is None:
            return "advmod"
        return "neg" if child.word.lower() == "no" else adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod" if has_noun_phrase(child, ("IN",)) else "acl"
    if label == "VP":
        return "acl" if not before and head_label in NOMINAL and has_participle(child) else "dep"
    if label == "SBAR":
        name = _clause_of_noun(parent, child, head)
        if parent.label == "NP-TMP" and name == "acl:relcl" and child.children[0].label in ("IN", "WP$"):
            return "dep"
        return name if not before or head_label in ("NN", "NNS", "JJ") else "dep"
    if label == "RRC":
        return "acl:relcl" if head_label in ("NP", "DT", "WHNP") else "dep"
    if label == "S":
        return "acl" if infinitive(child) and not before else "dep"
    if label == "PRN":
        return parenthetical(child)
    if label == "UCP":
        return "nmod" if child.children[0].label == "PP" else "dep"
    return "dep"


def _second_noun_phrase(parent: Node, child: Node, head_label: str) -> str:
    if len(child.children) == 1:
        only = child.children[0]
        if only.label == "PRP" and only.word is not None and only.word.lower() in REFLEXIVE:
            return "nmod:npmod"
        if (
            only.label == "NNP"
            and head_label == "NP"
            and parent.children[parent.children.index(child) - 1] is parent.head_child
        ):
            return "appos"
    if head_label == "NP" and parent.children[parent.children.index(child) - 1].label == ",":
        return "appos"
    return "dep"


def _clause_of_noun(parent: Node, child: Node, head: Node) -> str:
    first = child.children[0]
    body = child.head_child
    assert body is not None
    if infinitive(body) and child.start > head.start and head.label in (*NOUNS, "NP"):
        return "acl"
    if head.label in ("NN", "NNS", "JJ"):
        return "ccomp"
    if head.label != "NP":
        return "dep"
    kind = first.label
    if kind in ("WHNP", "WHPP", "SBAR"):
        return "acl:relcl"
    word = first.head.word
    assert word is not None
    word = word.lower()
    if kind == "WHADVP":
        word = (first.children[0].word or word).lower()
        return "acl:relcl" if word in ("where", "why", "when", "wherein", "wherever") else "dep"
    inner = [c.label for c in body.children]
    for other in child.children:
        if other.label in ("IN", "MWE") and other is not body:
            if other.word in ("that", "whether"):
                return "dep"
            if other.word == "than":
                return "advcl"
            if other.word in ("during", "after", "before", "since", "until"):
                return "acl"
    if body is first:
        return "acl:relcl" if body.label == "S" else "dep"
    return "acl:relcl" if "NP" in inner and _lacks_object(body) else "dep"


def _lacks_object(clause: Node) -> bool:
    """Return whether the clause has an active verb without object, which the preceding noun could be."""
    phrase = next((c for c in clause.children if c.label == "VP"), None)
    if phrase is None:
        return False
    while True:
        inner = next((c for c in phrase.children if c.label == "VP"), None)
        if inner is None:
            break
        if any(auxiliary(phrase, c, inner) == "auxpass" for c in phrase.children if c.label in VERBS):
            return False
        phrase = inner
    for child in phrase.children:
        if child.label == "NP":
            return False
        if child.label == "PP" and not any(c.word is None for c in child.children):
            return False
        if child.word is not None and child.word.lower() in BE and phrase.head_child is not child:
            return False
    return True


def _has_predicate(clause: Node) -> bool:
    """Return whether the clause has a subject or a verb.

    In some, the grammar takes a noun for a verb phrase.
    """
    if clause.head.label in _PREDICATE_TAGS or any(c.label == "NP" for c in clause.children):
        return True
    return any(
        c.label == "VP" and any(v.label in _PREDICATE_TAGS for v in c.children) for c in clause.children
    )


_PREDICATE_TAGS = frozenset(["VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD", "TO", "JJ"])


def in_prepositions(parent: Node, child: Node, head: Node) -> str:
    return "conj"


def in_prepositional(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in ("IN", "TO", "VBG", "VBN", "JJ", "MWE"):
        at = parent.children.index(child) + 1
        if label != "VBG" and at < len(parent.children):
            other = parent.children[at]
            if other.label == "SBAR" or (other.label == "S" and _has_predicate(other)):
                return "mark"
        return "case"
    if label in ADVERBS:
        return adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod"
    return "nmod:tmod" if label == "NP-TMP" else "dep"


def in_adjective_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    head_label = head.label
    if label in ADVERBS:
        return adverbial(child)
    if label in ("PP", "WHPP"):
        return prepositional(child, "advcl")
    if label in ("CD", "#"):
        return "compound"
    if label in ("JJ", "NNP"):
        if not before or coordinated(parent):
            return "dep"
        if head_label == "NN" and label == "JJ":
            return "amod" if sum(c.label == "JJ" for c in parent.children) > 1 else "dep"
        return "amod" if head_label in ("JJ", "NNP") else "dep"
    if label in ("DT", "WDT", "WP"):
        above = parent.parent
        if (
            child.head.word == "both"
            and above is not None
            and above.children[0] is parent
            and coordinated(above)
        ):
            return "cc:preconj"
        takes_determiner = head_label in ("CD", "JJ", "JJR", "JJS", "NN", "NNP", "NNS") and not coordinated(
            parent
        )
        return "det" if before and takes_determiner else "dep"
    if label == "NN":
        return "nmod:npmod" if before and head_label == "JJ" else "dep"
    if label == "NP":
        if before and head_label in ("IN", "JJ", "JJR", "RB", "RBR"):
            return "nmod:npmod"
        return "nmod:tmod" if temporal(child) else "dep"
    if label == "NP-TMP":
        return "nmod:tmod"
    if label == "SBAR":
        return (
            "dep"
            if child.children[0].word == "as" or child.head_child is None or child.head_child.label == "FRAG"
            else "ccomp"
        )
    if label == "S":
        return "xcomp" if infinitive(child) and child.children[0].label == "VP" else "dep"
    if label in ("PRP$", "WP$"):
        return "nmod:poss"
    if label == "RP":
        return "compound:prt" if head_label in VERBS else "dep"
    return "dep"


def in_adverb_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    if label in ADVERBS:
        if child.word is None:
            return "advmod"
        return "dep" if child.word.lower() == "not" else "advmod"
    if label in ("PP", "WHPP"):
        return prepositional(child, "advcl", "dep")
    if label == "IN":
        return "case"
    if label == "JJ" and before:
        return "advmod"
    if label in ("NP", "NP-TMP"):
        return "nmod:npmod" if head.label in ("JJ", "JJR", "RB", "RBR", "IN") else "dep"
    if label in ("DT", "WDT", "WP"):
        return (
            "det"
            if before and head.label not in ("CC", "DT", "FW", "RB", "RBR", "RP", "VBN", "ADJP")
            else "dep"
        )
    if label == "FW":
        return "compound" if before and head.label == "FW" else "dep"
    if label == "SBAR":
        return "advcl" if head.label == "ADVP" else "dep"
    return "dep"


def in_quantity(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in ("DT", "IN", "JJ", "JJR", "JJS", "PDT", "RB", "RBR", "RBS"):
        return "advmod"
    if label == "PP":
        return "nmod:npmod"
    if label == "MWE":
        return "dep" if child.head.word == "up" else "advmod"
    if label == "CD":
        return "nummod" if head.label == "$" else "compound"
    if label == "#":
        return "compound"
    if label == "$":
        return "nummod"
    return "dep"
