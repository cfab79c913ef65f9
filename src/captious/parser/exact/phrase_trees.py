"""Phrase-structure trees: reading and writing, classes of words and tags, and the rules that find heads."""

from __future__ import annotations

import re
from collections.abc import Iterator

from captious.core.errors import InputError


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PUNCTUATION = frozenset([".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH"])
PHRASES = _words(
    """
    ADJP ADVP CONJP FRAG INTJ LST NAC NP NP-TMP NX PP PRN PRT QP ROOT RRC S SBAR SBARQ SINV SQ UCP VP WHADJP
    WHADVP WHNP WHPP
    """
)
NOMINAL = frozenset(["NP", "NP-TMP", "NX", "WHNP"])
NOUNS = frozenset(["NN", "NNS", "NNP", "NNPS"])
VERBS = frozenset(["VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"])
ADVERBS = frozenset(["RB", "RBR", "RBS", "WRB", "ADVP", "WHADVP"])
ADJECTIVES = frozenset(["JJ", "JJR", "JJS", "ADJP", "WHADJP", "VBG", "VBN", "VBD", "IN"])
NEGATIONS = frozenset(["not", "n't", "never"])
REFLEXIVE = frozenset(
    ["myself", "yourself", "himself", "herself", "itself", "ourselves", "yourselves", "themselves"]
)
NOUN_PHRASES = frozenset(["NP", "NP-TMP", "WHNP"])
# Forms that the reference tool treats as "to be" and as auxiliaries, including misspellings: all of the 5,385
# forms that it tags as verbs in captions were tried.
BE = _words(
    """
    be being been am are r is ai was were 'm m 're 's s `s art ar wase
    """
)
AUXILIARIES = BE | _words(
    """
    have has had having hav 've ve v a 'd d do does did du 'll ll wo ca will would shall sha should can
    could may might must get gets got getting gotten to na
    """
)
HAVE = frozenset(["have", "has", "had", "having", "hav", "'ve", "ve", "v", "'d", "d"])
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
TEMPORAL = _words(
    """
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays today tomorrow yesterday morning mornings evening evenings night nights day days week weeks
    month months year years spring summer fall winter autumn
    """
)
# Verbs whose object is the subject of the following infinitive.
CONTROL = _words(
    """
    require requires required requiring force forces forced forcing order orders ordered ordering beg
    begs begged begging tell tells told telling allow allows allowed allowing ask asks asked asking
    encourage encourages encouraged encouraging urge urges urged urging lobby lobbies lobbied lobbying
    expect expects expected expecting demand demands demanded demanding persuade persuades persuaded
    persuading convinces convinced convincing advise advises advised advising pressure pressures
    pressured pressuring prompt prompts prompted prompting implore implores implored imploring
    """
)

_PIECES = re.compile(r"[()]|[^\s()]+")


class Node:
    """A phrase or, if `word` is set, a tag with its word. `start` and `end` count words from 0."""

    __slots__ = ("children", "end", "head", "head_child", "label", "parent", "start", "word")

    label: str
    word: str | None
    children: list[Node]
    parent: Node | None
    start: int
    end: int
    head: Node  # the tag of the head word, set by `typed_dependencies.convert`
    head_child: Node | None

    def __init__(self, label: str, children: list[Node] | None = None, word: str | None = None) -> None:
        self.label = label
        self.word = word
        self.children = children or []
        self.parent = None
        self.head_child = None

    def __str__(self) -> str:
        if self.word is not None:
            return f"({self.label} {self.word})"
        return f"({self.label} {' '.join(map(str, self.children))})"

    def leaves(self) -> Iterator[Node]:
        """Yield the tags of the words, from left to right."""
        if self.word is not None:
            yield self
        for child in self.children:
            yield from child.leaves()


