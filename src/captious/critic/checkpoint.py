"""Critics in files (:mod:`captious.generate.model_files`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from captious.critic.model import Critic, Shape, build
from captious.critic.words import Words
from captious.errors import InputError
from captious.generate.model_files import ModelFile
from captious.io.content import shown_name

_FILE = ModelFile("critic", "'captious critic … -o FOLDER' keeps those it trains")


@dataclass
class Trained:
    """A critic with all that belongs to it."""

    model: Critic
    words: Words
    tokenizer: str = "ptb"
    #: The classes behind the columns of an image's features, where they stand for objects.
    classes: tuple[str, ...] = ()
    #: How it was trained, with a digest of what it learned from, and the loss of each epoch.
    history: dict[str, Any] = field(default_factory=dict)


def save(path: str | Path, trained: Trained, step: int | None = None, state: dict[str, Tensor] | None = None) -> None:
    """Write a critic; ``step`` and ``state`` are those of a training that is not finished."""
    model = trained.model
    head = {
        "shape": model.shape.to_json(), "width": model.width, "embedding": model.embed.embedding_dim, "words": trained.words.to_json(),
        "tokenizer": trained.tokenizer, "classes": list(trained.classes), "history": trained.history, "step": step,
    }  # fmt: skip
    _FILE.write(path, head, model, state)


def load(path: str | Path) -> Trained:
    """Read a critic whose training was finished."""
    trained, step, _ = load_unfinished(path)
    if step is not None:
        raise InputError(f"{shown_name(path)}: the training of this critic was stopped at step {step:,}; go on with --resume")
    return trained


def load_unfinished(path: str | Path) -> tuple[Trained, int | None, dict[str, Tensor]]:
    """A critic, and where its training was when this was written (nothing when it was finished)."""
    with _FILE.reading(path) as (head, weights, state):
        words = Words.from_json(head["words"])
        model = build(Shape.from_json(head["shape"]), len(words), int(head["embedding"]), int(head["width"]), 0)
        model.load_state_dict(weights)
        trained = Trained(model, words, str(head["tokenizer"]), tuple(head["classes"]), dict(head["history"]))
        step = None if head["step"] is None else int(head["step"])
    model.eval()
    return trained, step, state
