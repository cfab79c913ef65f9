"""Critic network: the probability that a person wrote a caption, given its context (Cui et al. 2018, section
3.2).

One LSTM reads the candidate and the reference. Image features are projected to the size of a caption vector.
Both are combined by a linear classifier, a hidden layer, or compact bilinear pooling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from captious.core.errors import InputError, did_you_mean
from captious.critic.count_sketch import CompactBilinear
from captious.critic.critic_vocabulary import FILLING

CONTEXTS = ("image", "reference")
COMBINATIONS = ("cbp", "mlp", "linear")


@dataclass(frozen=True)
class CriticShape:
    """Architecture and sizes of a critic."""

    context: tuple[str, ...] = CONTEXTS
    combine: str = "cbp"
    hidden: int = 512
    layers: int = 1
    #: Sizes of the hidden layer of ``mlp`` and of the sketch of ``cbp``.
    classifier: int = 512
    sketch: int = 8192

    def check(self) -> None:
        """Raise InputError for invalid combinations and sizes."""
        for name in self.context:
            if name not in CONTEXTS:
                raise InputError(
                    f"unknown context '{name}'{did_you_mean(name, CONTEXTS)}; "
                    "choose image, reference, both, or none"
                )
        if self.combine not in COMBINATIONS:
            raise InputError(
                f"unknown combination '{self.combine}'{did_you_mean(self.combine, COMBINATIONS)}; "
                f"choose {', '.join(COMBINATIONS)}"
            )
        if self.combine == "cbp" and not self.context:
            raise InputError(
                "cbp combines the caption with its context, but the context is empty; "
                "combine by linear or mlp, or set a context"
            )
        for label, size in (
            ("hidden", self.hidden),
            ("layers", self.layers),
            ("classifier", self.classifier),
            ("sketch", self.sketch),
        ):
            if size < 1:
                raise InputError(f"{label} must be a positive integer, not {size}")

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {**asdict(self), "context": list(self.context)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> CriticShape:
        """Rebuild from :meth:`to_json`."""
        return cls(**{**value, "context": tuple(value["context"])})


class Critic(nn.Module):  # type: ignore[misc]
    """Encoder and classifier. ``width`` is the size of the image features (0 without)."""

    def __init__(self, shape: CriticShape, vocabulary: int, embedding: int, width: int, seed: int) -> None:
        super().__init__()
        self.shape = shape
        self.width = width
        self.embed = nn.Embedding(vocabulary, embedding, padding_idx=FILLING)
        self.lstm = nn.LSTM(embedding, shape.hidden, shape.layers, batch_first=True)
        sizes = shape.hidden * len(shape.context)
        if "image" in shape.context:
            self.project = nn.Linear(width, shape.hidden)
            self.scale: Tensor
            #: Root mean square of the training features, by which features are divided.
            self.register_buffer("scale", torch.ones(()))
        if shape.combine == "cbp":
            self.pool = CompactBilinear(sizes, shape.hidden, shape.sketch, seed)
            self.classify: nn.Module = nn.Linear(shape.sketch, 2)
        elif shape.combine == "mlp":
            self.classify = nn.Sequential(
                nn.Linear(sizes + shape.hidden, shape.classifier), nn.ReLU(), nn.Linear(shape.classifier, 2)
            )
        else:
            self.classify = nn.Linear(sizes + shape.hidden, 2)

    def encode(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Encode captions as the LSTM's state after their last word."""
        states, _ = self.lstm(self.embed(tokens[:, : int(lengths.max())]))
        last_states: Tensor = states[torch.arange(len(tokens)), lengths - 1]
        return last_states

    def see(self, features: Tensor) -> Tensor:
        """Project image features to the size of a caption vector."""
        projected: Tensor = self.project(features / self.scale)
        return projected

    def forward(self, candidate: Tensor, context: Sequence[Tensor]) -> Tensor:
        """Return the logits of the two classes (machine, human).

        ``context`` holds the image and the reference, in this order, as far as the critic uses them.
        """
        if self.shape.combine == "cbp":
            joined = self.pool(torch.cat(list(context), 1), candidate)
        else:
            joined = torch.cat([*context, candidate], 1)
        logits: Tensor = self.classify(joined)
        return logits


def build(shape: CriticShape, vocabulary: int, embedding: int, width: int, seed: int) -> Critic:
    """Create a critic with random weights, the same for the same seed."""
    shape.check()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Critic(shape, vocabulary, embedding, width if "image" in shape.context else 0, seed)

