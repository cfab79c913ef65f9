"""How commands show and write results."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from captious.cache import atomic_write
from captious.errors import InputError

#: How files of saved scores are called.
SUFFIX = ".scores"


def write_json(data: Any, target: str) -> None:
    """Write JSON to a file (atomically) or, for ``-``, to standard output."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    if target == "-":
        sys.stdout.write(text + "\n")
        return
    with atomic_write(target) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def write_csv(rows: Sequence[Sequence[Any]], target: str | Path) -> None:
    """Write rows as CSV, atomically."""
    import csv

    with atomic_write(target) as temporary, temporary.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows(rows)


def check_target(target: Path | None, systems: int) -> None:
    """Refuse, before any work, one file for the scores of several systems; and what was meant as an option."""
    if target is None:
        return
    if "=" in target.name and not target.name.endswith(SUFFIX):
        raise InputError(f"-o names the file or folder for the scores; an option of a metric is written --option {target}")
    if target.name.endswith(SUFFIX) and systems > 1:
        raise InputError(f"{target} is one file, and there are {systems} systems; give a folder, which gets NAME{SUFFIX} for each")


def save_scores(results: Sequence[Any], target: Path, *, texts: bool = True) -> list[Path]:
    """Save scores: one system to ``NAME.scores``, any number into a folder."""
    if target.name.endswith(SUFFIX):
        paths = [target]
    else:
        # A system may be called anything; a file may not.
        from captious.comparison import distinct

        names = distinct([re.sub(r"[^\w.+() -]", "_", found.system).strip(". ") or "system" for found in results])
        paths = [target / f"{name}{SUFFIX}" for name in names]
    for found, path in zip(results, paths):
        found.save(path, texts=texts)
    return paths


def number(value: float, form: str = ".4f") -> str:
    """A number for a table; a dash where there is none."""
    return "–" if value != value else format(value, form)


def _width(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Columns of the terminal that a table needs; a mark may follow any cell."""
    return 1 + sum(3 + max(len(str(row[k])) + (k > 0) for row in [header, *rows]) for k in range(len(header)))


def print_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    best: Sequence[Sequence[bool]] | None = None,
    text: Sequence[int] = (0,),
    turn: bool = False,
) -> None:
    """A table on standard output: drawn with lines and colour on a terminal, plain in a pipe.

    With ``turn`` a table too wide for the terminal is turned on its side. Columns are numbers, flush right, but for those listed in ``text``. Cells marked in ``best`` are bold on a terminal and carry a ``*`` everywhere.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        # A pipe has no width: let the table be as wide as it wants.
        console = Console(width=max(200, 30 * len(header)))
    elif turn and _width(header, rows) > console.width:
        columns = list(zip(*rows))
        marks = list(zip(*best)) if best is not None else None
        rows = [[name, *cells] for name, cells in zip(header[1:], columns[1:])]
        best = [[False, *row] for row in marks[1:]] if marks is not None else None
        header = [header[0], *columns[0]]
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for k, name in enumerate(header):
        table.add_column(name, justify="left" if k in text else "right", no_wrap=k == 0)
    for i, row in enumerate(rows):
        cells = []
        for j, cell in enumerate(row):
            marked = best is not None and best[i][j]
            cells.append(Text(cell + ("*" if marked else ""), style="bold green" if marked else ""))
        table.add_row(*cells)
    console.print(table)
