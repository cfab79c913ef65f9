"""Style and saving of figures.

The colours of Okabe and Ito are distinguishable with all common kinds of colour blindness. Systems also
differ in marker and line style, so figures work in black and white.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from captious.core.errors import MissingExtraError
from captious.core.writing import atomic_write, make_folder

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILION, YELLOW, BLACK = "#56B4E9", "#D55E00", "#F0E442", "#000000"

#: Colours of systems, in order. Yellow is too pale for lines and comes last. Black is for people.
COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PINK, SKY, YELLOW)
HUMAN = BLACK
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")

GREY = "#6B6B6B"

#: Formats of every figure: for screens, papers and the web.
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
    # Keep text as text in vector files, searchable and editable.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # Reproducible files.
    "svg.hashsalt": "captious",
}


class SystemLook(NamedTuple):
    """Colour, marker and line style of one system."""

    colour: str
    marker: str
    line: str

    def of_line(self) -> dict[str, str]:
        """Return matplotlib's settings of a line with markers."""
        return {"color": self.colour, "linestyle": self.line, "marker": self.marker}

    def of_points(self) -> dict[str, str]:
        """Return matplotlib's settings of markers without a line."""
        return {"color": self.colour, "linestyle": "", "marker": self.marker}


def looks(count: int) -> list[SystemLook]:
    """Return looks for ``count`` systems. Beyond seven, colours repeat with other markers and lines."""
    system_looks = []
    for i in range(count):
        turn = i // len(COLOURS)
        marker = MARKERS[(i + turn) % len(MARKERS)]
        system_looks.append(SystemLook(COLOURS[i % len(COLOURS)], marker, LINES[(i + turn) % len(LINES)]))
    return system_looks


HUMAN_LOOK = SystemLook(HUMAN, "*", "-")


def looks_of(systems: Sequence[str]) -> dict[str, SystemLook]:
    """Return the look of each system of a run, the same in all its figures."""
    names = list(dict.fromkeys(systems))
    return dict(zip(names, looks(len(names))))


def pyplot(purpose: str = "a figure") -> Any:
    """Import matplotlib's pyplot for drawing to files."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plots", purpose) from error
    import sys

    if "matplotlib.pyplot" not in sys.modules:
        # Draw without a display, unless the caller has already loaded pyplot with another backend.
        matplotlib.use("Agg")
    import matplotlib.pyplot

    return matplotlib.pyplot


@contextmanager
def drawing(purpose: str = "a figure") -> Iterator[Any]:
    """Provide pyplot with this module's settings, and restore the caller's afterwards."""
    plt = pyplot(purpose)
    with plt.rc_context(SETTINGS):
        yield plt


def file_name(command: str, *parts: str) -> str:
    """Return the name of a figure's files: the command, then parts in lower case, joined by underscores."""
    plain = [re.sub(r"[^a-z0-9]+", "_", part.casefold()).strip("_") or "set" for part in parts]
    return "_".join([command, *plain])


def write_cells(axes: Any, values: Any, *, form: str, dark: float, fontsize: int = 8) -> None:
    """Write the numbers of a heat map into its cells, in white where the absolute value exceeds ``dark``."""
    for (i, j), value in np.ndenumerate(values):
        if value is not np.ma.masked and value == value:
            colour = "white" if abs(value) > dark else "black"
            text = format(value, form)
            axes.text(j, i, text, ha="center", va="center", fontsize=fontsize, color=colour)


def legend_beside(axes: Any, **settings: Any) -> None:
    """Draw the legend beside the figure, where it hides nothing."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), borderaxespad=0.0, **settings)


def save(figure: Any, folder: str | Path, name: str, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write a figure in each format atomically, close it, and return the paths."""
    target = Path(folder)
    make_folder(target)
    plt = pyplot()
    # Without dates, the same figure gives the same file.
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
    """Shorten text for a figure: one printable line of at most ``limit`` characters.

    Dollar signs are escaped, because matplotlib reads pairs of them as formulas.
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line) > limit:
        line = line[: limit - 1].rstrip() + "…"
    return line.replace("$", r"\$")
