"""``captious agreement``: agreement of metrics with human judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command, warn_of_old_name
from captious.cli.formatting import ScoreTables, look
from captious.cli.output import is_taken, note_figures, print_report, write_json


def agreement(
    datasets: Annotated[
        list[str],
        Argument(
            metavar="DATASET",
            help="Sets by name (flickr8k-expert, …), NAME=FOLDER, a folder with sets, or your own table.",
        ),
    ],
    metrics: options.Metrics = "",
    data: Annotated[
        Path | None,
        Flag(
            "--data",
            metavar="DIR",
            help="Folder of the sets given by name (default: CAPTIOUS_DATA, else the current folder).",
        ),
    ] = None,
    ci: Annotated[bool, Flag("--ci", help="Show 95 % bootstrap intervals over images.")] = False,
    compare: Annotated[
        str | None,
        Flag("--compare", metavar="A,B,…", help="Test these metrics against each other, or 'all'."),
    ] = None,
    coefficient: Annotated[
        str | None,
        Flag(
            "--coefficient",
            help="tau-b, tau-c, pearson, spearman, accuracy, ap (average precision), auc.",
            values=("tau-b", "tau-c", "pearson", "spearman", "accuracy", "ap", "auc"),
        ),
    ] = None,
    judges: Annotated[str | None, Flag("--judges", help="each, mean or mode.")] = None,
    own: Annotated[
        str | None,
        Flag(
            "--own",
            help="If a rated caption is among its references: drop it, remove it from them, or keep both.",
        ),
    ] = None,
    unit: Annotated[
        str | None,
        Flag(
            "--unit",
            help="Compute over captions, within each image, or over systems: caption, image, system.",
            values=("caption", "image", "system"),
            old=("--level",),
        ),
    ] = None,
    reference_count: Annotated[
        int | None, Flag("--reference-count", min=1, help="How many references to draw for each image.")
    ] = None,
    draws: Annotated[int | None, Flag("--draws", min=1, help="How often to draw them.")] = None,
    votes: Annotated[
        str | None, Flag("--votes", help="For pairs, which votes to use: pairs or triplets.")
    ] = None,
    ties: Annotated[
        str | None,
        Flag(
            "--ties",
            help="For pairs with equal scores: half right, the first preferred, or drop them.",
            values=("half", "first", "drop"),
        ),
    ] = None,
    curves: Annotated[
        str | None,
        Flag("--curves", help="Curves to compute, separated by commas: references, length, level."),
    ] = None,
    relations: Annotated[
        bool, Flag("--relations", help="Show how metrics correlate, and which pairs complement each other.")
    ] = False,
    published: Annotated[
        bool, Flag("--published", help="Add the scores that others published with a set.")
    ] = False,
    systems: Annotated[
        Path | None,
        Flag("--systems", metavar="DIR", help="Predictions of whole systems, one file named after each."),
    ] = None,
    references: Annotated[
        str | None, Flag("--references", metavar="REFS", help="References for --systems.", old=("--refs",))
    ] = None,
    resamples: Annotated[int, Flag("--resamples", min=2, help="Resamples of the bootstrap.")] = 1000,
    seed: Annotated[int, Flag("--seed", help="Seed of the bootstrap and of drawn references.")] = 12345,
    plots: options.Plots = None,
    json: options.JsonOut = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Measure how well metrics agree with people, on any set of judgements, with error bars and tests."""
    from captious.agreement import METRICS, measure_agreement

    if references is not None and references.isdecimal() and not Path(references).exists():
        # Until version 0.7, --references was the number of references to draw.
        warn_of_old_name(f"--references {references}", f"--reference-count {references}")
        reference_count, references = int(references), None
    protocol = {
        "coefficient": coefficient,
        "judges": judges,
        "own": own,
        "level": unit,
        "references": reference_count,
        "draws": draws,
        "votes": votes,
        "ties": ties,
    }
    report = measure_agreement(
        datasets,
        metrics or METRICS,
        data=data,
        ci=ci,
        compare=compare,
        protocol={name: value for name, value in protocol.items() if value is not None},
        curves=[part.strip() for part in curves.split(",")] if curves else [],
        relations=relations,
        published=published,
        systems=systems,
        references=references,
        resamples=resamples,
        seed=seed,
        **metric_options,
    )
    if plots is not None:
        from captious.figures import agreement_plots

        files = agreement_plots.write(report.agreement, report.curves, report.correlations, plots)
    if json is not None:
        write_json(report.to_json(look().numbers), json)
    if not is_taken(json):
        print_report(report)
        if plots is not None:
            note_figures(files, plots)


COMMAND = command("agreement", agreement, options.Jobs, options.PrintedOutput, ScoreTables)
