"""``captious robustness``: scores of captions that are wrong on purpose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import ScoreTables, look
from captious.cli.output import is_taken, note_figures, print_report, write_json

#: The default of :func:`captious.robustness.measure_robustness`, which is not imported to list options.
METRICS = "BLEU-1,BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,WMD,MOWE,WEmbSim,SentenceSim"


def robustness(
    captions: Annotated[
        Path | None, Argument(metavar="CAPTIONS", help="Human captions, several for each image.")
    ] = None,
    metrics: options.Metrics = METRICS,
    curves: Annotated[
        bool, Flag("--curves/--no-curves", help="Measure transformed captions (Cui et al. 2018).")
    ] = True,
    tasks: Annotated[
        bool,
        Flag(
            "--tasks/--no-tasks",
            help="Measure distraction tasks made from the captions (Hodosh & Hockenmaier 2016).",
        ),
    ] = True,
    distractions: Annotated[
        Path | None,
        Flag("--distractions", metavar="PATH", help="Read the tasks from this file or folder instead."),
    ] = None,
    data: Annotated[
        Path | None,
        Flag("--data", metavar="DIR", help="Where Flickr30k's captions are, for --distractions."),
    ] = None,
    save_tasks: Annotated[
        Path | None, Flag("--save-tasks", metavar="OUT.jsonl", help="Save the tasks.", writes="file")
    ] = None,
    images: Annotated[int, Flag("--images", min=2, help="Images for the curves.")] = 2000,
    limit: Annotated[int, Flag("--limit", min=1, help="Instances of each task.")] = 2000,
    features: Annotated[
        Path | None,
        Flag(
            "--features",
            metavar="FILE.npz",
            help="'ids' and 'features' of images, to find similar images by features instead of captions.",
        ),
    ] = None,
    resamples: Annotated[
        int, Flag("--resamples", min=2, help="Resamples of the bootstrap over images.")
    ] = 1000,
    seed: Annotated[int, Flag("--seed", help="Seed of all random choices.")] = 1,
    plots: options.Plots = None,
    json: options.JsonOut = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Test metrics with wrong captions: of other images, with shuffled or random words, with other people and
    places.
    """
    from captious.robustness import measure_robustness

    quiet = is_taken(json, save_tasks)
    report = measure_robustness(
        captions,
        metrics,
        curves=curves,
        tasks=tasks,
        distractions=distractions,
        data=data,
        save_tasks=save_tasks,
        images=images,
        limit=limit,
        features=features,
        resamples=resamples,
        seed=seed,
        **metric_options,
    )
    if plots is not None:
        from captious.figures import robustness_plots

        files = robustness_plots.write(report.curves, report.accuracies, plots)
    if json is not None:
        write_json(report.to_json(look().numbers), json)
    if not quiet:
        print_report(report)
        if plots is not None and files:
            note_figures(files, plots)


COMMAND = command(
    "robustness",
    robustness,
    options.Jobs,
    options.ColumnOptions,
    options.PrintedOutput,
    ScoreTables,
)
