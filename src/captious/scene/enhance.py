"""Two repairs of a dependency graph before tuples are read from it: quantifier phrases and pronouns.

"a couple of men" speaks of men, not of a couple: the noun takes the quantifier's place in the graph, and the quantifier
becomes its ``det:qmod``. A pronoun stands for the first fitting noun of the sentence, which takes over its arcs.
"""

from __future__ import annotations

import re

from captious.language import Sentence
from captious.scene.dependencies import NOUNS, SINGULAR, Arc, Dependencies, place
from captious.scene.wordlists import word_set

#: Quantifiers written "a … of".
AFTER_A = word_set(
    "lot assortment number couple bunch handful litany sheaf slew dozen series variety multitude wad clutch wave mountain "
    "array spate string ton range plethora heap sort form kind type version bit pair triple total"
)
#: Quantifiers written "… of".
ALONE = word_set(
    "lots many several plenty tons dozens multitudes mountains loads pairs tens hundreds thousands millions billions "
    "trillions"
)
#: Quantifiers written "… of the", "… of these", …, or "… of them".
BEFORE_DEFINITE = word_set(
    "some all both neither everyone nobody one two three four five six seven eight nine ten hundred thousand million billion "
    "trillion"
)

DIGITS = re.compile(r"[0-9]+(s?)")
SINGULAR_PRONOUNS = word_set(
    "one i me my myself yourself he him his himself she her herself it its itself oneself"
)


def enhance(sentence: Sentence | Dependencies) -> Dependencies:
    """The graph of a sentence with quantifier phrases turned round and pronouns resolved."""
    graph = sentence if isinstance(sentence, Dependencies) else Dependencies.of(sentence)
    if "of" in graph.forms:
        graph = _quantifiers(graph)
    if "PRP" in graph.tags or "PRP$" in graph.tags:
        graph = _pronouns(graph)
    return graph


def _quantifiers(graph: Dependencies) -> Dependencies:
    arcs = graph.arcs
    for i in range(2, graph.words + 1):
        if graph.forms[i] != "of":
            continue
        quantifier = i - 1
        noun = _quantified(graph, arcs, quantifier, i)
        first = _phrase_start(graph, arcs, quantifier, noun) if noun else 0
        if first:
            arcs = _turned(arcs, first, quantifier, i, noun)
    return graph._replace(arcs=arcs)


def _phrase_start(graph: Dependencies, arcs: list[Arc], quantifier: int, noun: int) -> int:
    """The first word of a quantifier phrase; 0 if it is none."""
    forms = graph.forms
    form = forms[quantifier]
    if form in AFTER_A:
        return next((d for g, d, r in arcs if g == quantifier and r == "det" and forms[d] in ("a", "an")), 0)
    own = [d for g, d, _ in arcs if g == quantifier and d < quantifier]
    digits = DIGITS.fullmatch(form)
    if not (form in ALONE or (digits and digits[1])):
        if form not in BEFORE_DEFINITE and not digits:
            return 0
        if not graph.tags[noun].startswith("PRP") and not any(g == noun and r == "det" for g, _, r in arcs):
            return 0
    # Whatever hangs on the quantifier from the left belongs to the phrase, even a preposition: of "with lots of donuts"
    # the reference makes the attribute (donut, with).
    return min(own, default=quantifier)


def _quantified(graph: Dependencies, arcs: list[Arc], quantifier: int, of: int) -> int:
    """The noun or pronoun that a quantifier counts; 0 if there is none."""
    for governor, dependent, relation in arcs:
        if governor == quantifier and relation == "nmod:of" and (dependent, of, "case") in arcs:
            tag = graph.tags[dependent]
            if tag in NOUNS or tag.startswith("PRP"):
                return dependent
    return 0


def _turned(arcs: list[Arc], first: int, quantifier: int, of: int, noun: int) -> list[Arc]:
    """The arcs after the noun of a quantifier phrase has taken the quantifier's place."""
    # Of several governors only one hands the quantifier over; the arcs from the others are lost.
    governors = [g for g, d, _ in arcs if d == quantifier and g != noun]
    kept = min(governors, key=place, default=0)
    turned: list[Arc] = []
    for governor, dependent, relation in arcs:
        if dependent == quantifier:
            if governor == kept and kept != noun:
                turned.append((governor, noun, relation))
        elif not (first <= dependent <= of or (governor == quantifier and dependent == noun)):
            turned.append((governor, dependent, relation))
    turned.append((noun, first, "det:qmod"))
    turned += [(first, word, "mwe") for word in range(first + 1, of + 1)]
    return turned


def _pronouns(graph: Dependencies) -> Dependencies:
    arcs = graph.arcs
    for word in range(2, graph.words + 1):
        if not graph.tags[word].startswith("PRP") or not any(d == word and g for g, d, _ in arcs):
            continue
        noun = _antecedent(graph, arcs, graph.forms[word] in SINGULAR_PRONOUNS)
        if 0 < noun < word:
            arcs = [(noun if g == word else g, noun if d == word else d, r) for g, d, r in arcs]
    return graph._replace(arcs=arcs)


def _antecedent(graph: Dependencies, arcs: list[Arc], singular: bool) -> int:
    """The first noun met going down from the root, level by level and left to right; 0 if there is none."""
    fitting = SINGULAR if singular else NOUNS
    children: dict[int, list[int]] = {}
    for governor, dependent, _ in arcs:
        children.setdefault(governor, []).append(dependent)
    queue = sorted(children.get(0, []))[:1]
    seen = set(queue)
    for node in queue:
        if graph.tags[node] in fitting:
            return node
        for child in sorted(children.get(node, [])):
            if child not in seen:
                seen.add(child)
                queue.append(child)
    return 0
