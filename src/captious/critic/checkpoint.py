"""Critics in files: safetensors with the weights, and in its header all else (JSON). Nothing in it is executed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from captious._version import __version__
from captious.critic.model import Critic, Shape, build
from captious.critic.words import Words
from captious.errors import InputError, MissingExtraError
from captious.io.content import shown_name
from captious.writing import atomic_write

_FORMAT = 1
_KEY = "captious.critic"


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
    serialise = _safetensors()[0]
    tensors = {f"model.{name}": tensor.contiguous() for name, tensor in trained.model.state_dict().items()}
    tensors |= {f"state.{name}": tensor.contiguous() for name, tensor in (state or {}).items()}
    model = trained.model
    head = {
        "format": _FORMAT, "version": __version__, "shape": model.shape.to_json(), "width": model.width, "embedding": model.embed.embedding_dim,
        "words": trained.words.to_json(), "tokenizer": trained.tokenizer, "classes": list(trained.classes), "history": trained.history, "step": step,
    }  # fmt: skip
    with atomic_write(path) as temporary:
        temporary.write_bytes(serialise(tensors, metadata={_KEY: json.dumps(head)}))


def load(path: str | Path) -> Trained:
    """Read a critic whose training was finished."""
    trained, step, _ = load_unfinished(path)
    if step is not None:
        raise InputError(f"{shown_name(path)}: the training of this critic was stopped at step {step:,}; go on with --resume")
    return trained


def load_unfinished(path: str | Path) -> tuple[Trained, int | None, dict[str, Tensor]]:
    """A critic, and where its training was when this was written (nothing when it was finished)."""
    where = shown_name(path)
    if not Path(path).is_file():
        raise InputError(f"{where}: no such critic; 'captious critic … -o FOLDER' keeps those it trains")
    safe_open, error_type = _safetensors()[1:]
    try:
        with safe_open(str(path), "pt") as file:
            head = json.loads((file.metadata() or {})[_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dictionary
        if head["format"] != _FORMAT:
            raise InputError(f"{where}: a critic of format {head['format']}; this version reads {_FORMAT}")
        words = Words.from_json(head["words"])
        model = build(Shape.from_json(head["shape"]), len(words), int(head["embedding"]), int(head["width"]), 0)
        model.load_state_dict({name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")})
        trained = Trained(model, words, str(head["tokenizer"]), tuple(head["classes"]), dict(head["history"]))
        step = None if head["step"] is None else int(head["step"])
    except (error_type, OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: not a critic, or a damaged one ({type(error).__name__}: {str(error)[:100]})") from None
    model.eval()
    return trained, step, {name[6:]: tensor for name, tensor in tensors.items() if name.startswith("state.")}


def _safetensors() -> tuple[Any, Any, Any]:
    try:
        from safetensors import SafetensorError, safe_open
        from safetensors.torch import save as serialise
    except ImportError as error:
        raise MissingExtraError("safetensors", "train", "critics in files") from error
    return serialise, safe_open, SafetensorError
