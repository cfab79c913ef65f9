"""Averaged weights with AdaGrad steps, of which few change at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.parser.exact.pcfg import Floats

Integers = NDArray[np.int64]


class AveragedWeights:
    """One kind of weights.

    The average over all updates is `values - late / updates`: `late` sums the steps times the number of
    updates before them.
    """

    def __init__(self, start: Floats) -> None:
        self.values = start
        self.squares: Floats = np.ones_like(start)
        self.late: Floats = np.zeros_like(start)
        self._places: list[Integers] = []
        self._signs: list[float] = []

    def add(self, places: Integers, sign: float) -> None:
        """Add `sign` to the gradient at these places."""
        self._places.append(places)
        self._signs.append(sign)

    def step(self, rate: float, update: int) -> None:
        """Follow the gradient. `update` is the number of updates before this one."""
        places = np.concatenate([np.ravel(part) for part in self._places])
        signs = np.repeat(self._signs, [part.size for part in self._places])
        self._places.clear()
        self._signs.clear()
        if not len(places):
            return
        order = np.argsort(places, kind="stable")
        places = places[order]
        first = np.flatnonzero(np.diff(places, prepend=-1))
        gradient = np.add.reduceat(signs[order], first)
        places, gradient = places[first][gradient != 0], gradient[gradient != 0]
        self.squares[places] += (gradient * gradient).astype(np.float32)
        before = self.values[places]
        after = (before + rate * gradient / np.sqrt(self.squares[places])).astype(np.float32)
        self.values[places] = after
        self.late[places] += np.float32(update) * (after - before)

    def average(self, updates: int) -> Floats:
        """Return the average of the weights over `updates` updates."""
        mean: Floats = self.values - self.late / np.float32(max(updates, 1))
        return mean

    def restart(self) -> None:
        """Start a new average."""
        self.late[:] = 0
