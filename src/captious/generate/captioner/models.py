"""The models: ``fc`` (a vector into an LSTM), ``att`` (attention over regions at every step, as Att2in), ``relation`` (a
Transformer over regions, whose attention is weighed by geometry). ``fc`` may have a latent vector (a conditional VAE).

All have one face: :meth:`begin` makes a state from images, :meth:`step` takes a unit and gives the scores of the next,
:meth:`forward` does that for whole captions at once. States are tuples of tensors whose first dimension is the caption,
so that a search can pick and repeat rows.
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

from captious.errors import InputError
from captious.generate.captioner.images import Images
from captious.ragged import IntArray

State = tuple[Tensor, ...]
KINDS = ("fc", "att", "relation")


@dataclass(frozen=True)
class Shape:
    """How large a model is."""

    kind: str = "fc"
    hidden: int = 320
    dropout: float = 0.2
    #: Numbers of the latent vector; 0 for none.
    latent: int = 0
    layers: int = 2
    heads: int = 4

    def check(self) -> None:
        """Refuse what cannot be built."""
        if self.kind not in KINDS:
            raise InputError(f"models are {', '.join(KINDS)}, not '{self.kind}'")
        if self.latent and self.kind != "fc":
            raise InputError(f"a latent vector is an option of the model fc, not of {self.kind}")
        if self.hidden < 1 or self.latent < 0 or self.layers < 1 or self.heads < 1:
            raise InputError("sizes of a model (hidden, latent, layers, heads) are positive whole numbers")
        if self.kind == "relation" and self.hidden % self.heads:
            raise InputError(f"hidden ({self.hidden}) must be a multiple of the heads ({self.heads})")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout lies between 0 and 1, not {self.dropout}")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Seen(NamedTuple):
    """A batch of images: one vector each, and their regions with a mask (and boxes)."""

    vector: Tensor
    regions: Tensor
    mask: Tensor
    boxes: Tensor | None

    def rows(self, index: Tensor) -> Seen:
        """Some images, also repeated."""
        return Seen(self.vector[index], self.regions[index], self.mask[index], None if self.boxes is None else self.boxes[index])


class Views:
    """Images as tensors, batch by batch."""

    def __init__(self, images: Images) -> None:
        self.images = images
        self.vector = torch.from_numpy(images.one_each())
        self._vectors = torch.from_numpy(images.vectors)
        self._boxes = None if images.boxes is None else torch.from_numpy(images.boxes)

    def __len__(self) -> int:
        return len(self.images)

    @property
    def spread(self) -> Tensor:
        """How much each number of a vector varies over images."""
        return self.vector.std(dim=0) if len(self) > 1 else torch.ones(self.images.width)

    def batch(self, rows: IntArray) -> Seen:
        """The images of these numbers."""
        offsets = self.images.offsets
        starts, counts = offsets[rows], np.diff(offsets)[rows]
        most = max(int(counts.max(initial=1)), 1)
        place = starts[:, None] + np.arange(most)
        mask = torch.from_numpy(np.arange(most) < counts[:, None])
        picked = torch.from_numpy(np.minimum(place, max(len(self._vectors) - 1, 0)))
        regions = self._vectors[picked] * mask[..., None] if len(self._vectors) else torch.zeros(len(rows), most, self.images.width)
        boxes = None if self._boxes is None else self._boxes[picked]
        # An image without a region still needs something to look at: an empty vector.
        mask[:, 0] |= torch.from_numpy(counts == 0)
        return Seen(self.vector[torch.from_numpy(rows)], regions, mask, boxes)


class Captioner(nn.Module, ABC):  # type: ignore[misc]
    """What the models share."""

    def __init__(self, shape: Shape, units: int, width: int) -> None:
        super().__init__()
        self.shape = shape
        self.width = width
        # Units are written by the vectors that they are read by: half the weights, and rare words are learned sooner.
        self.embed = nn.Embedding(units, shape.hidden)
        nn.init.normal_(self.embed.weight, std=0.1)
        self.bias = nn.Parameter(torch.zeros(units))
        self.drop = nn.Dropout(shape.dropout)
        #: Spread of the images' vectors, for noise in proportion.
        self.register_buffer("spread", torch.ones(width))

    def out(self, hidden: Tensor) -> Tensor:
        """Scores of all units."""
        return functional.linear(hidden, self.embed.weight, self.bias)

    @abstractmethod
    def begin(self, seen: Seen, latent: Tensor | None = None) -> State:
        """The state before the first unit."""

    @abstractmethod
    def step(self, unit: Tensor, state: State) -> tuple[Tensor, State]:
        """Scores of the next unit (rows × units) after a unit (rows)."""

    def forward(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        """Scores of the next unit at every place of captions (rows × places × units), which start with the begin sign."""
        state = self.begin(seen, latent)
        scores = []
        for t in range(units.shape[1]):
            found, state = self.step(units[:, t], state)
            scores.append(found)
        return torch.stack(scores, 1)

    def posterior(self, seen: Seen, units: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log variance of the latent vector given a caption."""
        raise InputError(f"the model {type(self).__name__.lower()} has no latent vector; train 'fc' with one")


