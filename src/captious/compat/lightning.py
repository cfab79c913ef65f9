"""Callback for Lightning that scores the captions of each validation or test epoch.

    trainer = Trainer(callbacks=[captious.compat.lightning.CaptionCallback("lexical")])

``validation_step`` returns ``{"predictions": [str, …], "references": [[str, …], …]}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from captious.compat.torch_metric import CaptionMetric
from captious.core.errors import InputError
from captious.metrics.registry import Wanted

__all__ = ["CaptionCallback"]


class CaptionCallback(Callback):  # type: ignore[misc]
    """Logs metrics of all captions of an epoch, of all processes."""

    def __init__(
        self,
        metrics: Wanted = "lexical",
        *,
        predictions: str = "predictions",
        references: str = "references",
        tokenizer: str | None = None,
        **options: Any,
    ) -> None:
        """Take metrics and options as :func:`captious.score`, and the keys of the step's result."""
        self.metric = CaptionMetric(metrics, tokenizer=tokenizer, options=options)
        self.keys = predictions, references

    def _add(self, outputs: Any) -> None:
        if not isinstance(outputs, Mapping) or any(key not in outputs for key in self.keys):
            raise InputError(
                f"the step must return a dictionary with {' and '.join(map(repr, self.keys))}: captions, and "
                "the references of each"
            )
        self.metric.update(*(outputs[key] for key in self.keys))

    def _log(self, module: Any, stage: str) -> None:
        values = self.metric.compute()
        if not isinstance(values, dict):
            values = {self.metric.measures[0].name: values}
        self.metric.reset()
        for name, value in values.items():
            # The metric has already joined the captions of all processes.
            module.log(f"{stage}/{name}", value.float(), rank_zero_only=False, sync_dist=False)

    def on_validation_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Forget the captions of the last epoch."""
        self.metric.reset()
        self.metric.to(pl_module.device)

    def on_validation_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, *_: Any, **__: Any) -> None:
        """Add the captions of a batch."""
        self._add(outputs)

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Log the scores."""
        self._log(pl_module, "val")

    def on_test_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        """Forget the captions of the last epoch."""
        self.on_validation_epoch_start(trainer, pl_module)

    def on_test_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, *_: Any, **__: Any) -> None:
        """Add the captions of a batch."""
        self._add(outputs)

    def on_test_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Log the scores."""
        self._log(pl_module, "test")
