"""``captious robustness``: what metrics do with captions that are wrong on purpose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.look import takes_look
from captious.cli.output import is_taken, note, print_text_tables, write_json, write_text
from captious.errors import InputError

METRICS = "BLEU-1,BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,WMD,MOWE,WEmbSim,SentenceSim"


def register(app: typer.Typer) -> None:
    app.command("robustness")(options.takes_jobs(options.takes_columns(options.takes_measure_options(options.takes_output(takes_look(robustness, of_scores=False))))))


def robustness(
    captions: Annotated[Path | None, typer.Argument(metavar="CAPTIONS", help="Human captions, several for each image.")] = None,
    metrics: options.Metrics = METRICS,
    curves: Annotated[bool, typer.Option("--curves/--no-curves", help="Measure transformed captions (Cui et al. 2018).")] = True,
    tasks: Annotated[bool, typer.Option("--tasks/--no-tasks", help="Measure distraction tasks made from the captions (Hodosh & Hockenmaier 2016).")] = True,
    distractions: Annotated[Path | None, typer.Option("--distractions", metavar="PATH", help="Read the tasks from this file or folder instead.")] = None,
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Where Flickr30k's captions are, for --distractions.")] = None,
    save_tasks: Annotated[Path | None, typer.Option("--save-tasks", metavar="OUT.jsonl", help="Save the tasks.")] = None,
    images: Annotated[int, typer.Option("--images", min=2, help="Images for the curves.")] = 2000,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Instances of each task.")] = 2000,
    features: Annotated[Path | None, typer.Option("--features", metavar="FILE.npz", help="'ids' and 'features' of images, to find similar images by features instead of captions.")] = None,
    resamples: Annotated[int, typer.Option("--resamples", min=2, help="Resamples of the bootstrap over images.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of all random choices.")] = 1,
    plots: Annotated[Path | None, typer.Option("--plots", metavar="DIR", help="Write the figures into this folder.")] = None,
    json: options.JsonOut = None,
    *,
    given: dict[str, Any],
) -> None:
    """Test metrics with wrong captions: of other images, with shuffled or random words, with other people and places."""
    from captious import robustness as robust
    from captious.human.scoring import make
    from captious.io import read
    from captious.robustness import tables

    if captions is None and distractions is None:
        raise InputError("give human captions (several for each image), or distraction tasks with --distractions")
    quiet = is_taken(json, save_tasks)
    made = make(metrics, given)
    by_image: dict[str, list[str]] = {}
    if captions is not None:
        file = read(captions, "references")
        by_image = {image: list(group) for image, group in zip(file.ids, file.captions)}
    pairs = None
    if distractions is not None:
        pairs = robust.load_distractions(distractions, data)
    elif tasks:
        pairs = robust.make_distractions(by_image, limit=limit, seed=seed)
    if pairs is not None and save_tasks is not None:
        write_text(_lines(pairs), str(save_tasks))
    drawn: list[robust.RobustnessCurve] = []
    if curves and captions is not None:
        near = _features(features) if features is not None else None
        drawn = robust.robustness_curves(by_image, made, images=images, features=near, resamples=resamples, seed=seed)
    accuracies = robust.distraction_accuracy(pairs, made, resamples=resamples) if pairs is not None else []
    result = {"curves": [c.to_json() for c in drawn], "distractions": [a.to_json() for a in accuracies]}
    written: list[Path] = []
    if plots is not None:
        from captious.figures import robustness_plots

        written = robustness_plots.write(drawn, accuracies, plots)
    if json is not None:
        write_json(result, json)
    if quiet:
        return
    shown = [*([tables.areas(drawn), *tables.points(drawn)] if drawn else []), *([tables.accuracies(accuracies)] if accuracies else [])]
    print_text_tables(shown, list(dict.fromkeys(c.signature for c in drawn)))
    if written:
        note(f"{len({path.stem for path in written})} figures ({len(written)} files) in {plots}")


def _lines(pairs: Any) -> str:
    """Tasks as JSON lines that ``--distractions`` reads."""
    import json

    rows = zip(pairs.images, pairs.categories, pairs.first, pairs.second, pairs.references)
    return "".join(
        json.dumps({"image": i, "task": t, "correct": c, "distractor": d, "references": r}, ensure_ascii=False) + "\n"
        for i, t, c, d, r in rows
    )


def _features(path: Path) -> dict[str, Any]:
    from captious.robustness.features import read_features

    return read_features(path)
