"""Tables on standard output: for the terminal, and in the formats of papers and programs."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from captious.cli.formatting import look
from captious.core.errors import printable

#: A column of text may be folded to this width where the terminal is narrow.
_LEAST_TEXT = 12

Rows = Sequence[Sequence[str]]
Marks = Sequence[Sequence[bool]] | None


@dataclass
class _Table:
    header: list[str]
    rows: list[list[str]]
    best: list[list[bool]]
    text: set[int]

    def columns(self, chosen: Sequence[int]) -> _Table:
        return _Table(
            [self.header[k] for k in chosen],
            [[row[k] for k in chosen] for row in self.rows],
            [[row[k] for k in chosen] for row in self.best],
            {place for place, k in enumerate(chosen) if k in self.text},
        )

    def turned(self) -> _Table:
        columns, marks = list(zip(*self.rows)), list(zip(*self.best))
        return _Table(
            [self.header[0], *(columns[0] if columns else [])],
            [[name, *cells] for name, cells in zip(self.header[1:], columns[1:])],
            [[False, *cells] for cells in marks[1:]],
            {0},
        )

    def widths(self) -> list[int]:
        """Return the widths of the columns; a mark may follow any cell."""
        from rich.cells import cell_len

        marked = bool(self.best) and any(map(any, self.best))
        return [
            max(max(cell_len(line) for line in str(row[k]).split("\n")) for row in [self.header, *self.rows])
            + (marked and k > 0)
            for k in range(len(self.header))
        ]


def _needed(widths: Sequence[int]) -> int:
    return 1 + sum(width + 3 for width in widths)


def print_table(
    title: str,
    header: Sequence[str],
    rows: Rows,
    *,
    best: Marks = None,
    text: Sequence[int] = (0,),
    turn: bool = False,
    keys: int = 1,
) -> None:
    """A table on standard output, in the format asked for.

    Columns are numbers, flush right, but for those listed in ``text``. Cells marked in ``best`` are bold, and
    carry a ``*`` where there is no bold. On a terminal that is too narrow the table is turned on its side
    (with ``turn``) or divided, each part with the first ``keys`` columns.
    """
    marks = (
        [list(map(bool, row)) for row in best] if best is not None else [[False] * len(header) for _ in rows]
    )
    shown = [[_safe(str(cell), k in text) for k, cell in enumerate(row)] for row in rows]
    table = _Table([printable(str(name)) for name in header], shown, marks, set(text))
    title = printable(title)
    form = look().format
    if form == "markdown":
        print(_markdown(title, table))
    elif form == "latex":
        print(_latex(title, table))
    elif form == "csv":
        write_rows(sys.stdout, [table.header, *table.rows])
    else:
        _draw(title, table, turn, keys)


def _safe(cell: str, is_text: bool) -> str:
    """A cell in which nothing steers the terminal; our own cells of numbers may have several lines."""
    return printable(cell) if is_text else "\n".join(map(printable, cell.split("\n")))


def note(text: str) -> None:
    """Print a line below a table. CSV and JSON do not contain it."""
    asked = look()
    text = "\n".join(map(printable, text.split("\n")))
    if asked.quiet or asked.format == "json":
        return
    if asked.format == "csv":
        print(text, file=sys.stderr)
    elif asked.format == "latex":
        print("".join(f"% {line}\n" for line in text.split("\n")), end="")
    elif asked.format == "markdown":
        print(f"\n{_inline(text)}")
    else:
        print(text)


def _draw(title: str, table: _Table, turn: bool, keys: int) -> None:
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        # A pipe has no width: the table is as wide as it wants.
        console = Console(width=max(200, _needed(table.widths())))
    pieces = _fitting(table, console.width, turn, keys)
    for place, piece in enumerate(pieces):
        # Wider than the terminal only where a single column is: then the terminal breaks the line, and
        # nothing is lost.
        least = _needed([_floor(piece, k, width) for k, width in enumerate(piece.widths())])
        wide = console if least <= console.width else Console(width=least)
        wide.print(_drawn(title if place == 0 else "", piece))


def _floor(table: _Table, k: int, width: int) -> int:
    """The least width of a column: text can be folded, a number cannot.

    The first column has names, which are folded late.
    """
    if k == 0:
        return min(width, 4 * _LEAST_TEXT)
    return min(width, _LEAST_TEXT) if k in table.text else width


def _fitting(table: _Table, room: int, turn: bool, keys: int) -> list[_Table]:
    """The table itself if it fits; else turned; else with its texts folded; else its columns in several
    tables.
    """
    widths = table.widths()
    if _needed(widths) <= room:
        return [table]
    if turn and len(table.header) > 2:
        turned = table.turned()
        if _needed(turned.widths()) <= room:
            return [turned]
        # The longer way lies down: fewer pieces.
        if len(turned.header) < len(table.header):
            table = turned
            widths = table.widths()
    floors = [_floor(table, k, width) for k, width in enumerate(widths)]
    if _needed(floors) <= room:
        return [table]
    pieces: list[list[int]] = []
    left = 0
    for k in range(keys, len(floors)):
        if not pieces or left < floors[k] + 3:
            pieces.append(list(range(keys)))
            left = room - _needed(floors[:keys])
        pieces[-1].append(k)
        left -= floors[k] + 3
    return [table.columns(piece) for piece in pieces]


def _drawn(title: str, table: _Table) -> object:
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text(title) if title else None, title_justify="left", header_style="bold")
    for k, (name, width) in enumerate(zip(table.header, table.widths())):
        left = k in table.text
        drawn.add_column(
            Text(name),
            justify="left" if left else "right",
            min_width=_floor(table, k, width),
            overflow="fold",
            no_wrap=not left,
        )
    for row, marks in zip(table.rows, table.best):
        drawn.add_row(
            *(
                Text(cell + "*" * marked, style="bold green" if marked else "")
                for cell, marked in zip(row, marks)
            )
        )
    return drawn


def _inline(text: str) -> str:
    """Text in a cell of a Markdown table."""
    escaped = re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", text)
    return escaped.replace("\n", " ")


def _markdown(title: str, table: _Table) -> str:
    lines = [f"**{_inline(title)}**\n"] if title else []
    lines.append("| " + " | ".join(_inline(name) or " " for name in table.header) + " |")
    lines.append("|" + "|".join(":--" if k in table.text else "--:" for k in range(len(table.header))) + "|")
    for row, marks in zip(table.rows, table.best):
        lines.append(
            "| "
            + " | ".join(f"**{_inline(c)}**" if marked else _inline(c) for c, marked in zip(row, marks))
            + " |"
        )
    return "\n".join(lines)


_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "↓": r"$\downarrow$",
    "–": "--",
    "×": r"$\times$",
    "∞": r"$\infty$",
    "…": r"\ldots{}",
    "\n": " ",
}


def _tex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


def _latex(title: str, table: _Table) -> str:
    """A tabular with the rules of booktabs."""
    lines = [f"% {title}"] if title else []
    lines.append(
        r"\begin{tabular}{" + "".join("l" if k in table.text else "r" for k in range(len(table.header))) + "}"
    )
    lines += [r"\toprule", " & ".join(map(_tex, table.header)) + r" \\", r"\midrule"]
    for row, marks in zip(table.rows, table.best):
        lines.append(
            " & ".join(rf"\textbf{{{_tex(c)}}}" if marked else _tex(c) for c, marked in zip(row, marks))
            + r" \\"
        )
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


_NUMBER = re.compile(r"[-+]?[\d.,]+%?(e[-+]?\d+)?")


def write_rows(stream: object, rows: Rows) -> None:
    """Write CSV. Cells that a spreadsheet would run as formulas are written as text."""
    safe = [
        [
            "'" + cell if cell[:1] in tuple("=+-@\t\r") and not _NUMBER.fullmatch(cell) else cell
            for cell in row
        ]
        for row in rows
    ]
    csv.writer(stream, lineterminator="\n").writerows(safe)  # type: ignore[arg-type]
