"""``captious explain``: what a metric matched and missed in single captions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import ScoreTables
from captious.cli.output import is_taken, note, print_marked, print_table, write_json
from captious.core.errors import InputError, printable

#: Colours of sentences at a terminal. Their marks say the same.
_STYLES = {"supported": "green", "unsupported": "red", "ambiguous": "yellow", "neutral": ""}


def explain(
    references: options.References,
    predictions: Annotated[
        Path | None,
        Argument(metavar="PRED", help="Predictions of one system. Alone, if the metric needs no references."),
    ] = None,
    metric: Annotated[
        str,
        options.metrics_flag(
            "One of CIDEr-D, METEOR, SPICE, CHAIRi, ALOHa, CAPTURE, FactRecall, the learned metrics.",
            "--metric",
            metavar="NAME",
        ),
    ] = "CaptiousScore",
    image: Annotated[
        list[str] | None,
        Flag("--image", metavar="ID", help="Only this image; repeatable (default: the first)."),
    ] = None,
    number: Annotated[
        int,
        Flag("--number", "-n", min=1, help="Number of parts to list, the first ones.", old=("--top",)),
    ] = 12,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    json: options.JsonOut = None,
    html: Annotated[
        str | None,
        options.writes_to("--html", metavar="OUT", help="Write a page with coloured sentences."),
    ] = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Explain scores: n-grams, words, tuples, objects or facts that match, or the shares of features."""
    from captious.results.caption_explanations import check_metric, explain_corpus
    from captious.results.explanation_html import HEADINGS, SENTENCE_MARKS, cell, save_html
    from captious.results.references import load

    measure = check_metric(metric, metric_options)
    if predictions is None and "references" in measure.needs:
        raise InputError(f"predictions are missing: captious explain REFS PRED -m {measure.name}")
    # Without predictions, the only file holds them.
    sides = (None, references) if predictions is None else (references, predictions)
    corpus = load(*sides, tokenizer=tokenizer, subset=subset, several=allow_several or None)
    explanations = explain_corpus(corpus, measure, image or corpus.ids[:1])
    if json is not None:
        content = [explanation.to_json() for explanation in explanations]
        write_json({"metric": measure.name, "captions": content}, json)
    if html is not None:
        save_html(explanations, html, f"{measure.name} of {corpus.name}")
    if is_taken(json) or is_taken(html):
        return
    for explanation in explanations:
        parts = explanation.parts[:number]
        keys = list(parts[0]) if parts else []
        score = "–" if explanation.score != explanation.score else f"{explanation.score:.4f}"
        # Judged sentences are printed one by one, and then not in the title.
        sentences = explanation.sentences if len(explanation.sentences) > 1 else []
        text = "" if sentences else f": {printable(explanation.caption)}"
        title = f"{printable(explanation.image)}{text}  {explanation.metric} {score}"
        if sentences:
            statuses = [status for _, status in sentences]
            print_marked(
                title,
                [
                    (_STYLES[status], f"{SENTENCE_MARKS[status]} {place}. {sentence}")
                    for place, (sentence, status) in enumerate(sentences, 1)
                ],
                "  ".join(
                    f"{mark} {status}" for status, mark in SENTENCE_MARKS.items() if status in statuses
                ),
            )
            title = ""
        if not parts:
            note(f"{title}\n{explanation.summary}" if title else explanation.summary)
            continue
        print_table(
            title,
            [HEADINGS.get(key, key) for key in keys],
            [[printable(cell(key, value)) for key, value in part.items()] for part in parts],
            text=[k for k, key in enumerate(keys) if isinstance(parts[0][key], str)],
        )
        more = f" (all {len(explanation.parts)} parts: --number {len(explanation.parts)})"
        note(explanation.summary + (more if len(explanation.parts) > number else ""))


COMMAND = command(
    "explain",
    explain,
    options.Jobs,
    options.PrintedOutput,
    ScoreTables,
    options.ColumnOptions,
)
