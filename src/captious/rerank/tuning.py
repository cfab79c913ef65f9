"""Tuning λ and α: every candidate is scored once by every metric, and a point of the grid is a choice of rows.

A corpus score is a formula of summed statistics (BLEU's matches and lengths, CHAIR's counts), so the value of all metrics at a
point is the sum of the rows of the chosen candidates. The objective is the geometric mean of the metrics; one of which less is better
enters as its reciprocal, as in Wang et al. (2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.errors import InputError, some
from captious.measures.base import Measure
from captious.progress import track
from captious.ragged import IntArray
from captious.references import References
from captious.rerank.choosing import Grid, best
from captious.rerank.information import Prior, Weights, information
from captious.rerank.models.base import Floats
from captious.rerank.nbest import NBest
from captious.scores import Score, Scores

#: λ and α that are tried: 0 to 1 in steps of 0.1.
STEPS: tuple[float, ...] = tuple(round(0.1 * k, 1) for k in range(11))
#: The metrics of the paper's geometric mean.
METRICS = "BLEU-4,METEOR,CIDEr-D,CHAIRs,SPICE,SPICE-U"


@dataclass(frozen=True, eq=False)
class Judged:
    """Statistics of all candidates by all metrics, in the order of the n-best lists."""

    nbest: NBest
    scores: tuple[Score, ...]
    #: For each candidate the row of its statistics: equal candidates of an image share one.
    row: IntArray

    @property
    def measures(self) -> list[Measure]:
        return [score.measure for score in self.scores]

    def system(self, chosen: IntArray, images: IntArray, name: str) -> Scores:
        """The scores of a system that says the chosen candidates, on some of the images."""
        ids = tuple(self.nbest.ids[i] for i in images.tolist())
        rows = self.row[chosen[images]]
        offsets = np.arange(len(ids) + 1, dtype=np.int64)
        return Scores(name, [Score(one.measure, one.statistics[rows], ids, offsets, f"{one.signature}|images:{len(ids)}") for one in self.scores])


def judge(nbest: NBest, references: References, measures: Sequence[Measure]) -> Judged:
    """Score every different candidate of every image once. The references may be of more images."""
    known = set(references.captions.ids)
    lost = [image for image in nbest.ids if image not in known]
    if lost:
        raise InputError(f"{len(lost):,} of {len(nbest):,} images of {nbest.name} have no references ({some(lost)})")
    for measure in measures:
        if measure.rows != "caption":
            raise InputError(f"{measure.name} is not a metric of single captions, and captions are chosen one by one; leave it out")
    groups, row = distinct(nbest)
    corpus = Corpus.build(nbest.ids, groups, references.captions, name=nbest.name)
    return Judged(nbest, tuple(Score.of(measure, corpus) for measure in track(measures, "scoring the candidates")), row)


def distinct(nbest: NBest) -> tuple[list[list[str]], IntArray]:
    """The different candidates of each image, and the place of every candidate among all of these."""
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
    """The geometric mean of values, × 100 as papers print them; less-is-better ones enter as 1 / (100 · value).

    A value of 0 whose reciprocal is asked for counts as half an image's: no share smaller than that was measured.
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
    """The objective at every point of the grid (λ × α), and the best point."""

    lambdas: tuple[float, ...]
    alphas: tuple[float, ...]
    objective: Floats
    #: The value of each metric at every point.
    values: dict[str, Floats]
    images: int

    def best(self, alphas: NDArray[np.bool_] | None = None) -> Weights:
        """The weights with the highest objective; of equals the smallest λ, then the smallest α. ``alphas`` restricts the columns."""
        allowed = np.where(alphas if alphas is not None else True, self.objective, -np.inf)
        i, j = np.unravel_index(int(np.nanargmax(allowed)), allowed.shape)
        return Weights(self.lambdas[int(i)], self.alphas[int(j)])

    def at(self, weights: Weights) -> float:
        """The objective at one point."""
        return float(self.objective[self.lambdas.index(weights.lam), self.alphas.index(weights.alpha)])

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "images": self.images, "lambda": list(self.lambdas), "alpha": list(self.alphas), "objective": self.objective.tolist(),
            "metrics": {name: found.tolist() for name, found in self.values.items()},
        }  # fmt: skip


def tune(
    judged: Judged,
    prior: Prior,
    images: IntArray | None = None,
    *,
    lambdas: Sequence[float] = STEPS,
    alphas: Sequence[float] = STEPS,
    normalise: bool = False,
) -> Tuned:
    """The objective over a grid of λ and α on some images. With one language model there is no α."""
    nbest = judged.nbest
    log_p = nbest.log_p()
    images = np.arange(len(nbest)) if images is None else images
    if not len(images):
        raise InputError("there are no images to tune on")
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
        empty = [name for name, found in values.items() if np.isnan(found).all()]
        raise InputError(f"the objective is nowhere defined ({', '.join(empty)} has no value); leave the metric out")
    return Tuned(tuple(lambdas), alphas, objective, values, len(images))
