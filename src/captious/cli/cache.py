"""``captious cache``: cached files."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated

from captious.cli.command import Argument, Option, command
from captious.cli.formatting import Tables
from captious.cli.options import JsonOut, PrintedOutput
from captious.cli.output import note, print_table, write_json
from captious.core.errors import InputError

if TYPE_CHECKING:
    from captious.core import cache_files

Clear = Annotated[bool, Option("--clear", help="Remove the files: all, or those of one kind.")]
OneKind = Annotated[str | None, Argument(metavar="KIND", help="One kind of file, as the table names it.")]


def cache(kind: OneKind = None, clear: Clear = False, json: JsonOut = None) -> None:
    """List or clear the files that captious keeps for later runs. All of them can be made again."""
    from captious.core import cache_files, limits
    from captious.core.cache import cache_directory

    kinds = [one for one in cache_files.KINDS if kind in (None, one.name)]
    if not kinds:
        raise InputError(
            f"there is no kind {kind!r} of cached files; there are "
            f"{', '.join(one.name for one in cache_files.KINDS)}"
        )
    folder = cache_directory()
    if folder is None:
        raise InputError(
            "there is no home folder, so nothing is kept; set CAPTIOUS_CACHE to a folder that can be written"
        )
    found = (
        cache_files.clear(folder, kinds)
        if clear
        else [entry for entry in cache_files.entries(folder) if entry.kind in kinds]
    )
    rows = [(one, [entry for entry in found if entry.kind == one]) for one in kinds]
    limit, total = limits.CACHE.value(), sum(entry.size for entry in found)
    if json is not None:
        listed = [
            {
                "kind": one.name,
                "purpose": one.purpose,
                "files": len(of),
                "bytes": sum(entry.size for entry in of),
                "last_used": _last_used(of),
            }
            for one, of in rows
        ]
        write_json(
            {"path": str(folder), "limit": limit, "bytes": total, "cleared": clear, "kinds": listed}, json
        )
    if json == "-":
        return
    table = [
        [one.name, str(len(of)), _size(sum(entry.size for entry in of)), _last_used(of) or "", one.purpose]
        for one, of in rows
    ]
    print_table("", ["kind", "files", "size", "last used", "what it is for"], table, text=(0, 3, 4))
    note(
        f"{folder}: {'removed ' if clear else ''}{_size(total)}; limit {_size(limit)} (CAPTIOUS_CACHE_LIMIT)"
    )


def _last_used(entries: list[cache_files.Entry]) -> str | None:
    return (
        datetime.datetime.fromtimestamp(max(entry.used for entry in entries)).date().isoformat()
        if entries
        else None
    )


def _size(count: int) -> str:
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


COMMAND = command("cache", cache, PrintedOutput, Tables)
