"""Captioners in files (:mod:`captious.generate.model_files`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from captious.generate.captioner.models import Captioner, Shape, build
from captious.generate.captioner.units import Units
from captious.generate.model_files import ModelFile

_FILE = ModelFile("captioner", "'captious train captioner' makes one")


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
    head = {
        "shape": trained.model.shape.to_json(), "width": trained.model.width, "units": trained.units.to_json(), "classes": list(trained.classes),
        "longest": trained.longest, "tokenizer": trained.tokenizer, "history": list(trained.history), "progress": progress,
    }  # fmt: skip
    _FILE.write(path, head, trained.model, state)


def load(path: str | Path) -> Trained:
    """Read a captioner."""
    return load_unfinished(path)[0]


def load_unfinished(path: str | Path) -> tuple[Trained, dict[str, Any] | None, dict[str, Tensor]]:
    """A captioner, and where its training was when this was written (nothing when it was finished)."""
    with _FILE.reading(path) as (head, weights, state):
        units = Units.from_json(head["units"])
        model = build(Shape(**head["shape"]), len(units), int(head["width"]))
        model.load_state_dict(weights)
        trained = Trained(model, units, tuple(head["classes"]), int(head["longest"]), head["tokenizer"], tuple(head["history"]))
        progress = head["progress"]
    model.eval()
    return trained, progress, state
