"""Arguments and options that several commands share, and what they turn into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of a metric, such as combine=max; repeatable."),
]
