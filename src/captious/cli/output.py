"""How commands show and write results."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from captious.cache import atomic_write
from captious.cli.look import number
from captious.cli.tables import note, print_table
from captious.errors import InputError

__all__ = ["SUFFIX", "check_target", "note", "number", "print_table", "save_scores", "write_csv", "write_json"]

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
        from captious.names import distinct

        names = distinct([re.sub(r"[^\w.+() -]", "_", found.system).strip(". ") or "system" for found in results])
        paths = [target / f"{name}{SUFFIX}" for name in names]
    for found, path in zip(results, paths):
        found.save(path, texts=texts)
    return paths
