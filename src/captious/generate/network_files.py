"""Files of networks: safetensors with the weights, and a JSON header with everything else.

Nothing in a file is executed. An unfinished training stores its state with the weights.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from captious._version import __version__
from captious.core.errors import InputError, MissingExtraError, printable
from captious.core.writing import atomic_write
from captious.io.content import shown_name

_FORMAT = 1


class TrainedModel(Protocol):
    """A network with its vocabulary, settings and history."""

    @property
    def model(self) -> Any: ...


T = TypeVar("T", bound=TrainedModel)


class ModelFile:
    """Reader and writer of the files of one kind of network, such as ``captioner``."""

    def __init__(self, kind: str, made_by: str) -> None:
        """``made_by`` tells users how to create such a file."""
        self.kind, self.made_by, self.key = kind, made_by, f"captious.{kind}"

    def write(
        self,
        path: str | Path,
        head: Mapping[str, Any],
        model: torch.nn.Module,
        state: Mapping[str, Tensor] | None,
    ) -> None:
        """Write a network. ``state`` is the state of an unfinished training."""
        tensors = {f"model.{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
        tensors |= {f"state.{name}": tensor.contiguous() for name, tensor in (state or {}).items()}
        header = {"format": _FORMAT, "version": __version__, **head}
        with atomic_write(path) as temporary:
            temporary.write_bytes(self._safetensors()[0](tensors, metadata={self.key: json.dumps(header)}))

    def read(
        self, path: str | Path, rebuild: Callable[[dict[str, Any]], tuple[T, int | None]]
    ) -> tuple[T, int | None, dict[str, Tensor]]:
        """Read a network, the step of its training (None when finished), and the training's state.

        ``rebuild`` creates the network and its step from the header. Any error is reported as an InputError
        that names the file.
        """
        where = shown_name(path)
        if not Path(path).is_file():
            raise InputError(f"{where}: no such {self.kind}; {self.made_by}")
        _, safe_open, damage = self._safetensors()
        try:
            with safe_open(str(path), "pt") as file:
                head = json.loads((file.metadata() or {})[self.key])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if head["format"] != _FORMAT:
                raise InputError(
                    f"{where}: {self.kind} of format {head['format']}; this version reads format {_FORMAT}"
                )
            trained, step = rebuild(head)
            weights = _under("model.", tensors)
            broken = next((name for name, tensor in weights.items() if not tensor.isfinite().all()), None)
            if broken is not None:
                raise ValueError(f"'{broken}' has values that are not finite")
            trained.model.load_state_dict(weights)
        except InputError:
            raise
        except (damage, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
            reason = printable(" ".join(str(error).split()))[:100]
            raise InputError(
                f"{where}: not a {self.kind}, or a damaged one ({type(error).__name__}: {reason})"
            ) from None
        trained.model.eval()
        return trained, step, _under("state.", tensors)

    def read_finished(self, path: str | Path, rebuild: Callable[[dict[str, Any]], tuple[T, int | None]]) -> T:
        """Read a network whose training is finished."""
        trained, step, _ = self.read(path, rebuild)
        if step is not None:
            raise InputError(
                f"{shown_name(path)}: the training of this {self.kind} stopped at step {step:,}; "
                "continue it with --resume"
            )
        return trained

    def _safetensors(self) -> tuple[Any, Any, Any]:
        try:
            from safetensors import SafetensorError, safe_open
            from safetensors.torch import save as serialise
        except ImportError as error:
            raise MissingExtraError("safetensors", "train", f"files of {self.kind}s") from error
        return serialise, safe_open, SafetensorError


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name[len(prefix) :]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def optimizer_state(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state as tensors by name."""
    return {
        f"optimizer.{number}.{name}": torch.as_tensor(value)
        for number, slots in optimizer.state_dict()["state"].items()
        for name, value in slots.items()
    }


def restore_optimizer(optimizer: torch.optim.Optimizer, state: Mapping[str, Tensor]) -> None:
    """Load the state returned by :func:`optimizer_state`."""
    slots: dict[int, dict[str, Tensor]] = {}
    for name, tensor in state.items():
        if name.startswith("optimizer."):
            _, number, slot = name.split(".", 2)
            slots.setdefault(int(number), {})[slot] = tensor
    stored = optimizer.state_dict()
    stored["state"] = slots
    optimizer.load_state_dict(stored)
