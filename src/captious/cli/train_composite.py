"""``captious train lceval|nneval|FEATURES…``: a metric learned from human captions and worse ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.output import note, print_table, write_json
from captious.core.errors import InputError


def composite(
    features: Annotated[
        list[str],
        Argument(metavar="FEATURES…", help="Metrics, or lexical, semantic, syntactic, lceval, nneval."),
    ],
    references: Annotated[
        Path, Flag("--references", metavar="REFS", help="Human captions, five or more for each image.")
    ],
    output: Annotated[
        Path,
        options.to_file("OUT.safetensors", "Where to write the weights."),
    ],
    machine: Annotated[
        list[Path] | None,
        Flag("--machine", metavar="PRED", help="Captions by a system for these images; repeatable."),
    ] = None,
    training_set: Annotated[
        str,
        Flag(
            "--set",
            help="Contrast human captions with: systems, mixed, others (captions of other images), "
            "neighbours.",
        ),
    ] = "others",
    validate: Annotated[
        str,
        Flag(
            "--validate",
            metavar="SETS",
            help="Sets of judgements that choose the epoch, or 'none' for the last epoch.",
        ),
    ] = "thumb,capeval1k",
    data: Annotated[
        Path | None,
        Flag(
            "--data",
            metavar="DIR",
            help="Folder of those sets (default: CAPTIOUS_DATA, or the current folder).",
        ),
    ] = None,
    images: Annotated[
        int | None, Flag("--images", min=2, help="Images to draw examples from (default: all).")
    ] = None,
    epochs: Annotated[int, Flag("--epochs", min=1, help="Maximum of epochs.")] = 800,
    hidden: Annotated[
        str | None, Flag("--hidden", metavar="N,…", help="Sizes of the hidden layers; 0 for none.")
    ] = None,
    seed: Annotated[int, Flag("--seed", min=0, help="Seed of examples and weights.")] = 1,
    json: options.JsonOut = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Train a metric on features of your choice. 'captious train FEATURES…' does the same."""
    from captious.training import train_composite

    sets = [part.strip() for part in validate.split(",")]
    result = train_composite(
        features,
        references,
        output,
        machine=machine or (),
        training_set=training_set,
        validate=[name for name in sets if name and name.casefold() != "none"],
        data=data,
        images=images,
        epochs=epochs,
        hidden=_sizes(hidden) if hidden is not None else None,
        seed=seed,
        **metric_options,
    )
    if json is not None:
        write_json(result.to_json(), json)
    if json != "-":
        print_table(
            f"{result.name}: {len(result.features)} features, {result.examples:,} examples, "
            f"epoch {result.epoch}, {100 * result.accuracy:.1f} % classified correctly",
            ["validated by", "tau-b × 100"],
            [[name, f"{100 * tau:.1f}"] for name, tau in result.tau_b.items()],
        )
        note(f"wrote {output}: score with it by -m Learned --weights {output}")


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f"hidden layers are sizes separated by commas (12, or 72,72), not '{text}'"
        ) from None


COMMANDS = [
    command(
        "lceval",
        partial(composite, ["lceval"]),
        options.ColumnOptions,
        help="Train LCEval: its published features and hidden layers (12).",
    ),
    command(
        "nneval",
        partial(composite, ["nneval"]),
        options.ColumnOptions,
        help="Train NNEval: its published features and hidden layers (72 and 72).",
    ),
    command("composite", composite, options.ColumnOptions),
]
