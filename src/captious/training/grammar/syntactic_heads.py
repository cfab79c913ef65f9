"""Heads of phrases for the grammar: Collins's table (1999, appendix A), by form rather than by content.

In contrast to the heads of dependencies, the head of a verb phrase is its first verb, an auxiliary included,
and the head of a prepositional phrase is the preposition.
"""

from __future__ import annotations

from collections.abc import Sequence

from captious.parser.exact.phrase_trees import PUNCTUATION, base

# Category: the end at which the search starts, then categories of children in order of preference.
_TABLE = {
    "ADJP": "l NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
    "ADVP": "r RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",
    "CONJP": "r CC RB IN",
    "FRAG": "r",
    "INTJ": "l",
    "LST": "r LS :",
    "NAC": "l NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
    "PP": "r IN TO VBG VBN RP FW",
    "PRN": "l",
    "PRT": "r RP",
    "QP": "l $ IN NNS NN JJ RB DT CD QP JJR JJS",
    "RRC": "r VP NP ADVP ADJP PP",
    "S": "l TO IN VP S SBAR ADJP UCP NP",
    "SBAR": "l WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
    "SBARQ": "l SQ S SINV SBARQ FRAG",
    "SINV": "l VBZ VBD VBP VB MD VP S SINV ADJP NP",
    "SQ": "l VBZ VBD VBP VB MD VP SQ",
    "UCP": "r",
    "VP": "l TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP",
    "WHADJP": "l CC WRB JJ ADJP",
    "WHADVP": "r CC WRB",
    "WHNP": "l WDT WP WP$ WHADJP WHPP WHNP",
    "WHPP": "r IN TO FW",
    "X": "r",
    "ROOT": "l",
}
_PREFERENCES = {label: (text[0] == "r", text.split()[1:]) for label, text in _TABLE.items()}
# Noun phrases: groups of categories in order of preference, each with the end at which the search starts.
_NOMINAL = (
    (True, frozenset(("NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"))),
    (False, frozenset(("NP",))),
    (True, frozenset(("$", "ADJP", "PRN"))),
    (True, frozenset(("CD",))),
    (True, frozenset(("JJ", "JJS", "RB", "QP"))),
)


def head_place(label: str, children: Sequence[str]) -> int:
    """Return the place of the head among the labels of a phrase's children."""
    if len(children) == 1:
        return 0
    names = [base(child) for child in children]
    category = base(label)
    place = _nominal(names) if category in ("NP", "NX") else _listed(category, names)
    if place >= 2 and names[place - 1] in ("CC", "CONJP"):
        # The first conjunct; punctuation may stand before the conjunction.
        earlier = place - 2
        while earlier >= 0 and names[earlier] in PUNCTUATION:
            earlier -= 1
        if earlier >= 0:
            return earlier
    return place


def _nominal(names: Sequence[str]) -> int:
    for from_right, group in _NOMINAL:
        for place in _order(names, from_right):
            if names[place] in group:
                return place
    return _outermost(names, from_right=True)


def _listed(category: str, names: Sequence[str]) -> int:
    from_right, preferred = _PREFERENCES.get(category, (True, []))
    for wanted in preferred:
        for place in _order(names, from_right):
            if names[place] == wanted:
                return place
    return _outermost(names, from_right)


def _order(names: Sequence[str], from_right: bool) -> range:
    return range(len(names) - 1, -1, -1) if from_right else range(len(names))


def _outermost(names: Sequence[str], from_right: bool) -> int:
    """Return the first child from one end that is not punctuation."""
    order = _order(names, from_right)
    for place in order:
        if names[place] not in PUNCTUATION:
            return place
    return order[0]
