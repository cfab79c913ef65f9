"""How commands show and write results."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from captious.cache import atomic_write


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


def print_table(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    best: Sequence[Sequence[bool]] | None = None,
    text: Sequence[int] = (0,),
) -> None:
    """A table on standard output: drawn with lines and colour on a terminal, plain in a pipe.

    Columns are numbers, flush right, but for those listed in ``text``. Cells marked in ``best`` are bold on a terminal and carry a ``*`` everywhere.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        # A pipe has no width: let the table be as wide as it wants.
        console = Console(width=max(200, 16 * len(header)))
    table = Table(title=title or None, title_justify="left", header_style="bold")
    for k, name in enumerate(header):
        table.add_column(name, justify="left" if k in text else "right", no_wrap=k not in text[1:])
    for i, row in enumerate(rows):
        cells = []
        for j, cell in enumerate(row):
            marked = best is not None and best[i][j]
            cells.append(Text(cell + ("*" if marked else ""), style="bold green" if marked else ""))
        table.add_row(*cells)
    console.print(table)
