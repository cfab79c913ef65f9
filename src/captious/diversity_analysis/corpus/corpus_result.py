"""Results of corpus diversity."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from captious.core.memo import cached_property
from captious.core.ragged import IntArray
from captious.metrics.base import FloatArray, mid_ranks
from captious.metrics.corpus.composition import Composition
from captious.metrics.corpus.corpus_measure import CorpusMeasure
from captious.metrics.corpus.global_recall import GlobalRecall
from captious.metrics.corpus.local_recall import LocalRecall
from captious.metrics.corpus.vocabulary_measures import Curve
from captious.results.result_rows import EXACT, NumberStyle, ResultRow
from captious.results.scores import Scores
from captious.results.signatures import Signature
from captious.results.significance import Bootstrap

#: Formats a number.
Show = Callable[[float, str], str]

#: Minimum number of systems for a rank correlation.
LEAST_SYSTEMS = 3


@dataclass
class CorpusReport:
    """All measures of one system, or of people."""

    #: Number of words in each ranking.
    listed: ClassVar[int] = 50

    name: str
    images: int
    #: Images that also have references.
    common_images: int
    #: Values by measure key. For people, means over parallel descriptions.
    values: dict[str, float] = field(default_factory=dict)
    #: Scores of a system, with intervals and signatures, as used by :func:`captious.compare`.
    scores: Scores | None = None
    curve: Curve | None = None
    #: Occurrences of each word, most frequent first, in the images that have references. For people, in one
    #: description of each image.
    word_counts: IntArray | None = None
    global_recall: GlobalRecall | None = None
    local_recall: LocalRecall | None = None
    composition: Composition | None = None
    parts_of_speech: dict[str, float] = field(default_factory=dict)
    omitted_globally: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    omitted_locally: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    over_used: list[dict[str, Any]] = field(default_factory=list)
    under_used: list[dict[str, Any]] = field(default_factory=list)
    #: For people: results of each description against the others of its image.
    leave_one_out: dict[str, Any] = field(default_factory=dict)

    def add(self, values: Mapping[str, float]) -> None:
        """Record measures."""
        self.values.update(values)

    def interval(
        self, measure: CorpusMeasure, bootstrap: Bootstrap | None = None
    ) -> tuple[float, float] | None:
        """Return the confidence interval of a measure, or None without a score."""
        has_score = self.scores is not None and measure.name in self.scores
        return (
            self.scores[measure.name].interval(*(bootstrap or Bootstrap()))
            if self.scores is not None and has_score
            else None
        )

    def to_json(
        self,
        *,
        ci: bool | Bootstrap = False,
        numbers: NumberStyle = EXACT,
        formats: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return a JSON-ready description. ``formats`` are those of the measures, by key."""
        out: dict[str, Any] = {
            "name": self.name,
            "images": self.images,
            "images_with_references": self.common_images,
        }
        out["measures"] = {
            key: numbers.number(value, (formats or {}).get(key, "")) for key, value in self.values.items()
        }
        if self.scores is not None:
            out["signatures"] = {name: score.signature for name, score in self.scores.items()}
            if ci:
                bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap()
                out["intervals"] = {
                    name: [
                        numbers.number(bound, score.measure.format) for bound in score.interval(*bootstrap)
                    ]
                    for name, score in self.scores.items()
                }
        if self.curve is not None:
            out["type_token_curve"] = asdict(self.curve)
        if self.global_recall is not None:
            out["global_recall"] = asdict(self.global_recall)
        if self.local_recall is not None:
            out["local_recall"] = {
                key: getattr(self.local_recall, key)
                for key in ("mean", "pooled", "images", "words", "precision_mean", "precision_pooled")
            }
        if self.composition is not None:
            out["composition"] = asdict(self.composition)
        for key in (
            "parts_of_speech",
            "omitted_globally",
            "omitted_locally",
            "over_used",
            "under_used",
            "leave_one_out",
        ):
            if getattr(self, key):
                out[key] = getattr(self, key)
        cleaned: dict[str, Any] = plain(out)
        return cleaned


