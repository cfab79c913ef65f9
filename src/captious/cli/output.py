"""Results on standard output and in files: tables in the format of the command, JSON, CSV and text."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.cli.formatting import look
from captious.core.errors import InputError, printable
from captious.core.writing import atomic_write, is_standard
from captious.results.result_rows import COLUMNS, ResultRow, tidy

if TYPE_CHECKING:
    from rich.console import Console

    from captious.agreement import AgreementReport
    from captious.robustness import RobustnessReport

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
        """Return the widths of the columns, marks included."""
        from rich.cells import cell_len

        rows = [self.header, *self.rows]
        marks = [[False] * len(self.header), *self.best]
        return [
            max(max(map(cell_len, str(row[k]).split("\n"))) + marked[k] for row, marked in zip(rows, marks))
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
    """Print a table in the command's format.

    Columns hold numbers, flush right, except those listed in ``text``. Cells marked in ``best`` are bold, and
    carry a ``*`` where there is no bold. A table wider than the terminal is transposed (with ``turn``) or
    split, each part with the first ``keys`` columns.
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
        _print_csv([table.header, *table.rows])
    else:
        _draw(title, table, turn, keys)


def _safe(cell: str, is_text: bool) -> str:
    """Escape control characters. Cells of numbers are our own and may have several lines."""
    return printable(cell) if is_text else "\n".join(map(printable, cell.split("\n")))


def note(text: str) -> None:
    """Print a line below a table, but not into CSV and JSON."""
    settings = look()
    text = "\n".join(map(printable, text.split("\n")))
    if settings.quiet or settings.format == "json":
        return
    if settings.format == "csv":
        print(text, file=sys.stderr)
    elif settings.format == "latex":
        print("".join(f"% {line}\n" for line in text.split("\n")), end="")
    elif settings.format == "markdown":
        print(f"\n{_inline(text)}")
    else:
        print(text)


def print_marked(title: str, lines: Sequence[tuple[str, str]], legend: str) -> None:
    """Print lines of text below a title, styled at a terminal. CSV and JSON do not have them."""
    form = look().format
    texts = [printable(text) for _, text in lines]
    if form == "markdown":
        print("\n".join([_inline(printable(title)), "", *(f"- {_inline(text)}" for text in texts), ""]))
    elif form == "latex":
        print("".join(f"% {text}\n" for text in [printable(title), *texts, legend]), end="")
    elif form not in ("csv", "json"):
        from rich.text import Text

        console = rich_console()
        print(printable(title))
        for (style, _), text in zip(lines, texts):
            if console.is_terminal:
                console.print(Text(text, style=style))
            else:
                print(text)
        print(legend)


def rich_console(**settings: Any) -> Console:
    """Return a console of Rich that leaves a broken pipe to the caller. Rich would exit with code 1."""
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return PlainConsole(**settings)


def _draw(title: str, table: _Table, turn: bool, keys: int) -> None:
    console = rich_console()
    if not console.is_terminal:
        # A pipe has no width, so the table is not split.
        console = rich_console(width=max(200, _needed(table.widths())))
    if title:
        # Above the table and not in it, where the title would be folded to the width of the table.
        print(title)
    for piece in _fitting(table, console.width, turn, keys):
        # If a single column is wider than the terminal, the terminal wraps the lines and nothing is lost.
        least = _needed([_floor(piece, k, width) for k, width in enumerate(piece.widths())])
        wide = console if least <= console.width else rich_console(width=least)
        wide.print(_drawn(piece))


def _floor(table: _Table, k: int, width: int) -> int:
    """Return the least width of a column: text can be folded, numbers cannot, and names only when long."""
    if k == 0:
        return min(width, 4 * _LEAST_TEXT)
    return min(width, _LEAST_TEXT) if k in table.text else width


