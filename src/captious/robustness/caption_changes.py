"""Reaction of metrics to single changes of one caption (Wang & Chan 2019, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.io.content import read_json
from captious.metrics.registry import Wanted, make_measures
from captious.results.result_rows import EXACT, NumberStyle
from captious.results.scores import Score

#: Metrics of the published table.
METRICS = "BLEU-1,BLEU-2,BLEU-3,BLEU-4,METEOR,ROUGE-L,CIDEr-D,SPICE"
#: Settings under the name of a preset.
PRESETS: dict[str, dict[str, Any]] = {"as-published": {"swap": True}}
_SHAPE = 'expected {"reference": caption, "same": {change: caption}, "different": {change: caption}}'


@dataclass(frozen=True)
class CaptionChanges:
    """Scores of changed captions against the original one."""

    metrics: list[str]
    #: Change → score by metric. The first row is the original caption.
    rows: dict[str, dict[str, float]]
    #: Mean over the changes that keep the meaning.
    average: dict[str, float]
    captions: dict[str, str]
    #: Changes that keep the meaning.
    same: list[str]
    #: Whether the original caption was the candidate and the changed one the reference.
    swapped: bool
    signatures: dict[str, str]

    def to_json(self, numbers: NumberStyle = EXACT) -> dict[str, Any]:
        """Return a JSON-ready description."""
        described = {
            name: {metric: numbers.number(value) for metric, value in row.items()}
            for name, row in {**self.rows, "average": self.average}.items()
        }
        return {
            "swapped": self.swapped,
            "captions": self.captions,
            "scores": described,
            "signatures": self.signatures,
        }


def caption_changes(
    source: str | Path | Mapping[str, Any],
    metrics: Wanted = METRICS,
    *,
    swap: bool = False,
    preset: str | None = None,
    **options: Any,
) -> CaptionChanges:
    """Score changed forms of a caption against the original one.

    Parameters
    ----------
    source
        ``{"reference": caption, "same": {change: caption}, "different": {change: caption}}``, or a JSON file
        of it. Changes in "same" keep the meaning, and are averaged.
    metrics
        Metric names, groups or objects. CIDEr is divided by 10, so that 1 is its maximum.
    swap
        Score the original caption against the changed one. Metrics that are not symmetric then differ.
    preset
        "as-published": the candidate and the reference are swapped, as in the table of Wang & Chan (2019).
    options
        Options of the metrics. CIDEr needs document frequencies (``df``).

    Examples
    --------
    >>> changes = {
    ...     "reference": "a dog runs on the grass",
    ...     "same": {"article": "the dog runs on the grass"},
    ...     "different": {"subject": "a cat runs on the grass"},
    ... }
    >>> caption_changes(changes, "BLEU-1").metrics
    ['BLEU-1']
    """
    if preset is not None:
        if preset not in PRESETS:
            raise InputError(f"unknown preset '{preset}'; choose {', '.join(PRESETS)}")
        swap = bool(PRESETS[preset]["swap"])
    reference, same, different = _read(source)
    captions = {"reference": reference, **same, **different}
    measures = make_measures(metrics, dict(options))
    for measure in measures:
        if measure.name.startswith("CIDEr") and options.get("df") is None:
            raise InputError(
                f"{measure.name} weighs n-grams by how many images have them, which one caption cannot tell; "
                "pass document frequencies (--df FILE, from 'captious df')"
            )
    originals, changed = [[reference]] * len(captions), [[text] for text in captions.values()]
    corpus = Corpus.build(
        list(captions), originals if swap else changed, changed if swap else originals, name="changes"
    )
    scores = [Score.of(measure, corpus, measure.prepare(corpus.references)) for measure in measures]
    values = {score.name: score.per_caption / _maximum(score.name) for score in scores}
    rows = {
        name: {metric: float(column[i]) for metric, column in values.items()}
        for i, name in enumerate(captions)
    }
    average = {metric: float(np.mean([rows[name][metric] for name in same])) for metric in values}
    signatures = {score.name: str(score.signature) for score in scores}
    return CaptionChanges(list(values), rows, average, captions, list(same), swap, signatures)


def _maximum(metric: str) -> float:
    return 10.0 if metric.startswith("CIDEr") else 1.0


def _read(source: str | Path | Mapping[str, Any]) -> tuple[str, dict[str, str], dict[str, str]]:
    """Return the original caption, the changes that keep its meaning, and the others."""
    place = f"{source}: " if isinstance(source, str | Path) else ""
    content = read_json(source, f"changes: {_SHAPE}") if isinstance(source, str | Path) else source
    if not isinstance(content, Mapping) or not isinstance(content.get("reference"), str):
        raise InputError(f"{place}{_SHAPE}")
    parts: list[dict[str, str]] = []
    for key in ("same", "different"):
        part = content.get(key, {})
        if not isinstance(part, Mapping) or not all(isinstance(text, str) for text in part.values()):
            raise InputError(f"{place}{_SHAPE}, but '{key}' holds something else")
        parts.append(dict(part))
    same, different = parts
    if not same:
        raise InputError(f"{place}there is no change in 'same' to average; {_SHAPE}")
    twice = {"reference", *same} & {*different} | {"reference"} & {*same}
    if twice:
        raise InputError(f"{place}two changes are called '{min(twice)}'; give each its own name")
    return content["reference"], same, different