def read_tree(text: str) -> Node:
    """Read a tree in bracket notation."""
    stack: list[Node] = []
    root: Node | None = None
    pieces = _PIECES.findall(text)
    position = 0
    while position < len(pieces):
        piece = pieces[position]
        position += 1
        if piece == "(":
            label = pieces[position] if position < len(pieces) else ")"
            if root is not None or label in "()":
                raise _bad(text, "a second tree" if root is not None else "a bracket without a label")
            position += 1
            node = Node(label)
            if stack:
                if stack[-1].word is not None:
                    raise _bad(text, f"the word {stack[-1].word!r} beside a phrase")
                stack[-1].children.append(node)
            stack.append(node)
        elif not stack:
            raise _bad(text, f"{piece!r} outside the brackets")
        elif piece == ")":
            node = stack.pop()
            if node.word is None and not node.children:
                raise _bad(text, f"an empty {node.label}")
            if node.word is not None and node.label in PHRASES:
                raise _bad(text, f"the word {node.word!r} without a tag in {node.label}")
            if not stack:
                root = node
        else:
            if stack[-1].children or stack[-1].word is not None:
                raise _bad(text, f"the word {piece!r} without a tag of its own")
            stack[-1].word = piece
    if root is None:
        raise _bad(text, "brackets that are not closed" if stack else "no tree")
    return root


def _bad(text: str, problem: str) -> InputError:
    shown = text if len(text) <= 120 else text[:117] + "..."
    return InputError(
        f"not a tree in brackets ({problem}): {shown!r}; expected a tree such as (ROOT (NP (DT a) (NN dog)))"
    )


# For each category, classes of children in order of preference. `l` takes the first child of the class, `r`
# the last. The last entry names the end that is taken if no child matches.
_TABLE = {
    "ADJP": "l:$ r:JJ,NN,NNP,NNS,VBG,VBN,QP l:ADJP r:CD,DT,IN,JJR,JJS,RB,RBR,VBD l:ADVP l:NP l",
    "ADVP": "r:JJ,JJR,JJS,RB,RBR,RBS r:CC,CD,DT,FW,NN,NNP,NNS,RP,VBN,ADJP,NP l",
    "CONJP": "r:JJ r:RB l:CC l:IN r:VB r",
    "FRAG": "l:IN r:RB l:NP l:ADJP l:ADVP l:FRAG l:S l:SBAR l:VP l",
    "INTJ": "r:NN,NNP,NNS l",
    "LST": "r:LS r:: r",
    "NAC": "l:NN l:NNS l:NNP l:NNPS l:NP l:NAC l:EX l:$ l:CD l:QP l:PRP l:VBG l:JJ l:JJS l:JJR l:ADJP l:FW l",
    "NP": "r:JJR,NN,NNP,NNPS,NNS,WP,NX l:NP l:PRP r:CD,FW,JJ,$,ADJP,QP r:DT,JJS,RB,RBR,WDT,ADVP,PRN l:POS l",
    "PP": "l:NP l:S l:SBAR l:SBARQ l:ADVP l:PP l:VP l:ADJP l:FRAG l:PRN r",
    "PRN": "l:VP l:SQ l:S l:SINV l:SBAR l:NP l:ADJP l:PP l:ADVP l:INTJ l:WHNP l:NAC l:VBP l:JJ l:NN l:NNP l",
    "PRT": "r:RP r",
    "QP": "l:$ r:NNS r:NN r:CD r:JJ r:PDT r:DT r:IN r:RB r:QP r:JJR r:JJS r",
    "RRC": "l:RRC r:VP r:ADJP r:NP r:PP r:ADVP r",
    "S": "l:VP l:S l:FRAG l:SBAR l:ADJP l:TO r:NP r",
    "SBAR": "l:S l:SQ l:SINV l:SBAR l:FRAG l:VP l:WHNP l:WHPP l:WHADVP l:WHADJP l:IN l:DT l",
    "SBARQ": "l:SQ l:S l:SINV l:SBARQ l:FRAG l:SBAR l",
    "SINV": "l:VBZ l:VBD l:VBP l:VB l:VBN l:VP l:MD l:S l:SINV l:ADJP l:NP l",
    "SQ": "l:VP l:SQ l:ADJP l:VB l:VBZ l:VBD l:VBP l:MD l",
    "UCP": "l",
    "VP": "l:TO l:VBD l:VBN l:MD l:VBZ l:VB l:VBG l:VBP l:VP l:ADJP l:NN l:NNS l:JJ l:NP l:NNP l",
    "WHADJP": "l:ADJP l:JJ l:JJR l:WP r:RB r",
    "WHADVP": "r:JJ,RB,WRB,WHADVP r",
    "WHNP": "r:JJR,NN,NNP,NNPS,NNS,WP,NX l:WHNP l:NP r:FW,$,ADJP,PRN r:CD r:JJ,JJS,RB,QP "
    "l:WHPP l:WHADJP l:WP$ l:WDT l",
    "X": "r:S r:VP r:ADJP r:NP r:SBAR r:PP r:X r",
    "ROOT": "l:S l:SQ l:SINV l:SBAR l:FRAG l",
}
_TABLE["NX"] = _TABLE["NP"]
_TABLE["WHPP"] = _TABLE["PP"]


