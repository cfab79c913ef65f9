"""``captious merge``: the scores of parts of the images, put together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from captious.cli.score import show as show_table
from captious.cli.show import SavedScores


def register(app: typer.Typer) -> None:
    app.command("merge")(merge)


def merge(
    files: SavedScores,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT.scores", help="Where to save the whole.")],
    name: Annotated[str | None, typer.Option("--name", help="Name of the system (default: that of the first part).")] = None,
) -> None:
    """Merge scores of parts of the images ('captious score --part -o'); they equal those of scoring all at once."""
    from captious.scores import Scores

    whole = Scores.merge(files, name=name)
    whole.save(output)
    images = len(dict.fromkeys(image for score in whole.values() for image in score.ids))
    show_table([whole], title=f"{images:,} images from {len(files)} parts")
