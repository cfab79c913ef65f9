"""Captioning models.

``fc`` feeds an image vector to an LSTM, ``att`` attends to regions at every step (Att2in), and ``relation``
is a Transformer over regions whose attention is weighted by geometry. ``fc`` can have a latent vector
(conditional VAE), whose prior is a standard Gaussian, or a mixture with a Gaussian for each class of objects
(GMM-CVAE, Wang et al. 2017).

All models share one interface: :meth:`begin` creates a state from images, :meth:`step` consumes a unit and
returns the scores of the next, :meth:`forward` does so for whole captions. States are tuples of tensors whose
first dimension is the caption, so that a search can select and repeat rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.generate.captioner.image_features import ImageFeatures

State = tuple[Tensor, ...]
KINDS = ("fc", "att", "relation")
PRIORS = ("normal", "gmm")
#: Standard deviation of each Gaussian of a mixture.
GMM_SPREAD = 0.1


@dataclass(frozen=True)
class CaptionerShape:
    """Architecture and sizes of a captioner."""

    kind: str = "fc"
    hidden: int = 320
    dropout: float = 0.2
    #: Size of the latent vector, 0 for none.
    latent: int = 0
    #: Layers of encoder and decoder, attention heads, and width of the feed-forward layers (0: twice the
    #: hidden size) of ``relation``.
    layers: int = 2
    heads: int = 4
    width: int = 0
    #: Prior of the latent vector: "normal", or "gmm".
    prior: str = "normal"

    def check(self) -> None:
        """Raise InputError for invalid combinations and sizes."""
        if self.kind not in KINDS:
            raise InputError(f"unknown model '{self.kind}'; choose {', '.join(KINDS)}")
        if self.latent and self.kind != "fc":
            raise InputError(f"the model {self.kind} cannot have a latent vector; use fc")
        if self.prior not in PRIORS:
            raise InputError(f"unknown prior '{self.prior}'; choose {' or '.join(PRIORS)}")
        if self.prior != "normal" and not self.latent:
            raise InputError("a prior is that of a latent vector; add --latent 32, or leave out --prior")
        if self.hidden < 1 or self.latent < 0 or self.layers < 1 or self.heads < 1 or self.width < 0:
            raise InputError(
                "the sizes of a model (hidden, latent, layers, heads, width) must be positive integers"
            )
        if self.kind == "relation" and self.hidden % self.heads:
            raise InputError(f"hidden ({self.hidden}) must be a multiple of the heads ({self.heads})")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be at least 0 and below 1, not {self.dropout}")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Seen(NamedTuple):
    """Batch of images: one vector each, and their regions with a mask and optional boxes."""

    vector: Tensor
    regions: Tensor
    mask: Tensor
    boxes: Tensor | None

    def rows(self, index: Tensor) -> Seen:
        """Select images, possibly repeated."""
        return Seen(
            self.vector[index],
            self.regions[index],
            self.mask[index],
            None if self.boxes is None else self.boxes[index],
        )


class Views:
    """Images as tensors, in batches."""

    def __init__(self, images: ImageFeatures) -> None:
        self.images = images
        self.vector = torch.from_numpy(images.one_each())
        self._vectors = torch.from_numpy(images.vectors)
        self._boxes = None if images.boxes is None else torch.from_numpy(images.boxes)

    def __len__(self) -> int:
        return len(self.images)

    @property
    def spread(self) -> Tensor:
        """Standard deviation of each component of the vectors over images."""
        return self.vector.std(dim=0) if len(self) > 1 else torch.ones(self.images.width)

    def batch(self, rows: IntArray) -> Seen:
        """Return the images with these indices."""
        offsets = self.images.offsets
        starts, counts = offsets[rows], np.diff(offsets)[rows]
        most = max(int(counts.max(initial=1)), 1)
        indices = starts[:, None] + np.arange(most)
        mask = torch.from_numpy(np.arange(most) < counts[:, None])
        picked = torch.from_numpy(np.minimum(indices, max(len(self._vectors) - 1, 0)))
        regions = (
            self._vectors[picked] * mask[..., None]
            if len(self._vectors)
            else torch.zeros(len(rows), most, self.images.width)
        )
        boxes = None if self._boxes is None else self._boxes[picked]
        # An image without regions gets one zero vector, because attention needs at least one.
        mask[:, 0] |= torch.from_numpy(counts == 0)
        return Seen(self.vector[torch.from_numpy(rows)], regions, mask, boxes)


class Captioner(nn.Module, ABC):  # type: ignore[misc]
    """Base class of the models."""

    def __init__(self, shape: CaptionerShape, units: int, width: int) -> None:
        super().__init__()
        self.shape = shape
        self.width = width
        # Input and output embeddings are tied: half the weights, and rare words are learned sooner.
        self.embed = nn.Embedding(units, shape.hidden)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.bias = nn.Parameter(torch.zeros(units))
        self.drop = nn.Dropout(shape.dropout)
        #: Standard deviation of the images' vectors, to scale noise.
        self.register_buffer("spread", torch.ones(width))

    def out(self, hidden: Tensor) -> Tensor:
        """Return the scores of all units."""
        return functional.linear(hidden, self.embed.weight, self.bias)

    @abstractmethod
    def begin(self, seen: Seen, latent: Tensor | None = None) -> State:
        """Return the state before the first unit."""

    @abstractmethod
    def step(self, unit: Tensor, state: State) -> tuple[Tensor, State]:
        """Consume a unit (rows) and return the scores of the next (rows × units)."""

    def forward(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        """Return the scores of the next unit at every position (rows × positions × units).

        Captions start with the begin unit.
        """
        state = self.begin(seen, latent)
        scores = []
        for t in range(units.shape[1]):
            step_scores, state = self.step(units[:, t], state)
            scores.append(step_scores)
        return torch.stack(scores, 1)

    def posterior(
        self, seen: Seen, units: Tensor, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return a latent vector drawn given a caption, its mean, and its divergence from the prior.

        The divergence has one column for each component of the vector.
        """
        raise self._no_latent()

    def draw_latent(self, seen: Seen, sigma: Tensor | float, generator: torch.Generator) -> Tensor:
        """Draw a latent vector for each row from the prior. ``sigma`` scales its standard deviation."""
        raise self._no_latent()

    def _no_latent(self) -> InputError:
        name = type(self).__name__.lower()
        return InputError(f"the model {name} has no latent vector; train 'fc' with --latent")


