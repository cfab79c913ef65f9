"""``captious merge``: scores of parts of the images, merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Option, command
from captious.cli.formatting import ScoreTables
from captious.cli.output import is_taken, write_json
from captious.cli.score_tables import show as show_table
from captious.cli.show import SavedScores


def merge(
    files: SavedScores,
    output: Annotated[
        Path, Option("--output", "-o", metavar="OUT.scores", help="Where to save the merged scores.")
    ],
    name: Annotated[
        str | None, Option("--name", help="Name of the system (default: that of the first part).")
    ] = None,
    json: options.JsonOut = None,
) -> None:
    """Merge the scores of parts of the images ('captious score --part -o').

    The result equals scoring all images at once.
    """
    from captious.results.scores import Scores

    quiet = is_taken(json, output)
    whole = Scores.merge(files, name=name)
    whole.save(output)
    images = len(dict.fromkeys(image for score in whole.values() for image in score.ids))
    if json is not None:
        write_json({"systems": [whole.to_json(per_image=True)]}, json)
    if not quiet:
        show_table([whole], title=f"{images:,} images from {len(files)} parts")


COMMAND = command("merge", merge, ScoreTables)
