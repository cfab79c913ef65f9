"""The leaderboard: values with intervals, paired tests of all pairs, and groups of systems that do not differ."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

from captious.comparison import ALPHA, Comparisons, compare, only
from captious.page.people import words_of
from captious.progress import track
from captious.scores import Score, Scores, json_number
from captious.significance import Bootstrap


def standings(systems: Sequence[Scores], bootstrap: Bootstrap, alpha: float = ALPHA) -> tuple[dict[str, Any], list[str]]:
    """What the page shows of all systems together, and warnings about numbers that cannot be compared."""
    names = list(dict.fromkeys(name for scores in systems for name in scores))
    comparable, apart = _comparable(systems, names)
    found = compare(*(only(scores, comparable) for scores in systems), alpha=alpha) if comparable and len(systems) > 1 else None
    metrics = [_metric(name, systems, bootstrap, found) for name in track(names, "confidence intervals")]
    return {
        "metrics": metrics,
        "level": bootstrap.level,
        "resamples": bootstrap.resamples,
        "seed": bootstrap.seed,
        "alpha": alpha,
        "family": found.family if found is not None else 0,
        "pairs": _pairs(found),
    }, apart


def _comparable(systems: Sequence[Scores], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Metrics that all systems have, made alike and of the same images; and why others are not among them."""
    good, apart = [], []
    for name in names:
        having = [scores for scores in systems if name in scores]
        if len(having) < len(systems):
            if len(systems) > 1:
                missing = ", ".join(scores.system for scores in systems if name not in scores)
                apart.append(f"{name} is not known for {missing}, so systems are not ranked by it.")
            continue
        first = having[0][name]
        other = next((scores for scores in having if scores[name].signature != first.signature), None)
        if other is not None:
            fields = "; ".join(f"{field}: {a} / {b}" for field, a, b in first.signature.difference(other[name].signature))
            apart.append(f"{name} was made differently for {having[0].system} and {other.system} ({fields}): the values cannot be compared.")
        elif any(set(scores[name].ids) != set(first.ids) for scores in having):
            apart.append(f"{name} was scored on different images for different systems: the values cannot be compared.")
        else:
            good.append(name)
    return good, apart


def _metric(name: str, systems: Sequence[Scores], bootstrap: Bootstrap, found: Comparisons | None) -> dict[str, Any]:
    known = [scores.get(name) for scores in systems]
    first = next(score for score in known if score is not None)
    sees, misses = words_of(first.measure)
    ranked = found is not None and name in found.metrics
    return {
        "name": name,
        "summary": first.measure.summary,
        "sees": sees,
        "misses": misses,
        "higher": first.measure.higher_is_better,
        "bounds": list(first.measure.bounds),
        "format": first.measure.format,
        "rows": first.measure.rows,
        "values": [None if score is None else json_number(score.value) for score in known],
        "intervals": [None if score is None else _interval(score, bootstrap) for score in known],
        "oracle": [json_number(score.oracle) if score is not None and score.several else None for score in known],
        "signatures": [None if score is None else score.interval_signature(*bootstrap) for score in known],
        "comparable": ranked or len(systems) == 1,
        "groups": _letters(name, systems, found) if found is not None and ranked else None,
    }


def _interval(score: Score, bootstrap: Bootstrap) -> list[float | None] | None:
    if len(score.ids) < 2:
        return None
    return [json_number(bound) for bound in score.interval(*bootstrap)]


def _pairs(found: Comparisons | None) -> dict[str, list[Any]]:
    """Metric → rows of A, B (as numbers), difference, interval, the three p-values, and which is ahead (0, A, B)."""
    out: dict[str, list[Any]] = {}
    place = {name: i for i, name in enumerate(found.systems)} if found is not None else {}
    for row in found or ():
        ahead = {None: 0, row.system_a: 1, row.system_b: 2}[row.ahead]
        numbers = [row.difference, *row.interval, row.p_bootstrap, row.p_randomisation, row.p_corrected]
        out.setdefault(row.metric, []).append([place[row.system_a], place[row.system_b], *map(json_number, numbers), ahead])
    return out


def _letters(name: str, systems: Sequence[Scores], found: Comparisons) -> list[str]:
    """Letters such that two systems share one if and only if they do not differ significantly; "a" has the best system."""
    count = len(systems)
    place = {called: i for i, called in enumerate(found.systems)}
    near: dict[int, set[int]] = {i: set(range(count)) - {i} for i in range(count)}
    for row in found:
        if row.metric == name and row.significant:
            a, b = place[row.system_a], place[row.system_b]
            near[a].discard(b)
            near[b].discard(a)
    higher = systems[0][name].measure.higher_is_better
    value = [scores[name].value if scores[name].value == scores[name].value else float("-inf" if higher else "inf") for scores in systems]
    order = sorted(range(count), key=lambda i: -value[i] if higher else value[i])
    rank = {system: k for k, system in enumerate(order)}
    cliques = sorted(maximal_cliques(near), key=lambda clique: sorted(rank[i] for i in clique))
    names = [*string.ascii_lowercase, *(a + b for a in string.ascii_lowercase for b in string.ascii_lowercase)]
    return ["".join(letter for letter, clique in zip(names, cliques) if i in clique) for i in range(count)]


def maximal_cliques(near: Mapping[int, set[int]]) -> list[set[int]]:
    """All largest groups whose members are pairwise near (Bron & Kerbosch 1973, with pivots)."""
    out: list[set[int]] = []

    def grow(clique: set[int], candidates: set[int], done: set[int]) -> None:
        if not candidates and not done:
            out.append(clique)
            return
        pivot = max(candidates | done, key=lambda i: len(near[i] & candidates))
        for i in list(candidates - near[pivot]):
            grow(clique | {i}, candidates & near[i], done & near[i])
            candidates = candidates - {i}
            done = done | {i}

    grow(set(), set(near), set())
    return out
