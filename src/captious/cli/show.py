"""``captious show``: saved scores as a table, without scoring again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Option, command
from captious.cli.formatting import IntervalTables, look
from captious.cli.output import is_taken, write_json
from captious.cli.score_tables import show as show_table
from captious.cli.score_tables import write_per_image

SavedScores = Annotated[
    list[Path], Argument(metavar="FILE.scores", help="Saved scores, one file per system.")
]


def show(
    files: SavedScores,
    metrics: Annotated[str | None, Option("--metrics", "-m", help="Only these, separated by commas.")] = None,
    ci: options.Confidence = False,
    signature: options.WithSignatures = False,
    json: options.JsonOut = None,
    per_image: Annotated[
        Path | None, Option("--per-image", metavar="OUT.csv", help="Write the score of every image.")
    ] = None,
) -> None:
    """Print scores that were saved by 'captious score -o' or 'captious diversity -o'."""
    from captious.results.comparison import only, saved_names
    from captious.results.scores import Scores

    quiet = is_taken(json, per_image)
    results = Scores.load_all(files)
    if metrics is not None:
        results = [only(found, saved_names(metrics, found)) for found in results]
    if per_image is not None:
        write_per_image(results, per_image)
    if json is not None:
        write_json(
            {"systems": [found.to_json(per_image=True, ci=ci and look().bootstrap) for found in results]},
            json,
        )
    if not quiet:
        show_table(results, ci=ci, signature=signature)


COMMAND = command("show", show, options.PrintedOutput, IntervalTables)
