"""States of the grammar: the labels of a plain tree with the context that a context-free rule cannot see.

The annotations are those of Klein and Manning (2003, "Accurate unlexicalized parsing") and of the option sets
that their parser documents: the parent's label on phrases and tags, base, possessive and right-branching noun
phrases, verbs inside, phrases with one daughter, the form of a verb phrase, clauses without a subject,
auxiliaries, verbs with two objects, prepositions by the phrase above their own, conjunctions, lone
determiners and adverbs, temporal and adverbial noun phrases down to their head nouns. A phrase is built from
its head outwards, first to the right and then to the left. An unfinished phrase remembers the head and the
two children that were added last. All of it is a function of the plain tree, and removing it gives the tree
back.
"""

from __future__ import annotations

import re

from captious.parser.exact.pcfg import BOUNDARY_TAG
from captious.parser.exact.phrase_trees import BE, HAVE, NOUNS, Node, base
from captious.parser.grammar.grammar_model import label_of
from captious.training.grammar.syntactic_heads import head_place

#: A state and its number of daughters, 0 for a tag.
Step = tuple[str, int]
UNFINISHED = "@"
_FINITE = frozenset(("VBD", "VBP", "VBZ", "MD"))
#: Phrases with adverbial noun phrases before their head ("two blocks" in "two blocks from the house").
_MEASURED = frozenset(("PP", "ADVP", "ADJP", "SBAR", "WHADVP", "WHPP"))
_LONG = 3  # children of a base noun phrase with a verb, above which the grammar tends to forget the verb
_SUBJECTS = frozenset(("NP", "NP-TMP", "SBAR", "S", "PP", "WHNP", "QP", "ADJP", "NX", "UCP"))
#: Last children of a noun phrase that branches to the right.
_LATE = frozenset(("NP", "NP-TMP", "PP", "VP", "S", "SBAR"))
_MARKS = re.compile(r"\^[^<>|+]*")
_LAST_CHILD = re.compile(r"[<>][^<>+]*\+?$")


def derivation(tree: Node) -> list[Step]:
    """Return the states of a tree under ROOT, parents before daughters and left before right."""
    [top] = tree.children
    steps: list[Step] = [(tree.label, 2)]
    if top.word is not None:
        steps.append((f"{top.label}^{tree.label}", 0))
    else:
        _add(steps, top, _phrase(top, tree.label), tree.label, False)
    steps.append((BOUNDARY_TAG, 0))
    return steps


def plain(steps: list[Step], words: list[str]) -> Node:
    """Return the tree of a derivation: the inverse of `derivation`."""
    left = iter(steps)
    forms = iter(words)

    def build() -> list[Node]:
        state, daughters = next(left)
        if daughters == 0:
            return [] if state == BOUNDARY_TAG else [Node(label_of(state), word=next(forms))]
        children = build()
        if daughters == 2:
            children += build()
        return children if state.startswith(UNFINISHED) else [Node(label_of(state), children)]

    [tree] = build()
    return tree


def coarse(state: str) -> str:
    """Return a state with plain labels only. Unfinished phrases keep the labels of their children."""
    return _MARKS.sub("", state)


def coarser(state: str) -> str:
    """Return the next more general state, which replaces a rare one.

    Unfinished phrases forget their earliest child. Phrases and tags lose their marks, then the parent.
    """
    if state.startswith(UNFINISHED):
        shorter = _LAST_CHILD.sub("+", state)
        return shorter if shorter != state else coarse(state)
    label, _, context = state.partition("^")
    parent, mark, _ = context.partition("-")
    return f"{label}^{parent}" if mark else f"{label}^"


def _has_verb(node: Node) -> bool:
    if node.word is not None:
        return node.label[0] == "V" or node.label == "MD"
    return any(_has_verb(child) for child in node.children)


def _place(node: Node) -> int:
    return head_place(node.label, [child.label for child in node.children])


def _is_adverbial(node: Node, place: int, i: int) -> bool:
    """Return whether a child is a noun phrase where adverbial ones stand. `place` is that of the head."""
    children = node.children
    if children[i].label != "NP" or children[i].word is not None:
        return False
    if i < place:
        return node.label in _MEASURED
    if node.label == "NP":
        return i > place and all(child.label == "NP" for child in children[:i])
    if node.label in ("VP", "S", "FRAG"):
        start = place + (node.label == "VP")
        return i > place and any(child.label == "NP" for child in children[start:i])
    return False


