"""A true ``torchmetrics.Metric``, for MetricCollection, Lightning's ``self.log`` and distributed evaluation.

    metric = captious.compat.torchmetrics.CaptionMetric("CIDEr-D")
    metric.update(predicted, references)             # list of str; list of lists of str
    metric.compute()                                 # of all captions, of all processes

The state is one list of byte tensors, each a batch of captions as UTF-8 JSON, so that devices, pickles and
the synchronisation of processes are those of torchmetrics.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import torch
from torchmetrics import Metric

from captious.core.errors import InputError
from captious.metrics.registry import Wanted, make_measures
from captious.results.references import parallel
from captious.results.scores import Scores

__all__ = ["CaptionMetric"]

Batch = Sequence[str | Sequence[str]]


class CaptionMetric(Metric):  # type: ignore[misc]
    """Metric that collects predictions and references and scores them together.

    Corpus metrics are not means over batches. One metric returns a tensor, several (or a group such as
    "coco") a dictionary by name. A process without captions takes part in the synchronisation.
    """

    is_differentiable = False
    full_state_update = False
    captions: list[torch.Tensor]

    def __init__(
        self,
        metrics: Wanted = "CIDEr-D",
        *,
        tokenizer: str | None = None,
        options: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        """Metrics and ``options`` as for :func:`captious.score`; ``settings`` are those of torchmetrics."""
        super().__init__(**settings)
        self.measures = make_measures(metrics, dict(options or {}))
        self.tokenizer = tokenizer
        # Bytes of all processes are joined, so each batch is one line.
        self.add_state("captions", default=[], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher is better; None if the metrics disagree."""
        directions = {measure.higher_is_better for measure in self.measures}
        return directions.pop() if len(directions) == 1 else None

    def update(self, preds: Batch, target: Batch) -> None:
        """Add a batch: predicted captions, and for each its reference or references."""
        if isinstance(preds, str) or isinstance(target, str) or len(preds) != len(target):
            raise InputError("a batch is a list of predictions and a list of references of the same length")
        if len(preds):
            parallel(list(preds), list(target), self.tokenizer)  # refuses a bad batch where it comes from
            line = json.dumps([list(preds), list(target)]).encode() + b"\n"
            self.captions.append(torch.frombuffer(bytearray(line), dtype=torch.uint8).to(self.device))

    def sync(self, *arguments: Any, **settings: Any) -> None:
        """Join the states of all processes. One without captions contributes an empty line."""
        if isinstance(self.captions, list) and not self.captions:
            self.captions.append(torch.tensor([10], dtype=torch.uint8, device=self.device))
        super().sync(*arguments, **settings)

    def _parts(self) -> tuple[list[Any], list[Any]]:
        states = self.captions if isinstance(self.captions, list) else [self.captions]
        content = b"".join(state.cpu().numpy().tobytes() for state in states)
        predictions: list[Any] = []
        references: list[Any] = []
        for line in filter(None, content.split(b"\n")):
            preds, target = json.loads(line)
            predictions += preds
            references += target
        return predictions, references

    def scores(self) -> Scores:
        """Return the full scores of this process: values per image, intervals, signatures."""
        predictions, references = self._parts()
        if not predictions:
            raise InputError("there is nothing to score yet: call update first")
        return Scores.of(parallel(predictions, references, self.tokenizer), self.measures)

    def compute(self) -> Any:
        """Return the value of all captions since the last reset."""
        values = {
            name: torch.tensor(score.value, dtype=torch.float64, device=self.device)
            for name, score in self.scores().items()
        }
        return values if len(values) != 1 else next(iter(values.values()))
