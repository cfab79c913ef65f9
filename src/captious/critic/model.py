"""The critic: a caption and its context in, the chance that a person wrote the caption out (Cui et al. 2018, section 3.2).

One LSTM reads the candidate and the reference; the features of the image are projected to the size of a caption. Both are combined
by a linear classifier, by a hidden layer, or by compact bilinear pooling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from captious.critic.sketch import CompactBilinear
from captious.critic.words import FILLING
from captious.errors import InputError, did_you_mean

CONTEXTS = ("image", "reference")
COMBINATIONS = ("cbp", "mlp", "linear")


@dataclass(frozen=True)
class Shape:
    """The parts of a critic and their sizes."""

    context: tuple[str, ...] = CONTEXTS
    combine: str = "cbp"
    hidden: int = 512
    layers: int = 1
    #: The hidden layer of ``mlp``, and the numbers of the sketch of ``cbp``.
    classifier: int = 512
    sketch: int = 8192

    def check(self) -> None:
        """Refuse what cannot be built."""
        for name in self.context:
            if name not in CONTEXTS:
                raise InputError(f"a critic's context is image, reference, both, or none, not '{name}'{did_you_mean(name, CONTEXTS)}")
        if self.combine not in COMBINATIONS:
            raise InputError(
                f"caption and context are combined by {', '.join(COMBINATIONS)}, not by '{self.combine}'{did_you_mean(self.combine, COMBINATIONS)}"
            )
        if self.combine == "cbp" and not self.context:
            raise InputError("cbp multiplies the caption with its context, and there is none; combine by linear or mlp, or give a context")
        for label, size in (("hidden", self.hidden), ("layers", self.layers), ("classifier", self.classifier), ("sketch", self.sketch)):
            if size < 1:
                raise InputError(f"{label} is a positive whole number, not {size}")

    def to_json(self) -> dict[str, Any]:
        """For files."""
        return {**asdict(self), "context": list(self.context)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Shape:
        """Back from :meth:`to_json`."""
        return cls(**{**value, "context": tuple(value["context"])})


class Critic(nn.Module):  # type: ignore[misc]
    """Encoder and classifier. ``width`` is that of the image features (0 without)."""

    def __init__(self, shape: Shape, vocabulary: int, embedding: int, width: int, seed: int) -> None:
        super().__init__()
        self.shape = shape
        self.width = width
        self.embed = nn.Embedding(vocabulary, embedding, padding_idx=FILLING)
        self.lstm = nn.LSTM(embedding, shape.hidden, shape.layers, batch_first=True)
        sizes = shape.hidden * len(shape.context)
        if "image" in shape.context:
            self.project = nn.Linear(width, shape.hidden)
            self.scale: Tensor
            #: Features are divided by their root mean square over the images of the training, whatever their unit.
            self.register_buffer("scale", torch.ones(()))
        if shape.combine == "cbp":
            self.pool = CompactBilinear(sizes, shape.hidden, shape.sketch, seed)
            self.classify: nn.Module = nn.Linear(shape.sketch, 2)
        elif shape.combine == "mlp":
            self.classify = nn.Sequential(nn.Linear(sizes + shape.hidden, shape.classifier), nn.ReLU(), nn.Linear(shape.classifier, 2))
        else:
            self.classify = nn.Linear(sizes + shape.hidden, 2)

    def encode(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Captions as vectors: where the LSTM is after the last word of each."""
        states, _ = self.lstm(self.embed(tokens[:, : int(lengths.max())]))
        found: Tensor = states[torch.arange(len(tokens)), lengths - 1]
        return found

    def see(self, features: Tensor) -> Tensor:
        """Images as vectors of a caption's size."""
        found: Tensor = self.project(features / self.scale)
        return found

    def forward(self, candidate: Tensor, context: Sequence[Tensor]) -> Tensor:
        """Scores of the two classes (machine, person), before the softmax. ``context`` has image and reference, in this order, as
        far as the critic looks at them."""
        if self.shape.combine == "cbp":
            joined = self.pool(torch.cat(list(context), 1), candidate)
        else:
            joined = torch.cat([*context, candidate], 1)
        found: Tensor = self.classify(joined)
        return found


def build(shape: Shape, vocabulary: int, embedding: int, width: int, seed: int) -> Critic:
    """A critic with random weights: the same for the same seed."""
    shape.check()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Critic(shape, vocabulary, embedding, width if "image" in shape.context else 0, seed)
