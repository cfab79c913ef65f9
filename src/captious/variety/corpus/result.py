"""What an analysis of whole corpora gives back."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from captious.scores import Scores
from captious.signature import Signature
from captious.significance import Bootstrap
from captious.statistics import FloatArray
from captious.variety.corpus.base import CorpusMeasure
from captious.variety.corpus.composition import Composition
from captious.variety.corpus.global_recall import GlobalRecall
from captious.variety.corpus.local_recall import LocalRecall
from captious.variety.corpus.vocabulary import Curve

#: Writes a number in a format.
Show = Callable[[float, str], str]

#: Rank correlation over fewer systems says nothing.
LEAST_SYSTEMS = 3


@dataclass
class Report:
    """All measures of one system, or of people."""

    #: Words listed in each ranking.
    listed: ClassVar[int] = 50

    name: str
    images: int
    #: Images that have references too.
    common_images: int
    #: The measures by their keys: those of a system from its scores, those of people the mean over parallel descriptions.
    values: dict[str, float] = field(default_factory=dict)
    #: The scores of a system, with intervals and signatures; two systems' can be compared (:func:`captious.compare`).
    scores: Scores | None = None
    curve: Curve | None = None
    global_recall: GlobalRecall | None = None
    local_recall: LocalRecall | None = None
    composition: Composition | None = None
    parts_of_speech: dict[str, float] = field(default_factory=dict)
    omitted_globally: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    omitted_locally: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)
    over_used: list[dict[str, Any]] = field(default_factory=list)
    under_used: list[dict[str, Any]] = field(default_factory=list)
    #: For people: each description against the others of its image.
    leave_one_out: dict[str, Any] = field(default_factory=dict)

    def add(self, values: Mapping[str, float]) -> None:
        """Record measures."""
        self.values.update(values)

    def interval(self, measure: CorpusMeasure, bootstrap: Bootstrap = Bootstrap()) -> tuple[float, float] | None:  # noqa: B008
        """The confidence interval of a measure, where there is a score of it."""
        found = self.scores is not None and measure.name in self.scores
        return self.scores[measure.name].interval(*bootstrap) if self.scores is not None and found else None

    def to_json(self, *, ci: bool | Bootstrap = False) -> dict[str, Any]:
        """A JSON-ready description."""
        out: dict[str, Any] = {"name": self.name, "images": self.images, "images_with_references": self.common_images}
        out["measures"] = self.values
        if self.scores is not None:
            out["signatures"] = {name: score.signature for name, score in self.scores.items()}
            if ci:
                bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap()
                out["intervals"] = {name: list(score.interval(*bootstrap)) for name, score in self.scores.items()}
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
            "parts_of_speech", "omitted_globally", "omitted_locally", "over_used", "under_used", "leave_one_out",
        ):  # fmt: skip
            if getattr(self, key):
                out[key] = getattr(self, key)
        cleaned: dict[str, Any] = plain(out)
        return cleaned


@dataclass
class CorpusDiversity:
    """The diversity of whole corpora: one report per system and one for people."""

    humans: Report
    systems: list[Report]
    #: The measures, in the order of tables.
    measures: list[CorpusMeasure]
    #: Parallel descriptions; the top importance class.
    n: int
    tokenizer: str
    seed: int
    trained: bool
    parsed: bool
    #: Share of the references' types that the training captions have (1 without training captions).
    limit: float
    learnable: int
    reference_types: int
    #: Words that no system produces, and words that systems together miss most.
    omitted_by_all: dict[str, Any]
    #: What went into all of it, by the names it has in signatures.
    fields: dict[str, str]

    @property
    def scores(self) -> dict[str, Scores]:
        """The scores of every system."""
        return {report.name: report.scores for report in self.systems if report.scores is not None}

    def __getitem__(self, name: str) -> Report:
        for report in [*self.systems, self.humans]:
            if report.name == name:
                return report
        raise KeyError(name)

    def columns(self) -> list[CorpusMeasure]:
        """The measures that some row has."""
        rows = [*self.systems, self.humans]
        return [m for m in self.measures if any(math.isfinite(row.values.get(m.key, math.nan)) for row in rows)]

    def table(self, *, ci: bool | Bootstrap = False, show: Show = format) -> tuple[list[str], list[list[str]]]:
        """Header and rows as text: the systems, then people. ``show`` writes a number in the format of its measure."""
        columns = self.columns()
        rows = [[report.name, *(_cell(report, m, ci, show) for m in columns)] for report in [*self.systems, self.humans]]
        return ["", *(m.title(self.n) for m in columns)], rows

    @cached_property
    def correlations(self) -> tuple[list[str], FloatArray] | None:
        """Spearman's rank correlation between the measures over the systems (three systems at least)."""
        keys = {m.key: m.title(self.n) for m in self.columns()}
        return rank_correlations(
            [{name: report.values.get(key, math.nan) for key, name in keys.items()} for report in self.systems]
        )

    @property
    def signature(self) -> str:
        """How these numbers were made."""
        return Signature.of("corpus", self.fields)

    def to_json(self, *, ci: bool | Bootstrap = False) -> dict[str, Any]:
        """A JSON-ready description of everything; not-a-number and infinity become null."""
        out: dict[str, Any] = {
            "signature": self.signature,
            "parallel_descriptions": self.n,
            "vocabulary": {
                "reference_types": self.reference_types, "learnable": self.learnable, "limit": self.limit,
            },
            "humans": self.humans.to_json(),
            "systems": [report.to_json(ci=ci) for report in self.systems],
            "omitted_by_all_systems": self.omitted_by_all,
        }  # fmt: skip
        if self.correlations is not None:
            names, matrix = self.correlations
            out["rank_correlations"] = {"measures": names, "spearman": matrix}
        cleaned: dict[str, Any] = plain(out)
        return cleaned


def _cell(report: Report, measure: CorpusMeasure, ci: bool | Bootstrap, show: Show) -> str:
    value = report.values.get(measure.key, math.nan)
    if not math.isfinite(value):
        return "–"
    interval = report.interval(measure, ci if isinstance(ci, Bootstrap) else Bootstrap()) if ci else None
    text = show(value, measure.format)
    return text if interval is None else f"{text} [{', '.join(show(bound, measure.format) for bound in interval)}]"


def rank_correlations(rows: Sequence[Mapping[str, float]]) -> tuple[list[str], FloatArray] | None:
    """Spearman's correlation of every two measures over the systems; None for fewer than three systems.

    A measure that is missing for a system, or the same for all, is left out.
    """
    if len(rows) < LEAST_SYSTEMS:
        return None
    names = [
        name for name in rows[0]
        if all(np.isfinite(row.get(name, np.nan)) for row in rows) and len({row[name] for row in rows}) > 1
    ]  # fmt: skip
    if len(names) < 2:
        return None
    ranks = np.array([_ranks(np.array([row[name] for row in rows])) for name in names])
    return names, np.corrcoef(ranks)


def _ranks(values: FloatArray) -> FloatArray:
    """Ranks, the mean of the ranks for equal values."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: FloatArray = (last - (counts - 1) / 2.0)[place]
    return ranks


def plain(value: Any) -> Any:
    """Arrays as lists, numbers that JSON does not know as null."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
