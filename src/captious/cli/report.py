"""``captious report``: everything about one or more systems in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.output import say
from captious.errors import InputError


def register(app: typer.Typer) -> None:
    app.command("report")(options.takes_jobs(options.takes_columns(options.takes_measure_options(report))))


def report(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="REFS SYSTEM…", help="Reference captions and predictions, one file per system; or saved scores alone."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT.html", help="The page.")] = Path("report.html"),
    samples: Annotated[
        list[Path] | None,
        typer.Option("--samples", metavar="FILE", help="Several captions per image of one system, for diversity; repeatable."),
    ] = None,
    images: Annotated[
        str | None, typer.Option("--images", metavar="DIR|URL", help="Pictures: a folder, or a pattern such as https://…/{id}.jpg ({id:012} fills with zeros).")
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", "-m", help="Names separated by commas (default: coco, CHAIR with --objects; all that saved scores have)."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What the page is called.")] = None,
    name: options.Names = None,
    open_it: Annotated[bool, typer.Option("--open", help="Show the page in the browser.")] = False,
    corpus: Annotated[bool, typer.Option("--corpus/--no-corpus", help="The language of whole corpora, for which all captions are parsed.")] = True,
    alpha: Annotated[float, typer.Option(help="Level of the paired tests, corrected for all comparisons.")] = 0.05,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    *,
    given: dict[str, Any],
) -> None:
    """Make one HTML file about systems: leaderboard, all images, why each score, comparisons, diversity.

    The file has everything inside and needs no network. With references first, systems are captions or saved scores;
    saved scores alone make a page without references and explanations.
    """
    from captious.cli.compare import is_scores
    from captious.page import report as make
    from captious.page.making import TITLE

    references, systems = (None, inputs) if is_scores(inputs[0]) else (inputs[0], inputs[1:])
    if not systems:
        raise InputError("a report needs a system: 'captious report REFS SYSTEM…' with captions, or 'captious report NAME.scores…' with saved scores")
    if output.suffix.lower() not in (".html", ".htm") and str(output) != "-":
        raise InputError(f"a report is a page: give -o a name that ends with .html, not '{output}'")
    if references is None and not all(map(is_scores, systems)):
        wrong = next(path for path in systems if not is_scores(path))
        raise InputError(f"{wrong} has captions, which need references: 'captious report REFS {inputs[0]} {wrong}'")
    made = make(
        *systems, references=references, samples=samples or (), images=images, metrics=metrics, names=name or None,
        title=title if title is not None else TITLE, corpus=corpus, alpha=alpha, tokenizer=tokenizer, subset=subset, several=allow_several or None, **given,
    )  # fmt: skip
    saved = made.open(output) if open_it else made.save(output)
    systems_made, images_made = len(made.meta["systems"]), made.meta["images"]
    say(f"{saved}: {systems_made} system{'s' if systems_made != 1 else ''}, {images_made:,} image{'s' if images_made != 1 else ''}", output)
