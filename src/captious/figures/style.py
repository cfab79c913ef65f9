"""How figures look, and how they are saved: one place for all of them.

Colours are those of Okabe and Ito, which people with any common colour blindness can tell apart; systems differ in
marker and line style too, so that a figure survives a black-and-white printer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

from captious.errors import InputError, MissingExtraError
from captious.writing import atomic_write

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, BLACK = "#56B4E9", "#D55E00", "#F0E442", "#000000"

#: For systems, in this order; yellow is too pale for lines and comes last. Black is for people.
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PINK, SKY, YELLOW)
HUMAN = BLACK
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")

GREY = "#6B6B6B"

#: What is written for every figure: one for screens, one for papers and one for the web.
FORMATS = ("png", "pdf", "svg")

SETTINGS: dict[str, Any] = {
    "figure.figsize": (6.4, 4.4),
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "figure.constrained_layout.use": True,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.8,
    "lines.markersize": 7,
    # Text stays text in vector files: it can be searched and edited.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # The same figure gives the same file.
    "svg.hashsalt": "captious",
}


class SystemLook(NamedTuple):
    """How one system is drawn."""

    colour: str
    marker: str
    line: str


def looks(count: int) -> list[SystemLook]:
    """Looks for so many systems; beyond seven, colours return with other markers and lines."""
    found = []
    for i in range(count):
        turn = i // len(COLOURS)
        marker = MARKERS[(i + turn) % len(MARKERS)]
        found.append(SystemLook(COLOURS[i % len(COLOURS)], marker, LINES[(i + turn) % len(LINES)]))
    return found


HUMAN_LOOK = SystemLook(HUMAN, "*", "-")


def looks_of(systems: Sequence[str], people: Sequence[str] = ()) -> dict[str, SystemLook]:
    """The look of each system of a run, the same in all its figures, whichever of them a figure shows."""
    own = [name for name in dict.fromkeys(systems) if name not in people]
    return {**dict(zip(own, looks(len(own)))), **dict.fromkeys(people, HUMAN_LOOK)}


def colours(count: int) -> list[str]:
    """So many colours, in order."""
    return list(islice(cycle(COLOURS), count))


def pyplot(purpose: str = "a figure") -> Any:
    """matplotlib's pyplot, drawing to files only."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plots", purpose) from error
    import sys

    if "matplotlib.pyplot" not in sys.modules:
        # No window and no display is needed; whoever loaded pyplot before keeps the backend they chose.
        matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


@contextmanager
def drawing(purpose: str = "a figure") -> Iterator[Any]:
    """pyplot with the settings of this module for the block; the caller's settings come back afterwards."""
    plt = pyplot(purpose)
    with plt.rc_context(SETTINGS):
        yield plt


def save(figure: Any, folder: str | Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure in each format, atomically, close it, and say where it is."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file; figures need a folder")
    plt = pyplot()
    # No dates: the same figure gives the same file.
    metadata: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    written = []
    try:
        with plt.rc_context(SETTINGS):
            for ending in formats:
                path = target / f"{name}.{ending}"
                with atomic_write(path) as temporary:
                    figure.savefig(temporary, format=ending, metadata=metadata.get(ending), facecolor="white")
                written.append(path)
    finally:
        plt.close(figure)
    return written


def shorten(text: str, limit: int = 60) -> str:
    """A caption for a figure: on one line, printable, and not longer than it must be.

    Dollar signs are escaped: to matplotlib a pair of them encloses a formula.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return line.replace("$", r"\$")
