"""Critic network and its file: the probability that a person wrote a caption, given its context.

See Cui et al. (2018), section 3.2. One LSTM reads the candidate and the reference. Image features are
projected to the size of a caption vector. Both are combined by a linear classifier, a hidden layer, or
compact bilinear pooling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from captious.core.errors import InputError, check_positive, did_you_mean
from captious.critic.critic_vocabulary import FILLING, CriticVocabulary
from captious.generate.network_files import ModelFile


class CountSketch(nn.Module):  # type: ignore[misc]
    """Count sketch from ``width`` to ``size`` dimensions.

    Positions and signs are drawn once and stored with the weights.
    """

    def __init__(self, width: int, size: int, generator: torch.Generator) -> None:
        super().__init__()
        self.size = size
        self.place: Tensor
        self.sign: Tensor
        self.register_buffer("place", torch.randint(0, size, (width,), generator=generator))
        self.register_buffer("sign", torch.randint(0, 2, (width,), generator=generator).float() * 2 - 1)

    def forward(self, vectors: Tensor) -> Tensor:
        """Sketch each row."""
        return vectors.new_zeros(len(vectors), self.size).index_add(1, self.place, vectors * self.sign)


class CompactBilinear(nn.Module):  # type: ignore[misc]
    """Compact bilinear pooling (Gao et al. 2016): a small sketch of the outer product of two vectors.

    A count sketch adds every component of a vector, with a random sign, to a random position. The circular
    convolution of two sketches is a count sketch of the outer product (Pham & Pagh 2013): element (i, j) goes
    to the sum of both positions, with the product of both signs. Fourier transforms compute the convolution.
    """

    def __init__(self, first: int, second: int, size: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.size = size
        self.first = CountSketch(first, size, generator)
        self.second = CountSketch(second, size, generator)

    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        """Pool rows of both sides into rows of ``size`` numbers."""
        product = torch.fft.rfft(self.first(first)) * torch.fft.rfft(self.second(second))
        return torch.fft.irfft(product, n=self.size)

    def form(self, weight: Tensor) -> Tensor:
        """Return the matrix M with ``firstᵀ M second = weight · forward(first, second)``.

        A linear classifier of the sketch is a bilinear form, which is faster to apply to many pairs.
        """
        places = (self.first.place[:, None] + self.second.place[None, :]) % self.size
        return weight[places] * (self.first.sign[:, None] * self.second.sign[None, :])


#: Parts of the context that are vectors, combined with the caption's.
CONTEXTS = ("image", "reference")
#: Probability of a fluency error in the caption itself, by the detector that ships.
FLUENCY = "fluency"
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

    @property
    def vectors(self) -> tuple[str, ...]:
        """Parts of the context that are vectors."""
        return tuple(name for name in self.context if name in CONTEXTS)

    @property
    def reads_fluency(self) -> bool:
        """Whether the critic knows how probable a fluency error is."""
        return FLUENCY in self.context

    def check(self) -> None:
        """Raise InputError for invalid combinations and sizes."""
        choices = (*CONTEXTS, FLUENCY)
        for name in self.context:
            if name not in choices:
                raise InputError(
                    f"unknown context '{name}'{did_you_mean(name, choices)}; "
                    "choose image, reference, fluency, several of them, or none"
                )
        if self.combine not in COMBINATIONS:
            raise InputError(
                f"unknown combination '{self.combine}'{did_you_mean(self.combine, COMBINATIONS)}; "
                f"choose {', '.join(COMBINATIONS)}"
            )
        if self.combine == "cbp" and not self.vectors:
            raise InputError(
                "cbp combines the caption with its context, but the context is empty; "
                "combine by linear or mlp, or set a context"
            )
        check_positive(self, "hidden", "layers", "classifier", "sketch")

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
        sizes = shape.hidden * len(shape.vectors)
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
        if shape.reads_fluency:
            self.fluency = nn.Linear(1, 2, bias=False)

    def encode(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Encode captions as the LSTM's state after their last word."""
        states, _ = self.lstm(self.embed(tokens[:, : int(lengths.max())]))
        last_states: Tensor = states[torch.arange(len(tokens)), lengths - 1]
        return last_states

    def see(self, features: Tensor) -> Tensor:
        """Project image features to the size of a caption vector."""
        projected: Tensor = self.project(features / self.scale)
        return projected

    def forward(self, candidate: Tensor, context: Sequence[Tensor], errors: Tensor | None = None) -> Tensor:
        """Return the logits of the two classes (machine, human).

        ``context`` holds the image and the reference, in this order, as far as the critic uses them.
        ``errors`` are the candidates' probabilities of a fluency error, for critics that read them.
        """
        if self.shape.combine == "cbp":
            joined = self.pool(torch.cat(list(context), 1), candidate)
        else:
            joined = torch.cat([*context, candidate], 1)
        logits: Tensor = self.classify(joined)
        return logits if errors is None else logits + self.fluency(errors[:, None])


def build(shape: CriticShape, vocabulary: int, embedding: int, width: int, seed: int) -> Critic:
    """Create a critic with random weights, the same for the same seed."""
    shape.check()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Critic(shape, vocabulary, embedding, width if "image" in shape.context else 0, seed)


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


def save_critic(
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


def load_critic(path: str | Path) -> TrainedCritic:
    """Read a critic whose training is finished."""
    return _FILE.read_finished(path, _rebuild)


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
