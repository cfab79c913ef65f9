"""Leaderboard: values with intervals, paired tests of all pairs, and groups of systems that do not differ."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from captious.core.progress import track
from captious.reporting.metric_descriptions import words_of
from captious.results.comparison import compare, only
from captious.results.comparison_result import ALPHA, Comparisons
from captious.results.scores import Score, Scores, json_number
from captious.results.significance import Bootstrap


def standings(
    systems: Sequence[Scores], bootstrap: Bootstrap, alpha: float = ALPHA
) -> tuple[dict[str, Any], list[str]]:
    """Return the leaderboard's data, and warnings about values that cannot be compared."""
    names = list(dict.fromkeys(name for scores in systems for name in scores))
    comparable, incomparable = _comparable(systems, names)
    comparisons = (
        compare(*(only(scores, comparable) for scores in systems), alpha=alpha)
        if comparable and len(systems) > 1
        else None
    )
    metrics = [
        _metric(name, systems, bootstrap, comparisons) for name in track(names, "confidence intervals")
    ]
    return {
        "metrics": metrics,
        "level": bootstrap.level,
        "resamples": bootstrap.resamples,
        "seed": bootstrap.seed,
        "alpha": alpha,
        "family": comparisons.family if comparisons is not None else 0,
        "pairs": _pairs(comparisons),
    }, incomparable


def _comparable(systems: Sequence[Scores], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the metrics that can be compared across all systems, and the reasons for the others."""
    comparable, reasons = [], []
    for name in names:
        having = [scores for scores in systems if name in scores]
        if len(having) < len(systems):
            if len(systems) > 1:
                missing = ", ".join(scores.system for scores in systems if name not in scores)
                reasons.append(f"{name} is missing for {missing}, so systems are not ranked by it.")
            continue
        first = having[0][name]
        other = next((scores for scores in having if scores[name].signature != first.signature), None)
        if other is not None:
            fields = "; ".join(
                f"{field}: {a} / {b}" for field, a, b in first.signature.difference(other[name].signature)
            )
            reasons.append(
                f"{name} was computed differently for {having[0].system} and {other.system} ({fields}): the "
                "values cannot be compared."
            )
        elif any(set(scores[name].ids) != set(first.ids) for scores in having):
            reasons.append(
                f"{name} was scored on different images for different systems: the values cannot be compared."
            )
        else:
            comparable.append(name)
    return comparable, reasons


def _metric(
    name: str, systems: Sequence[Scores], bootstrap: Bootstrap, comparisons: Comparisons | None
) -> dict[str, Any]:
    scores_of = [scores.get(name) for scores in systems]
    first = next(score for score in scores_of if score is not None)
    sees, misses = words_of(first.measure)
    is_ranked = comparisons is not None and name in comparisons.metrics
    return {
        "name": name,
        "summary": first.measure.summary,
        "sees": sees,
        "misses": misses,
        "higher": first.measure.higher_is_better,
        "bounds": list(first.measure.bounds),
        "format": first.measure.format,
        "rows": first.measure.rows,
        "values": [None if score is None else json_number(score.value) for score in scores_of],
        "intervals": [None if score is None else _interval(score, bootstrap) for score in scores_of],
        "oracle": [
            json_number(score.oracle) if score is not None and score.several else None for score in scores_of
        ],
        "signatures": [
            None if score is None else score.interval_signature(*bootstrap) for score in scores_of
        ],
        "comparable": is_ranked or len(systems) == 1,
        "groups": _letters(name, systems, comparisons) if comparisons is not None and is_ranked else None,
    }


def _interval(score: Score, bootstrap: Bootstrap) -> list[float | None] | None:
    if len(score.ids) < 2:
        return None
    return [json_number(bound) for bound in score.interval(*bootstrap)]


def _pairs(comparisons: Comparisons | None) -> dict[str, list[Any]]:
    """Return metric → rows of A, B (as indices), difference, interval, three p-values, and the better one.

    The last value is 0 (no difference), 1 (A) or 2 (B).
    """
    out: dict[str, list[Any]] = {}
    index_of = {name: i for i, name in enumerate(comparisons.systems)} if comparisons is not None else {}
    for row in comparisons or ():
        ahead = {None: 0, row.system_a: 1, row.system_b: 2}[row.ahead]
        numbers = [row.difference, *row.interval, row.p_bootstrap, row.p_randomisation, row.p_corrected]
        out.setdefault(row.metric, []).append(
            [index_of[row.system_a], index_of[row.system_b], *map(json_number, numbers), ahead]
        )
    return out


def _letters(name: str, systems: Sequence[Scores], comparisons: Comparisons) -> list[str]:
    """Return letters such that two systems share one if and only if they do not differ significantly.

    The best system has "a".
    """
    count = len(systems)
    index_of = {called: i for i, called in enumerate(comparisons.systems)}
    similar: dict[int, set[int]] = {i: set(range(count)) - {i} for i in range(count)}
    for row in comparisons:
        if row.metric == name and row.significant:
            a, b = index_of[row.system_a], index_of[row.system_b]
            similar[a].discard(b)
            similar[b].discard(a)
    higher = systems[0][name].measure.higher_is_better
    value = [
        scores[name].value if scores[name].value == scores[name].value else float("-inf" if higher else "inf")
        for scores in systems
    ]
    order = sorted(range(count), key=lambda i: -value[i] if higher else value[i])
    rank = {system: k for k, system in enumerate(order)}
    cliques = sorted(maximal_cliques(similar), key=lambda clique: sorted(rank[i] for i in clique))
    names = [
        *string.ascii_lowercase,
        *(a + b for a in string.ascii_lowercase for b in string.ascii_lowercase),
    ]
    return ["".join(letter for letter, clique in zip(names, cliques) if i in clique) for i in range(count)]


def maximal_cliques(neighbours: Mapping[int, set[int]]) -> list[set[int]]:
    """Return all maximal cliques of a graph (Bron & Kerbosch 1973, with pivots)."""
    cliques: list[set[int]] = []

    def grow(clique: set[int], candidates: set[int], done: set[int]) -> None:
        if not candidates and not done:
            cliques.append(clique)
            return
        pivot = max(candidates | done, key=lambda i: len(neighbours[i] & candidates))
        for i in list(candidates - neighbours[pivot]):
            grow(clique | {i}, candidates & neighbours[i], done & neighbours[i])
            candidates = candidates - {i}
            done = done | {i}

    grow(set(), set(neighbours), set())
    return cliques