@dataclass
class CorpusDiversity:
    """Corpus diversity: one report per system, and one for people."""

    humans: CorpusReport
    systems: list[CorpusReport]
    #: The measures, in the order of tables.
    measures: list[CorpusMeasure]
    #: Number of parallel descriptions, and the top importance class.
    n: int
    tokenizer: str
    seed: int
    trained: bool
    parsed: bool
    #: Share of the references' types found in the training captions (1 without training captions).
    limit: float
    learnable: int
    reference_types: int
    #: Words that no system produces, and words most often missed by all systems together.
    omitted_by_all: dict[str, Any]
    #: Inputs and resources, by their names in signatures.
    fields: dict[str, str]
    #: Form of local recall in the table and in figures: pooled or mean.
    over_images: str = "pooled"

    def recall_by_class(self, report: CorpusReport) -> FloatArray | None:
        """Return the local recall of each importance class; for people, one against the others."""
        if report.local_recall is not None:
            shares: FloatArray = getattr(report.local_recall, self.over_images)[: self.n]
            return shares
        if report.leave_one_out:
            return np.array(report.leave_one_out[self.over_images], dtype=np.float64)
        return None

    @property
    def scores(self) -> dict[str, Scores]:
        """The scores of every system."""
        return {report.name: report.scores for report in self.systems if report.scores is not None}

    def __getitem__(self, name: str) -> CorpusReport:
        for report in [*self.systems, self.humans]:
            if report.name == name:
                return report
        raise KeyError(name)

    def columns(self) -> list[CorpusMeasure]:
        """Return the measures that at least one row has."""
        rows = [*self.systems, self.humans]
        return [
            m for m in self.measures if any(math.isfinite(row.values.get(m.key, math.nan)) for row in rows)
        ]

    def table(
        self, *, ci: bool | Bootstrap = False, show: Show = format
    ) -> tuple[list[str], list[list[str]]]:
        """Return header and rows as text: the systems, then people.

        ``show`` formats a number in its measure's format.
        """
        columns = self.columns()
        rows = [
            [report.name, *(_cell(report, m, ci, show) for m in columns)]
            for report in [*self.systems, self.humans]
        ]
        return ["", *(m.title(self.n) for m in columns)], rows

    @cached_property
    def correlations(self) -> tuple[list[str], FloatArray] | None:
        """Spearman's rank correlation between measures over the systems (three or more)."""
        keys = {m.key: m.title(self.n) for m in self.columns()}
        return rank_correlations(
            [
                {name: report.values.get(key, math.nan) for key, name in keys.items()}
                for report in self.systems
            ]
        )

    @property
    def signature(self) -> str:
        """Signature of the analysis."""
        return Signature.of("corpus", self.fields)

    def tidy_rows(self, *, ci: bool | Bootstrap = False) -> list[ResultRow]:
        """Return the measures of all systems and of people as rows for CSV."""
        bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap()
        rows = []
        for report in [*self.systems, self.humans]:
            for measure in self.columns():
                scored = report.scores is not None and measure.name in report.scores
                if report.scores is not None and scored:
                    score = report.scores[measure.name]
                    signature = score.interval_signature(*bootstrap) if ci else str(score.signature)
                else:
                    signature = self.signature
                value = report.values.get(measure.key, math.nan)
                rows.append(
                    ResultRow(
                        report.name, measure.name, value, report.images, signature,
                        report.interval(measure, bootstrap) if ci else None, format=measure.format,
                    )
                )  # fmt: skip
        return rows

    def to_json(self, *, ci: bool | Bootstrap = False, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description. NaN and infinity become null."""
        formats = {measure.key: measure.format for measure in self.measures}
        out: dict[str, Any] = {
            "signature": self.signature,
            "parallel_descriptions": self.n,
            "vocabulary": {
                "reference_types": self.reference_types, "learnable": self.learnable, "limit": self.limit,
            },
            "humans": self.humans.to_json(numbers=numbers, formats=formats),
            "systems": [report.to_json(ci=ci, numbers=numbers, formats=formats) for report in self.systems],
            "omitted_by_all_systems": self.omitted_by_all,
        }  # fmt: skip
        if self.correlations is not None:
            names, matrix = self.correlations
            out["rank_correlations"] = {"measures": names, "spearman": matrix}
        cleaned: dict[str, Any] = plain(out)
        return cleaned


def _cell(report: CorpusReport, measure: CorpusMeasure, ci: bool | Bootstrap, show: Show) -> str:
    value = report.values.get(measure.key, math.nan)
    if not math.isfinite(value):
        return "–"
    interval = report.interval(measure, ci if isinstance(ci, Bootstrap) else Bootstrap()) if ci else None
    text = show(value, measure.format)
    return (
        text
        if interval is None
        else f"{text} [{', '.join(show(bound, measure.format) for bound in interval)}]"
    )


def rank_correlations(rows: Sequence[Mapping[str, float]]) -> tuple[list[str], FloatArray] | None:
    """Return Spearman's correlation between measures over systems, or None for fewer than three systems.

    Measures that are missing for a system, or the same for all, are skipped.
    """
    if len(rows) < LEAST_SYSTEMS:
        return None
    names = [
        name for name in rows[0]
        if all(np.isfinite(row.get(name, np.nan)) for row in rows) and len({row[name] for row in rows}) > 1
    ]  # fmt: skip
    if len(names) < 2:
        return None
    ranks = np.array([mid_ranks(np.array([row[name] for row in rows])) for name in names])
    return names, np.corrcoef(ranks)


def plain(value: Any) -> Any:
    """Convert arrays to lists, and NaN and infinity to None."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
