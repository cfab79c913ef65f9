"""Metrics for training loops, in the style of torchmetrics: ``update`` with batches, ``compute``, ``reset``.

    metric = captious.compat.torchmetrics.CaptionScore("CIDEr-D")
    for images, captions in loader:
        metric.update(model.generate(images), captions)        # list of str, list of lists of str
    print(metric.compute()); metric.reset()

The package torchmetrics is not needed. With torch installed values are tensors, else floats.
`CaptionMetric` is a true ``torchmetrics.Metric`` and needs the package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from typing import Any

from captious.core.errors import InputError, require
from captious.metrics.registry import Wanted, make_measures
from captious.results.references import parallel
from captious.results.scores import Scores

__all__ = ["CaptionScore"]

Batch = Sequence[str | Sequence[str]]


class CaptionScore:
    """Metric that collects predictions and references and scores them together.

    Corpus metrics are not means over batches. One metric returns a value, several (or a group such as "coco")
    a dictionary by name.
    """

    is_differentiable = False
    full_state_update = False

    def __init__(self, metrics: Wanted = "CIDEr-D", *, tokenizer: str | None = None, **options: Any) -> None:
        """Metrics and options as for :func:`captious.score`."""
        self.measures = make_measures(metrics, options)
        self.tokenizer = tokenizer
        self._predictions: list[str | Sequence[str]] = []
        self._references: list[str | Sequence[str]] = []

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher is better; None if the metrics disagree."""
        directions = {measure.higher_is_better for measure in self.measures}
        return directions.pop() if len(directions) == 1 else None

    def update(self, preds: Batch, target: Batch) -> None:
        """Add a batch: predicted captions, and for each its reference or references."""
        if isinstance(preds, str) or isinstance(target, str) or len(preds) != len(target):
            raise InputError("a batch is a list of predictions and a list of references of the same length")
        self._predictions.extend(preds)
        self._references.extend(target)

    def compute(self) -> Any:
        """Return the value of everything added since the last :meth:`reset`."""
        return self._value(self._predictions, self._references)

    def reset(self) -> None:
        """Forget all captions."""
        self._predictions.clear()
        self._references.clear()

    def forward(self, preds: Batch, target: Batch) -> Any:
        """Add a batch and return the value of this batch alone."""
        self.update(preds, target)
        return self._value(preds, target)

    __call__ = forward

    def merge_state(self, others: CaptionScore | Iterable[CaptionScore]) -> None:
        """Add the captions of other objects, for example from other processes."""
        for other in [others] if isinstance(others, CaptionScore) else others:
            self.update(other._predictions, other._references)

    def to(self, *_: Any, **__: Any) -> CaptionScore:
        """Do nothing: captions are on no device."""
        return self

    def scores(self) -> Scores:
        """Return the full scores: values per image, intervals, signatures."""
        if not self._predictions:
            raise InputError("there is nothing to score yet: call update first")
        return Scores.of(parallel(self._predictions, self._references, self.tokenizer), self.measures)

    def _value(self, predictions: Batch, references: Batch) -> Any:
        if not predictions:
            raise InputError("there is nothing to score yet: call update first")
        scores = Scores.of(parallel(predictions, references, self.tokenizer), self.measures)
        values = {name: _number(score.value) for name, score in scores.items()}
        return values if len(values) != 1 else next(iter(values.values()))

    def __repr__(self) -> str:
        names = ", ".join(measure.name for measure in self.measures)
        return f"CaptionScore({names}; {len(self._predictions):,} captions)"


def __getattr__(name: str) -> Any:
    """Import the true ``torchmetrics.Metric`` on first use: only it needs the package."""
    if name != "CaptionMetric":
        raise AttributeError(f"module 'captious.compat.torchmetrics' has no attribute {name!r}")
    require("torchmetrics", "loops", "CaptionMetric")
    from captious.compat.torch_metric import CaptionMetric

    return CaptionMetric


def _number(value: float) -> Any:
    """Return a tensor if torch is installed, else the number."""
    if "torch" not in sys.modules and find_spec("torch") is None:
        return value
    import torch

    return torch.tensor(value, dtype=torch.float64)
