"""Critic files (:mod:`captious.generate.captioner_files`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from captious.core.errors import InputError
from captious.critic.critic_network import Critic, CriticShape, build
from captious.critic.critic_vocabulary import CriticVocabulary
from captious.generate.captioner_files import ModelFile
from captious.io.content import shown_name

_FILE = ModelFile("critic", "create some with 'captious critic … -o FOLDER'")


@dataclass
class TrainedCritic:
    """A critic with its vocabulary and training history."""

    model: Critic
    words: CriticVocabulary
    tokenizer: str = "ptb"
    #: Object classes of the columns of an image's features. Empty for other features.
    classes: tuple[str, ...] = ()
    #: Settings, digest of the training data, and loss of each epoch.
    history: dict[str, Any] = field(default_factory=dict)


def save(
    path: str | Path, trained: TrainedCritic, step: int | None = None, state: dict[str, Tensor] | None = None
) -> None:
    """Write a critic. ``step`` and ``state`` describe an unfinished training."""
    model = trained.model
    head = {
        "shape": model.shape.to_json(),
        "width": model.width,
        "embedding": model.embed.embedding_dim,
        "words": trained.words.to_json(),
        "tokenizer": trained.tokenizer,
        "classes": list(trained.classes),
        "history": trained.history,
        "step": step,
    }
    _FILE.write(path, head, model, state)


def load(path: str | Path) -> TrainedCritic:
    """Read a critic whose training is finished."""
    trained, step, _ = load_unfinished(path)
    if step is not None:
        raise InputError(
            f"{shown_name(path)}: the training of this critic stopped at step {step:,}; continue it with "
            "--resume"
        )
    return trained


def load_unfinished(path: str | Path) -> tuple[TrainedCritic, int | None, dict[str, Tensor]]:
    """Read a critic, the step its training has reached (None when finished), and the training's state."""
    return _FILE.read(path, _rebuild)


def _rebuild(head: dict[str, Any]) -> tuple[TrainedCritic, int | None]:
    words = CriticVocabulary.from_json(head["words"])
    shape = CriticShape.from_json(head["shape"])
    model = build(shape, len(words), int(head["embedding"]), int(head["width"]), seed=0)
    trained = TrainedCritic(
        model, words, str(head["tokenizer"]), tuple(head["classes"]), dict(head["history"])
    )
    return trained, None if head["step"] is None else int(head["step"])

