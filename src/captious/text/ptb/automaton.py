"""The tokenizer's automaton: a table of all its states, which ships with captious.

``python -m tools.make_tokenizer`` makes the table from the rules (:mod:`captious.text.ptb.lexer_rules`); a
test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SHIPPED = Path(__file__).with_name("automaton.npz")


class Automaton:
    """Deterministic automaton."""

    def __init__(
        self, classes: NDArray[np.uint8], steps: NDArray[np.int16], accepts: NDArray[np.int16]
    ) -> None:
        """``classes`` has the class of each UTF-16 code unit, ``steps[state, class]`` the next
        state (-1: none), ``accepts`` the rule that is accepted in each state (-1: none)."""
        self.arrays = {"classes": classes, "steps": steps, "accepts": accepts}
        self._class_of, self._n_classes = classes, steps.shape[1]
        # Indexing a memoryview takes half the time of indexing an array.
        self._steps = np.ascontiguousarray(steps).reshape(-1).data
        self._accepts: list[int] = accepts.tolist()

    @classmethod
    def shipped(cls) -> Automaton:
        """Return the shipped automaton."""
        with np.load(SHIPPED, allow_pickle=False) as arrays:
            return cls(**arrays)

    def classes(self, text: str) -> list[int]:
        """Return the class of each code unit of a text."""
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
        return self._class_of[units].tolist()  # type: ignore[no-any-return]

    def longest(self, kinds: Sequence[int], start: int, dead: set[int] | None = None) -> tuple[int, int]:
        """Return (rule, end) of the longest match at ``start``. The rule is -1 if nothing matches.

        For long text, ``dead`` collects (place, state) pairs from which nothing more was accepted
        (Reps 1998). Scans that cannot match again are not repeated, so that hostile text takes linear
        instead of quadratic time.
        """
        steps, n_classes, accepts = self._steps, self._n_classes, self._accepts
        state, rule, end = 0, -1, start
        pending: list[int] = []
        for at in range(start, len(kinds)):
            state = steps[state * n_classes + kinds[at]]
            if state < 0:
                break
            accepted = accepts[state]
            if accepted >= 0:
                rule, end = accepted, at + 1
                pending.clear()
            elif dead is not None:
                key = at << 32 | state
                if key in dead:
                    break
                pending.append(key)
        if dead is not None:
            dead.update(pending)
        return rule, end
