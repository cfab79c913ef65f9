"""Results on standard output and in files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.cli.formatting import look, number
from captious.cli.output_tables import note, print_table
from captious.core.errors import InputError, printable
from captious.core.writing import atomic_write, is_standard

if TYPE_CHECKING:
    from captious.agreement.result_tables import TextTable

__all__ = [
    "note",
    "number",
    "print_table",
    "print_text_tables",
    "write_csv",
    "write_json",
]


def write_json(data: Any, target: str) -> None:
    """Write JSON to a file (atomically) or, for ``-``, to standard output."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    with atomic_write(target) as temporary:
        temporary.write_bytes((text + "\n").encode("utf-8", "backslashreplace"))


def write_json_lines(rows: Iterable[Any], target: str | Path) -> None:
    """Write one JSON value per line to a file (atomically) or, for ``-``, to standard output."""
    write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), target)


def write_text(text: str, target: str | Path) -> None:
    """Write text to a file (atomically) or, for ``-``, to standard output."""
    with atomic_write(target) as temporary:
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))


def print_text_tables(tables: Sequence[TextTable], signatures: Sequence[str]) -> None:
    """Print tables under their titles, in the chosen format; Markdown has the signatures below."""
    form = look().format
    if form == "markdown":
        from captious.agreement.result_tables import as_markdown

        sys.stdout.write("\n".join(map(printable, as_markdown(tables, signatures).split("\n"))))
        return
    for place, table in enumerate(tables):
        if form == "csv":
            # Tables follow one another: each under its title, with an empty line between.
            print("" if place == 0 else "\n", end="")
            print_table("", [table.title], [], text=(0,))
        elif form == "rich":
            # Above and not in the table: there, a title is as narrow as the table.
            print(printable(table.title))
        print_table(table.title if form == "latex" else "", table.header, table.rows, text=table.words)
        for line in table.notes:
            note(line)


def note_figures(files: Sequence[Path], folder: Path) -> None:
    """Print how many figures were written: several files may hold one figure in different formats."""
    note(f"{len({path.stem for path in files})} figures ({len(files)} files) in {folder}")


def write_csv(rows: Sequence[Sequence[Any]], target: str | Path) -> None:
    """Write rows as CSV, atomically; ``-`` is standard output."""
    import csv

    with (
        atomic_write(target) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as handle,
    ):
        csv.writer(handle).writerows([_inert(cell) for cell in row] for row in rows)


def _inert(cell: Any) -> Any:
    """A cell that a spreadsheet shows and does not run: text that would be a formula gets an apostrophe in
    front.
    """
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def is_taken(*targets: str | Path | None) -> bool:
    """Return whether one of the outputs is standard output, so that nothing else may be printed there."""
    taken = [target for target in targets if is_standard(target)]
    if len(taken) > 1:
        raise InputError("standard output ('-') can take one output; give the others as files")
    return bool(taken)


def say(text: str, *targets: str | Path | None) -> None:
    """Print a message about files that were written: to standard error if one of them is standard output."""
    print(printable(text), file=sys.stderr if is_taken(*targets) else sys.stdout)