def _fitting(table: _Table, room: int, turn: bool, keys: int) -> list[_Table]:
    """Return the table if it fits, else transposed, else with folded text, else split into several."""
    widths = table.widths()
    if _needed(widths) <= room:
        return [table]
    if turn and len(table.header) > 2:
        turned = table.turned()
        if _needed(turned.widths()) <= room:
            return [turned]
        # The orientation with fewer columns needs fewer pieces.
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


def _drawn(table: _Table) -> object:
    from rich.table import Table
    from rich.text import Text

    drawn = Table(header_style="bold")
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
    """Escape text for a cell of a Markdown table."""
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
    """Return a LaTeX tabular with booktabs rules."""
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


_NUMBER = re.compile(r"[-+]?([\d.,]+%?(e[-+]?\d+)?|inf|nan)")


def _inert(cell: Any) -> Any:
    """Escape control characters, and put an apostrophe before text that a spreadsheet would run."""
    if not isinstance(cell, str):
        return cell
    text = printable(cell)
    return f"'{text}" if text[:1] in tuple("=+-@") and not _NUMBER.fullmatch(text) else text


def _print_csv(rows: Iterable[Sequence[Any]]) -> None:
    csv.writer(sys.stdout, lineterminator="\n").writerows([_inert(cell) for cell in row] for row in rows)


def print_tidy(rows: Iterable[ResultRow]) -> None:
    """Print results as CSV: one number per row, with the same columns for all commands."""
    _print_csv([COLUMNS, *tidy(rows, look().numbers)])


# Files ---------------------------------------------------------------------------------------------


def write_json(data: Any, target: str | Path) -> None:
    """Write JSON to a file (atomically) or, for ``-``, to standard output."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(_escaped(text) + "\n", target)


def write_json_lines(rows: Iterable[Any], target: str | Path) -> None:
    """Write one JSON value per line to a file (atomically) or, for ``-``, to standard output."""
    write_text("".join(_escaped(json.dumps(row, ensure_ascii=False)) + "\n" for row in rows), target)


#: Characters that control terminals or the direction of text and that JSON allows unescaped.
_CONTROL = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def _escaped(text: str) -> str:
    """Escape the control characters of a JSON text, which occur only inside its strings."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def write_text(text: str, target: str | Path) -> None:
    """Write text to a file (atomically) or, for ``-``, to standard output."""
    with atomic_write(target) as temporary:
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))


def print_report(report: AgreementReport | RobustnessReport) -> None:
    """Print the tables of a report under their titles, with signatures in Markdown. CSV has tidy rows."""
    form = look().format
    if form == "csv":
        print_tidy(report.tidy_rows())
        return
    tables = report.tables(look().digits)
    if form == "markdown":
        from captious.agreement.result_tables import as_markdown

        sys.stdout.write("\n".join(map(printable, as_markdown(tables, report.signatures).split("\n"))))
        return
    for table in tables:
        print_table(table.title, table.header, table.rows, text=table.words)
        for line in table.notes:
            note(line)


def note_figures(files: Sequence[Path], folder: Path) -> None:
    """Print the number of figures. Each may be in several files of different formats."""
    note(f"{len({path.stem for path in files})} figures ({len(files)} files) in {folder}")


def write_csv(rows: Sequence[Sequence[Any]], target: str | Path) -> None:
    """Write rows as CSV, atomically; ``-`` is standard output."""
    with (
        atomic_write(target) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as handle,
    ):
        csv.writer(handle).writerows([_inert(cell) for cell in row] for row in rows)


def is_taken(*targets: str | Path | None) -> bool:
    """Return whether one of the outputs is standard output, so that nothing else may be printed there."""
    taken = [target for target in targets if is_standard(target)]
    if len(taken) > 1:
        raise InputError("standard output ('-') can take one output; give the others as files")
    return bool(taken)


def say(text: str, *targets: str | Path | None) -> None:
    """Print a message about files that were written: to standard error if one of them is standard output."""
    print(printable(text), file=sys.stderr if is_taken(*targets) else sys.stdout)
