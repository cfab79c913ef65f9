"""Log scores to trackers of experiments: TensorBoard, MLflow, Weights & Biases.

captious itself sends nothing: the tracker decides whether it writes to a folder or to a server.

    captious.track.log(scores, to=SummaryWriter("runs/a"), step=3)
    captious.track.log(scores, to="tensorboard:runs/a")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from captious.core.errors import InputError, require
from captious.results.scores import Scores

__all__ = ["log"]

_TARGETS = (
    "a SummaryWriter, a run of Weights & Biases, the module mlflow, or one of 'tensorboard:FOLDER', "
    "'mlflow' and 'wandb'"
)


def log(
    scores: Scores | Mapping[str, float], to: Any, *, step: int | None = None, prefix: str = ""
) -> dict[str, float]:
    """Log the values of metrics, and their signatures where the tracker has room for text.

    Parameters
    ----------
    scores
        Result of :func:`captious.score`, or values by name.
    to
        A SummaryWriter of TensorBoard, the module ``mlflow`` or a client run, a run of Weights & Biases, or a
        text: ``"tensorboard:FOLDER"``, ``"mlflow"`` (the active run), ``"wandb"`` (the active run). Any other
        object with ``log(values, step=…)`` works, too.
    step
        Number of the step or epoch.
    prefix
        Text before the names, such as ``"val/"``.

    Returns
    -------
    dict
        The logged values by name.
    """
    items = scores.items()
    values = {
        f"{prefix}{name}": float(score) if isinstance(score, int | float) else float(score.value)
        for name, score in items
    }
    signatures = {
        f"{prefix}{name}": str(score.signature) for name, score in items if hasattr(score, "signature")
    }
    if isinstance(to, str):
        _log_by_name(to, values, signatures, step)
    elif hasattr(to, "add_scalar"):
        _tensorboard(to, values, signatures, step)
    elif hasattr(to, "log_metrics"):
        _mlflow(to, values, signatures, step)
    elif hasattr(to, "log"):
        _wandb(to, values, signatures, step)
    else:
        raise InputError(f"scores are logged to {_TARGETS}; this is an object of type {type(to).__name__}")
    return values


def _log_by_name(target: str, values: dict[str, float], signatures: dict[str, str], step: int | None) -> None:
    kind, _, place = target.partition(":")
    if kind == "tensorboard" and place:
        require("tensorboard", "loops", "logging to TensorBoard")
        from torch.utils.tensorboard import SummaryWriter

        with SummaryWriter(place) as writer:
            _tensorboard(writer, values, signatures, step)
    elif kind == "mlflow" and not place:
        _mlflow(_tracker("mlflow"), values, signatures, step)
    elif kind == "wandb" and not place:
        run = _tracker("wandb").run
        if run is None:
            raise InputError("Weights & Biases has no active run; call wandb.init(mode='offline') first")
        _wandb(run, values, signatures, step)
    else:
        raise InputError(f"scores are logged to {_TARGETS}, not {target!r}")


def _tracker(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise InputError(f"the package {package} is not installed: pip install {package}") from None


def _plain(name: str) -> str:
    """Return a name of the characters that MLflow allows."""
    return re.sub(r"[^\w\-. /:]", "_", name)


def _tensorboard(writer: Any, values: dict[str, float], signatures: dict[str, str], step: int | None) -> None:
    for name, value in values.items():
        writer.add_scalar(name, value, global_step=step)
    for name, text in signatures.items():
        writer.add_text(f"{name}/signature", text, global_step=step)
    writer.flush()


def _mlflow(client: Any, values: dict[str, float], signatures: dict[str, str], step: int | None) -> None:
    client.log_metrics({_plain(name): value for name, value in values.items()}, step=step)
    if signatures and hasattr(client, "set_tags"):
        client.set_tags({_plain(f"{name}.signature"): text for name, text in signatures.items()})


def _wandb(run: Any, values: dict[str, float], signatures: dict[str, str], step: int | None) -> None:
    run.log(values, step=step)
    summary = getattr(run, "summary", None)
    if summary is not None:
        summary.update({f"{name}/signature": text for name, text in signatures.items()})
