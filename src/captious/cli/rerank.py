"""``captious rerank``: one caption from each n-best list, by mutual information, consensus or any scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import Tables
from captious.cli.output import is_taken, note, print_table, say, write_json, write_json_lines
from captious.core.errors import InputError

if TYPE_CHECKING:
    from captious.rerank.criteria import Weights
    from captious.rerank.reranking import Tuning
    from captious.rerank.tuning import Cell


def rerank(
    nbest: Annotated[
        Path, Argument(metavar="NBEST", help="n-best lists: JSONL with image_id, captions, logprobs.")
    ],
    output: Annotated[
        Path | None,
        options.to_file("OUT", "The chosen captions, as COCO results (JSON); '-' for stdout."),
    ] = None,
    by: Annotated[
        str,
        Flag(
            "--by",
            help="mi (mutual information), consensus, scores or critic (both from a file, --scores), or "
            "likelihood.",
        ),
    ] = "mi",
    models: Annotated[
        list[Path] | None,
        Flag(
            "--lm",
            metavar="MODEL",
            help="Language model: from 'captious train lm', ARPA, or a folder (transformers); pass two to "
            "interpolate.",
        ),
    ] = None,
    lam: options.Lambda = None,
    alpha: options.Alpha = None,
    normalise: Annotated[
        bool, Flag("--normalise", help="Divide by the number of tokens, so that length does not count.")
    ] = False,
    metric: Annotated[
        str | None,
        Flag("--metric", help="Metric of a consensus (CIDEr-D), or the one to use from a file with several."),
    ] = None,
    posterior: Annotated[
        bool, Flag("--posterior", help="Weight the candidates of a consensus by their probability.")
    ] = False,
    scores: Annotated[
        Path | None,
        Flag(
            "--scores",
            metavar="FILE",
            help="Scores of the candidates: JSONL (image_id, scores) or NAME.scores.",
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        Flag(
            "--candidates",
            metavar="OUT",
            help="Also write all candidates with their scores (JSONL).",
            writes="file",
        ),
    ] = None,
    tune: Annotated[
        Path | None,
        Flag(
            "--tune",
            metavar="REFS",
            help="Tune λ and α on a part of the images with these references; compare on the others.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        options.metrics_flag(
            "Tune for the geometric mean of these (default: BLEU-4, METEOR, CIDEr-D, CHAIRs, SPICE, SPICE-U)."
        ),
    ] = None,
    part: Annotated[float, Flag("--part", help="Share of images to tune on.")] = 0.5,
    trials: Annotated[int, Flag("--trials", min=1, help="Trials of the randomisation test.")] = 10_000,
    resamples: Annotated[int, Flag("--resamples", min=2, help="Resamples of the bootstrap.")] = 1000,
    seed: Annotated[int, Flag("--seed", min=0, help="Seed of the division of images and of the tests.")] = 1,
    plots: Annotated[
        Path | None,
        Flag("--plots", metavar="DIR", help="Folder for a figure of the grid of λ and α.", writes="folder"),
    ] = None,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Choose a caption from each n-best list.

    By mutual information (Wang et al. 2020): log P(s|I) − λ log P(s). With --tune, λ and α are tuned first.
    """
    from captious.rerank import rerank as choose

    if output is None and keep is None and tune is None:
        raise InputError("no output is named; write the chosen captions with -o results.json")
    quiet = is_taken(output, keep, json)
    chosen = choose(
        nbest,
        by,
        models=models or (),
        lam=lam,
        alpha=alpha,
        normalise=normalise,
        metric=metric,
        posterior=posterior,
        scores=scores,
        tune=tune,
        metrics=metrics,
        part=part,
        trials=trials,
        resamples=resamples,
        seed=seed,
        tokenizer=tokenizer,
        **metric_options,
    )
    if chosen.tuning is not None:
        if not quiet:
            _show(chosen.tuning)
        if plots is not None:
            from captious.figures import rerank_plots

            files = rerank_plots.write_heat_map(chosen.tuning.grid, plots)
            if not quiet:
                note(f"{files[0]}")
    if output is not None:
        write_json_lines([chosen.results()], output)
    if keep is not None:
        write_json_lines(chosen.candidates(), keep)
    if json is not None:
        write_json(chosen.to_json(), json)
    say(
        f"{output or keep or nbest}: {len(chosen.nbest):,} images by {chosen.criterion}, "
        f"{chosen.changed:,} captions differ from the likeliest",
        output,
        keep,
        json,
    )


def _show(tuning: Tuning) -> None:
    title = (
        f"{tuning.tested_on:,} images that were {'not ' if tuning.is_held_out else ''}tuned on "
        f"(tuned: {tuning.tuned_on:,})"
    )
    names = list(tuning.systems[0].cells)
    rows = [
        [
            system.name,
            _weights(system.weights, tuning.models),
            f"{tuning.changed[system.name]:.1%}",
            *(_cell(system.cells[name], name) for name in names),
        ]
        for system in tuning.systems
    ]
    print_table(title, ["", "weights", "changed", *names], rows)
    note(
        "* differs from the baseline: p ≤ 0.05, Holm's correction over all cells (GeoMean: paired "
        "bootstrap). 95 % intervals."
    )


def _weights(weights: Weights | None, models: int) -> str:
    if weights is None:
        return ""
    return f"λ {weights.lam:g}" + (f", α {weights.alpha:g}" if models == 2 else "")


def _cell(cell: Cell, name: str) -> str:
    digits = 2 if name == "GeoMean" else 4
    mark = "*" if cell.p <= 0.05 else ""
    return f"{cell.value:.{digits}f}{mark} [{cell.interval[0]:.{digits}f}, {cell.interval[1]:.{digits}f}]"


COMMAND = command("rerank", rerank, options.ColumnOptions, Tables)
