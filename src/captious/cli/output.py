"""How commands show and write results."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.cli.look import look, number
from captious.cli.tables import note, print_table
from captious.errors import InputError, printable
from captious.writing import atomic_write, is_standard

if TYPE_CHECKING:
    from captious.human.tables import TextTable

__all__ = ["SUFFIX", "check_target", "note", "number", "print_table", "print_text_tables", "save_scores", "write_csv", "write_json"]

#: How files of saved scores are called.
SUFFIX = ".scores"


def write_json(data: Any, target: str) -> None:
    """Write JSON to a file (atomically) or, for ``-``, to standard output."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    with atomic_write(target) as temporary:
        temporary.write_bytes((text + "\n").encode("utf-8", "backslashreplace"))


def write_text(text: str, target: str) -> None:
    """Write text to a file (atomically) or, for ``-``, to standard output."""
    with atomic_write(target) as temporary:
        temporary.write_bytes(text.encode("utf-8", "backslashreplace"))


def print_text_tables(tables: Sequence[TextTable], signatures: Sequence[str]) -> None:
    """Tables with titles of their own, in the format asked for; Markdown has the signatures below."""
    form = look().format
    if form == "markdown":
        from captious.human.tables import as_markdown

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


def write_csv(rows: Sequence[Sequence[Any]], target: str | Path) -> None:
    """Write rows as CSV, atomically; ``-`` is standard output."""
    import csv

    with (
        atomic_write(target) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace", newline="") as handle,
    ):
        csv.writer(handle).writerows([_inert(cell) for cell in row] for row in rows)


def _inert(cell: Any) -> Any:
    """A cell that a spreadsheet shows and does not run: text that would be a formula gets an apostrophe in front."""
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def is_taken(*targets: str | Path | None) -> bool:
    """Whether one of the outputs goes to standard output, so that nothing else may be printed there."""
    taken = [target for target in targets if is_standard(target)]
    if len(taken) > 1:
        raise InputError("standard output ('-') can take one output; give the others as files")
    return bool(taken)


def say(text: str, *targets: str | Path | None) -> None:
    """Say something about what was written: on standard output, or beside it if the output itself went there."""
    print(printable(text), file=sys.stderr if is_taken(*targets) else sys.stdout)


def check_target(target: Path | None, systems: int) -> None:
    """Refuse, before any work, one file for the scores of several systems; and what was meant as an option."""
    if target is None:
        return
    if is_standard(target) and systems > 1:
        raise InputError(f"standard output ('-') takes the scores of one system, and there are {systems}; give a folder")
    if "=" in target.name and not target.name.endswith(SUFFIX):
        raise InputError(f"-o names the file or folder for the scores; an option of a metric is written --option {target}")
    if target.name.endswith(SUFFIX) and systems > 1:
        raise InputError(f"{target} is one file, and there are {systems} systems; give a folder, which gets NAME{SUFFIX} for each")


def save_scores(results: Sequence[Any], target: Path, *, texts: bool = True) -> list[Path]:
    """Save scores: one system to ``NAME.scores``, any number into a folder."""
    if target.name.endswith(SUFFIX) or is_standard(target):
        paths = [target]
    else:
        # A system may be called anything; a file may not.
        from captious.names import distinct

        names = distinct([re.sub(r"[^\w.+() -]", "_", found.system).strip(". ") or "system" for found in results])
        paths = [target / f"{name}{SUFFIX}" for name in names]
    for found, path in zip(results, paths):
        found.save(path, texts=texts)
    return paths
