"""What an analysis of whole corpora gives back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from captious._version import __version__
from captious.diversity.corpus.composition import Composition
from captious.diversity.corpus.correlation import rank_correlations
from captious.diversity.corpus.flat import FloatArray
from captious.diversity.corpus.global_recall import GlobalRecall
from captious.diversity.corpus.local_recall import LocalRecall
from captious.diversity.corpus.measures import MEASURES, title
from captious.diversity.corpus.vocabulary import Curve


@dataclass
class Report:
    """All measures of one system, or of people."""

    #: Words listed in each ranking.
    listed: ClassVar[int] = 50

    name: str
    images: int
    #: Images that have references too.
    common_images: int
    values: dict[str, float] = field(default_factory=dict)
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

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        out: dict[str, Any] = {"name": self.name, "images": self.images, "images_with_references": self.common_images}
        out["measures"] = self.values
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

    def __getitem__(self, name: str) -> Report:
        for report in [*self.systems, self.humans]:
            if report.name == name:
                return report
        raise KeyError(name)

    def columns(self) -> list[tuple[str, str, str]]:
        """Key, title and format of the measures that some row has."""
        rows = [*self.systems, self.humans]
        return [
            (measure.key, title(measure, self.n), measure.format)
            for measure in MEASURES
            if any(math.isfinite(row.values.get(measure.key, math.nan)) for row in rows)
        ]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows as text: the systems, then people."""
        columns = self.columns()
        rows = []
        for report in [*self.systems, self.humans]:
            values = [report.values.get(key, math.nan) for key, _, _ in columns]
            cells = [format(v, form) if math.isfinite(v) else "–" for v, (_, _, form) in zip(values, columns)]
            rows.append([report.name, *cells])
        return ["", *(name for _, name, _ in columns)], rows

    @cached_property
    def correlations(self) -> tuple[list[str], FloatArray] | None:
        """Spearman's rank correlation between the measures over the systems (three systems at least)."""
        keys = {key: name for key, name, _ in self.columns()}
        return rank_correlations(
            [{name: report.values.get(key, math.nan) for key, name in keys.items()} for report in self.systems]
        )

    @property
    def signature(self) -> str:
        """How these numbers were made."""
        from captious.language.parsers import get as get_parser

        parser = get_parser()
        fields = {
            "tok": self.tokenizer,
            "trees": f"{parser.label}@{parser.digest}" if self.parsed else "no",
            "train": "yes" if self.trained else "no",
            "n": str(self.n),
            "seed": str(self.seed),
            "captious": __version__,
        }
        return "|".join(["corpus", *(f"{key}:{value}" for key, value in fields.items())])

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description of everything; not-a-number and infinity become null."""
        out: dict[str, Any] = {
            "signature": self.signature,
            "parallel_descriptions": self.n,
            "vocabulary": {
                "reference_types": self.reference_types, "learnable": self.learnable, "limit": self.limit,
            },
            "humans": self.humans.to_json(),
            "systems": [report.to_json() for report in self.systems],
            "omitted_by_all_systems": self.omitted_by_all,
        }  # fmt: skip
        if self.correlations is not None:
            names, matrix = self.correlations
            out["rank_correlations"] = {"measures": names, "spearman": matrix}
        cleaned: dict[str, Any] = plain(out)
        return cleaned


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