class FC(Captioner):
    """The image's vector goes into an LSTM, with every unit: a model that sees few captions learns sooner to look at the image
    than when the vector is its first input alone. A latent vector goes with it, if asked for."""

    def __init__(self, shape: Shape, units: int, width: int) -> None:
        super().__init__(shape, units, width)
        h = shape.hidden
        self.look = nn.Linear(width + shape.latent, h)
        self.lstm = nn.LSTM(h, h, batch_first=True)
        if shape.latent:
            self.infer = nn.Sequential(nn.Linear(width + h, h), nn.Tanh(), nn.Linear(h, 2 * shape.latent))

    def begin(self, seen: Seen, latent: Tensor | None = None) -> State:
        image = self._image(seen, latent)
        return torch.zeros_like(image), torch.zeros_like(image), image

    def _image(self, seen: Seen, latent: Tensor | None) -> Tensor:
        vector = seen.vector
        if self.shape.latent:
            z = latent if latent is not None else torch.zeros(len(vector), self.shape.latent)
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

    def posterior(self, seen: Seen, units: Tensor) -> tuple[Tensor, Tensor]:
        known = (units > 1).float().unsqueeze(2)
        mean = (self.embed(units) * known).sum(1) / known.sum(1).clamp(min=1)
        mu, log_variance = self.infer(torch.cat([seen.vector, mean], 1)).chunk(2, 1)
        return mu, log_variance


class Att(Captioner):
    """At every step the state looks at the regions; what it sees enters the cell of the LSTM (Att2in, Rennie et al. 2017)."""

    def __init__(self, shape: Shape, units: int, width: int) -> None:
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
    """A Transformer whose encoder weighs attention between two regions by where they lie (Sharif 2020, appendix; Herdade et
    al. 2019): softmax over ω_G · exp(ω_A). Without boxes it is a plain Transformer over the set."""

    GEOMETRY = 64

    def __init__(self, shape: Shape, units: int, width: int) -> None:
        super().__init__(shape, units, width)
        h = shape.hidden
        self.region = nn.Linear(width, h)
        self.encoder = nn.ModuleList(_EncoderLayer(h, shape.heads, shape.dropout, self.GEOMETRY) for _ in range(shape.layers))
        layer = nn.TransformerDecoderLayer(h, shape.heads, 2 * h, shape.dropout, batch_first=True)
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
        inputs = self.drop(self.embed(units) * math.sqrt(self.shape.hidden) + _positions(length, self.shape.hidden))
        ahead = torch.ones(length, length, dtype=torch.bool).triu(1)
        found: Tensor = self.decoder(inputs, regions, tgt_mask=ahead, memory_key_padding_mask=~mask)
        return found

    def step(self, unit: Tensor, state: State) -> tuple[Tensor, State]:
        units = torch.cat([state[2], unit.unsqueeze(1)], 1)
        return self.out(self._decode(state, units)[:, -1]), (state[0], state[1], units)

    def forward(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        return self.out(self._decode(self.begin(seen), units))


class _EncoderLayer(nn.Module):  # type: ignore[misc]
    def __init__(self, hidden: int, heads: int, dropout: float, geometry: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.join = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
        self.place = nn.Linear(geometry, heads)
        self.feed = nn.Sequential(nn.Linear(hidden, 2 * hidden), nn.ReLU(), nn.Linear(2 * hidden, hidden))
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
    """Where each region lies beside each other one: log distances and log ratios of sizes, as waves of several lengths."""
    x, y = boxes[..., 0] + boxes[..., 2] / 2, boxes[..., 1] + boxes[..., 3] / 2
    w, h = boxes[..., 2].clamp(min=1e-3), boxes[..., 3].clamp(min=1e-3)
    four = torch.stack(
        [
            ((x[:, :, None] - x[:, None]).abs() / w[:, :, None]).clamp(min=1e-3).log(),
            ((y[:, :, None] - y[:, None]).abs() / h[:, :, None]).clamp(min=1e-3).log(),
            (w[:, None] / w[:, :, None]).log(),
            (h[:, None] / h[:, :, None]).log(),
        ],
        -1,
    )
    lengths = 1000.0 ** (-torch.arange(width // 8) / (width // 8))
    waves = 100 * four[..., None] * lengths
    return torch.cat([waves.sin(), waves.cos()], -1).flatten(3)


def _positions(length: int, width: int) -> Tensor:
    place = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack([place.sin(), place.cos()], 2).flatten(1)[:, :width]


P = ParamSpec("P")
R = TypeVar("R")


def without_gradients(function: Callable[P, R]) -> Callable[P, R]:
    """A function that is only asked for its result."""

    @wraps(function)
    def run(*arguments: P.args, **named: P.kwargs) -> R:
        with torch.no_grad():
            return function(*arguments, **named)

    return run


def build(shape: Shape, units: int, width: int) -> Captioner:
    """An untrained model."""
    shape.check()
    made: dict[str, type[Captioner]] = {"fc": FC, "att": Att, "relation": Relation}
    return made[shape.kind](shape, units, width)


def log_likelihood(scores: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probability of each target unit (rows × places), and which places count: those up to the first end."""
    values = -functional.cross_entropy(scores.flatten(0, 1), targets.flatten(), reduction="none").view_as(targets)
    counted = ended_before(targets).logical_not()
    return values, counted


def ended_before(units: Tensor) -> Tensor:
    """Places behind the first end sign."""
    ended = (units == 0).int().cumsum(1)
    return (ended - (units == 0).int()) > 0
