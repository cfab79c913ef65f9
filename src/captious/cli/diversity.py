"""``captious diversity``: diversity of the captions of each image, of systems and of people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import IntervalTables, look
from captious.cli.formatting import score as shown
from captious.cli.output import is_taken, note_figures, print_table, print_tidy, write_json
from captious.cli.score_tables import (
    cell,
    marked,
    note_marks,
    print_origin,
    print_signatures,
    write_per_image,
)

#: Rows of the table, before accuracy; the JSON has every measure.
MEASURES = (
    "Self-CIDEr",
    "LSA",
    "1-mBLEU-1",
    "1-mBLEU-2",
    "1-mBLEU-3",
    "1-mBLEU-4",
    "1-mBLEU-mix",
    "Div-1",
    "Div-2",
    "Unique",
    "Novel",
    "Vocabulary",
)


def diversity(
    references: options.References,
    samples: Annotated[
        list[Path], Argument(metavar="SAMPLES", help="Several captions per image, one file per system.")
    ],
    df: Annotated[
        Path | None,
        Flag(
            "--df", help="Document frequencies for Self-CIDEr and CIDEr (default: the references of the run)."
        ),
    ] = None,
    kernel: Annotated[
        str, Flag("--kernel", help="Similarity inside Self-CIDEr: cider, cider-d, or a metric's name.")
    ] = "cider",
    preset: Annotated[
        str | None,
        Flag(
            "--preset",
            values=("as-published",),
            help="as-published: the settings behind the figures of Wang & Chan (2019), CIDEr-D as kernel.",
        ),
    ] = None,
    metrics: Annotated[
        str,
        options.metrics_flag(
            "Accuracy metrics, with commas; the first enters the F-measure.", "--accuracy", "-a"
        ),
    ] = "CIDEr-D",
    beta2: Annotated[float, Flag("--beta2", help="β² of the F-measure.")] = 5.0,
    training: options.Training = None,
    best: Annotated[
        bool, Flag("--best", help="Also measure the best 2, 5, 8 and 10 captions of each image.")
    ] = False,
    human_scores: Annotated[
        Path | None,
        Flag("--human-scores", metavar="F", help="Human diversity scores (JSON: system → image → score)."),
    ] = None,
    ci: options.Confidence = False,
    signature: options.WithSignatures = False,
    name: options.Names = None,
    plots: options.Plots = None,
    image: Annotated[
        list[str] | None, Flag("--image", help="Image for the latent space and the map; repeatable.")
    ] = None,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    output: options.SaveTo = None,
    no_texts: options.NoTexts = False,
    json: options.JsonOut = None,
    per_image: options.PerImage = None,
) -> None:
    """Measure the diversity of several captions per image: one column per system, and one for people (the
    references).
    """
    from captious.diversity_analysis.sets import measure_diversity
    from captious.figures import style
    from captious.results.saved_scores import check_target
    from captious.results.scores import Scores

    check_target(output, len(samples))
    quiet = is_taken(json, per_image, output)
    if plots is not None:
        style.pyplot("drawing figures of diversity")  # a missing package is reported before any work
    study = measure_diversity(
        references,
        samples,
        df=df,
        kernel=kernel,
        preset=preset,
        accuracy=metrics,
        beta_squared=beta2,
        train=training,
        best_captions=best,
        human_scores=human_scores,
        names=name,
        tokenizer=tokenizer,
        subset=subset,
    )
    figures: list[Path] = []
    if plots is not None:
        from captious.figures.diversity_figures import draw

        figures = draw(
            study.systems,
            study.human,
            plots,
            df=study.df,
            kernel=study.kernel,
            accuracy=study.accuracy[0] if study.accuracy else "CIDEr-D",
            images=image,
            beta_squared=beta2,
            human_scores=study.human_scores,
        )
    if output is not None:
        Scores.save_all(study.rows, output, texts=not no_texts)
    if per_image is not None:
        write_per_image(study.rows, per_image)
    if json is not None:
        description = {
            "references": str(references),
            **study.to_json(ci=ci and look().bootstrap, numbers=look().numbers),
            **({"figures": [str(path) for path in figures]} if figures else {}),
        }
        write_json(description, json)
    if not quiet and look().format == "csv":
        print_tidy(study.tidy_rows(ci=ci and look().bootstrap))
        print_origin(study.systems, ci=ci)
    elif not quiet:
        show(study.rows, study.accuracy, ci=ci)
        print_origin(study.systems, ci=ci)
        if signature:
            print_signatures(study.rows, ci=ci)
        if study.best:
            show_best(study.best, study.accuracy[0])
        if study.agreement:
            show_agreement(study.agreement)
    if not quiet and plots is not None:
        note_figures(figures, plots)


def show(systems: list[Any], accuracies: list[str], *, ci: bool) -> None:
    """Print one row per measure and one column per system, people last; the best system is marked."""
    wanted = [
        *MEASURES,
        *(f"{kind} {name}" for name in accuracies for kind in ("mean", "oracle")),
        "F-measure",
    ]
    # People are the yardstick, not a competitor.
    marks = marked(systems[:-1], wanted, ci=ci)
    rows, best = [], []
    for name in wanted:
        score = next((system[name] for system in systems if name in system), None)
        if score is None:
            continue
        heading = name if score.measure.higher_is_better else f"{name} ↓"
        rows.append([heading, *(cell(system, name, ci=ci) for system in systems)])
        best.append([False, *(i in marks.get(name, ()) for i in range(len(systems)))])
    header = [
        f"{len(systems[0].corpus):,} images",
        *(f"{system.system} ({system.corpus.candidates.sizes})" for system in systems),
    ]
    print_table("captions per image in brackets", header, rows, best=best)
    note_marks(marks, len(systems) - 1, ci=ci)


def show_best(cut: dict[str, Any], metric: str) -> None:
    """Print measures of the best m captions of each image."""
    rows = []
    for name, listed in cut.items():
        for row in listed:
            scores = row.scores
            values = [scores[k].value for k in ("Self-CIDEr", "LSA", "1-mBLEU-mix", f"mean {metric}")]
            rows.append([name, str(row.m), f"{row.images:,}", *(shown(value) for value in values)])
    print_table(
        f"the m best captions of each image by {metric}",
        ["system", "m", "images", "Self-CIDEr", "LSA", "1-mBLEU-mix", f"mean {metric}"],
        rows,
    )


def show_agreement(agreed: list[Any]) -> None:
    """Print correlations with human scores."""
    rows = [
        [
            a.measure,
            f"{a.pearson:.3f}",
            f"{a.spearman:.3f}",
            f"{a.per_image_spearman:.3f}",
            f"{a.sets:,}",
            f"{a.images:,}",
        ]
        for a in agreed
    ]
    print_table(
        "agreement with human diversity scores",
        ["measure", "Pearson", "Spearman", "Spearman per image", "sets", "images"],
        rows,
    )


COMMAND = command("diversity", diversity, options.Jobs, options.ColumnOptions, IntervalTables)
