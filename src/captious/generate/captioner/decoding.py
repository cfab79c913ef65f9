"""Decoding: greedy, beam search (also in diverse groups), sampling; and the likelihood of captions."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from captious.core.errors import InputError
from captious.generate.captioner.captioners import Captioner, Seen, State, log_likelihood, without_gradients
from captious.generate.captioner.subword_units import BEGIN, END, UNKNOWN

#: Units that are never generated.
_NEVER = (BEGIN, UNKNOWN)


@dataclass(frozen=True)
class Sampling:
    """Sampling settings."""

    temperature: float = 1.0
    #: Number of most likely units to draw from, 0 for all.
    top_k: int = 0
    #: Cumulative probability of the most likely units to draw from (nucleus sampling).
    top_p: float = 1.0

    def check(self) -> None:
        """Raise InputError for invalid settings."""
        if not self.temperature > 0:
            raise InputError(f"the temperature must be above 0, not {self.temperature}")
        if self.top_k < 0 or not 0 < self.top_p <= 1:
            raise InputError(
                f"top-k must be 0 or more and top-p in (0, 1], not {self.top_k} and {self.top_p}"
            )

    def logits(self, scores: Tensor) -> Tensor:
        """Return the logits to sample from."""
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
    model: Captioner,
    seen: Seen,
    longest: int,
    how: Sampling = PLAIN,
    *,
    generator: torch.Generator,
    latent: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Sample one caption per image.

    Returns units (rows × positions, padded with the end unit) and log-probabilities under the model.
    """
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
    """Decode the most likely unit at every step."""
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
    model: Captioner,
    seen: Seen,
    longest: int,
    width: int = 5,
    *,
    groups: int = 1,
    penalty: float = 0.5,
    latent: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the ``width`` best captions of each image (images × width × positions), best first, with
    log-probabilities.

    With several ``groups``, a group pays ``penalty`` for each earlier group that wrote the same unit at this
    step (diverse beam search, Vijayakumar et al. 2016).
    """
    if width < 1 or groups < 1 or width % groups:
        raise InputError(
            f"the beam width must be a multiple of the number of groups, not {width} and {groups}"
        )
    images, group_width = len(seen.vector), width // groups
    start = model.begin(seen, latent)
    beams = [_Beams(start, images, group_width) for _ in range(groups)]
    for _ in range(longest):
        written: list[Tensor] = []
        for group in beams:
            group.extend(model, written, penalty)
            written.append(group.last())
        if all(bool(group.ended.all()) for group in beams):
            break
    length = max(group.units.shape[2] for group in beams)
    units = torch.cat(
        [torch.nn.functional.pad(group.units, (0, length - group.units.shape[2])) for group in beams], 1
    )
    totals = torch.cat([group.totals for group in beams], 1)
    order = torch.argsort(totals, dim=1, descending=True, stable=True)
    return units.gather(1, order[:, :, None].expand_as(units)), totals.gather(1, order)


class _Beams:
    """Beams of one group for all images."""

    def __init__(self, start: State, images: int, width: int) -> None:
        self.width = width
        self.state: State = tuple(part.repeat_interleave(width, 0) for part in start)
        self.units = torch.zeros(images, width, 0, dtype=torch.long)
        self.totals = torch.full((images, width), -torch.inf)
        self.totals[:, 0] = 0.0  # all beams are equal at first, so only one counts
        self.ended = torch.zeros(images, width, dtype=torch.bool)
        self.unit = torch.full((images * width,), BEGIN)

    def last(self) -> Tensor:
        """Return the last units."""
        return self.units[:, :, -1]

    def extend(self, model: Captioner, written: list[Tensor], penalty: float) -> None:
        images = len(self.totals)
        scores, state = model.step(self.unit, self.state)
        log_p = _writable(scores.log_softmax(1)).view(images, self.width, -1)
        size = log_p.shape[2]
        # A finished caption continues with the end unit at no cost.
        only_end = torch.full((size,), -torch.inf)
        only_end[END] = 0.0
        log_p = torch.where(self.ended[:, :, None], only_end, log_p)
        totals = self.totals[:, :, None] + log_p
        ranked = totals
        if written:
            used = torch.zeros(images, size)
            for units in written:
                used.scatter_add_(1, units, (units != END).float())
            ranked = totals - penalty * used[:, None]
        _, best = ranked.flatten(1).topk(self.width, 1)
        parent, unit = best // size, best % size
        rows = (torch.arange(images)[:, None] * self.width + parent).flatten()
        self.totals = totals.flatten(1).gather(1, best)
        self.units = torch.cat(
            [self.units.gather(1, parent[:, :, None].expand(-1, -1, self.units.shape[2])), unit[:, :, None]],
            2,
        )
        self.ended = self.ended.gather(1, parent) | (unit == END)
        self.state = tuple(part[rows] for part in state)
        self.unit = unit.flatten()


@without_gradients
def unit_likelihoods(model: Captioner, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
    """Return the log-probability of each unit of captions (rows × positions), 0 after the end."""
    begin = torch.full((len(units), 1), BEGIN)
    scores = model(seen, torch.cat([begin, units[:, :-1]], 1), latent)
    values, counted = log_likelihood(scores, units)
    return values * counted
