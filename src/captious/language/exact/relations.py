"""The relation of a phrase's other children to its head."""

from __future__ import annotations

from captious.language.exact.head_rules import BE, PUNCTUATION
from captious.language.exact.trees import Node

NOMINAL = frozenset(["NP", "NP-TMP", "NX", "WHNP"])
NOUNS = frozenset(["NN", "NNS", "NNP", "NNPS"])
VERBS = frozenset(["VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"])
ADVERBS = frozenset(["RB", "RBR", "RBS", "WRB", "ADVP", "WHADVP"])
ADJECTIVES = frozenset(["JJ", "JJR", "JJS", "ADJP", "WHADJP", "VBG", "VBN", "VBD", "IN"])
NEGATIONS = frozenset(["not", "n't", "never"])
PASSIVE = BE | frozenset(["get", "gets", "got", "getting", "gotten"])
LINKING = frozenset(
    f"{stem}{ending}"
    for stem, endings in {
        "becom": "e es ing",
        "becam": "e",
        "seem": " s ed ing",
        "remain": " s ed ing",
        "resembl": "e es ed ing",
    }.items()
    for ending in endings.split(" ")
)
TEMPORAL = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday tonight morning evening afternoon night day "
    "week month year spring summer fall winter autumn days weeks months years mornings evenings november".split()
)


def relation(parent: Node, child: Node) -> str:
    """The relation of `child` to the head of `parent`; every node knows its head child."""
    label = child.label
    if label in PUNCTUATION:
        return "punct"
    if label == "CC" or label == "CONJP":
        if parent.label in ("PP", "WHPP") and label == "CC" and child is parent.children[0]:
            return "case"
        return "cc"
    head = parent.head_child
    assert head is not None
    if _is_conjunct(parent, child, head):
        return "conj"
    if label == "INTJ":
        return "discourse"
    rule = _RULES.get(parent.label)
    return rule(parent, child, head) if rule is not None else "dep"


def _is_conjunct(parent: Node, child: Node, head: Node) -> bool:
    children = parent.children
    at = children.index(child)
    if at == 0 or child.start < head.start:
        return False
    before = children[at - 1].label
    if before == "CC" or before == "CONJP":
        return True
    # Members of a list come before the conjunction, with commas between.
    if before in (",", ":"):
        for other in children[at + 1 :]:
            if other.label in ("CC", "CONJP"):
                return child.label[0] == head.label[0]
    return False


def _adverbial(child: Node) -> str:
    word = child.head.word
    assert word is not None
    return "neg" if word.lower() in NEGATIONS else "advmod"


def _is_clausal(phrase: Node) -> bool:
    """Whether a prepositional phrase is built upon something else than a noun phrase."""
    for child in phrase.children:
        if child.label in ("NP", "NP-TMP", "WHNP", "NX"):
            return False
    content = phrase.head_child
    assert content is not None
    if content.label in ("PP", "WHPP"):
        return not any(c.label in ("IN", "TO", "PP") and c is not content for c in phrase.children)
    return content.word is None


def _temporal(phrase: Node) -> bool:
    if phrase.label == "NP-TMP":
        return True
    head = phrase.head_child
    return head is not None and head.word is not None and head.label in NOUNS and head.word.lower() in TEMPORAL


def _in_noun_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    head_label = head.label
    if label == "DT":
        assert child.word is not None
        if child.word.lower() == "no":
            return "neg"
        if not before or head_label in ("DT", "WDT", "WP", "$", "ADVP"):
            return "dep"
        following = parent.children[parent.children.index(child) + 1]
        return "det:predet" if following.label == "DT" else "det"
    if label in ("WDT", "WP"):
        return "det" if before else "dep"
    if label == "PDT":
        return "det:predet"
    if label in ("CD", "QP"):
        return "nummod"
    if label in ("PRP$", "WP$"):
        return "nmod:poss"
    if label == "POS":
        return "case"
    if label in ADJECTIVES:
        return "amod"
    if label in NOUNS:
        return "compound" if before and head_label not in ("JJR", "WP", "NX") else "dep"
    if label == "FW":
        return "compound" if before and (head_label in NOUNS or head_label in ("CD", "FW")) else "dep"
    if label == "NP":
        if child.children[-1].label == "POS":
            return "nmod:poss"
        if before:
            return "dep" if head_label in ("JJR", "WP", "NX") else "compound"
        previous = parent.children[parent.children.index(child) - 1]
        return "appos" if previous.label in (",", "-LRB-", ":") else "dep"
    if label == "NP-TMP":
        return "nmod:tmod"
    if label in ADVERBS:
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return "acl" if _is_clausal(child) else "nmod"
    if label == "VP":
        return "acl" if not before and head_label in NOMINAL else "dep"
    if label == "SBAR":
        return _clause_of_noun(parent, child, head)
    if label == "RRC":
        return "acl:relcl" if head_label == "NP" else "dep"
    if label == "S":
        return "acl" if _infinitive(child) else "dep"
    return "dep"


