"""What was promised beside what was measured."""

from __future__ import annotations

import math
from typing import NamedTuple


class Bar(NamedTuple):
    """A promise, what was found, and whether that keeps it."""

    what: str
    bar: str
    found: str
    met: bool


def check(what: str, found: float, least: float, aim: float | None = None) -> Bar:
    """A ratio that should be at least so large."""
    # Cut, not rounded: what is shown as the bar has reached it.
    shown = f"{math.floor(10 * found) / 10:.1f} ×" if found < 100 else f"{math.floor(found):,} ×"
    return Bar(what, f"at least {least:g} ×" + (f" (aim {aim:g} ×)" if aim else ""), shown, found >= least)


def show(table: str, bars: list[Bar]) -> str:
    """A table, and below it the promises."""
    if not bars:
        return table
    lines = [
        "| | bar | measured | met |",
        "|---|---|---:|---|",
        *(f"| {bar.what} | {bar.bar} | {bar.found} | {'yes' if bar.met else '**no**'} |" for bar in bars),
    ]
    return "\n".join([table, "", *lines])
