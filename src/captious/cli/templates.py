"""``captious templates``: template captions from objects, and their metric scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import Tables
from captious.cli.output import is_taken, note, print_table, say, write_json, write_json_lines
from captious.core.errors import InputError


def templates(
    source: Annotated[
        Path,
        Argument(
            metavar="OBJECTS",
            help="Objects of images, with scores if there are any (JSONL: image_id, objects, scores).",
        ),
    ],
    output: Annotated[
        Path | None,
        options.to_file("OUT", "The captions, as COCO results (JSON); '-' for stdout."),
    ] = None,
    vocabulary: Annotated[
        str,
        Flag(
            "--vocabulary",
            "-k",
            metavar="K,…",
            help="Name only the K most frequent classes; several values for --curves.",
        ),
    ] = "80",
    threshold: Annotated[
        str,
        Flag("--threshold", metavar="T,…", help="Minimum score of an object; several values for --curves."),
    ] = "0",
    most: Annotated[
        str | None,
        Flag("--most", metavar="N,…", help="Maximum of objects in a caption; several values for --curves."),
    ] = None,
    curves: Annotated[
        Path | None,
        Flag(
            "--curves", metavar="REFS", help="Score the captions of every setting against these references."
        ),
    ] = None,
    systems: Annotated[
        list[Path] | None,
        Flag("--systems", metavar="PRED", help="Captions of a system to show beside them; repeatable."),
    ] = None,
    metrics: options.Metrics = "SPICE,SPICE-U",
    plots: Annotated[
        Path | None,
        Flag("--plots", metavar="DIR", help="Folder for a figure of the curves.", writes="folder"),
    ] = None,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Write captions such as "there is a tennis ball, court and person" from objects (Wang et al. 2020,
    §3.2).
    """
    from captious.rerank.templates import read_detected, template_captions, template_curves

    sizes = [_whole(part, "--vocabulary") for part in vocabulary.split(",")]
    limits = [None] if most is None else [_whole(part, "--most") for part in most.split(",")]
    thresholds = [_number(part) for part in threshold.split(",")]
    if output is None and curves is None:
        raise InputError(
            "no output is named; write captions with -o results.json, or score them with --curves REFS"
        )
    if output is not None and (len(sizes), len(limits), len(thresholds)) != (1, 1, 1):
        raise InputError("-o writes the captions of one setting; score several settings with --curves")
    quiet = is_taken(output, json)
    detected = read_detected(source)
    if output is not None:
        rows = template_captions(detected, sizes[0], threshold=thresholds[0], most=limits[0])
        write_json_lines([rows], output)
        say(f"{output}: {len(rows):,} captions", output, json)
    if curves is None:
        return
    result = template_curves(
        detected,
        curves,
        systems or (),
        sizes=sizes,
        thresholds=thresholds,
        most=limits,
        metrics=metrics,
        tokenizer=tokenizer,
        **metric_options,
    )
    points, beside = result.points, result.systems
    if json is not None:
        write_json(result.to_json(), json)
    if plots is not None:
        from captious.figures import rerank_plots

        rerank_plots.write_curves(points, beside or None, plots)
    if quiet:
        return
    names = list(points[0].values)
    table = [
        [
            name or str(p.vocabulary),
            "–" if name else f"{p.threshold:g}",
            "–" if name else "all" if p.most is None else str(p.most),
            f"{p.length:.1f}",
            *(f"{p.values[n]:.4f} [{p.intervals[n][0]:.4f}, {p.intervals[n][1]:.4f}]" for n in names),
        ]
        for name, p in [*(("", point) for point in points), *beside.items()]
    ]
    print_table("Template captions", ["classes", "threshold", "objects", "words", *names], table)
    if plots is not None:
        note(f"{plots}/rerank_templates.png")


def _whole(text: str, flag: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{flag} takes integers separated by commas, not '{text}'") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--threshold takes numbers separated by commas, not '{text}'") from None


COMMAND = command("templates", templates, options.ColumnOptions, Tables)
