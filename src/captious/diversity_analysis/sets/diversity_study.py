"""Diversity of several systems beside people, as ``captious diversity`` reports it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import InputError, did_you_mean, some
from captious.core.progress import track
from captious.diversity_analysis.sets.accuracy_diversity import BETA_SQUARED
from captious.diversity_analysis.sets.best_of_m import BestOfM, best
from captious.diversity_analysis.sets.set_diversity import (
    SEVERAL,
    SetDiversity,
    diversity,
    has_sets,
    human,
    read_df,
)
from captious.io.content import is_number, read_json
from captious.metrics.base import mid_ranks
from captious.metrics.corpus.novel_captions import TrainingCaptions
from captious.metrics.registry import Wanted, make_measures
from captious.metrics.sets.similarity_kernels import make_kernel
from captious.results.references import Source, load_systems
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.results.scores import Score
from captious.results.significance import Bootstrap


class JudgementCorrelation(NamedTuple):
    """Correlations of a measure with human scores of the same sets."""

    measure: str
    #: Over all sets of all systems.
    pearson: float
    spearman: float
    #: Mean over images of the rank correlation across systems.
    per_image_spearman: float
    #: Number of sets, and of images in the per-image mean.
    sets: int
    images: int

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description. Undefined correlations become null."""
        return {
            key: numbers.number(value) if isinstance(value, float) else value
            for key, value in self._asdict().items()
        }


def correlate_judgements(
    scores: Mapping[str, Score | Mapping[str, float]],
    human: Mapping[str, Mapping[str, float]],
    *,
    measure: str | None = None,
) -> JudgementCorrelation:
    """Correlate a diversity measure with human scores.

    Parameters
    ----------
    scores
        System → score, or system → image → value.
    human
        System → image → human score.
    measure
        Display name of the measure.

    Returns
    -------
    JudgementCorrelation
        The per-image Spearman averages over images with at least three judged systems, without images on
        which either side is constant. Measures for which lower is more diverse (mBLEU) correlate negatively.

    Examples
    --------
    >>> scores = {"a": {"1": 0.9}, "b": {"1": 0.5}, "c": {"1": 0.1}}
    >>> people = {"a": {"1": 5.0}, "b": {"1": 3.0}, "c": {"1": 2.0}}
    >>> round(correlate_judgements(scores, people).per_image_spearman, 2)
    1.0
    """
    _check_judged(human, list(scores))
    by_image: dict[str, list[tuple[float, float]]] = {}
    for system, judged in human.items():
        score = scores[system]
        values = score.per_image if isinstance(score, Score) else score
        missing_ids = [image for image in judged if str(image) not in values]
        if missing_ids:
            raise InputError(
                f"human scores of {system} for images that were not measured: {some(missing_ids)}"
            )
        for image, value in judged.items():
            by_image.setdefault(str(image), []).append((float(values[str(image)]), float(value)))
    pairs = np.array([pair for listed in by_image.values() for pair in listed]).reshape(-1, 2)
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    if len(pairs) < 3:
        raise InputError(f"{len(pairs)} human scores are too few for a correlation; at least 3 are needed")
    per_image = [_spearman(np.array(listed)) for listed in by_image.values() if len(listed) >= 3]
    defined = [value for value in per_image if not np.isnan(value)]
    first = next(iter(scores.values()))
    return JudgementCorrelation(
        measure or (first.name if isinstance(first, Score) else "measure"),
        _pearson(pairs),
        _spearman(pairs),
        float(np.mean(defined)) if defined else float("nan"),
        len(pairs),
        len(defined),
    )


def _check_judged(human: Mapping[str, Mapping[str, float]], measured: Sequence[str]) -> None:
    unmeasured = [system for system in human if system not in measured]
    if unmeasured:
        raise InputError(
            f"human scores have systems that were not measured: {some(unmeasured)}"
            f"{did_you_mean(unmeasured[0], measured)} (measured: {some(measured)})"
        )