def _clause_of_noun(parent: Node, child: Node, head: Node) -> str:
    if head.label in ("NN", "NNS", "JJ"):
        return "ccomp"
    if head.label == "NP":
        return "acl:relcl"
    return "dep"


def _infinitive(clause: Node) -> bool:
    return any(c.label == "VP" and any(v.label == "TO" for v in c.children) for c in clause.children)


def _in_verb_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if child.word is not None:
        if label in VERBS or label == "POS":
            return _auxiliary(parent, child, head)
        if label == "TO":
            return "mark" if head.label == "VP" else "dep"
        if label in ADVERBS:
            return _adverbial(child)
        return "dep"
    if label in ("NP", "WHNP"):
        return _object(parent, child, head)
    if label == "NP-TMP":
        return "nmod:tmod"
    if label == "PRT":
        return "compound:prt"
    if label in ADVERBS:
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return "advcl" if _is_clausal(child) else "nmod"
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
    if head.word is None or head.label not in VERBS:
        return "dep"
    if any(c.label == "VBN" for c in child.children) and head.word.lower() not in LINKING:
        return "dep"
    return "xcomp"


def _participle(phrase: Node) -> bool:
    """Whether a phrase or one of its conjuncts is built upon a participle that can be passive."""
    children = phrase.children
    for child in children:
        if child.label in ("VBN", "VBD"):
            return True
    if any(c.label in ("CC", "CONJP") for c in children):
        for child in children:
            if child.label in ("VP", "ADJP") and any(c.label in ("VBN", "VBD") for c in child.children):
                return True
    return False


def _auxiliary(parent: Node, child: Node, head: Node) -> str:
    assert child.word is not None
    word = child.word.lower()
    if child.label != "MD" and child.label != "POS" and word in PASSIVE and head.label in ("VP", "ADJP") and _participle(head):
        return "auxpass"
    if head.label == "VP":
        return "aux"
    if word in BE and child.label not in ("MD", "POS") and head.word is None:
        return "cop"
    return "dep"


def _object(parent: Node, child: Node, head: Node) -> str:
    if _existential(parent):
        return "nsubj"
    if child.label == "NP" and _temporal(child):
        return "nmod:tmod"
    if head.word is not None and head.word.lower() in LINKING and head.label in VERBS:
        return "xcomp"
    if child.label == "NP" and child.start > head.start:
        following = parent.children.index(child) + 1
        if following < len(parent.children):
            other = parent.children[following]
            if other.label == "NP" and not _temporal(other):
                return "iobj"
    return "dobj"


def _existential(phrase: Node) -> bool:
    clause = phrase.parent
    while clause is not None and clause.label == "VP":
        clause = clause.parent
    if clause is None or clause.label not in ("S", "SQ", "SINV"):
        return False
    return any(c.label == "NP" and c.children[0].label == "EX" for c in clause.children) and any(
        c.word is not None and c.word.lower() in BE for c in phrase.children
    )


def _has_object(parent: Node) -> bool:
    return any(c.label == "NP" and not _temporal(c) for c in parent.children)


def _bare_complement(parent: Node, child: Node, head: Node) -> str:
    """A clause without a conjunction within a verb phrase."""
    verb_phrase = next((c for c in child.children if c.label == "VP"), None)
    if verb_phrase is None:
        return "xcomp"
    subject = any(c.label in ("NP", "NP-TMP") for c in child.children)
    tags = [c.label for c in verb_phrase.children]
    if "TO" in tags:
        if _has_object(parent):
            return "advcl"
        return "ccomp" if subject else "xcomp"
    if "VBG" in tags:
        if any(c.label == "VBG" for c in parent.children):
            return "advcl"
        if subject:
            return "ccomp"
        return "xcomp" if tags[0] == "VBG" or _has_object(parent) else "ccomp"
    if subject:
        return "ccomp"
    if "VBN" in tags or _has_object(parent):
        return "dep"
    return "ccomp"


def _complement(parent: Node, child: Node) -> str:
    """A subordinate clause within a verb phrase."""
    first = child.children[0]
    word = first.head.word
    assert word is not None
    word = word.lower()
    body = child.head_child
    assert body is not None
    if first.label in ("IN", "DT") and word in ("that", "whether"):
        return "ccomp" if any(c.label == "VP" for c in body.children) else "dep"
    if any(c.label == "IN" and c.word != "that" for c in child.children):
        return "advcl"
    if first.label == "WHADVP" and any(c.label == "WRB" for c in first.children) and word != "how":
        return "xcomp" if _infinitive(body) else "advcl"
    if body.label == "SINV":
        return "advcl"
    if first.label == "SBAR":
        return _complement(parent, first) if first.children[0].label == "IN" else "dep"
    if _has_object(parent):
        return "xcomp" if _infinitive(body) else "dep"
    return "ccomp"


def _passive(node: Node) -> bool:
    """Whether the clause's verb has a passive auxiliary."""
    head = node.head_child
    while head is not None:
        if node.label in ("VP", "SQ", "SINV"):
            for child in node.children:
                if child is not head and child.label in VERBS and _auxiliary(node, child, head) == "auxpass":
                    return True
        node = head
        head = node.head_child
    return False


