"""``captious compare``: paired tests of systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import Argument, Option, command
from captious.cli.formatting import ScoreTables, interval, look, number
from captious.cli.formatting import score as shown
from captious.cli.output import is_taken, note, print_table, write_json
from captious.cli.score_tables import print_origin, print_signatures
from captious.core.errors import InputError


def compare(
    inputs: Annotated[
        list[Path],
        Argument(
            metavar="REFS A B",
            help="Reference captions and predictions, one file per system; or saved scores alone.",
        ),
    ],
    metrics: Annotated[
        str | None,
        Option(
            "--metrics",
            "-m",
            help="Names separated by commas (default: coco, or what the saved scores have in common).",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        Option("--baseline", metavar="NAME", help="Compare every system with this one instead of all pairs."),
    ] = None,
    alpha: Annotated[
        float, Option(help="Largest corrected p-value at which a system counts as ahead.")
    ] = 0.05,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    resamples: Annotated[int, Option(min=10, help="Bootstrap resamples.")] = 1000,
    trials: Annotated[int, Option(min=10, help="Trials of the randomisation test.")] = 10_000,
    seed: Annotated[int, Option(min=0, help="Seed of both tests.")] = 12345,
    name: options.Names = None,
    signature: options.WithSignatures = False,
    json: options.JsonOut = None,
    *,
    metric_options: dict[str, Any],
) -> None:
    """Compare systems on the same images: differences, intervals and p-values for each metric.

    Compares all pairs of systems, or each system with a baseline. Saved scores are not computed again.
    """
    from captious.results.comparison import compare as compare_all

    references, systems = split_inputs(inputs, "compare", least=2)
    comparisons = compare_all(
        *systems,
        references=references,
        metrics=metrics,
        names=name,
        baseline=baseline,
        alpha=alpha,
        resamples=resamples,
        trials=trials,
        seed=seed,
        tokenizer=tokenizer,
        subset=subset,
        several=allow_several or None,
        **metric_options,
    )
    if json is not None:
        source = {"references": str(references)} if references is not None else {}
        write_json({**source, **comparisons.to_json(look().numbers)}, json)
    if not is_taken(json):
        show(comparisons)
        if signature:
            print_signatures(comparisons.scores)


def split_inputs(inputs: list[Path], command: str, least: int) -> tuple[Path | None, list[Path]]:
    """Return the references (None if all inputs are saved scores) and the systems, of which there must be at
    least ``least``.
    """
    from captious.results.saved_scores import is_saved

    references, systems = (None, inputs) if is_saved(inputs[0]) else (inputs[0], inputs[1:])
    if len(systems) < least:
        wanted = {1: "a report needs a system", 2: "a comparison needs two systems"}[least]
        captions, saved = ("A B", "A.scores B.scores") if least == 2 else ("SYSTEM…", "NAME.scores…")
        raise InputError(
            f"{wanted}: 'captious {command} REFS {captions}' with captions, "
            f"or 'captious {command} {saved}' with saved scores"
        )
    wrong = next((path for path in systems if not is_saved(path)), None)
    if references is None and wrong is not None:
        raise InputError(
            f"{wrong} has captions, which need references: 'captious {command} REFS {inputs[0]} {wrong}'"
        )
    return references, systems


def show(comparisons: Any) -> None:
    """Print the standings, if there are more than two systems, and every comparison."""
    several = len(comparisons.systems) > 2
    images = len(next(iter(comparisons.scores[0].values())).ids)
    if several:
        print_standings(comparisons)
    rows = []
    for row in comparisons:
        rows.append(
            [
                row.metric,
                *([row.system_a, row.system_b] if several else []),
                shown(row.a, row.format),
                shown(row.b, row.format),
                shown(row.difference, "+" + row.format),
                interval(row.interval, "+" + row.format),
                number(row.p_bootstrap),
                number(row.p_randomisation),
                number(row.p_corrected),
                row.ahead or "–",
            ]
        )
    values = ["A", "B", "value of A", "value of B"] if several else comparisons.systems
    header = [
        "metric",
        *values,
        "difference",
        f"{100 * (1 - comparisons.alpha):g} % interval",
        "p (bootstrap)",
        "p (randomis.)",
        "p (Holm)",
        "ahead",
    ]
    last = len(header) - 1
    print_table(
        f"{images:,} images, paired tests",
        header,
        rows,
        text=(0, 1, 2, last) if several else (0, last),
        keys=3 if several else 1,
    )
    print_origin(comparisons.scores)
    pairs = len(comparisons) // len(comparisons.metrics)
    note(
        f"p (Holm): randomisation, corrected for {comparisons.family:,} comparisons "
        f"({_many(pairs, 'pair')} × {_many(len(comparisons.metrics), 'metric')}); "
        f"ahead: at most {comparisons.alpha:g}"
    )


def print_standings(comparisons: Any) -> None:
    """Print the value of each system, and how many of its rivals it is significantly ahead of."""
    rows = []
    for name, scores in zip(comparisons.systems, comparisons.scores):
        cells = []
        for metric in comparisons.metrics:
            rivals = sum(row.metric == metric and name in (row.system_a, row.system_b) for row in comparisons)
            cells.append(
                f"{shown(scores[metric].value, scores[metric].measure.format)} "
                f"({len(comparisons.beaten(metric, name))}/{rivals})"
            )
        rows.append([name, *cells])
    print_table(
        "in brackets: ahead of how many of those compared with",
        ["system", *comparisons.metrics],
        rows,
        turn=True,
    )


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


COMMAND = command(
    "compare",
    compare,
    options.Jobs,
    options.Columns,
    options.MeasureOptions,
    options.PrintedOutput,
    ScoreTables,
)
