"""``captious show`` and ``captious merge``: saved scores, printed and merged without scoring again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import IntervalTables, ScoreTables
from captious.cli.output import is_taken, write_json
from captious.cli.score_tables import show as show_table
from captious.cli.score_tables import systems_json, write_per_image

SavedScores = Annotated[
    list[Path], Argument(metavar="FILE.scores", help="Saved scores, one file per system.")
]


def show(
    files: SavedScores,
    metrics: Annotated[
        str | None,
        options.metrics_flag("Only these, separated by commas."),
    ] = None,
    ci: options.Confidence = False,
    signature: options.WithSignatures = False,
    json: options.JsonOut = None,
    per_image: options.PerImage = None,
) -> None:
    """Print scores that were saved by 'captious score -o' or 'captious diversity -o'."""
    from captious.results.comparison import only, saved_names
    from captious.results.scores import Scores

    quiet = is_taken(json, per_image)
    results = Scores.load_all(files)
    if metrics is not None:
        results = [only(scores, saved_names(metrics, scores)) for scores in results]
    if per_image is not None:
        write_per_image(results, per_image)
    if json is not None:
        write_json({"systems": systems_json(results, ci=ci)}, json)
    if not quiet:
        show_table(results, ci=ci, signature=signature)


def merge(
    files: SavedScores,
    output: Annotated[
        Path,
        options.to_file("OUT.scores", "Where to save the merged scores."),
    ],
    name: Annotated[
        str | None, Flag("--name", help="Name of the system (default: that of the first part).")
    ] = None,
    part: Annotated[
        bool, Flag("--part", help="Accept parts that together lack images of the references.")
    ] = False,
    json: options.JsonOut = None,
) -> None:
    """Merge the scores of parts of the images ('captious score --part -o').

    The result equals scoring all images at once.
    """
    from captious.results.scores import Scores

    quiet = is_taken(json, output)
    whole = Scores.merge(files, name=name, part=part)
    whole.save(output)
    images = len(dict.fromkeys(image for score in whole.values() for image in score.ids))
    if json is not None:
        write_json({"systems": systems_json([whole])}, json)
    if not quiet:
        show_table([whole], title=f"{images:,} images from {len(files)} parts")


SHOW = command("show", show, options.PrintedOutput, IntervalTables)
MERGE = command("merge", merge, ScoreTables)