def _pearson(pairs: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    centred = pairs - pairs.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    # Undefined for values that are constant up to rounding.
    if np.any(spread <= 1e-12 * np.maximum(1.0, np.abs(pairs).max(axis=0))):
        return float("nan")
    return float((centred[:, 0] @ centred[:, 1]) / spread.prod())


def _spearman(pairs: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return (
        float("nan")
        if np.isnan(pairs).any()
        else _pearson(np.stack([mid_ranks(column) for column in pairs.T], axis=1))
    )


#: Kernel of Self-CIDEr under the name of a preset.
PRESETS = {"as-published": "cider-d"}

#: Name of the references among the systems.
HUMAN = "human"

#: Measures that are correlated with human scores.
CORRELATED = (
    *("Self-CIDEr", "LSA", "1-mBLEU-mix", "1-mBLEU-1", "1-mBLEU-2", "1-mBLEU-3", "1-mBLEU-4"),
    *("Div-1", "Div-2"),
)


@dataclass(frozen=True, eq=False)
class DiversityStudy:
    """Measures of all systems and of people (the references)."""

    systems: list[SetDiversity]
    human: SetDiversity
    #: Names of the accuracy metrics; the first enters the F-measure.
    accuracy: list[str]
    #: By system, the measures of the best captions of each image.
    best: dict[str, list[BestOfM]]
    #: Correlation of each measure with human scores.
    agreement: list[JudgementCorrelation]
    #: Document frequencies and similarity kernel, for figures.
    df: Any
    kernel: Any
    #: Human diversity scores: system → image → score.
    human_scores: Mapping[str, Mapping[str, float]] | None = None

    @property
    def rows(self) -> list[SetDiversity]:
        """All systems, then people."""
        return [*self.systems, self.human]

    def tidy_rows(self, *, ci: bool | Bootstrap = False) -> list[ResultRow]:
        """Return all measures as rows for CSV: systems, people, best captions, correlations with people."""
        rows = [row for system in self.rows for row in system.tidy_rows(ci=ci)]
        for cuts in self.best.values():
            for cut in cuts:
                rows += [
                    row._replace(metric=f"{row.metric} (best {cut.m})") for row in cut.scores.tidy_rows()
                ]
        for item in self.agreement:
            rows += [
                ResultRow(item.measure, "Pearson with human scores", item.pearson, item.sets, ""),
                ResultRow(item.measure, "Spearman with human scores", item.spearman, item.sets, ""),
                ResultRow(
                    item.measure, "Spearman with human scores per image", item.per_image_spearman,
                    item.images, "",
                ),
            ]  # fmt: skip
        return rows

    def to_json(
        self, *, per_image: bool = False, ci: bool | Bootstrap = False, numbers: NumberStyle = EXACT
    ) -> dict[str, Any]:
        """Return a JSON-ready description. ``ci`` adds confidence intervals."""
        description: dict[str, Any] = {
            "systems": [
                system.to_json(per_image=per_image, ci=ci, numbers=numbers) for system in self.systems
            ],
            "human": self.human.to_json(per_image=per_image, ci=ci, numbers=numbers),
        }
        if self.best:
            description["best"] = {
                name: [
                    {"m": row.m, "images": row.images, **row.scores.to_json(numbers=numbers)} for row in rows
                ]
                for name, rows in self.best.items()
            }
        if self.agreement:
            description["agreement"] = [row.to_json(numbers) for row in self.agreement]
        return description


def measure_diversity(
    references: Source,
    samples: Sequence[Source],
    *,
    df: Any = None,
    kernel: str = "cider",
    preset: str | None = None,
    accuracy: Wanted = "CIDEr-D",
    beta_squared: float = BETA_SQUARED,
    train: Any = None,
    best_captions: bool = False,
    human_scores: str | Path | Mapping[str, Mapping[str, float]] | None = None,
    names: Iterable[str | None] | None = None,
    tokenizer: str | None = None,
    subset: bool = False,
) -> DiversityStudy:
    """Measure the diversity of several captions per image, for each system and for people.

    Parameters
    ----------
    references
        Human captions.
    samples
        Captions of each system, several per image.
    df
        Document frequencies for Self-CIDEr and CIDEr (default: those of the references).
    kernel
        Similarity inside Self-CIDEr: "cider", "cider-d", or a metric's name.
    preset
        "as-published": the settings behind the figures of Wang & Chan (2019), whose "CIDEr" is CIDEr-D.
    accuracy, beta_squared
        Accuracy metrics (an empty text for none), the first of which enters the F-measure, and its β².
    train
        Training captions, for the share of novel captions.
    best_captions
        Also measure the best 2, 5, 8 and 10 captions of each image.
    human_scores
        Human diversity scores to correlate with: system → image → score, or a JSON file of these. The
        references, which are people's captions, are the system "human".
    names, tokenizer, subset
        As for :func:`captious.load_systems`.

    Returns
    -------
    DiversityStudy
        Measures of all systems and of people.

    Examples
    --------
    >>> from captious.data import demo_path
    >>> study = measure_diversity(demo_path("references"), [demo_path("sampling")])
    >>> len(study.systems)
    1
    """
    if preset is not None:
        if preset not in PRESETS:
            raise InputError(f"unknown preset '{preset}'; choose {', '.join(PRESETS)}")
        kernel = PRESETS[preset]
    judged = read_human_scores(human_scores) if isinstance(human_scores, str | Path) else human_scores
    table = read_df(df)
    has_accuracy = bool(accuracy.strip() if isinstance(accuracy, str) else accuracy)
    frequencies = {} if table is None else {"df": table}
    metrics = make_measures(accuracy, frequencies, spare=("df",)) if has_accuracy else []
    chosen = make_kernel(kernel, table)
    corpora = load_systems(references, samples, tokenizer=tokenizer, subset=subset, several=True, names=names)
    if not any(map(has_sets, corpora)):
        raise InputError(
            f"{some(corpus.name for corpus in corpora)}: every image has one caption, and diversity is "
            f"measured among several captions of an image; {SEVERAL}"
        )
    if judged is not None:
        _check_judged(judged, [HUMAN, *(corpus.name for corpus in corpora)])
    shared: dict[str, Any] = {
        "df": table,
        "kernel": chosen,
        "accuracy": metrics,
        "beta_squared": beta_squared,
        "train": TrainingCaptions.read(train) if train is not None else None,
    }
    systems = [diversity(corpus, **shared) for corpus in track(corpora, "measuring diversity")]
    people = human(corpora[0], **shared)
    cut: dict[str, list[BestOfM]] = {}
    if best_captions and metrics:
        cut = {s.system: best(s.corpus, metric=metrics[0], df=table, kernel=chosen) for s in systems}
    agreement = [] if judged is None else _correlations([people, *systems], judged)
    return DiversityStudy(
        systems, people, [metric.name for metric in metrics], cut, agreement, table, chosen, judged
    )


def _correlations(
    systems: Sequence[SetDiversity], judged: Mapping[str, Mapping[str, float]]
) -> list[JudgementCorrelation]:
    return [
        correlate_judgements({system.system: system[name] for system in systems}, judged, measure=name)
        for name in CORRELATED
        if all(name in system for system in systems)
    ]


def read_human_scores(path: str | Path) -> dict[str, dict[str, float]]:
    """Read human diversity scores: a JSON file with ``{system: {image: score}}``."""
    shape = 'expected {"system": {"image": score}}'
    content = read_json(path, f"human scores: {shape}")
    if not isinstance(content, dict) or not content:
        raise InputError(f"{path}: {shape}, found {type(content).__name__}")
    for system, scores in content.items():
        if not isinstance(scores, dict):
            raise InputError(f"{path}: {shape}, but '{system}' holds {type(scores).__name__}")
        for image, value in scores.items():
            if not is_number(value):
                raise InputError(
                    f"{path}: the score of {system} for image {image} is {value!r}, not a number"
                )
    return content