def _rules(text: str) -> tuple[dict[str, tuple[int, bool]], bool]:
    """Return rank and direction (True: the last one) of each child category, and the fallback's direction."""
    ranks: dict[str, tuple[int, bool]] = {}
    parts = text.split(" ")
    for rank, part in enumerate(parts[:-1]):
        side, names = part.split(":", 1)
        for name in names.split(","):
            ranks[name] = (rank, side == "r")
    return ranks, parts[-1] == "r"


RULES = {category: _rules(text) for category, text in _TABLE.items()}

_PREDICATES = {
    "VP": ("VP", "ADJP", "NP", "PP", "WHADJP", "WHNP", "UCP"),
    "SINV": ("VP", "ADJP", "NP", "PP", "WHADJP", "WHNP", "UCP"),
    "SQ": ("VP", "ADJP", "NP"),
}


def find_head(node: Node) -> Node:
    """Return the child of a phrase that contains its head."""
    children = node.children
    label = node.label
    if len(children) == 1 or label == "MWE":
        return children[0]
    if label in _PREDICATES:
        predicate = _predicate(node)
        if predicate is not None:
            return predicate
    if label == "SBARQ" and any(c.label in VERBS for c in children):
        for child in children:
            if child.label == "WHNP":
                return child
    chosen = by_table(label, children)
    return _first_conjunct(children, chosen)


def _first_conjunct(children: list[Node], chosen: Node) -> Node:
    """Return the first conjunct, the head of a coordination. Conjuncts in a list are separated by commas."""
    at = children.index(chosen)
    if at >= 2 and children[at - 1].label in ("CC", "CONJP"):
        at -= 2
        while at > 0 and children[at].label in PUNCTUATION:
            at -= 1
        while at >= 2 and (
            children[at - 1].label == "CC"
            or (children[at - 1].label == "," and children[at - 2].label[:2] == children[at].label[:2])
        ):
            at -= 2
    return children[at]


def base(label: str) -> str:
    return "NP" if label == "NP-TMP" else label


def by_table(label: str, children: list[Node]) -> Node:
    """Return the child that the table of preferences selects."""
    ranks, last = RULES.get(base(label), RULES["X"])
    best = None
    best_rank = 1000
    for child in children:
        entry = ranks.get(base(child.label))
        if entry is not None and (entry[0] < best_rank or (entry[0] == best_rank and entry[1])):
            best_rank = entry[0]
            best = child
    if best is not None:
        return best
    for child in reversed(children) if last else children:
        if child.label not in PUNCTUATION:
            return child
    return children[-1 if last else 0]


def _predicate(node: Node) -> Node | None:
    """Return the child with the content word beside an auxiliary or a copula."""
    auxiliary = copula = False
    for child in node.children:
        if child.word is not None and (child.label in VERBS or child.label == "TO"):
            word = child.word.lower()
            if child.label in ("MD", "TO") or word in AUXILIARIES:
                auxiliary = True
                if word in BE:
                    copula = True
    if not auxiliary:
        return None
    existential = copula and _existential(node)
    for child in node.children:
        if child.label == "VP" and (
            not existential or any(c.label in ("VBG", "VBN", "VBD", "VP") for c in child.children)
        ):
            return child
    if copula and not existential:
        question = node.label == "SQ"
        for kind in _PREDICATES[node.label]:
            if question and kind == "NP" and sum(c.label == "NP" for c in node.children) < 2:
                continue
            for child in reversed(node.children) if question else node.children:
                if child.label == kind:
                    return child
    return None


def _existential(node: Node) -> bool:
    """Return whether the verb phrase is in a clause with the subject "there"."""
    clause = node if node.label == "SQ" else node.parent
    if clause is None:
        return False
    for child in clause.children:
        if child is node:
            return False
        while child.children:
            child = child.children[0]
        if child.label == "EX":
            return True
    return False
