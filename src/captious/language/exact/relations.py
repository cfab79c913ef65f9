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
REFLEXIVE = frozenset("myself yourself himself herself itself ourselves yourselves themselves".split())
HAVE = frozenset("have has had having hav 've ve v 'd d".split())
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
    "january february march april may june july august september october november december monday tuesday wednesday thursday "
    "friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays today tomorrow yesterday morning "
    "mornings evening evenings night nights day days week weeks month months year years spring summer fall winter autumn".split()
)
# Verbs whose object is the subject of the infinitive that follows.
CONTROL = frozenset(
    "require requires required requiring force forces forced forcing order orders ordered ordering beg begs begged begging "
    "tell tells told telling allow allows allowed allowing ask asks asked asking encourage encourages encouraged encouraging "
    "urge urges urged urging lobby lobbies lobbied lobbying expect expects expected expecting demand demands demanded demanding "
    "persuade persuades persuaded persuading convinces convinced convincing advise advises advised advising "
    "pressure pressures pressured pressuring prompt prompts prompted prompting implore implores implored imploring".split()
)


def attach(parent: Node, child: Node) -> tuple[Node, str]:
    """The node whose head governs `child`, and the relation; every node knows its head child.

    The governor is `parent` but for a few words that belong to a sister or to the clause above.
    """
    label = child.label
    kind = parent.label
    if label == "ADVP":
        at = parent.children.index(child)
        if 0 < at < len(parent.children) - 1 and parent.children[at - 1].label == "CC" and parent.children[at + 1].label == kind:
            return parent.children[at + 1], _adverbial(child)
    elif label == "PP":
        if kind in ("VP", "ADJP") and len(child.children) == 1 and child.children[0].label in ("IN", "TO"):
            for other in parent.children:
                if other is child:
                    break
                if other.label == "PP" and other is not parent.head_child and _has_noun_phrase(other, ("IN", "TO")):
                    return other, "case"
    elif label == "NP" and kind == "S" and parent.parent is not None and parent.parent.label == "VP":
        above = parent.parent
        if parent is not above.head_child and _infinitive(parent) and child.start < parent.head.start:
            return above, "dobj"
    return parent, relation(parent, child)


def relation(parent: Node, child: Node) -> str:
    """The relation of `child` to the head of `parent`."""
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
                return "cc:preconj" if child.start < head.start or _coordinated(parent.children[0]) else "dep"
        return "cc"
    head = parent.head_child
    assert head is not None
    if label == "INTJ":
        return "discourse"
    rule = _RULES.get(kind)
    found = rule(parent, child, head) if rule is not None else "dep"
    if not _is_conjunct(parent, child, head):
        return found
    # What a child can be even after a conjunction.
    if kind in ("FRAG", "X", "PRT") or label == "PRN" or found == "compound:prt":
        return found
    if (found == "acl" and label != "PP") or (found == "acl:relcl" and label == "RRC"):
        return found
    if (label == "SBAR" and kind in ("VP", "S")) or (label == "S" and found == "ccomp"):
        return found
    if found in ("advmod", "neg") and kind not in ("ADVP", "PP", "WHADVP"):
        return found
    if found == "acl:relcl" and child.children[0].label == "WHADVP":
        return found
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
        return before is not head or child.label == "PP"
    if before.label == "ADVP" and at > 0 and children[at - 1].label == "CC" and child.label == parent.label:
        return True
    # Members of a list come before the conjunction, with commas between.
    at = children.index(child)
    if children[at - 1].label in (",", ":"):
        for other in children[at + 1 :]:
            if other.label in ("CC", "CONJP"):
                return child.label[0] == head.label[0] or child.label == "PP"
    return False


def _adverbial(child: Node) -> str:
    word = child.head.word
    assert word is not None
    return "neg" if word.lower() in NEGATIONS else "advmod"


NOUN_PHRASES = frozenset(["NP", "NP-TMP", "WHNP"])


