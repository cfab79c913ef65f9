"""``captious corpus``: the diversity of whole corpora, one row per system and one for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import Flag, command
from captious.cli.formatting import IntervalTables, look
from captious.cli.formatting import score as shown
from captious.cli.output import (
    is_taken,
    note,
    note_figures,
    print_table,
    print_tidy,
    write_json,
)
from captious.core.errors import printable


def corpus(
    references: options.References,
    predictions: options.Predictions,
    training: options.Training = None,
    plots: options.Plots = None,
    json: options.JsonOut = None,
    tokenizer: Annotated[
        str, Flag("--tokenizer", help="spacy-like (as in the published study), ptb, simple or none.")
    ] = "spacy-like",
    subset: Annotated[
        bool, Flag("--subset", help="Compare with the references only on the images that both have.")
    ] = False,
    allow_several: options.AllowSeveral = False,
    trees: Annotated[
        bool, Flag("--trees/--no-trees", help="Include measures that need tags and trees.")
    ] = True,
    norms: Annotated[
        Path | None, Flag("--norms", metavar="TABLE", help="Concreteness ratings by word (CSV or TSV).")
    ] = None,
    over_images: Annotated[
        str,
        Flag(
            "--over-images",
            values=("pooled", "mean"),
            help="Loc and Prec over images (pooled: as published).",
        ),
    ] = "pooled",
    order: Annotated[
        str,
        Flag(
            "--order", values=("file", "id"), help="Order of captions for TTR and MTLD (file: as published)."
        ),
    ] = "file",
    ci: options.Confidence = False,
    name: options.Names = None,
    output: options.SaveTo = None,
    no_texts: options.NoTexts = False,
    number: Annotated[
        int, Flag("--number", "-n", min=0, max=50, help="Words to list in each ranking.", old=("--words",))
    ] = 10,
    seed: Annotated[int, Flag("--seed", help="Seed of the random orders of the type-token curve.")] = 1,
) -> None:
    """Measure the diversity of whole corpora: vocabulary, recall and omissions, composition, complexity.

    Each number is also a metric of its own: captious score REFS PRED -m Types,TTR1.
    """
    from captious.diversity_analysis.corpus import corpus_diversity
    from captious.results.saved_scores import check_target
    from captious.results.scores import Scores

    check_target(output, len(predictions))
    quiet = is_taken(json, output)
    result = corpus_diversity(
        references,
        predictions,
        train=training,
        tokenizer=tokenizer,
        subset=subset,
        several=allow_several or None,
        parse=trees,
        norms=norms,
        over_images=over_images,
        order=order,
        seed=seed,
        names=name or None,
    )
    written: list[Path] = []
    if plots is not None:
        from captious.figures import corpus_plots

        written = corpus_plots.write(result, plots)
    if output is not None:
        Scores.save_all(list(result.scores.values()), output, texts=not no_texts)
    if json is not None:
        write_json(
            {
                "references": str(references),
                **result.to_json(ci=ci and look().bootstrap, numbers=look().numbers),
            },
            json,
        )
    if not quiet:
        show(result, number, ci=ci)
        if plots is not None and written:
            note_figures(written, plots)


def show(result: Any, words: int, *, ci: bool = False) -> None:
    """Print the table, and the words that matter most."""
    bootstrap = ci and look().bootstrap
    if look().format == "csv":
        print_tidy(result.tidy_rows(ci=bootstrap))
    else:
        header, rows = result.table(ci=bootstrap, show=shown)
        print_table("", header, rows)
    lines = [f"{measure.title(result.n):9s} {measure.summary}" for measure in result.columns()]
    if not result.trained:
        lines.append(
            "No training captions (--training): novelty is unknown, and all words of the references count as "
            "learnable."
        )
    lines.append(
        f"humans: each measure of {result.n} parallel descriptions per image, averaged.  {result.signature}"
    )
    note("\n".join(lines))
    if words and look().format == "rich" and not look().quiet:
        for report in result.systems:
            _words(report, words)


def _words(report: Any, limit: int) -> None:
    print(f"\n{printable(report.name)}")
    lists = [
        ("over-used", [row["word"] for row in report.over_used]),
        ("under-used", [row["word"] for row in report.under_used]),
        ("never used", [row[0] for row in report.omitted_globally.get("validation", [])]),
    ]
    for name in report.omitted_locally:
        lists.append((f"missed, {name.replace('_', ' ')}", [row[0] for row in report.omitted_locally[name]]))
    for name, listed in lists:
        print(f"  {name + ':':26s} {printable(', '.join(listed[:limit])) or '–'}")


COMMAND = command("corpus", corpus, options.Jobs, options.ColumnOptions, IntervalTables)
