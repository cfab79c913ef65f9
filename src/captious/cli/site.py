"""``captious site``: a static site of many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import counted
from captious.cli.output import say
from captious.core.errors import InputError


def site(
    runs: Annotated[list[Path], Argument(metavar="RUN.scores", help="Saved scores, one file per run.")],
    output: Annotated[
        Path, Flag("--output", "-o", metavar="DIR", help="Folder of the site.", writes="folder")
    ],
    title: Annotated[str, Flag("--title", help="Title of the site.")] = "Caption scores",
    name: options.Names = None,
    data_name: Annotated[
        list[str] | None,
        Flag(
            "--data-name",
            metavar="REFS=NAME",
            help="Name of a data set, by the field 'refs' of signatures: 60x5@4c02afc5=demo; repeatable.",
        ),
    ] = None,
    address: Annotated[
        str | None, Flag("--address", metavar="URL", help="Where the site will be, for links of the feed.")
    ] = None,
    reports: Annotated[bool, Flag("--reports/--no-reports", help="A report for each run.")] = True,
) -> None:
    """Make a static site of runs: tables of comparable scores, runs over time, a page for each run.

    Scores share a column only if their signatures agree. The site works from a folder and on any static host.
    """
    from captious.reporting.site import site as make

    names = {}
    for pair in data_name or []:
        key, equals, called = pair.partition("=")
        if not equals or not called:
            raise InputError(f"--data-name is written REFS=NAME, not '{pair}'")
        names[key] = called
    made = make(runs, output, title=title, names=name, data_names=names, address=address, reports=reports)
    runs_and_sets = f"{counted(len(made.runs), 'run')}, {counted(len(made.boards), 'data set')}"
    say(f"{made.folder / 'index.html'}: {runs_and_sets}")


COMMAND = command("site", site)
