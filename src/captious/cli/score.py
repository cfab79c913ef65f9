"""``captious score``: a table with one row per system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import INPUT, Flag, command
from captious.cli.formatting import IntervalTables, look
from captious.cli.output import is_taken, write_json
from captious.cli.score_tables import print_length_control, show, write_per_image
from captious.cli.shards import Shards
from captious.core.errors import InputError


def score(
    references: options.References,
    predictions: options.SomePredictions = None,
    metrics: options.Metrics = "coco",
    ci: options.Confidence = False,
    signature: options.WithSignatures = False,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    part: options.Part = False,
    allow_several: options.AllowSeveral = False,
    name: options.Names = None,
    json: options.JsonOut = None,
    per_image: options.PerImage = None,
    output: options.SaveTo = None,
    no_texts: options.NoTexts = False,
    split: options.Split = None,
    length_control: options.LengthControl = False,
    no_references: Annotated[
        bool,
        Flag(
            "--no-references",
            help="All files are predictions, none are references.",
            heading=INPUT,
        ),
    ] = False,
    by_group: Annotated[
        str | None,
        Flag(
            "--group",
            metavar="COLUMN",
            help="Also score groups of images, by a column or length.",
            heading=INPUT,
        ),
    ] = None,
    group_file: Annotated[
        Path | None,
        Flag("--group-file", metavar="FILE", help="File with that column (default: REFS).", heading=INPUT),
    ] = None,
    *,
    metric_options: dict[str, Any],
) -> None:
    """Score captions against references: one row per system.

    Captions by the million: captious score big/*.parquet --references REFS
    """
    from captious.api import score_systems
    from captious.results.length_control import length_control as control
    from captious.results.saved_scores import check_target
    from captious.results.score_groups import group_scores, read_groups
    from captious.results.scores import Scores

    assert predictions is not None  # Shards.run handles the other case
    check_target(output, len(predictions))
    quiet = is_taken(json, per_image, output)
    if group_file is not None and by_group is None:
        raise InputError("--group-file needs the name of the column: give it with --group COLUMN")
    # None without references (Shards.run).
    given: Path | None = references
    source = group_file or given or predictions[0]
    groups = read_groups(source, by_group) if by_group is not None else {}
    results = score_systems(
        references,
        predictions,
        metrics,
        tokenizer=tokenizer,
        subset=subset,
        part=part,
        several=allow_several or None,
        names=name,
        split=split,
        **metric_options,
    )
    grouped = [group_scores(scores, groups, by_group) for scores in results] if by_group is not None else []
    rows = control(results, bootstrap=look().bootstrap) if length_control else []
    if output is not None:
        Scores.save_all(results, output, texts=not no_texts)
    if per_image is not None:
        write_per_image(results, per_image)
    if json is not None:
        style: dict[str, Any] = {"ci": ci and look().bootstrap, "numbers": look().numbers}
        systems = [scores.to_json(**style) for scores in results]
        for system, one in zip(systems, grouped):
            system["groups"] = one.to_json(**style)
        controlled = {"length_control": [row.to_json() for row in rows]} if rows else {}
        shown = None if given is None else str(given)
        write_json({"references": shown, "systems": systems, **controlled}, json)
    if not quiet:
        show(results, ci=ci, signature=signature, grouped=grouped)
        if rows:
            print_length_control(rows)


COMMAND = command(
    "score", score, options.Jobs, options.ColumnOptions, options.MeasureOptions, IntervalTables, Shards
)