def _prepositional(phrase: Node, clausal: str, alone: str = "nmod") -> str:
    """Of a verb or an adjective: `nmod`, or `clausal` if the phrase is built upon something else than a noun phrase.

    `alone` is the relation of a preposition without complement.
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


def _has_noun_phrase(phrase: Node, inner_prepositions: tuple[str, ...]) -> bool:
    """Whether a prepositional phrase has a noun phrase, its own or that of a phrase within it."""
    for child in phrase.children:
        if child.label in NOUN_PHRASES:
            return True
    for child in phrase.children:
        if child.label == "PP":
            if len(phrase.children) == 1 or phrase.children[0] is child:
                return True
            kinds = [c.label for c in child.children]
            return any(kind in NOUN_PHRASES for kind in kinds) and any(kind in inner_prepositions for kind in kinds)
    return False


def _temporal(phrase: Node) -> bool:
    if phrase.label == "NP-TMP":
        return True
    while len(phrase.children) == 1 and phrase.children[0].label == "NP":
        phrase = phrase.children[0]
    head = phrase.head_child
    return head is not None and head.word is not None and head.label in NOUNS and head.word.lower() in TEMPORAL


def _in_noun_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    head_label = head.label
    if label == "DT":
        assert child.word is not None
        if not before:
            return "dep"
        word = child.word.lower()
        if word == "no":
            return "neg"
        coordinated = _coordinated(parent)
        above = parent.parent
        if not coordinated and above is not None and above.label == "NP" and above.children[0] is parent:
            coordinated = word in ("both", "either", "neither") and _coordinated(above)
        if coordinated and word in ("both", "either", "neither"):
            return "cc:preconj"
        if head_label in ("DT", "WDT", "WP", "$", "ADVP", "WHPP"):
            return "dep"
        if coordinated and not any(c.label in NOUNS for c in parent.children):
            return "dep"
        following = parent.children[parent.children.index(child) + 1]
        return "det:predet" if following.label in ("DT", "PRP$") else "det"
    if label in ("WDT", "WP"):
        return "det" if before else "dep"
    if label == "PDT":
        following = parent.children[parent.children.index(child) + 1] if before else head
        return "det:predet" if before and (following.label == "DT" or head_label in ("DT",)) else "dep"
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
        if not before or (head_label in ("JJR", "WP", "NX") and not any(c.label in NOUNS for c in parent.children[at + 1 :])):
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
        return "neg" if child.word.lower() == "no" else _adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod" if _has_noun_phrase(child, ("IN",)) else "acl"
    if label == "VP":
        return "acl" if not before and head_label in NOMINAL and _has_participle(child) else "dep"
    if label == "SBAR":
        return _clause_of_noun(parent, child, head) if not before or head_label in ("NN", "NNS", "JJ") else "dep"
    if label == "RRC":
        return "acl:relcl" if head_label == "NP" else "dep"
    if label == "S":
        return "acl" if _infinitive(child) and not before else "dep"
    if label == "PRN":
        return "appos" if any(c.label == "NP" for c in child.children) else "dep"
    if label == "UCP":
        return "nmod" if child.children[0].label == "PP" else "dep"
    return "dep"


def _second_noun_phrase(parent: Node, child: Node, head_label: str) -> str:
    if len(child.children) == 1:
        only = child.children[0]
        if only.label == "PRP" and only.word is not None and only.word.lower() in REFLEXIVE:
            return "nmod:npmod"
        if only.label == "NNP" and head_label == "NP" and parent.children[parent.children.index(child) - 1] is parent.head_child:
            return "appos"
    if head_label == "NP" and parent.children[parent.children.index(child) - 1].label == ",":
        return "appos"
    return "dep"


def _clause_of_noun(parent: Node, child: Node, head: Node) -> str:
    first = child.children[0]
    body = child.head_child
    assert body is not None
    if _infinitive(body) and child.start > head.start and head.label in (*NOUNS, "NP"):
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
    """Whether the clause has an active verb without object, so that the noun before it might be that."""
    phrase = next((c for c in clause.children if c.label == "VP"), None)
    if phrase is None:
        return False
    while True:
        inner = next((c for c in phrase.children if c.label == "VP"), None)
        if inner is None:
            break
        if any(_auxiliary(phrase, c, inner) == "auxpass" for c in phrase.children if c.label in VERBS):
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


def _has_participle(phrase: Node) -> bool:
    return any(c.label in ("VBG", "VBN", "VBD") for c in phrase.children)


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
        return _prepositional(child, "advcl")
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
    if head.word is None or head.label not in VERBS or parent.children[parent.children.index(child) - 1] is not head:
        return "dep"
    first = child.children[0].label
    if first in ("VB", "VBG") or (head.word.lower() in LINKING and first == "VBN"):
        return "xcomp"
    return "dep"


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
    if word in BE and child.label not in ("MD", "POS") and parent.label != "SINV":
        if head.label == "VP":
            return "cop" if parent.label != "SQ" and any(c.label in ("ADJP", "NP", "PP", "WHNP") for c in parent.children) else "aux"
        return "cop" if head.word is None and head.label != "WHADJP" else "dep"
    return "aux" if head.label == "VP" else "dep"


def _object(parent: Node, child: Node, head: Node) -> str:
    if child.label == "NP":
        if _temporal(child):
            return "nmod:tmod"
        if child.start > head.start:
            following = parent.children.index(child) + 1
            if following < len(parent.children):
                other = parent.children[following]
                if other.label == "NP" and not _temporal(other):
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
        if child.label == "NP" and clause is not None and clause.label == "S":
            if any(c.label == "NP" and len(c.children) == 1 and c.children[0].label == "EX" for c in clause.children):
                return "nsubjpass" if _passive(parent) else "nsubj"
        return "dep"
    return "dobj"


def _has_object(parent: Node, child: Node) -> bool:
    return any(c.label == "NP" and c.start < child.start and not _temporal(c) for c in parent.children)


def _bare_complement(parent: Node, child: Node, head: Node) -> str:
    """A clause without a conjunction within a verb phrase."""
    verb_phrase = next((c for c in child.children if c.label == "VP"), None)
    if verb_phrase is None:
        return "xcomp"
    word = head.word.lower() if head.word is not None else ""
    subject = any(c.label in ("NP", "NP-TMP") for c in child.children)
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
    """A subordinate clause within a verb phrase."""
    first = child.children[0]
    body = child.head_child
    assert body is not None
    word = first.head.word
    assert word is not None
    word = word.lower()
    if first.label in ("IN", "DT") and word in ("that", "whether"):
        return "ccomp" if any(c.label == "VP" for c in body.children) else "dep"
    for other in child.children:
        if other.label in ("IN", "MWE"):
            return "dep" if other.word in ("that", "whether") else "advcl"
    if first.label == "WHADVP":
        if any(c.label == "WRB" for c in first.children):
            if not any(c.word is not None and c.word.lower() == "how" for c in first.children):
                return "xcomp" if _infinitive(body) else "advcl"
        else:
            return "xcomp" if _infinitive(body) else "dep"
    if body.label == "SINV":
        return "advcl"
    if first.label == "SBAR":
        return _complement(parent, first) if first.children[0].label == "IN" else "dep"
    if _has_object(parent, child):
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
        return _subject(parent, child, head)
    if label == "NP-TMP":
        return "nmod:tmod" if head.label == "VP" and any(c.label == "NP" for c in parent.children) else "dep"
    if label in ADVERBS:
        return _adverbial(child)
    if label == "PP":
        found = _prepositional(child, "advcl")
        return "dep" if found == "nmod" and head.label not in ("VP", "S") else found
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


def _follows(parent: Node, child: Node, label: str) -> bool:
    return any(c.label == label and c.start > child.start for c in parent.children)


def _subordinate_of_clause(parent: Node, child: Node, head: Node, before: bool) -> str:
    if before:
        if head.label != "VP":
            return "advcl"
        if _follows(parent, child, "NP"):
            return "advcl"
        return "dep" if any(c.label == "NP" for c in parent.children) else _clausal_subject(head)
    first = child.children[0]
    adverb = first.label == "WHADVP" and any(c.label == "WRB" for c in first.children)
    return "advcl" if adverb and first.head.word != "how" and head.label == "VP" else "dep"


def _clausal_subject(head: Node) -> str:
    return "csubjpass" if _passive(head) else "csubj"


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
    if not _follows(parent, child, "VP"):
        above = parent.parent
        predicate = any(c.label in ("ADJP", "NP") and c.start > child.start for c in parent.children)
        small = child.label == "NP" and predicate and above is not None and above.label == "VP"
        return "nsubj" if small else "dep"
    if _temporal(child) and _follows(parent, child, "NP"):
        return "nmod:tmod"
    return "nsubjpass" if _passive(head) else "nsubj"


def _in_fragment(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in ("S", "FRAG") and parent.label == "FRAG":
        return "parataxis" if _second_clause(parent, child) else "dep"
    if label in ("PP", "WHPP"):
        return "nmod" if _has_noun_phrase(child, ("IN", "TO")) else "dep"
    if label == "PRN":
        return "appos" if any(c.label == "NP" for c in child.children) else "dep"
    if label in ("RB", "ADVP") and child.head.word == "not":
        return "neg"
    if label == "DT" and parent.label == "X" and child.start < head.start and head.label not in ("SBAR", "S", "VP", "PP"):
        return "det"
    if label in ADVERBS and (parent.label == "RRC" or (head.label == "VP" and child.start < head.start)):
        return _adverbial(child)
    return "dep"


def _in_inverted(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    if label in VERBS:
        return _auxiliary(parent, child, head)
    if label in ("NP", "WHNP"):
        if child.head.label == "EX":
            return "expl"
        if child.start < head.start and any(c.label == "NP" and c.start > head.start for c in parent.children):
            return "dep" if parent.label == "SINV" else "nsubj"
        if parent.label == "SQ" and head.label in VERBS and head.word is not None and head.word.lower() not in BE:
            above = parent.parent
            if above is not None and any(c.label == "WHNP" for c in above.children):
                return "dobj"
        return "nsubjpass" if _passive(parent) else "nsubj"
    if label in ADVERBS:
        return _adverbial(child)
    if label == "PP" and parent.label == "SQ":
        return _prepositional(child, "advcl")
    if label == "PP":
        if head.label not in ("S", "VP") or any(c.label in ("S", "SBAR") for c in child.children):
            return "dep"
        return "nmod"
    if label == "SBAR":
        return "advcl" if child.start < head.start and head.label != "VP" else "dep"
    return "dep"


def _relative(parent: Node, head: Node) -> str:
    """A relative or interrogative pronoun: the object of a clause that has a subject, else the subject."""
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
    return "nsubjpass" if _passive(head) else "nsubj"


def _in_prepositions(parent: Node, child: Node, head: Node) -> str:
    return "conj"


def _in_subordinate(parent: Node, child: Node, head: Node) -> str:
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
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod" if head.label in ("S", "SQ") else "dep"
    return "dep"


_PREDICATE_TAGS = frozenset("VB VBD VBG VBN VBP VBZ MD TO JJ".split())


def _in_prepositional(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    if label in ("IN", "TO", "VBG", "VBN", "JJ", "MWE"):
        if before and label != "VBG":
            other = parent.children[parent.children.index(child) + 1]
            if other.label == "SBAR":
                return "mark"
            if other.label == "S" and (other.head.label in _PREDICATE_TAGS or any(c.label == "NP" for c in other.children)):
                return "mark"
        return "case"
    if label in ADVERBS:
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return "nmod"
    return "dep"


def _coordinated(phrase: Node) -> bool:
    return any(c.label in ("CC", "CONJP") for c in phrase.children)


def _in_adjective_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    head_label = head.label
    if label in ADVERBS:
        return _adverbial(child)
    if label in ("PP", "WHPP"):
        return _prepositional(child, "advcl")
    if label in ("CD", "#"):
        return "compound"
    if label in ("JJ", "NNP"):
        if not before or _coordinated(parent):
            return "dep"
        if head_label == "NN" and label == "JJ":
            return "amod" if sum(c.label == "JJ" for c in parent.children) > 1 else "dep"
        return "amod" if head_label in ("JJ", "NNP") else "dep"
    if label in ("DT", "WDT", "WP"):
        known = head_label in ("CD", "JJ", "JJR", "JJS", "NN", "NNP", "NNS") and not _coordinated(parent)
        return "det" if before and known else "dep"
    if label == "NN":
        return "nmod:npmod" if before and head_label == "JJ" else "dep"
    if label == "NP":
        if before and head_label in ("IN", "JJ", "JJR", "RB", "RBR"):
            return "nmod:npmod"
        return "nmod:tmod" if _temporal(child) else "dep"
    if label == "NP-TMP":
        return "nmod:tmod"
    if label == "SBAR":
        return "dep" if child.children[0].word == "as" or child.head_child is None or child.head_child.label == "FRAG" else "ccomp"
    if label == "S":
        return "xcomp" if _infinitive(child) and child.children[0].label == "VP" else "dep"
    if label in ("PRP$", "WP$"):
        return "nmod:poss"
    if label == "RP":
        return "compound:prt" if head_label in VERBS else "dep"
    return "dep"


def _in_adverb_phrase(parent: Node, child: Node, head: Node) -> str:
    label = child.label
    before = child.start < head.start
    if label in ADVERBS:
        if child.word is None:
            return "advmod"
        return "dep" if child.word.lower() == "not" else "advmod"
    if label in ("PP", "WHPP"):
        return _prepositional(child, "advcl", "dep")
    if label == "IN":
        return "case"
    if label == "JJ" and before:
        return "advmod"
    if label in ("NP", "NP-TMP"):
        return "nmod:npmod" if head.label in ("JJ", "JJR", "RB", "RBR", "IN") else "dep"
    if label in ("DT", "WDT", "WP"):
        return "det" if before and head.label not in ("CC", "DT", "FW", "RB", "RBR", "RP", "VBN", "ADJP") else "dep"
    if label == "FW":
        return "compound" if before and head.label == "FW" else "dep"
    if label == "SBAR":
        return "advcl" if head.label == "ADVP" else "dep"
    return "dep"


def _in_quantity(parent: Node, child: Node, head: Node) -> str:
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
    "IN": _in_prepositions,
}
