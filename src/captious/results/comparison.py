"""Paired tests of any number of systems on the same images, corrected for their number."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from captious.core.errors import InputError, did_you_mean, some
from captious.corpus import Corpus
from captious.io import CaptionWarning
from captious.metrics import registry
from captious.metrics.base import Measure, Sequences
from captious.metrics.registry import Wanted, make_measures
from captious.results import significance
from captious.results.comparison_result import ALPHA, Comparison, Comparisons
from captious.results.references import Source, distinct, load_systems, tell_apart
from captious.results.saved_scores import SUFFIX, is_saved
from captious.results.scores import Score, Scores
from captious.results.significance import PairedTests

#: A corpus, scores, a path of saved scores, or with references any predictions.
System = Corpus | Scores | Source


def compare(
    *systems: System | Wanted,
    references: Source | None = None,
    metrics: Wanted | None = None,
    names: Sequence[str] | None = None,
    baseline: str | int | None = None,
    alpha: float = ALPHA,
    resamples: int = significance.RESAMPLES,
    trials: int = significance.TRIALS,
    seed: int = significance.SEED,
    tokenizer: str | None = None,
    subset: bool = False,
    several: bool | None = None,
    **options: Any,
) -> Comparisons:
    """Compare systems on the same images, metric by metric, with paired tests.

    Scores with different signatures are refused.

    Parameters
    ----------
    systems
        Two or more: corpora, scores, or paths of saved scores (``NAME.scores``). With ``references`` also
        predictions, as :func:`captious.load` takes them.
    references
        References of predictions.
    metrics
        As for :func:`captious.score`. Without ``references`` they may also be the last positional argument.
        The default is "coco" for corpora, and for scores all metrics they have in common.
    names
        Names of the systems, one for each.
    baseline
        Compare each system with this one (its name, its path, or its position from 0) instead of all pairs.
    alpha
        A system is ahead if the p-value of approximate randomisation, corrected by Holm's method over all
        pairs and metrics of this call, is at most alpha. Intervals have the level 1 − alpha.
    resamples, trials, seed
        Resamples of the bootstrap, trials of the randomisation test, and the seed of both.
    tokenizer, subset, several
        As for :func:`captious.load`, for predictions.
    options
        Options of the metrics.

    Returns
    -------
    Comparisons
        One :class:`Comparison` per metric and pair of systems.

    Examples
    --------
    >>> from captious.data import demo_path
    >>> good, poor, references = map(demo_path, ["good", "poor", "references"])
    >>> rows = compare(good, poor, references=references, metrics="BLEU-4", trials=100)
    >>> rows[0].better
    'A'
    """
    sources: list[Any] = list(systems)
    wanted = metrics
    last = sources[-1] if sources else None
    if sources and metrics is None and references is None and not (_is_system(last) or _is_path(last)):
        wanted = cast("Wanted | None", sources.pop())
    loaded = _loaded(
        sources, references, names, {"tokenizer": tokenizer, "subset": subset, "several": several}
    )
    if len(loaded) < 2:
        raise InputError(f"a comparison needs at least two systems, and {len(loaded)} was given")
    files = [str(source) for source in sources]
    if baseline in files:
        baseline = files.index(str(baseline))
    if not 0 < alpha < 1:
        raise InputError(f"alpha lies between 0 and 1, not {alpha}")
    scores = _scored(loaded, wanted, options)
    names = distinct([one.system for one in scores])
    shared = _in_common(scores, names)
    pairs = _pairs(names, baseline)
    rows = _compared(scores, names, shared, pairs, alpha, resamples, trials, seed)
    smallest = 1 / (trials + 1)
    if rows and rows[0].family * smallest > alpha:
        warnings.warn(
            CaptionWarning(
                f"{trials:,} trials cannot give a p-value below {smallest:.2g}, too coarse for "
                f"{rows[0].family:,} comparisons at "
                f"alpha = {alpha:g}: nothing can be significant; use more trials (--trials, trials=…) or "
                "fewer comparisons"
            ),
            stacklevel=2,
        )
    return Comparisons(rows, scores, names, alpha, smallest)


def best_systems(systems: Sequence[Scores], metrics: Iterable[str]) -> dict[str, list[int]]:
    """Return the indices of the systems with the best value of each metric.

    Metrics are skipped if all values are equal, or if the values cannot be compared: different signatures or
    images.
    """
    best: dict[str, list[int]] = {}
    for metric in metrics:
        scores = {i: own[metric] for i, own in enumerate(systems) if metric in own}
        values = {i: score.value for i, score in scores.items() if not np.isnan(score.value)}
        if len(set(values.values())) < 2:
            continue
        alike = {(score.signature, frozenset(score.ids)) for score in scores.values()}
        if len(alike) == 1:
            higher = next(iter(scores.values())).measure.higher_is_better
            top = (max if higher else min)(values.values())
            best[metric] = [i for i, value in values.items() if value == top]
    return best


def leaders(
    systems: Sequence[Scores],
    metrics: Iterable[str],
    *,
    alpha: float = ALPHA,
    bootstrap: significance.Bootstrap | None = None,
) -> dict[str, list[int]]:
    """Return the systems that are significantly better than every other system that has the metric.

    The best system of each metric is tested against the others by paired randomisation, with Holm's
    correction over all these tests.
    """
    settings = bootstrap or significance.Bootstrap()
    best = {metric: top[0] for metric, top in best_systems(systems, metrics).items() if len(top) == 1}
    # Metrics of the same systems share their trials. Rows of words are measured again in each trial, which is
    # slow, so they get fewer.
    together: dict[tuple[tuple[int, ...], int], list[str]] = {}
    for metric in best:
        having = tuple(i for i, own in enumerate(systems) if metric in own)
        is_words = isinstance(systems[having[0]][metric].statistics, Sequences)
        trials = settings.resamples if is_words else significance.TRIALS
        together.setdefault((having, trials), []).append(metric)
    tests: dict[tuple[str, int], float] = {}
    for (having, trials), names in together.items():
        paired = PairedTests([systems[i] for i in having], names)
        tops = dict.fromkeys(having.index(best[name]) for name in names)
        pairs = [(top, k) for top in tops for k in range(len(having)) if k != top]
        for (name, top, k), p in paired.randomised(pairs, trials, settings.seed).items():
            if best[name] == having[top]:
                tests[name, having[k]] = p
    corrected = dict(zip(tests, significance.holm(list(tests.values()))))
    return {
        metric: [top]
        for metric, top in best.items()
        if all(p <= alpha for (name, _), p in corrected.items() if name == metric)
    }


def compare_scores(
    a: Score,
    b: Score,
    *,
    alpha: float = ALPHA,
    resamples: int = significance.RESAMPLES,
    trials: int = significance.TRIALS,
    seed: int = significance.SEED,
) -> Comparison:
    """Compare two scores of one metric on the same images."""
    _check(a, b, "A", "B")
    scores = [Scores("A", [a]), Scores("B", [b])]
    return _compared(scores, ["A", "B"], [a.name], [(0, 1)], alpha, resamples, trials, seed)[0]


def _loaded(
    sources: Sequence[Any], references: Source | None, names: Sequence[str] | None, loading: dict[str, Any]
) -> list[Corpus | Scores]:
    """Return corpora and scores; read predictions and saved scores from their files."""
    if names and len(names) != len(sources):
        raise InputError(
            f"{len(sources)} systems were given and {len(names)} name{'s' if len(names) != 1 else ''}; "
            "give one name for each system (--name)"
        )
    is_loaded = [isinstance(source, Corpus | Scores) for source in sources]
    if references is None:
        wrong = next((source for source in sources if not _is_system(source)), None)
        if wrong is not None:
            if _is_path(wrong):
                raise InputError(
                    f"{wrong} has captions, which need references: compare(…, references=…) "
                    f"(or give saved scores, NAME{SUFFIX})"
                )
            raise InputError(
                f"systems are corpora, scores, or paths of saved scores (NAME{SUFFIX}), not {wrong!r}"
            )
        if any(loading.values()):
            raise InputError(
                "--tokenizer, --subset and --allow-several are for captions; "
                "saved scores already have their tokenizer and images"
            )
        is_scores = [not loaded for loaded in is_loaded]
    else:
        is_scores = [not loaded and is_saved(source) for source, loaded in zip(sources, is_loaded)]
    unread = [source for source, *ready in zip(sources, is_loaded, is_scores) if not any(ready)]
    corpora = iter(load_systems(references, unread, **loading) if unread else ())
    systems: list[Corpus | Scores] = [
        source if loaded else Scores.load(source) if saved else next(corpora)
        for source, loaded, saved in zip(sources, is_loaded, is_scores)
    ]
    paths = [Path(source) if saved else None for source, saved in zip(sources, is_scores)]
    labels = names or tell_apart(
        [one.name if isinstance(one, Corpus) else one.system for one in systems], paths
    )
    for one, label, path in zip(systems, labels, paths):
        if isinstance(one, Corpus) and names:
            one.name = label
        elif isinstance(one, Scores) and (names or path is not None):
            one.system = label
    return systems


def _is_system(one: Any) -> bool:
    return isinstance(one, Corpus | Scores) or is_saved(one)


def _is_path(one: Any) -> bool:
    """Return whether an argument is a path, not metrics: "a.json" and "runs/a", but not "BLEU-4,CIDEr-D"."""
    if isinstance(one, str):
        return os.sep in one or Path(one).suffix[1:].isalpha()
    return isinstance(one, os.PathLike)


def _scored(
    systems: Sequence[Corpus | Scores], wanted: Wanted | None, options: dict[str, Any]
) -> list[Scores]:
    """Return the scores of all systems.

    Corpora are scored by the requested metrics, by default those that the other systems' scores have.
    """
    saved = [one for one in systems if isinstance(one, Scores)]
    if options and len(saved) == len(systems):
        raise InputError(
            f"options of metrics ({some(options)}) are for captions; these scores were made already"
        )
    measures: list[Measure] = []
    if len(saved) < len(systems):
        names = [name for name in saved[0] if all(name in other for other in saved)] if saved else "coco"
        measures = make_measures(wanted if wanted is not None else names, options)
    fresh = iter(Scores.of_corpora([one for one in systems if isinstance(one, Corpus)], measures))
    scores = [one if isinstance(one, Scores) else next(fresh) for one in systems]
    if wanted is None or not saved:
        return scores
    chosen = [measure.name for measure in measures] or saved_names(wanted, saved[0])
    return [only(one, chosen) for one in scores]


def saved_names(wanted: Wanted, scores: Scores) -> list[str]:
    """Return the names of metrics of saved scores: from the registry, or any other such as "mean CIDEr-D"."""
    names: list[str] = []
    for part in registry.parts(wanted):
        is_own = isinstance(part, str) and part in scores
        resolved = [part] if is_own else registry.resolve(part)
        names += [one.name if isinstance(one, Measure) else str(one) for one in resolved]
    return names


def only(scores: Scores, names: Sequence[str]) -> Scores:
    """Select metrics of a system."""
    missing = [name for name in names if name not in scores]
    if missing:
        raise InputError(f"{scores.system} has no {some(missing)}; it has {some(scores, 40)}")
    return Scores(scores.system, [scores[name] for name in names], scores.captions, scores.lengths)


def _in_common(scores: Sequence[Scores], names: Sequence[str]) -> list[str]:
    """Return the metrics that all systems have. Refuse different signatures or images."""
    first = scores[0]
    shared = [name for name in first if all(name in other for other in scores)]
    if not shared:
        listed = "; ".join(f"{name}: {some(own)}" for name, own in zip(names, scores))
        raise InputError(f"the systems have no metric in common ({listed})")
    every = dict.fromkeys(name for own in scores for name in own)
    left_out = [name for name in every if name not in shared]
    if left_out:
        warnings.warn(CaptionWarning(f"left out {some(left_out)}: not all systems have them"), stacklevel=4)
    for metric in shared:
        for other, name in zip(scores[1:], names[1:]):
            _check(first[metric], other[metric], names[0], name)
    return shared


def _check(a: Score, b: Score, name_a: str, name_b: str) -> None:
    if a.signature != b.signature:
        apart = "; ".join(
            f"{field}: {here} / {there}" for field, here, there in a.signature.difference(b.signature)
        )
        raise InputError(
            f"{a.name}: {name_a} and {name_b} cannot be compared, they were made differently ({apart})"
        )
    if a.ids != b.ids and set(a.ids) != set(b.ids):
        apart = some(sorted(set(a.ids) ^ set(b.ids)))
        raise InputError(
            f"{a.name}: {name_a} was scored on {len(a.ids):,} images and {name_b} on {len(b.ids):,}; they "
            f"must be the same (in one of them only: {apart})"
        )


def _pairs(names: Sequence[str], baseline: str | int | None) -> list[tuple[int, int]]:
    if baseline is None:
        return list(itertools.combinations(range(len(names)), 2))
    if isinstance(baseline, str):
        if baseline not in names:
            raise InputError(
                f"the baseline '{baseline}' is not among the systems{did_you_mean(baseline, names)} "
                f"({some(names, 20)})"
            )
        baseline = list(names).index(baseline)
    if not 0 <= baseline < len(names):
        raise InputError(
            f"there is no system {baseline} to be the baseline; the {len(names)} systems are numbered from 0"
        )
    return [(baseline, other) for other in range(len(names)) if other != baseline]


def _compared(
    scores: Sequence[Scores],
    names: Sequence[str],
    metrics: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    alpha: float,
    resamples: int,
    trials: int,
    seed: int,
) -> list[Comparison]:
    """Test all pairs by all metrics."""
    tables = PairedTests(scores, metrics)
    resampled = tables.resampled(resamples, seed)
    p_randomisation = tables.randomised(pairs, trials, seed)
    keys = [(metric, a, b) for metric in metrics for a, b in pairs]
    corrected = significance.holm([p_randomisation[key] for key in keys])
    family = max(1, sum(p == p for p in corrected))
    rows = []
    for (metric, a, b), p in zip(keys, corrected):
        first, second = scores[a][metric], scores[b][metric]
        difference = second.value - first.value
        apart = resampled[metric, b] - resampled[metric, a]
        low, high, p_bootstrap = significance.interval_and_p(
            apart, difference, 1 - alpha, biased=metric in tables.word_metrics
        )
        rows.append(
            Comparison(
                metric=first.name,
                a=first.value,
                b=second.value,
                difference=difference,
                interval=(low, high),
                p_bootstrap=p_bootstrap,
                p_randomisation=p_randomisation[metric, a, b],
                higher_is_better=first.measure.higher_is_better,
                signature=(
                    f"{first.signature}|paired-bootstrap:{resamples}|randomisation:{trials}|seed:{seed}"
                    f"|holm:{family}|alpha:{alpha:g}"
                ),
                system_a=names[a],
                system_b=names[b],
                p_corrected=p,
                family=family,
                alpha=alpha,
                format=first.measure.format,
                images=len(first.ids),
            )
        )
    return rows