def _in_clause(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    if label in ("NP", "WHNP"):
        return _subject(parent, child, head) if before else "dep"
    if label == "NP-TMP":
        return "nmod:tmod"
    if label in ADVERBS:
        return _adverbial(child)
    if label == "PP":
        if head.label not in ("VP", "S"):
            return "dep"
        return "advcl" if _is_clausal(child) else "nmod"
    if label == "SBAR":
        return "advcl" if before else "dep"
    if label == "S":
        if before:
            return "csubj" if head.label == "VP" else "dep"
        return "parataxis" if head.label == "S" else "dep"
    return "dep"


def _subject(parent: Node, child: Node, head: Node) -> str:
    if head.label != "VP":
        return "dep"
    if child.head.label == "EX":
        return "expl"
    if _temporal(child) and any(c.label == "NP" and c.start > child.start for c in parent.children):
        return "nmod:tmod"
    return "nsubjpass" if _passive(head) else "nsubj"


def _in_fragment(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in ("PP", "WHPP"):
        return "dep" if _is_clausal(child) else "nmod"
    if label in ("RB", "ADVP") and head.label == "VP" and child.start < head.start:
        return _adverbial(child)
    return "dep"


def _in_inverted(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in VERBS:
        return _auxiliary(parent, child, head)
    if label in ("NP", "WHNP"):
        return "nsubjpass" if _passive(parent) else "nsubj"
    if label in ADVERBS:
        return _adverbial(child)
    if label == "PP":
        return "nmod" if head.label in ("S", "VP") else "dep"
    if label == "SBAR":
        return "advcl" if child.start < head.start else "dep"
    return "dep"


def _in_subordinate(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in ("IN", "DT"):
        return "mark" if child.start < head.start and head.label in ("S", "FRAG") else "dep"
    if label == "WHNP":
        if head.label == "S":
            if any(c.label == "NP" for c in head.children):
                return "dobj"
            return "nsubjpass" if _passive(head) else "nsubj"
        return "nsubj" if head.label == "VP" else "dep"
    if label in ADVERBS:
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod" if head.label in ("S", "SQ") else "dep"
    return "dep"


def _in_prepositional(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    if label in ("IN", "TO", "VBG", "VBN", "JJ"):
        return "mark" if before and head.label in ("S", "SBAR") and label != "VBG" else "case"
    if label in ADVERBS:
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod"
    return "dep"


def _in_adjective_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    head_label = head.label
    if label in ADVERBS:
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return "advcl" if _is_clausal(child) else "nmod"
    if label in ("CD", "#"):
        return "compound"
    if label in ("JJ", "NNP"):
        return "amod" if before and head_label in ("JJ", "NNP") else "dep"
    if label in ("DT", "WDT", "WP"):
        return "det" if before and head_label in ("CD", "JJ", "JJR", "JJS", "NN", "NNP", "NNS") else "dep"
    if label == "NN":
        return "nmod:npmod" if before and head_label == "JJ" else "dep"
    if label == "NP":
        return "nmod:npmod" if before and head_label in ("IN", "JJ", "JJR", "RB", "RBR") else "dep"
    if label == "NP-TMP":
        return "nmod:tmod"
    if label == "SBAR":
        return "ccomp"
    if label == "S":
        return "xcomp" if _infinitive(child) else "dep"
    if label in ("PRP$", "WP$"):
        return "nmod:poss"
    if label in ("RP", "PRT"):
        return "compound:prt" if head_label in VERBS else "dep"
    return "dep"


def _in_adverb_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    if label in ADVERBS:
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod"
    if label == "IN":
        return "case"
    if label == "JJ" and before:
        return "advmod"
    if label in ("NP", "NP-TMP"):
        return "nmod:npmod" if before and head.label in ("JJ", "JJR", "RB", "RBR") else "dep"
    if label == "DT":
        return "det" if before and head.label in NOUNS else "dep"
    if label == "SBAR":
        return "advcl" if head.label == "ADVP" else "dep"
    return "dep"


def _in_quantity(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in ("DT", "IN", "JJ", "JJR", "JJS", "PDT", "RB", "RBR", "RBS"):
        return "advmod"
    if label == "CD":
        return "nummod" if head.label == "$" else "compound"
    if label == "#":
        return "compound"
    if label == "$":
        return "nummod"
    return "dep"


_RULES = {
    **dict.fromkeys(("NP", "NP-TMP", "NX", "WHNP", "NAC"), _in_noun_phrase),
    "VP": _in_verb_phrase,
    "S": _in_clause,
    "SBAR": _in_subordinate,
    "SBARQ": _in_subordinate,
    **dict.fromkeys(("FRAG", "X", "PRN", "RRC"), _in_fragment),
    **dict.fromkeys(("SINV", "SQ"), _in_inverted),
    **dict.fromkeys(("PP", "WHPP"), _in_prepositional),
    **dict.fromkeys(("ADJP", "WHADJP"), _in_adjective_phrase),
    **dict.fromkeys(("ADVP", "WHADVP", "CONJP"), _in_adverb_phrase),
    "QP": _in_quantity,
}
