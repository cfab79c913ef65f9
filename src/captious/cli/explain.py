"""``captious explain``: what a metric matched and missed in single captions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import Argument, Option, command
from captious.cli.formatting import ScoreTables
from captious.cli.output import is_taken, note, print_table, write_json
from captious.core.errors import printable

#: Headings of parts.
_HEADINGS = {"ngram": "n-gram", "name": "feature", "share": "moved by"}


def explain(
    references: options.References,
    predictions: Annotated[Path, Argument(metavar="PRED", help="Predictions of one system.")],
    metric: Annotated[
        str,
        Option(
            "--metrics",
            "-m",
            metavar="NAME",
            help="One of CIDEr-D, METEOR, SPICE, CHAIRi and the learned metrics.",
            values=options.metric_names,
            old=("--metric",),
        ),
    ] = "CaptiousScore",
    image: Annotated[
        list[str] | None,
        Option("--image", metavar="ID", help="Only this image; repeatable (default: the first)."),
    ] = None,
    number: Annotated[
        int,
        Option("--number", "-n", min=1, help="Number of parts to list, the first ones.", old=("--top",)),
    ] = 12,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    json: options.JsonOut = None,
    *,
    metric_options: dict[str, Any],
) -> None:
    """Explain scores of captions: n-grams, words, tuples or objects that match, or the shares of features."""
    from captious.results.caption_explanations import check_metric, explain_corpus
    from captious.results.references import load

    measure = check_metric(metric, metric_options)
    corpus = load(references, predictions, tokenizer=tokenizer, subset=subset, several=allow_several or None)
    explanations = explain_corpus(corpus, measure, image or corpus.ids[:1])
    if json is not None:
        content = [explanation.to_json() for explanation in explanations]
        write_json({"metric": measure.name, "captions": content}, json)
    if is_taken(json):
        return
    for explanation in explanations:
        parts = explanation.parts[:number]
        keys = list(parts[0]) if parts else []
        score = "–" if explanation.score != explanation.score else f"{explanation.score:.4f}"
        title = (
            f"{printable(explanation.image)}: {printable(explanation.caption)}  {explanation.metric} {score}"
        )
        if not parts:
            note(f"{title}\n{explanation.summary}")
            continue
        print_table(
            title,
            [_HEADINGS.get(key, key) for key in keys],
            [[_cell(key, value) for key, value in part.items()] for part in parts],
            text=[k for k, key in enumerate(keys) if isinstance(parts[0][key], str)],
        )
        more = f" (all {len(explanation.parts)} parts: --number {len(explanation.parts)})"
        note(explanation.summary + (more if len(explanation.parts) > number else ""))


def _cell(key: str, value: object) -> str:
    if not isinstance(value, float):
        return printable(str(value))
    if value != value:
        return "–"
    return f"{value:+.3f}" if key == "share" else f"{value:.4f}"


COMMAND = command(
    "explain",
    explain,
    options.Jobs,
    options.PrintedOutput,
    ScoreTables,
    options.Columns,
    options.MeasureOptions,
)
