"""Captioners in files: safetensors with the weights, and in its header all else (JSON). Nothing in it is executed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from captious._version import __version__
from captious.errors import InputError, MissingExtraError
from captious.generate.captioner.models import Captioner, Shape, build
from captious.generate.captioner.units import Units
from captious.io.content import shown_name
from captious.writing import atomic_write

_FORMAT = 1
_KEY = "captious.captioner"


@dataclass
class Trained:
    """A captioner with all that belongs to it."""

    model: Captioner
    units: Units
    #: Classes of objects behind the columns of an image's vectors; none where they are features.
    classes: tuple[str, ...]
    #: The most units of a caption.
    longest: int
    tokenizer: str = "ptb"
    #: How it was trained: settings, and rows of the validation curve.
    history: tuple[dict[str, Any], ...] = ()


def save(path: str | Path, trained: Trained, progress: dict[str, Any] | None = None, state: dict[str, Tensor] | None = None) -> None:
    """Write a captioner; ``progress`` and ``state`` are those of a training that is not finished."""
    serialise = _safetensors()[0]
    tensors = {f"model.{name}": tensor.contiguous() for name, tensor in trained.model.state_dict().items()}
    tensors |= {f"state.{name}": tensor.contiguous() for name, tensor in (state or {}).items()}
    head = {
        "format": _FORMAT, "version": __version__, "shape": trained.model.shape.to_json(), "width": trained.model.width,
        "units": trained.units.to_json(), "classes": list(trained.classes), "longest": trained.longest, "tokenizer": trained.tokenizer,
        "history": list(trained.history), "progress": progress,
    }  # fmt: skip
    with atomic_write(path) as temporary:
        temporary.write_bytes(serialise(tensors, metadata={_KEY: json.dumps(head)}))


def load(path: str | Path) -> Trained:
    """Read a captioner."""
    return load_unfinished(path)[0]


def load_unfinished(path: str | Path) -> tuple[Trained, dict[str, Any] | None, dict[str, Tensor]]:
    """A captioner, and where its training was when this was written (nothing when it was finished)."""
    where = shown_name(path)
    if not Path(path).is_file():
        raise InputError(f"{where}: no such captioner; 'captious train captioner' makes one")
    safe_open, error_type = _safetensors()[1:]
    try:
        with safe_open(str(path), "pt") as file:
            head = json.loads((file.metadata() or {})[_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dictionary
        if head["format"] != _FORMAT:
            raise InputError(f"{where}: a captioner of format {head['format']}; this version reads {_FORMAT}")
        units = Units.from_json(head["units"])
        model = build(Shape(**head["shape"]), len(units), int(head["width"]))
        model.load_state_dict({name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")})
        trained = Trained(model, units, tuple(head["classes"]), int(head["longest"]), head["tokenizer"], tuple(head["history"]))
    except (error_type, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: not a captioner, or a damaged one ({type(error).__name__}: {str(error)[:100]})") from None
    model.eval()
    return trained, head["progress"], {name[6:]: tensor for name, tensor in tensors.items() if name.startswith("state.")}


def _safetensors() -> tuple[Any, Any, Any]:
    try:
        from safetensors import SafetensorError, safe_open
        from safetensors.torch import save as serialise
    except ImportError as error:
        raise MissingExtraError("safetensors", "train", "captioners in files") from error
    return serialise, safe_open, SafetensorError


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's memory as tensors by name."""
    return {
        f"optimizer.{number}.{name}": torch.as_tensor(value)
        for number, slots in optimizer.state_dict()["state"].items()
        for name, value in slots.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, state: dict[str, Tensor]) -> None:
    """Back from :func:`optimizer_state`."""
    slots: dict[int, dict[str, Tensor]] = {}
    for name, tensor in state.items():
        if name.startswith("optimizer."):
            _, number, slot = name.split(".", 2)
            slots.setdefault(int(number), {})[slot] = tensor
    stored = optimizer.state_dict()
    stored["state"] = slots
    optimizer.load_state_dict(stored)
