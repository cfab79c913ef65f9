"""Captioner files (:mod:`captious.generate.network_files`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from captious.generate.captioner.captioners import Captioner, CaptionerShape, build
from captious.generate.captioner.subword_units import Units
from captious.generate.network_files import ModelFile

_FILE = ModelFile("captioner", "create one with 'captious train captioner'")


@dataclass
class TrainedCaptioner:
    """A captioner with its units, classes and training history."""

    model: Captioner
    units: Units
    #: Object classes of the columns of an image's vectors. Empty for other features.
    classes: tuple[str, ...]
    #: Maximum number of units of a caption.
    longest: int
    tokenizer: str = "ptb"
    #: Settings and validation curve of each training.
    history: tuple[dict[str, Any], ...] = ()


def save(
    path: str | Path,
    trained: TrainedCaptioner,
    step: int | None = None,
    state: dict[str, Tensor] | None = None,
) -> None:
    """Write a captioner. ``step`` and ``state`` describe an unfinished training."""
    head = {
        "shape": trained.model.shape.to_json(),
        "width": trained.model.width,
        "units": trained.units.to_json(),
        "classes": list(trained.classes),
        "longest": trained.longest,
        "tokenizer": trained.tokenizer,
        "history": list(trained.history),
        "progress": None if step is None else {"step": step},
    }
    _FILE.write(path, head, trained.model, state)


def load(path: str | Path) -> TrainedCaptioner:
    """Read a captioner whose training is finished."""
    return _FILE.read_finished(path, _rebuild)


def load_unfinished(path: str | Path) -> tuple[TrainedCaptioner, int | None, dict[str, Tensor]]:
    """Read a captioner, the step its training has reached (None when finished), and the training's state."""
    return _FILE.read(path, _rebuild)


def _rebuild(head: dict[str, Any]) -> tuple[TrainedCaptioner, int | None]:
    units = Units.from_json(head["units"])
    trained = TrainedCaptioner(
        build(CaptionerShape(**head["shape"]), len(units), int(head["width"])),
        units,
        tuple(head["classes"]),
        int(head["longest"]),
        head["tokenizer"],
        tuple(head["history"]),
    )
    return trained, None if head["progress"] is None else int(head["progress"]["step"])
