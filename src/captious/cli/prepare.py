"""``captious prepare``: prepared references in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import Option, command
from captious.cli.output import is_taken, say


def prepare(
    references: options.References,
    output: Annotated[
        Path, Option("--output", "-o", metavar="FILE", help="Where to write the prepared references.")
    ],
    metrics: options.Metrics = "coco",
    tokenizer: options.Tokenizer = None,
    *,
    given: dict[str, Any],
) -> None:
    """Do the work on references once: tokens, n-gram tables, document frequencies, scene graphs, sentence
    vectors.
    """
    from captious.core.progress import track
    from captious.metrics.registry import make_measures
    from captious.results.references import References

    made = make_measures(metrics, given)
    prepared = References.read(references, tokenizer)
    for measure in track(made, "preparing references"):
        prepared.prepare([measure])
    prepared.save(output)
    captions = prepared.captions
    kept = sorted({key[0] for memo in (captions.encoding.memo, captions.memo) for key, _ in memo.products()})
    size = f"{output.stat().st_size / 1e6:,.1f} MB; " if output.is_file() and not is_taken(output) else ""
    say(
        f"{output}: {len(prepared):,} images x {captions.sizes} references, {size}"
        f"{', '.join(kept) if kept else 'no products'}; refs:{captions.digest}",
        output,
    )


COMMAND = command("prepare", prepare, options.Jobs, options.Columns, options.MeasureOptions)
