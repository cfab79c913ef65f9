"""``captious explain``: how much each feature moved a caption's learned score."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import Argument, Option, command
from captious.cli.formatting import ScoreTables
from captious.cli.output import is_taken, note, print_table, write_json
from captious.core.errors import InputError, printable


def explain(
    references: options.References,
    predictions: Annotated[Path, Argument(metavar="PRED", help="Predictions of one system.")],
    metric: Annotated[
        str, Option("--metric", "-m", help="A learned metric: LCEval, NNEval, CaptiousScore, …")
    ] = "CaptiousScore",
    image: Annotated[
        list[str] | None,
        Option("--image", metavar="ID", help="Only this image; repeatable (default: the first)."),
    ] = None,
    top: Annotated[
        int, Option("--top", min=1, help="So many features, those that moved the score most.")
    ] = 12,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    json: options.JsonOut = None,
    *,
    metric_options: dict[str, Any],
) -> None:
    """Show how much each feature moved a caption's score, against the mean training example."""
    from captious.metrics.learned.composite import Composite
    from captious.metrics.learned.contributions import explain as explain_one
    from captious.metrics.registry import make_measures
    from captious.results.references import load_systems

    (measure,) = made if len(made := make_measures(metric, metric_options)) == 1 else [None]
    if not isinstance(measure, Composite):
        raise InputError(
            f"'{metric}' is no single learned metric; explain LCEval, NNEval, CaptiousScore, "
            "CaptiousScore-lite or Learned"
        )
    (corpus,) = load_systems(references, [predictions], tokenizer=tokenizer, subset=subset, several=None)
    measure.check(corpus)
    wanted = image or [corpus.ids[0]]
    unknown = [one for one in wanted if one not in set(corpus.ids)]
    if unknown:
        raise InputError(f"image {unknown[0]!r} is not among the {len(corpus):,} images of {predictions}")
    table = measure.table(corpus, measure.prepare(corpus.references))
    found = []
    for one in wanted:
        place = corpus.ids.index(one)
        for i in range(*corpus.candidates.image_offsets[place : place + 2].tolist()):
            found.append((one, corpus.candidates.texts[i], explain_one(measure.network, table[i])))
    if json is not None:
        shown = [
            {
                "image_id": one,
                "caption": text,
                "score": told.score,
                "start": told.start,
                "features": [
                    {"name": n, "value": v if v == v else None, "share": s} for n, v, s in told.ordered()
                ],
            }
            for one, text, told in found
        ]
        write_json({"metric": measure.name, "captions": shown}, json)
    if is_taken(json):
        return
    for one, text, told in found:
        rows = [
            [name, f"{value:.4f}" if value == value else "–", f"{share:+.3f}"]
            for name, value, share in told.ordered()[:top]
        ]
        print_table(
            f"{printable(one)}: {printable(text)}  {measure.name} {told.score:.4f}",
            ["feature", "value", "moved by"],
            rows,
        )
    note(
        f"'moved by': log odds, from the mean training example ({found[0][2].start:.4f}) to this caption; "
        "the shares of all features add up"
    )


COMMAND = command(
    "explain",
    explain,
    options.Jobs,
    options.PrintedOutput,
    ScoreTables,
    options.Columns,
    options.MeasureOptions,
)
