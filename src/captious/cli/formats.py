"""``captious formats``: what a caption file is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli.command import Argument, command
from captious.cli.formatting import Tables
from captious.cli.options import ColumnOptions, JsonOut, PrintedOutput
from captious.cli.output import is_taken, note, print_table, write_json
from captious.core.errors import InputError, printable


def formats(
    files: Annotated[list[Path], Argument(metavar="FILE", help="Files with captions.")],
    json: JsonOut = None,
) -> None:
    """Say what caption files are: their format, the fields that are read, and what is left out."""
    from captious.core.writing import is_standard
    from captious.io.describe import describe

    if any(map(is_standard, files)):
        raise InputError("'captious formats' reads files twice, so it takes no standard input; give a file")
    described = [describe(file) for file in files]
    if json is not None:
        write_json([one.to_json() for one in described], json)
    if is_taken(json):
        return
    for one in described:
        rows = [
            [
                side.role,
                f"{side.images:,}",
                f"{side.captions:,}",
                str(side.most) if side.most == side.fewest else f"{side.fewest} to {side.most}",
                printable(side.id_field or "key"),
                printable(side.caption_field or "value"),
                printable(f"{side.example[0]}: {side.example[1][:60]}"),
            ]
            for side in one.sides
        ]
        headings = ["as", "images", "captions", "per image", "ids", "captions from", "first"]
        print_table(f"{printable(one.path)}: {one.format}", headings, rows, text=(0, 4, 5, 6))
        if one.left_out:
            note("left out: " + printable(", ".join(one.left_out)))
        for message in one.warnings:
            note(printable(message))
        if one.has_both_sides:
            note(f"both sides are in the file: captious score {printable(one.path)}")
        elif len(one.sides) == 1 and one.refused:
            note(f"not as {next(iter(one.refused))}: {printable(next(iter(one.refused.values())))}")


COMMAND = command("formats", formats, PrintedOutput, ColumnOptions, Tables)