class FC(Captioner):
    """LSTM with the image vector as an input at every step.

    Trained on few captions, it learns to use the image sooner than with the vector as its first input only.
    An optional latent vector is appended to the image vector.
    """

    def __init__(self, shape: CaptionerShape, units: int, width: int) -> None:
        super().__init__(shape, units, width)
        h = shape.hidden
        self.look = nn.Linear(width + shape.latent, h)
        self.lstm = nn.LSTM(h, h, batch_first=True)
        if shape.latent:
            self.infer = nn.Sequential(nn.Linear(width + h, h), nn.Tanh(), nn.Linear(h, 2 * shape.latent))
        if shape.prior == "gmm":
            # Means are drawn once and stay, on the unit sphere times the square root of the dimension.
            means = torch.randn(width, shape.latent)
            scale = math.sqrt(shape.latent) / means.norm(dim=1, keepdim=True).clamp(min=1e-6)
            self.register_buffer("centres", means * scale)

    def begin(self, seen: Seen, latent: Tensor | None = None) -> State:
        image = self._image(seen, latent)
        return torch.zeros_like(image), torch.zeros_like(image), image

    def _image(self, seen: Seen, latent: Tensor | None) -> Tensor:
        vector = seen.vector
        if self.shape.latent:
            z = latent if latent is not None else self._prior_mean(seen)
            vector = torch.cat([vector, z], 1)
        image: Tensor = self.drop(torch.relu(self.look(vector)))
        return image

    def step(self, unit: Tensor, state: State) -> tuple[Tensor, State]:
        hidden, cell = torch.lstm_cell(
            self.embed(unit) + state[2], list(state[:2]),
            self.lstm.weight_ih_l0, self.lstm.weight_hh_l0, self.lstm.bias_ih_l0, self.lstm.bias_hh_l0,
        )  # fmt: skip
        return self.out(hidden), (hidden, cell, state[2])

    def forward(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        inputs = self.drop(self.embed(units)) + self._image(seen, latent)[:, None]
        return self.out(self.drop(self.lstm(inputs)[0]))

    def posterior(
        self, seen: Seen, units: Tensor, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        is_word = (units > 1).float().unsqueeze(2)
        mean_word = (self.embed(units) * is_word).sum(1) / is_word.sum(1).clamp(min=1)
        offset, log_variance = self.infer(torch.cat([seen.vector, mean_word], 1)).chunk(2, 1)
        spread, centre = self._prior(seen, generator)
        # Posterior and prior share the centre, and both are scaled by the prior's deviation.
        divergence = (offset**2 + log_variance.exp() - 1 - log_variance) / 2
        noise = torch.randn(offset.shape, generator=generator)
        mean = centre + spread * offset
        return mean + spread * noise * (log_variance / 2).exp(), mean, divergence

    def draw_latent(self, seen: Seen, sigma: Tensor | float, generator: torch.Generator) -> Tensor:
        spread, centre = self._prior(seen, generator)
        noise = torch.randn(len(seen.vector), self.shape.latent, generator=generator)
        return centre + spread * sigma * noise

    def _prior(self, seen: Seen, generator: torch.Generator | None) -> tuple[float, Tensor | float]:
        """Return the standard deviation and the centre of the prior.

        A mixture has a centre for each class. One of the image's objects is drawn.
        """
        if self.shape.prior == "normal":
            return 1.0, 0.0
        drawn = torch.multinomial(self._weights(seen), 1, generator=generator).squeeze(1)
        return GMM_SPREAD, self.centres[drawn]

    def _prior_mean(self, seen: Seen) -> Tensor:
        if self.shape.prior == "normal":
            return torch.zeros(len(seen.vector), self.shape.latent)
        weights = self._weights(seen)
        mean: Tensor = weights / weights.sum(1, keepdim=True) @ self.centres
        return mean

    def _weights(self, seen: Seen) -> Tensor:
        """Return the weight of each class: equal for the objects of an image, and for all without any."""
        present = seen.vector.clamp(min=0)
        return torch.where(present.sum(1, keepdim=True) > 0, present, torch.ones_like(present))


class Att(Captioner):
    """LSTM that attends to the regions at every step (Att2in, Rennie et al. 2017).

    The attended context enters the cell.
    """

    def __init__(self, shape: CaptionerShape, units: int, width: int) -> None:
        super().__init__(shape, units, width)
        h = shape.hidden
        self.look = nn.Linear(width, h)
        self.region = nn.Linear(width, h)
        self.key, self.query, self.value = nn.Linear(h, h), nn.Linear(h, h), nn.Linear(h, 1)
        self.gates = nn.Linear(2 * h, 4 * h)
        self.enter = nn.Linear(h, h, bias=False)

    def begin(self, seen: Seen, latent: Tensor | None = None) -> State:
        regions = self.drop(torch.relu(self.region(seen.regions)))
        first = torch.tanh(self.look(seen.vector))
        return first, torch.zeros_like(first), regions, self.key(regions), seen.mask

    def step(self, unit: Tensor, state: State) -> tuple[Tensor, State]:
        hidden, cell, regions, keys, mask = state
        weights = self.value(torch.tanh(keys + self.query(hidden).unsqueeze(1))).squeeze(2)
        weights = weights.masked_fill(~mask, -1e9).softmax(1)
        context = (weights.unsqueeze(1) @ regions).squeeze(1)
        enter, forget, new, out = self.gates(torch.cat([self.drop(self.embed(unit)), hidden], 1)).chunk(4, 1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new + self.enter(context))
        hidden = torch.sigmoid(out) * torch.tanh(cell)
        return self.out(self.drop(hidden)), (hidden, cell, regions, keys, mask)


class Relation(Captioner):
    """Transformer whose encoder weights attention between regions by their geometry: softmax over ω_G ·
    exp(ω_A).

    See Sharif (2020, appendix) and Herdade et al. (2019). Without boxes it is a plain Transformer over the
    set of regions.
    """

    GEOMETRY = 64

    def __init__(self, shape: CaptionerShape, units: int, width: int) -> None:
        super().__init__(shape, units, width)
        h, feed = shape.hidden, shape.width or 2 * shape.hidden
        self.region = nn.Linear(width, h)
        self.encoder = nn.ModuleList(
            _EncoderLayer(h, shape.heads, feed, shape.dropout, self.GEOMETRY) for _ in range(shape.layers)
        )
        layer = nn.TransformerDecoderLayer(h, shape.heads, feed, shape.dropout, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, shape.layers)

    def begin(self, seen: Seen, latent: Tensor | None = None) -> State:
        regions = self.drop(torch.relu(self.region(seen.regions)))
        geometry = None if seen.boxes is None else _geometry(seen.boxes, self.GEOMETRY)
        for layer in self.encoder:
            regions = layer(regions, seen.mask, geometry)
        return regions, seen.mask, torch.zeros(len(regions), 0, dtype=torch.long)

    def _decode(self, state: State, units: Tensor) -> Tensor:
        regions, mask = state[0], state[1]
        length = units.shape[1]
        inputs = self.drop(
            self.embed(units) * math.sqrt(self.shape.hidden) + _positions(length, self.shape.hidden)
        )
        ahead = torch.ones(length, length, dtype=torch.bool).triu(1)
        decoded: Tensor = self.decoder(inputs, regions, tgt_mask=ahead, memory_key_padding_mask=~mask)
        return decoded

    def step(self, unit: Tensor, state: State) -> tuple[Tensor, State]:
        units = torch.cat([state[2], unit.unsqueeze(1)], 1)
        return self.out(self._decode(state, units)[:, -1]), (state[0], state[1], units)

    def forward(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        return self.out(self._decode(self.begin(seen), units))


class _EncoderLayer(nn.Module):  # type: ignore[misc]
    def __init__(self, hidden: int, heads: int, feed: int, dropout: float, geometry: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.join = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.place = nn.Linear(geometry, heads)
        self.feed = nn.Sequential(nn.Linear(hidden, feed), nn.ReLU(), nn.Linear(feed, hidden))
        self.norm1, self.norm2, self.drop = nn.LayerNorm(hidden), nn.LayerNorm(hidden), nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor, geometry: Tensor | None) -> Tensor:
        n, regions, hidden = x.shape
        q, k, v = (part.view(n, regions, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, 2))
        weights = q @ k.transpose(2, 3) / math.sqrt(hidden // self.heads)
        if geometry is not None:
            weights = weights + torch.relu(self.place(geometry)).clamp(min=1e-6).log().permute(0, 3, 1, 2)
        weights = weights.masked_fill(~mask[:, None, None], -1e9).softmax(3)
        x = self.norm1(x + self.drop(self.join((weights @ v).transpose(1, 2).reshape(n, regions, hidden))))
        out: Tensor = self.norm2(x + self.drop(self.feed(x)))
        return out


def _geometry(boxes: Tensor, width: int) -> Tensor:
    """Encode the relative position of pairs of regions: log distances and size ratios, as sinusoids."""
    x, y = boxes[..., 0] + boxes[..., 2] / 2, boxes[..., 1] + boxes[..., 3] / 2
    w, h = boxes[..., 2].clamp(min=1e-3), boxes[..., 3].clamp(min=1e-3)
    relations = torch.stack(
        [
            ((x[:, :, None] - x[:, None]).abs() / w[:, :, None]).clamp(min=1e-3).log(),
            ((y[:, :, None] - y[:, None]).abs() / h[:, :, None]).clamp(min=1e-3).log(),
            (w[:, None] / w[:, :, None]).log(),
            (h[:, None] / h[:, :, None]).log(),
        ],
        -1,
    )
    lengths = 1000.0 ** (-torch.arange(width // 8) / (width // 8))
    waves = 100 * relations[..., None] * lengths
    return torch.cat([waves.sin(), waves.cos()], -1).flatten(3)


def _positions(length: int, width: int) -> Tensor:
    """Return sines and cosines of each position at falling frequencies (positions × width)."""
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)[:, :width]


P = ParamSpec("P")
R = TypeVar("R")


def without_gradients(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to run without gradients."""

    @wraps(function)
    def run(*arguments: P.args, **named: P.kwargs) -> R:
        with torch.no_grad():
            return function(*arguments, **named)

    return run


def build(shape: CaptionerShape, units: int, width: int) -> Captioner:
    """Create an untrained model."""
    shape.check()
    classes: dict[str, type[Captioner]] = {"fc": FC, "att": Att, "relation": Relation}
    return classes[shape.kind](shape, units, width)


def log_likelihood(scores: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Return the log-probability of each target unit, and a mask of the positions up to the first end."""
    values = -functional.cross_entropy(scores.flatten(0, 1), targets.flatten(), reduction="none").view_as(
        targets
    )
    counted = ended_before(targets).logical_not()
    return values, counted


def ended_before(units: Tensor) -> Tensor:
    """Return a mask of the positions after the first end unit."""
    ended = (units == 0).int().cumsum(1)
    return (ended - (units == 0).int()) > 0
