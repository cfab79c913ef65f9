"""``captious score``: a table with one row per system."""

from __future__ import annotations

from typing import Any

from captious.cli import options
from captious.cli.command import command
from captious.cli.formatting import IntervalTables, look
from captious.cli.output import is_taken, write_json
from captious.cli.score_tables import show, write_per_image
from captious.cli.shards import Shards


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
    *,
    metric_options: dict[str, Any],
) -> None:
    """Score captions against references: one row per system, the best value of each column marked.

    Captions by the million come in shards: captious score big/*.parquet --references REFS --engine local.
    """
    from captious.api import score_systems
    from captious.results.saved_scores import check_target
    from captious.results.scores import Scores

    assert predictions is not None  # Shards.run handles the other case
    check_target(output, len(predictions))
    quiet = is_taken(json, per_image, output)
    results = score_systems(
        references,
        predictions,
        metrics,
        tokenizer=tokenizer,
        subset=subset,
        part=part,
        several=allow_several or None,
        names=name,
        **metric_options,
    )
    if output is not None:
        Scores.save_all(results, output, texts=not no_texts)
    if per_image is not None:
        write_per_image(results, per_image)
    if json is not None:
        write_json(
            {
                "references": str(references),
                "systems": [r.to_json(ci=ci and look().bootstrap, numbers=look().numbers) for r in results],
            },
            json,
        )
    if not quiet:
        show(results, ci=ci, signature=signature)


COMMAND = command(
    "score", score, options.Jobs, options.Columns, options.MeasureOptions, IntervalTables, Shards
)
