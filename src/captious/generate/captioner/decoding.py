"""From a model to captions: greedy, by beam search (also in diverse groups), by sampling; and the likelihood of captions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from captious.errors import InputError
from captious.generate.captioner.models import Captioner, Seen, State, log_likelihood, without_gradients
from captious.generate.captioner.units import BEGIN, END, UNKNOWN

#: Units that are never written.
_NEVER = (BEGIN, UNKNOWN)


@dataclass(frozen=True)
class Sampling:
    """How units are drawn."""

    temperature: float = 1.0
    #: Draw among so many of the likeliest; 0 for all.
    top_k: int = 0
    #: Draw among the likeliest whose probabilities reach this share (nucleus sampling).
    top_p: float = 1.0

    def check(self) -> None:
        """Refuse what cannot be drawn from."""
        if not self.temperature > 0:
            raise InputError(f"the temperature is above 0, not {self.temperature}")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(f"top-k is 0 or more and top-p is above 0 and at most 1, not {self.top_k} and {self.top_p}")

    def logits(self, scores: Tensor) -> Tensor:
        """Scores from which units are drawn."""
        scores = scores / self.temperature
        if self.top_k:
            least = scores.topk(min(self.top_k, scores.shape[1]), 1).values[:, -1:]
            scores = scores.masked_fill(scores < least, -torch.inf)
        if self.top_p < 1:
            ordered, place = scores.sort(1, descending=True)
            before = ordered.softmax(1).cumsum(1) - ordered.softmax(1)
            ordered = ordered.masked_fill(before >= self.top_p, -torch.inf)
            scores = torch.full_like(scores, -torch.inf).scatter(1, place, ordered)
        return scores


PLAIN = Sampling()


def _writable(scores: Tensor) -> Tensor:
    scores = scores.clone()
    scores[:, list(_NEVER)] = -torch.inf
    return scores


@without_gradients
def sample(
    model: Captioner, seen: Seen, longest: int, how: Sampling = PLAIN, *, generator: torch.Generator, latent: Tensor | None = None
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """One caption for each image (rows × places, filled with the end sign), and its log-probability under the model."""
    state, unit = model.begin(seen, latent), torch.full((len(seen.vector),), BEGIN)
    total = torch.zeros(len(unit))
    open_rows = torch.ones(len(unit), dtype=torch.bool)
    rows = []
    for _ in range(longest):
        scores, state = model.step(unit, state)
        unit = torch.multinomial(how.logits(_writable(scores)).softmax(1), 1, generator=generator).squeeze(1)
        unit = torch.where(open_rows, unit, torch.zeros_like(unit))
        total += torch.where(open_rows, scores.log_softmax(1).gather(1, unit[:, None]).squeeze(1), 0.0)
        open_rows = open_rows & (unit != END)
        rows.append(unit)
        if not open_rows.any():
            break
    return torch.stack(rows, 1), total


@without_gradients
def greedy(model: Captioner, seen: Seen, longest: int, latent: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The likeliest unit at every step."""
    state, unit = model.begin(seen, latent), torch.full((len(seen.vector),), BEGIN)
    total, open_rows = torch.zeros(len(unit)), torch.ones(len(unit), dtype=torch.bool)
    rows = []
    for _ in range(longest):
        scores, state = model.step(unit, state)
        best, unit = _writable(scores.log_softmax(1)).max(1)
        unit = torch.where(open_rows, unit, torch.zeros_like(unit))
        total += torch.where(open_rows, best, 0.0)
        open_rows = open_rows & (unit != END)
        rows.append(unit)
        if not open_rows.any():
            break
    return torch.stack(rows, 1), total


@without_gradients
def beam(
    model: Captioner, seen: Seen, longest: int, width: int = 5, *, groups: int = 1, penalty: float = 0.5, latent: Tensor | None = None
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The ``width`` best captions of each image (images × width × places), best first, with their log-probabilities.

    With several ``groups`` the beams of one group pay ``penalty`` for each group before it that wrote the same unit at this
    step (diverse beam search, Vijayakumar et al. 2016).
    """
    if width < 1 or groups < 1 or width % groups:
        raise InputError(f"the width of a beam is a multiple of its groups, not {width} and {groups}")
    images, each = len(seen.vector), width // groups
    start = model.begin(seen, latent)
    beams = [_Beams(start, images, each) for _ in range(groups)]
    for _ in range(longest):
        written: list[Tensor] = []
        for group in beams:
            group.extend(model, written, penalty)
            written.append(group.last())
        if all(bool(group.ended.all()) for group in beams):
            break
    length = max(group.units.shape[2] for group in beams)
    units = torch.cat([torch.nn.functional.pad(group.units, (0, length - group.units.shape[2])) for group in beams], 1)
    totals = torch.cat([group.totals for group in beams], 1)
    order = torch.argsort(totals, dim=1, descending=True, stable=True)
    return units.gather(1, order[:, :, None].expand_as(units)), totals.gather(1, order)


class _Beams:
    """The beams of one group for all images."""

    def __init__(self, start: State, images: int, width: int) -> None:
        self.width = width
        self.state: State = tuple(part.repeat_interleave(width, 0) for part in start)
        self.units = torch.zeros(images, width, 0, dtype=torch.long)
        self.totals = torch.full((images, width), -torch.inf)
        self.totals[:, 0] = 0.0  # all beams are the same at first: one of them counts
        self.ended = torch.zeros(images, width, dtype=torch.bool)
        self.unit = torch.full((images * width,), BEGIN)

    def last(self) -> Tensor:
        """The units written last."""
        return self.units[:, :, -1]

    def extend(self, model: Captioner, written: list[Tensor], penalty: float) -> None:
        images = len(self.totals)
        scores, state = model.step(self.unit, self.state)
        found = _writable(scores.log_softmax(1)).view(images, self.width, -1)
        size = found.shape[2]
        # A caption that has ended goes on with the end sign, which costs nothing.
        only_end = torch.full((size,), -torch.inf)
        only_end[END] = 0.0
        found = torch.where(self.ended[:, :, None], only_end, found)
        totals = self.totals[:, :, None] + found
        ranked = totals
        if written:
            used = torch.zeros(images, size)
            for units in written:
                used.scatter_add_(1, units, (units != END).float())
            ranked = totals - penalty * used[:, None]
        _, place = ranked.flatten(1).topk(self.width, 1)
        parent, unit = place // size, place % size
        rows = (torch.arange(images)[:, None] * self.width + parent).flatten()
        self.totals = totals.flatten(1).gather(1, place)
        self.units = torch.cat([self.units.gather(1, parent[:, :, None].expand(-1, -1, self.units.shape[2])), unit[:, :, None]], 2)
        self.ended = self.ended.gather(1, parent) | (unit == END)
        self.state = tuple(part[rows] for part in state)
        self.unit = unit.flatten()


@without_gradients
def unit_likelihoods(model: Captioner, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
    """The log-probability of each unit of given captions (rows × places with an end sign), 0 behind their ends."""
    begin = torch.full((len(units), 1), BEGIN)
    scores = model(seen, torch.cat([begin, units[:, :-1]], 1), latent)
    values, counted = log_likelihood(scores, units)
    return values * counted


def likelihood(model: Captioner, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
    """The log-probability of given captions, one for each image."""
    return unit_likelihoods(model, seen, units, latent).sum(1)
