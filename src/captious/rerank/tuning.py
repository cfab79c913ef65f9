"""Tuning of λ and α: every metric scores every candidate once, and each grid point selects rows.

A corpus score is a formula of summed statistics (BLEU's matches and lengths, CHAIR's counts), so the value of
a metric at a grid point comes from the sum of the selected candidates' rows. The objective is the geometric
mean of the metrics. Metrics for which lower is better enter as their reciprocal, as in Wang et al. (2020).

The baseline, each language model and their interpolation are then compared on images not used for tuning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, some
from captious.core.progress import track
from captious.core.ragged import IntArray
from captious.corpus import Corpus
from captious.metrics.base import Measure
from captious.rerank.criteria import Prior, Weights, information
from captious.rerank.language_models.language_model import Floats
from captious.rerank.nbest import NBest
from captious.rerank.selection_rules import Grid, best
from captious.results import significance
from captious.results.comparison import compare
from captious.results.comparison_result import Comparisons
from captious.results.references import References
from captious.results.scores import Score, Scores, json_number
from captious.results.significance import PairedTests

#: Default grid of λ and α: 0 to 1 in steps of 0.1.
STEPS: tuple[float, ...] = tuple(round(0.1 * k, 1) for k in range(11))
#: The metrics of the paper's geometric mean.
METRICS = "BLEU-4,METEOR,CIDEr-D,CHAIRs,SPICE,SPICE-U"


@dataclass(frozen=True, eq=False)
class ScoredCandidates:
    """Statistics of all candidates by all metrics, in the order of the n-best lists."""

    nbest: NBest
    scores: tuple[Score, ...]
    #: Row of statistics of each candidate. Equal candidates of an image share a row.
    row: IntArray

    @property
    def measures(self) -> list[Measure]:
        return [score.measure for score in self.scores]

    def system(self, chosen: IntArray, images: IntArray, name: str) -> Scores:
        """Return the scores of the system that outputs the selected candidates, on some of the images."""
        ids = tuple(self.nbest.ids[i] for i in images.tolist())
        rows = self.row[chosen[images]]
        offsets = np.arange(len(ids) + 1, dtype=np.int64)
        return Scores(
            name,
            [
                Score(
                    score.measure,
                    score.statistics[rows],
                    ids,
                    offsets,
                    f"{score.signature}|images:{len(ids)}",
                )
                for score in self.scores
            ],
        )


def judge(nbest: NBest, references: References, measures: Sequence[Measure]) -> ScoredCandidates:
    """Score every distinct candidate of every image once. The references may cover more images.

    Parameters
    ----------
    nbest
        Candidates of each image.
    references
        References of at least these images.
    measures
        Measures of captions.

    Examples
    --------
    >>> import json, tempfile
    >>> from captious.rerank import read_nbest
    >>> row = {"image_id": 1, "captions": ["a dog runs", "a cat"], "logprobs": [-1.0, -0.5]}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     print(json.dumps(row), file=file, flush=True)
    ...     nbest = read_nbest(file.name)
    >>> from captious import References
    >>> from captious.metrics.registry import make_measures
    >>> references = References.read({1: ["a dog runs"], 2: ["two men"]})
    >>> judge(nbest, references, make_measures("BLEU-1", {})).row.tolist()
    [0, 1]
    """
    reference_ids = set(references.captions.ids)
    missing_ids = [image for image in nbest.ids if image not in reference_ids]
    if missing_ids:
        raise InputError(
            f"{len(missing_ids):,} of {len(nbest):,} images of {nbest.name} have no references "
            f"({some(missing_ids)})"
        )
    for measure in measures:
        if measure.rows != "caption":
            raise InputError(
                f"{measure.name} has no caption-level scores, which re-ranking needs; remove it from the "
                "metrics"
            )
    groups, row = distinct(nbest)
    corpus = Corpus.build(nbest.ids, groups, references.captions, name=nbest.name)
    return ScoredCandidates(
        nbest, tuple(Score.of(measure, corpus) for measure in track(measures, "scoring the candidates")), row
    )


def distinct(nbest: NBest) -> tuple[list[list[str]], IntArray]:
    """Return the distinct candidates of each image, and the index of every candidate among them."""
    groups: list[list[str]] = []
    row: list[int] = []
    count = 0
    for group in nbest.groups:
        places = {text: count + k for k, text in enumerate(dict.fromkeys(group))}
        groups.append(list(places))
        row += [places[text] for text in group]
        count += len(places)
    return groups, np.array(row, np.int64)


def geometric_mean(values: Mapping[str, Floats], measures: Sequence[Measure], images: int) -> Floats:
    """Return the geometric mean of metric values × 100.

    Lower-is-better metrics enter as 1 / (100 · value). Their 0 is replaced by half an image's share (0.5 /
    images), below the smallest measurable value.
    """
    logs = []
    for measure in measures:
        value = np.asarray(values[measure.name], np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            if measure.higher_is_better:
                logs.append(np.log(100 * np.maximum(value, 0.0)))
            else:
                logs.append(-np.log(100 * np.maximum(value, 0.5 / images)))
    mean: Floats = np.exp(np.mean(logs, axis=0))
    return mean


@dataclass(frozen=True, eq=False)
class Tuned:
    """Objective at every point of the grid (λ × α)."""

    lambdas: tuple[float, ...]
    alphas: tuple[float, ...]
    objective: Floats
    #: The value of each metric at every point.
    values: dict[str, Floats]
    images: int

    def best(self, alphas: NDArray[np.bool_] | None = None) -> Weights:
        """Return the weights with the highest objective. Ties go to the smallest λ, then the smallest α.

        ``alphas`` is a mask of the allowed columns.
        """
        allowed = np.where(alphas if alphas is not None else True, self.objective, -np.inf)
        i, j = np.unravel_index(int(np.nanargmax(allowed)), allowed.shape)
        return Weights(self.lambdas[int(i)], self.alphas[int(j)])

    def at(self, weights: Weights) -> float:
        """Return the objective at one point."""
        return float(self.objective[self.lambdas.index(weights.lam), self.alphas.index(weights.alpha)])

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "images": self.images,
            "lambda": list(self.lambdas),
            "alpha": list(self.alphas),
            "objective": self.objective.tolist(),
            "metrics": {name: found.tolist() for name, found in self.values.items()},
        }


def tune(
    judged: ScoredCandidates,
    prior: Prior,
    images: IntArray | None = None,
    *,
    lambdas: Sequence[float] = STEPS,
    alphas: Sequence[float] = STEPS,
    normalise: bool = False,
) -> Tuned:
    """Compute the objective over a grid of λ and α.

    Parameters
    ----------
    judged
        Scored candidates, from `judge`.
    prior
        log P(s) of the candidates.
    images
        Indices of the images to tune on. None for all.
    lambdas, alphas
        Grid of weights. With one language model, α is always 1.
    normalise
        Whether to normalise scores by the number of tokens.

    Examples
    --------
    >>> import json, tempfile
    >>> from captious.rerank import read_nbest
    >>> row = {"image_id": 1, "captions": ["a dog runs", "a cat"], "logprobs": [-1.0, -0.5]}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     print(json.dumps(row), file=file, flush=True)
    ...     nbest = read_nbest(file.name)
    >>> from captious import References
    >>> from captious.metrics.registry import make_measures
    >>> references = References.read({1: ["a dog runs"], 2: ["two men"]})
    >>> from captious.data import demo_path
    >>> from captious.rerank import Prior, load_model
    >>> from captious.training import train_language_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = train_language_model(demo_path("references"), f"{folder}/lm.npz", held_out=10)
    ...     prior = Prior.of(nbest, [load_model(f"{folder}/lm.npz")])
    >>> tuned = tune(judge(nbest, references, make_measures("BLEU-1", {})), prior)
    >>> tuned.best().lam in tuned.lambdas
    True
    """
    nbest = judged.nbest
    log_p = nbest.log_p()
    images = np.arange(len(nbest)) if images is None else images
    if not len(images):
        raise InputError("no images are left to tune on; use a larger share")
    alphas = tuple(alphas) if len(prior.log) == 2 else (1.0,)
    shape = (len(lambdas), len(alphas))
    grid = Grid.of(nbest.offsets)
    part = Grid(grid.place[images], grid.empty[images])
    values = {score.name: np.zeros(shape) for score in judged.scores}
    points = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
    for i, j in track(points, "tuning"):
        chosen = best(part, information(log_p, prior, Weights(lambdas[i], alphas[j]), normalise=normalise))
        rows = judged.row[chosen]
        for score in judged.scores:
            values[score.name][i, j] = score.measure.value(score.statistics[rows].sum(axis=0))
    objective = geometric_mean(values, judged.measures, len(images))
    if np.isnan(objective).all():
        undefined = [name for name, found in values.items() if np.isnan(found).all()]
        raise InputError(
            f"the objective is undefined at every point ({', '.join(undefined)} has no value); remove the "
            "metric"
        )
    return Tuned(tuple(lambdas), alphas, objective, values, len(images))


MEAN = "GeoMean"
BASELINE = "baseline"


@dataclass(frozen=True)
class Cell:
    """A value with its interval, and its difference from the baseline."""

    value: float
    interval: tuple[float, float]
    difference: float = 0.0
    #: p-value with Holm's correction over all metrics and systems. For the geometric mean, the uncorrected
    #: p-value of the paired bootstrap.
    p: float = float("nan")
    #: Uncorrected p-value.
    p_alone: float = float("nan")


@dataclass(frozen=True, eq=False)
class System:
    """A re-ranking variant and its results."""

    name: str
    weights: Weights | None
    cells: Mapping[str, Cell]
    scores: Scores

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        rows = {
            name: {
                "value": json_number(c.value),
                "interval": [json_number(b) for b in c.interval],
                "difference": json_number(c.difference),
                "p": json_number(c.p),
                "p alone": json_number(c.p_alone),
            }
            for name, c in self.cells.items()
        }
        return {
            "system": self.name,
            "lambda": self.weights.lam if self.weights else None,
            "alpha": self.weights.alpha if self.weights else None,
            "metrics": rows,
        }


def variants(tuned: Tuned, prior: Prior) -> dict[str, Weights]:
    """Return the best weights for each language model alone (α = 1 and α = 0), and for both together."""
    if len(prior.log) == 1:
        return {f"+ {prior.names[0]}": tuned.best()}
    alphas = np.array(tuned.alphas)
    single = {
        f"+ {prior.names[k]}": tuned.best(alphas == alpha)
        for k, alpha in enumerate((1.0, 0.0))
        if (alphas == alpha).any()
    }
    return {**single, "+ interpolated": tuned.best()}


def choices(
    judged: ScoredCandidates, prior: Prior, weights: Mapping[str, Weights], *, normalise: bool = False
) -> dict[str, IntArray]:
    """Return the selection of each variant, the baseline first."""
    grid, log_p = Grid.of(judged.nbest.offsets), judged.nbest.log_p()
    chosen = {BASELINE: best(grid, information(log_p, prior, Weights(0.0), normalise=normalise))}
    return chosen | {
        name: best(grid, information(log_p, prior, one, normalise=normalise)) for name, one in weights.items()
    }


def compared(
    judged: ScoredCandidates,
    chosen: Mapping[str, IntArray],
    images: IntArray,
    weights: Mapping[str, Weights] | None = None,
    *,
    trials: int = significance.TRIALS,
    resamples: int = significance.RESAMPLES,
    seed: int = significance.SEED,
) -> list[System]:
    """Compare every selection with the first, on some of the images."""
    scores = [judged.system(rows, images, name) for name, rows in chosen.items()]
    measures = judged.measures
    names = [measure.name for measure in measures]
    tests: Comparisons = (
        compare(*scores, baseline=0, trials=trials, resamples=resamples, seed=seed)
        if len(scores) > 1
        else Comparisons([], scores, list(chosen), 0.05)
    )
    test_of = {(row.metric, row.system_b): row for row in tests}
    resampled = PairedTests(scores, names).resampled(resamples, seed)
    means = [
        geometric_mean({name: resampled[name, k] for name in names}, measures, len(images))
        for k in range(len(scores))
    ]
    value = [
        float(geometric_mean({name: np.array(s[name].value) for name in names}, measures, len(images)))
        for s in scores
    ]
    systems = []
    for k, (name, score) in enumerate(zip(chosen, scores)):
        cells: dict[str, Cell] = {}
        for metric in names:
            row = test_of.get((metric, name))
            difference_and_p = (
                (row.difference, row.p_corrected, row.p_randomisation)
                if row
                else (0.0, float("nan"), float("nan"))
            )
            cells[metric] = Cell(
                score[metric].value, score[metric].interval(0.95, resamples, seed), *difference_and_p
            )
        p = significance.interval_and_p(means[k] - means[0], value[k] - value[0])[2] if k else float("nan")
        cells[MEAN] = Cell(value[k], _middle(means[k]), value[k] - value[0], p, p)
        systems.append(System(name, (weights or {}).get(name), cells, score))
    return systems


def _middle(values: Any) -> tuple[float, float]:
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(low), float(high)


def split(count: int, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Draw images for tuning and for testing, both in the order of the file."""
    order = np.random.default_rng(seed).permutation(count)
    tuned = round(share * count)
    return np.sort(order[:tuned]), np.sort(order[tuned:])


def changed(chosen: Mapping[str, IntArray], images: IntArray, texts: Sequence[str]) -> dict[str, float]:
    """Return each variant's share of images whose caption differs from the first variant's."""
    first = next(iter(chosen.values()))[images].tolist()
    return {
        name: float(np.mean([texts[a] != texts[b] for a, b in zip(first, rows[images].tolist())]))
        for name, rows in chosen.items()
    }
