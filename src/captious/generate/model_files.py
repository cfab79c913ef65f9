"""Networks in files: safetensors with the weights, and in its header all else (JSON). Nothing in it is executed.

A training that is not finished keeps its state beside the weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from captious._version import __version__
from captious.errors import InputError, MissingExtraError
from captious.io.content import shown_name
from captious.writing import atomic_write

_FORMAT = 1


class ModelFile:
    """The files of one kind of network, such as ``captioner``."""

    def __init__(self, kind: str, made_by: str) -> None:
        """``made_by``: where such files come from, for people who have none."""
        self.kind, self.made_by, self.key = kind, made_by, f"captious.{kind}"

    def write(self, path: str | Path, head: Mapping[str, Any], model: torch.nn.Module, state: Mapping[str, Tensor] | None) -> None:
        """Write a network; ``state`` is that of a training that is not finished."""
        tensors = {f"model.{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
        tensors |= {f"state.{name}": tensor.contiguous() for name, tensor in (state or {}).items()}
        found = {"format": _FORMAT, "version": __version__, **head}
        with atomic_write(path) as temporary:
            temporary.write_bytes(self._safetensors()[0](tensors, metadata={self.key: json.dumps(found)}))

    @contextmanager
    def reading(self, path: str | Path) -> Iterator[tuple[dict[str, Any], dict[str, Tensor], dict[str, Tensor]]]:
        """The head, the weights and the state of a file. What goes wrong with them is said of the file, in one message."""
        where = shown_name(path)
        if not Path(path).is_file():
            raise InputError(f"{where}: no such {self.kind}; {self.made_by}")
        _, safe_open, damage = self._safetensors()
        try:
            with safe_open(str(path), "pt") as file:
                head = json.loads((file.metadata() or {})[self.key])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dictionary
            if head["format"] != _FORMAT:
                raise InputError(f"{where}: a {self.kind} of format {head['format']}; this version reads {_FORMAT}")
            yield head, _under("model.", tensors), _under("state.", tensors)
        except (damage, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{where}: not a {self.kind}, or a damaged one ({type(error).__name__}: {str(error)[:100]})") from None

    def _safetensors(self) -> tuple[Any, Any, Any]:
        try:
            from safetensors import SafetensorError, safe_open
            from safetensors.torch import save as serialise
        except ImportError as error:
            raise MissingExtraError("safetensors", "train", f"{self.kind}s in files") from error
        return serialise, safe_open, SafetensorError


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name[len(prefix) :]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's memory as tensors by name."""
    return {
        f"optimizer.{number}.{name}": torch.as_tensor(value)
        for number, slots in optimizer.state_dict()["state"].items()
        for name, value in slots.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, state: Mapping[str, Tensor]) -> None:
    """Back from :func:`optimizer_state`."""
    slots: dict[int, dict[str, Tensor]] = {}
    for name, tensor in state.items():
        if name.startswith("optimizer."):
            _, number, slot = name.split(".", 2)
            slots.setdefault(int(number), {})[slot] = tensor
    stored = optimizer.state_dict()
    stored["state"] = slots
    optimizer.load_state_dict(stored)
