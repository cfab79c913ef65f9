"""Captions coloured by the probability of each word (as Figure 2 of Wang et al. 2020), for terminals, HTML
and SVG.

The colour is logarithmic: white is certain, full red is 0.0001 or less. The probability is also printed below
each word, so the figure does not depend on colour. All words are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from captious.core.errors import printable

#: Probabilities at and below this have the full colour.
LEAST = 1e-4
_FULL = (213, 94, 0)
END = "⏎"


@dataclass(frozen=True)
class WordLine:
    """A caption with a label, its words, and their log P. An extra value is that of the end."""

    label: str
    words: Sequence[str]
    values: Sequence[float]

    def cells(self) -> list[tuple[str, float]]:
        """Return words with log P. The end is shown as a sign if it has a value."""
        words = [_plain(word) for word in self.words]
        if len(self.values) == len(words) + 1:
            words.append(END)
        if len(words) != len(self.values):
            raise ValueError(f"{len(words)} words and {len(self.values)} values")
        return list(zip(words, self.values))

    @property
    def mean(self) -> float:
        """Mean log P."""
        return sum(self.values) / max(len(self.values), 1)


def _plain(word: str) -> str:
    # XML has no place for control characters, not even escaped.
    return printable(word)


def colour(log_p: float) -> tuple[int, int, int]:
    """Return the colour of a word: white for P = 1, the full colour for P ≤ 0.0001."""
    share = min(1.0, max(0.0, log_p / math.log(LEAST))) if log_p == log_p else 1.0
    red, green, blue = (round(255 + share * (full - 255)) for full in _FULL)
    return red, green, blue


def shown(log_p: float) -> str:
    """Format a probability briefly."""
    p = math.exp(min(log_p, 0.0))
    return f"{p:.2f}" if p >= 0.005 else f"{p:.0e}".replace("e-0", "e-")


def terminal(lines: Sequence[WordLine]) -> Any:
    """Return a rich renderable: coloured words with probabilities below."""
    from rich.text import Text

    text = Text()
    for line in lines:
        text.append(f"{printable(line.label)}  (mean log P {line.mean:.2f})\n", style="bold")
        above, below = Text(), Text()
        for word, value in line.cells():
            width = max(len(word), len(shown(value)))
            red, green, blue = colour(value)
            above.append(f" {word.ljust(width)} ", style=f"black on rgb({red},{green},{blue})")
            below.append(f" {shown(value).ljust(width)} ", style="dim")
        text.append_text(above)
        text.append("\n")
        text.append_text(below)
        text.append("\n\n")
    return text


def as_html(lines: Sequence[WordLine], title: str = "The probability of each word") -> str:
    """Return a self-contained HTML page."""
    parts = []
    for line in lines:
        cells = "".join(
            f'<span class="w" style="background:rgb{colour(value)}">{escape(word)}'
            f"<small>{escape(shown(value))}</small></span>"
            for word, value in line.cells()
        )
        parts.append(
            f"<figure><figcaption>{escape(_plain(line.label))} <em>mean log P "
            f"{line.mean:.2f}</em></figcaption><p>{cells}</p></figure>"
        )
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;margin:2rem;color:#000;background:#fff}figure{margin:0 0 "
        "1.5rem}"
        ".w{display:inline-block;padding:.1rem .4rem;margin:.1rem;border:1px solid "
        "#ccc;text-align:center}small{display:block;font-size:.7rem;color:#222}"
        "em{font-style:normal;color:#444;font-size:.85rem}"
    )
    name = escape(_plain(title))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f"<style>{style}</style></head><body><h1>{name}</h1>{''.join(parts)}</body></html>\n"
    )


def as_svg(lines: Sequence[WordLine]) -> str:
    """Return an SVG image, one caption below the other."""
    height, letter, pad = 70, 9.0, 8.0
    width, parts = 0.0, []
    for row, line in enumerate(lines):
        y, x = 24 + row * height, 10.0
        parts.append(
            f'<text x="10" y="{y}" font-weight="bold">{escape(_plain(line.label))} '
            f"(mean log P {line.mean:.2f})</text>"
        )
        for word, value in line.cells():
            wide = max(len(word), len(shown(value))) * letter + pad
            middle = x + wide / 2
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 6}" width="{wide:.1f}" height="34" '
                f'fill="rgb{colour(value)}" stroke="#ccc"/>'
            )
            parts.append(f'<text x="{middle:.1f}" y="{y + 21}" text-anchor="middle">{escape(word)}</text>')
            parts.append(
                f'<text x="{middle:.1f}" y="{y + 35}" text-anchor="middle" font-size="10">'
                f"{escape(shown(value))}</text>"
            )
            x += wide + 2
        width = max(width, x, 10 + letter * (len(line.label) + 26))
    size = f'width="{width + 10:.0f}" height="{24 + height * len(lines)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        'font-family="DejaVu Sans, Verdana, sans-serif" font-size="14">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )
