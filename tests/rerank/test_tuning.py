"""Tuning: the grid's values equal the scores of the chosen captions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.data import demo_path
from captious.io import read
from captious.metrics.registry import make_measures
from captious.rerank import MutualInformation, NBest, Prior, Weights, judge, rerank, tune
from captious.rerank.language_models.language_model import tokens_of
from captious.rerank.language_models.ngram import NGram, Unigram
from captious.rerank.tuning import (
    MEAN,
    ScoredCandidates,
    Tuned,
    changed,
    choices,
    compared,
    geometric_mean,
    split,
    variants,
)
from captious.results.references import References
from tests.rerank.world import rows

pytestmark = pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
METRICS = ["BLEU-4", "CIDEr-D", "ROUGE-L", "CHAIRs", "CHAIRi"]

#: Table 3 of Wang et al. (2020): BLEU, METEOR, CIDEr, CHAIRs, SPICE, SPICE-U, and the geometric mean as
#: printed.
PRINTED = [
    (23.03, 28.98, 108.13, 8.68, 20.62, 23.70, 12.63),
    (22.88, 29.06, 107.04, 8.10, 20.82, 25.05, 12.89),
    (22.79, 28.48, 107.59, 8.20, 20.52, 24.46, 12.74),
    (22.77, 28.84, 106.42, 7.80, 20.72, 25.27, 12.94),
    (21.93, 27.55, 112.39, 11.92, 20.32, 23.74, 11.84),
    (21.56, 27.38, 110.41, 10.88, 20.28, 24.60, 12.00),
    (21.64, 27.40, 111.73, 11.34, 20.17, 23.79, 11.87),
    (21.58, 27.42, 110.90, 10.84, 20.27, 24.52, 12.02),
    (27.53, 30.37, 129.12, 10.40, 22.77, 26.04, 13.54),
    (27.30, 30.43, 128.66, 9.52, 22.79, 26.46, 13.75),
    (27.36, 30.26, 128.79, 10.24, 22.71, 26.12, 13.55),
    (27.18, 30.39, 128.15, 9.28, 22.81, 26.53, 13.80),
]


@pytest.mark.parametrize("row", PRINTED)
def test_the_geometric_mean_is_that_of_the_paper(row: tuple[float, ...]) -> None:
    measures = make_measures(
        ["BLEU-4", "ROUGE-L", "CIDEr-D", "CHAIRs", "BLEU-1", "BLEU-2"], {}
    )  # any of them will do here
    values = {measure.name: np.array(value / 100) for measure, value in zip(measures, row)}
    assert float(geometric_mean(values, measures, 5000)) == pytest.approx(row[-1], abs=0.0051)


def test_nothing_hallucinated_is_better_than_little() -> None:
    measures = make_measures(["BLEU-4", "CHAIRs"], {})
    found = geometric_mean({"BLEU-4": np.full(3, 0.2), "CHAIRs": np.array([0.0, 0.01, 0.02])}, measures, 100)
    assert np.isfinite(found).all() and found[0] > found[1] > found[2]
    assert geometric_mean({"BLEU-4": np.zeros(1), "CHAIRs": np.ones(1)}, measures, 100).tolist() == [0.0]


@pytest.fixture(scope="module")
def world() -> tuple[NBest, Prior, ScoredCandidates]:
    nbest = NBest.of(rows(60))
    captions = tokens_of(
        [text for group in read(demo_path("references"), "references").captions for text in group], "ptb"
    )
    with pytest.warns(UserWarning):
        prior = Prior.of(nbest, [Unigram.learn(captions), NGram.learn(captions, 4)])
    return nbest, prior, judge(nbest, References.read(demo_path("references")), make_measures(METRICS, {}))


@pytest.mark.parametrize(
    ("lam", "alpha", "normalise"), [(0.0, 0.3, False), (0.3, 1.0, False), (1.0, 0.0, False), (0.6, 0.4, True)]
)
def test_a_point_is_the_score_of_the_chosen_captions(
    world: Any, lam: float, alpha: float, normalise: bool
) -> None:
    nbest, prior, judged = world
    found = tune(judged, prior, normalise=normalise)
    chosen = rerank(nbest, MutualInformation(prior, Weights(lam, alpha), normalise=normalise)).captions
    scores = captious.score(demo_path("references"), chosen, METRICS)
    i, j = found.lambdas.index(lam), found.alphas.index(alpha)
    for name in METRICS:
        assert found.values[name][i, j] == pytest.approx(scores[name].value, abs=1e-12), name


def test_the_grid(world: Any) -> None:
    _, prior, judged = world
    found = tune(judged, prior)
    assert found.objective.shape == (11, 11)
    # If the language model has no weight, α has no effect.
    assert np.unique(found.objective[0]).size == 1
    best = found.best()
    assert found.at(best) == found.objective.max()
    assert found.at(variants(found, prior)["+ interpolated"]) >= max(
        found.at(w) for w in variants(found, prior).values()
    )
    assert {w.alpha for w in list(variants(found, prior).values())[:2]} == {0.0, 1.0}
    alone = tune(judged, Prior(prior.log[:1], prior.lengths, prior.names[:1]))
    assert alone.objective.shape == (11, 1) and alone.objective[:, 0] == pytest.approx(found.objective[:, -1])
    part = tune(judged, prior, np.arange(10))
    assert part.images == 10 and not np.allclose(part.objective, found.objective)
    with pytest.raises(InputError, match="no images are left to tune on"):
        tune(judged, prior, np.zeros(0, np.int64))


def test_of_equal_points_the_one_with_least_weight_is_taken() -> None:
    flat = Tuned((0.0, 0.5, 1.0), (0.0, 1.0), np.ones((3, 2)), {}, 5)
    assert flat.best() == Weights(0.0, 0.0)
    assert flat.best(np.array([False, True])) == Weights(0.0, 1.0)


def test_equal_candidates_share_a_row() -> None:
    image = rows(2)[0]
    listed = [
        {
            **image,
            "captions": [image["captions"][0]] * 2 + image["captions"][:2],
            "logprobs": [-1.0, -2.0, -3.0, -4.0],
        },
        rows(2)[1],
    ]
    judged = judge(NBest.of(listed), References.read(demo_path("references")), make_measures(["BLEU-4"], {}))
    assert judged.row[:4].tolist() == [0, 0, 0, 1] and len(judged.scores[0].statistics) == 2 + len(
        rows(2)[1]["captions"]
    )
    nothing = np.zeros(len(judged.nbest.texts))
    found = tune(judged, Prior((nothing,), nothing + 1, ("none",)))
    said = {str(row["image_id"]): row["captions"][0] for row in listed}
    assert found.values["BLEU-4"][0, 0] == pytest.approx(
        captious.score(demo_path("references"), said, "BLEU-4", part=True)["BLEU-4"].value
    )


def test_systems_are_compared_on_the_other_images(world: Any) -> None:
    nbest, prior, judged = world
    first, second = split(len(nbest), 0.5, 1)
    assert len(first) == len(second) == 30 and not set(first.tolist()) & set(second.tolist())
    weights = variants(tune(judged, prior, first), prior)
    chosen = choices(judged, prior, weights)
    found = compared(judged, chosen, second, weights, trials=200, resamples=100)
    assert [one.name for one in found] == ["baseline", "+ unigram", "+ ngram", "+ interpolated"]
    base = {nbest.ids[i]: nbest.texts[chosen["baseline"][i]] for i in second.tolist()}
    scores = captious.score(demo_path("references"), base, METRICS, part=True)
    for name in METRICS:
        cell = found[0].cells[name]
        assert (
            cell.value == pytest.approx(scores[name].value)
            and cell.interval[0] <= cell.value <= cell.interval[1]
        )
        for one in found[1:]:
            assert (
                one.cells[name].difference == pytest.approx(one.cells[name].value - cell.value)
                and 0 < one.cells[name].p <= 1
            )
    assert all(0 < one.cells[MEAN].p <= 1 for one in found[1:])
    assert changed(chosen, second, nbest.texts)["baseline"] == 0
    # The same choice does not differ from itself.
    again = compared(
        judged, {"a": chosen["baseline"], "b": chosen["baseline"]}, second, trials=50, resamples=50
    )
    assert all(cell.difference == 0 and cell.p == 1 for cell in again[1].cells.values())


def test_what_cannot_be_judged(world: Any) -> None:
    nbest, _, _ = world
    references = References.read(demo_path("references"))
    with pytest.raises(InputError, match="has no caption-level scores"):
        judge(nbest, references, make_measures(["ASL"], {}))
    strange = NBest.of([{"image_id": "nowhere", "captions": ["a"], "logprobs": [-1.0]}])
    with pytest.raises(InputError, match="have no references"):
        judge(strange, references, make_measures(["BLEU-4"], {}))


def test_the_heat_map_is_drawn(world: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from captious.figures import rerank_plots

    _, prior, judged = world
    for k, one in enumerate((prior, Prior(prior.log[:1], prior.lengths, prior.names[:1]))):
        figure = rerank_plots.heat_map(tune(judged, one))
        best = tune(judged, one).best()
        assert f"λ = {best.lam:g}" in figure.axes[0].get_title(loc="left")
        written = rerank_plots.style.save(figure, tmp_path, f"grid{k}")
        assert all(path.stat().st_size > 1000 for path in written)