def _phrase(node: Node, parent: str, is_temporal: bool = False, is_adverbial: bool = False) -> str:
    """Return the state of a phrase."""
    label, children = node.label, node.children
    state = f"{label}^{base(parent)}"
    has_verb = _has_verb(node)
    if label in ("NP", "NP-TMP"):
        if all(child.word is not None for child in children):
            state += "-B"
            if has_verb and len(children) > _LONG:
                state += "-L"
        if children[-1].label == "POS":
            state += "-P"
        if children[-1].label in _LATE:
            state += "-R"
    if has_verb:
        state += "-v"
    if label == "NP":
        if is_temporal:
            state += "-T"
        if is_adverbial:
            state += "-A"
    if len(children) == 1 and children[0].word is None:
        state += "-U"
    if label == "VP":
        head = node
        while head.word is None:
            head = head.children[_place(head)]
        state += "-F" if head.label in _FINITE else f"-{head.label}"
    elif label == "S" and not any(child.label in _SUBJECTS for child in children):
        state += "-G"
    return state


def _tag(node: Node, parent: Node, above: str, is_temporal: bool, is_adverbial: bool) -> str:
    """Return the state of a tag. `above` is the label of its parent's parent."""
    tag, label = node.label, parent.label
    word = (node.word or "").lower()
    state = f"{tag}^{base(label)}"
    if tag == "IN":
        state += f"-{base(above)}-of" if word == "of" else f"-{base(above)}"
    elif tag == "CC":
        if word in ("and", "or"):
            state += "-C"
    elif tag[0] == "V":
        if word in BE:
            state += "-BE"
        elif word in HAVE:
            state += "-HV"
        if sum(child.label == "NP" for child in parent.children) >= 2:
            state += "-2"
    elif tag in ("DT", "RB"):
        if len(parent.children) == 1:
            state += "-U"
    elif tag in NOUNS:
        if is_temporal:
            state += "-T"
        if is_adverbial:
            state += "-A"
        if word == "%":
            state += "-%"
    return state


def _add(
    steps: list[Step], node: Node, state: str, above: str, is_temporal: bool, is_adverbial: bool = False
) -> None:
    """Append the steps of a phrase.

    `is_temporal` and `is_adverbial` pass from noun phrases to their head nouns.
    """
    is_temporal = node.label == "NP-TMP" or (is_temporal and node.label == "NP")
    children = node.children
    count = len(children)
    place = _place(node)
    temporal = [is_temporal and i == place for i in range(count)]
    adverbial = [(is_adverbial and i == place) or _is_adverbial(node, place, i) for i in range(count)]
    states = [
        _tag(child, node, above, temporal[i], adverbial[i])
        if child.word is not None
        else _phrase(child, node.label, temporal[i], adverbial[i])
        for i, child in enumerate(children)
    ]

    def daughter(i: int) -> None:
        child = children[i]
        if child.word is not None:
            steps.append((states[i], 0))
        else:
            _add(steps, child, states[i], node.label, temporal[i], adverbial[i] and child.label == "NP")

    if count == 1:
        steps.append((state, 1))
        daughter(0)
        return
    # From the outermost children inwards. Those on the left come first, since they are attached last.
    for left in range(place):
        steps.append((_name(state, states, place, left, count), 2))
        daughter(left)
    for right in range(count, place + 1, -1):
        steps.append((_name(state, states, place, place, right), 2))
    steps.append((_name(state, states, place, place, place + 1), 1))
    for i in range(place, count):
        daughter(i)


def _name(state: str, states: list[str], place: int, left: int, right: int) -> str:
    """Return the state of the part of a phrase that has the children from `left` to before `right`."""
    if left == 0 and right == len(states):
        return state
    attached = [f"<{child}" for child in states[left:place]]
    attached += [f">{child}" for child in reversed(states[place + 1 : right])]
    history = "".join(attached[:2]) + ("+" if len(attached) > 2 else "")
    return f"{UNFINISHED}{state}|{states[place]}{history}"
