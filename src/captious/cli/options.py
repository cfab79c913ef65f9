"""Arguments and options that several commands share, and what they turn into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.errors import InputError

References = Annotated[Path, typer.Argument(metavar="REFS", help="Reference captions (COCO JSON, JSONL, CSV, TSV, …).")]
Predictions = Annotated[list[Path], typer.Argument(metavar="PRED…", help="Predictions, one file per system.")]
Metrics = Annotated[
    str, typer.Option("--metrics", "-m", help="coco, all, or names separated by commas ('captious metrics' lists them).")
]
Tokenizer = Annotated[str, typer.Option("--tokenizer", help="ptb (as the COCO tools), simple, none, …")]
Df = Annotated[
    Path | None, typer.Option("--df", help="Document frequencies for CIDEr (default: the references of the run).")
]
Subset = Annotated[bool, typer.Option("--subset", help="Score the images that both sides have.")]
AllowSeveral = Annotated[
    bool, typer.Option("--allow-several", help="An image may have several predictions; each is scored.")
]
JsonOut = Annotated[str | None, typer.Option("--json", metavar="OUT", help="Write JSON to a file, or '-' for stdout.")]
MeteorData = Annotated[
    Path | None, typer.Option("--meteor-data", help="Folder with METEOR's data (default: the installed pycocoevalcap).")
]
Vectors = Annotated[
    str | None, typer.Option("--vectors", help="Word vectors: a file, glove-6b-50d, or default.")
]
Combine = Annotated[str | None, typer.Option("--combine", help="WEmbSim over references: mean, max or min.")]
Concepts = Annotated[
    Path | None, typer.Option("--concepts", help="Concept frequencies for SPICE-U (default: the references of the run).")
]
Objects = Annotated[Path | None, typer.Option("--objects", help="Objects per image for CHAIR.")]
ChairSynonyms = Annotated[Path | None, typer.Option("--chair-synonyms", help="Synonym table for CHAIR (default: our own).")]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of a metric, such as combine=max; repeatable."),
]


def metric_options(given: list[str] | None, **named: Any) -> dict[str, Any]:
    """The options of metrics, from NAME=VALUE pairs (numbers become numbers) and from options with a name of their own."""
    parsed: dict[str, Any] = {}
    for item in given or []:
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"an option is written NAME=VALUE, not '{item}'")
        parsed[name.strip().replace("-", "_")] = _value(value)
    return parsed | {name: value for name, value in named.items() if value is not None}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
