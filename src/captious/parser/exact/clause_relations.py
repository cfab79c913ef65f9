"""Relations within clauses, fragments of clauses and verb phrases."""

from __future__ import annotations

from captious.parser.exact.context import (
    adverbial,
    auxiliary,
    coordinated,
    follows,
    has_noun_phrase,
    infinitive,
    parenthetical,
    passive,
    prepositional,
    temporal,
)
from captious.parser.exact.phrase_trees import ADVERBS, BE, CONTROL, HAVE, LINKING, VERBS, Node


def in_clause(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    if label in ("NP", "WHNP"):
        return _subject(parent, child, head)
    if label == "NP-TMP":
        return "nmod:tmod" if head.label == "VP" and any(c.label == "NP" for c in parent.children) else "dep"
    if label in ADVERBS:
        return adverbial(child)
    if label == "PP":
        name = prepositional(child, "advcl")
        return "dep" if name == "nmod" and head.label not in ("VP", "S") else name
    if label == "SBAR":
        return _subordinate_of_clause(parent, child, head, before)
    if label == "S":
        if not before:
            return "parataxis" if _second_clause(parent, child) else "dep"
        return _clause_before(parent, child, head)
    if label == "FRAG":
        return "parataxis" if _second_clause(parent, child) else "dep"
    if label == "PRN":
        return "parataxis" if any(c.label in ("S", "SINV", "SBAR") for c in child.children) else "dep"
    return "dep"


def _second_clause(parent: Node, child: Node) -> bool:
    before = parent.children[: parent.children.index(child)]
    kinds = ("S", "FRAG") if child.label == "S" or parent.label == "S" else ("FRAG",)
    return any(c.label in kinds for c in before) and before[-1].label != "CC"


def _subordinate_of_clause(parent: Node, child: Node, head: Node, before: bool) -> str:
    if before:
        if head.label != "VP":
            return "advcl"
        if follows(parent, child, "NP"):
            return "advcl"
        return "dep" if any(c.label == "NP" for c in parent.children) else _clausal_subject(head)
    first = child.children[0]
    adverb = first.label == "WHADVP" and any(c.label == "WRB" for c in first.children)
    return "advcl" if adverb and first.head.word != "how" and head.label == "VP" else "dep"


def _clausal_subject(head: Node) -> str:
    return "csubjpass" if passive(head) else "csubj"


def _clause_before(parent: Node, child: Node, head: Node) -> str:
    if head.label != "VP":
        return "dep"
    if not any(c.label == "NP" for c in parent.children):
        return _clausal_subject(head)
    if parent.children[parent.children.index(child) + 1].label != ",":
        return "dep"
    verb_phrase = next((c for c in child.children if c.label == "VP"), None)
    if verb_phrase is not None and any(c.label in ("VBG", "VBN", "TO") for c in verb_phrase.children):
        return "advcl"
    return "ccomp"


def _subject(parent: Node, child: Node, head: Node) -> str:
    if child.head.label == "EX" and head.label in ("VP", "ADJP"):
        return "expl"
    if not follows(parent, child, "VP"):
        above = parent.parent
        predicate = any(c.label in ("ADJP", "NP") and c.start > child.start for c in parent.children)
        small = child.label == "NP" and predicate and above is not None and above.label == "VP"
        return "nsubj" if small else "dep"
    if temporal(child) and follows(parent, child, "NP"):
        return "nmod:tmod"
    return "nsubjpass" if passive(head) else "nsubj"


def in_fragment(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in ("S", "FRAG") and parent.label == "FRAG":
        return "parataxis" if _second_clause(parent, child) else "dep"
    if label in ("PP", "WHPP"):
        return "nmod" if has_noun_phrase(child, ("IN", "TO")) else "dep"
    if label == "PRN":
        return "appos" if parenthetical(child) == "appos" else "dep"
    if label in ("RB", "ADVP") and child.head.word == "not":
        return "neg"
    if (
        label == "DT"
        and parent.label == "X"
        and child.start < head.start
        and head.label not in ("SBAR", "S", "VP", "PP")
    ):
        return "det"
    if label in ADVERBS and (parent.label == "RRC" or (head.label == "VP" and child.start < head.start)):
        return adverbial(child)
    return "dep"


def in_inverted(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in VERBS:
        return auxiliary(parent, child, head)
    if label in ("NP", "WHNP"):
        if child.head.label == "EX":
            return "expl"
        if child.start < head.start and any(
            c.label == "NP" and c.start > head.start for c in parent.children
        ):
            return "dep" if parent.label == "SINV" else "nsubj"
        if (
            parent.label == "SQ"
            and head.label in VERBS
            and head.word is not None
            and head.word.lower() not in BE
        ):
            above = parent.parent
            if above is not None and any(c.label == "WHNP" for c in above.children):
                return "dobj"
        return "nsubjpass" if passive(parent) else "nsubj"
    if label in ADVERBS:
        return adverbial(child)
    if label == "PP" and parent.label == "SQ":
        return prepositional(child, "advcl")
    if label == "PP":
        if head.label not in ("S", "VP") or any(c.label in ("S", "SBAR") for c in child.children):
            return "dep"
        return "nmod"
    if label == "SBAR":
        return "advcl" if child.start < head.start and head.label != "VP" else "dep"
    return "dep"


def _relative(parent: Node, head: Node) -> str:
    """Return the relation of a relative pronoun: object if the clause has a subject, otherwise subject."""
    kinds = [c.label for c in head.children]
    if head.label == "S":
        if "VP" not in kinds:
            return "dep"
        if "NP" in kinds:
            return "dobj"
        if parent.label == "SBARQ":
            return "dep"
    elif head.label == "SQ":
        verb = head.children[0].word
        if "NP" in kinds and ("VP" in kinds or (len(kinds) == 2 and verb is not None and verb.lower() in BE)):
            return "dobj"
    elif head.label != "VP":
        return "dep"
    return "nsubjpass" if passive(head) else "nsubj"


def in_subordinate(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in ("IN", "DT", "MWE"):
        return "mark" if child.start < head.start and head.label in ("S", "FRAG") else "dep"
    if label == "WHNP":
        return _relative(parent, head)
    if parent.label == "SBARQ":
        if label in VERBS:
            return "cop"
        if label == "NP":
            return "nsubj" if head.label == "WHNP" else "dep"
    if label in ADVERBS:
        return adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod" if head.label in ("S", "SQ") else "dep"
    return "dep"


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
