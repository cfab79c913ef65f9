"""``captious changes``: how metrics react to single changes of a caption."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import Tables, look
from captious.cli.formatting import score as shown
from captious.cli.output import is_taken, note, print_table, write_json

#: The default of :func:`captious.robustness.caption_changes`, which is not imported to list options.
METRICS = "BLEU-1,BLEU-2,BLEU-3,BLEU-4,METEOR,ROUGE-L,CIDEr-D,SPICE"


def changes(
    source: Annotated[
        Path,
        Argument(
            metavar="CHANGES",
            help="JSON: reference (a caption), same and different (name of a change → changed caption).",
        ),
    ],
    metrics: options.Metrics = METRICS,
    swap: Annotated[bool, Flag("--swap", help="Score the caption against its changed form.")] = False,
    preset: Annotated[
        str | None,
        Flag(
            "--preset",
            values=("as-published",),
            help="as-published: candidate and reference swapped, as in Wang & Chan (2019).",
        ),
    ] = None,
    json: options.JsonOut = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Show how metrics react to single changes of a caption (Wang & Chan 2019, Table 1)."""
    from captious.robustness import caption_changes

    result = caption_changes(source, metrics, swap=swap, preset=preset, **metric_options)
    if json is not None:
        write_json(result.to_json(look().numbers), json)
    if is_taken(json):
        return
    same = list(result.rows)[: 1 + len(result.same)]
    table = [(name, result.rows[name]) for name in same]
    table.append(("average of the changes above", result.average))
    table += [(name, row) for name, row in result.rows.items() if name not in same]
    heads = [f"{name}/10" if name.startswith("CIDEr") else name for name in result.metrics]
    print_table(
        "caption against its changed forms" if result.swapped else "changed forms against the caption",
        ["change", *heads],
        [[name, *(shown(row[metric], ".3f") for metric in result.metrics)] for name, row in table],
    )
    note("\n".join(result.signatures.values()))


COMMAND = command("changes", changes, options.PrintedOutput, Tables)
