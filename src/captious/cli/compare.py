"""``captious compare``: paired tests of systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.formatting import ScoreTables, counted, interval, look, number
from captious.cli.formatting import score as shown
from captious.cli.output import is_taken, note, print_table, print_tidy, write_json
from captious.cli.score_tables import (
    length_control_json,
    print_length_control,
    print_origin,
    print_signatures,
)
from captious.core.errors import InputError

if TYPE_CHECKING:
    from captious.results.comparison_result import Comparisons


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
        options.metrics_flag("Metrics, with commas (default: coco, or those that all saved scores have)."),
    ] = None,
    baseline: Annotated[
        str | None,
        Flag("--baseline", metavar="NAME", help="Compare every system with this one instead of all pairs."),
    ] = None,
    alpha: Annotated[float, Flag(help="Largest corrected p-value at which a system counts as ahead.")] = 0.05,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    resamples: Annotated[int, Flag(min=10, help="Bootstrap resamples.")] = 1000,
    trials: Annotated[int, Flag(min=10, help="Trials of the randomisation test.")] = 10_000,
    seed: Annotated[int, Flag(min=0, help="Seed of both tests.")] = 12345,
    name: options.Names = None,
    summary: Annotated[
        bool, Flag("--summary", help="Print only the standings: values, and the systems each one beats.")
    ] = False,
    pairs: Annotated[
        bool, Flag("--pairs", help="Print every pair of systems with intervals and p-values.")
    ] = False,
    length_control: options.LengthControl = False,
    signature: options.WithSignatures = False,
    json: options.JsonOut = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Compare systems on the same images: differences, intervals and p-values for each metric.

    Compares all pairs of systems, or each system with a baseline. Saved scores are not computed again. With
    more than two systems, the differences are a matrix per metric; --pairs lists all tests.
    """
    from captious.results.comparison import compare as compare_all
    from captious.results.length_control import length_control as control

    if summary and pairs:
        raise InputError("--summary prints less, --pairs more; give one of them")
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
    rows = control(comparisons.scores, comparisons.metrics) if length_control else []
    if json is not None:
        source = {"references": str(references)} if references is not None else {}
        write_json({**source, **comparisons.to_json(look().numbers), **length_control_json(rows)}, json)
    if not is_taken(json):
        show(comparisons, summary=summary, pairs=pairs)
        if rows:
            print_length_control(rows)
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


def show(comparisons: Comparisons, *, summary: bool = False, pairs: bool = False) -> None:
    """Print standings of more than two systems, then differences: a matrix per metric, or every pair."""
    if look().format == "csv":
        print_tidy(comparisons.tidy_rows())
        return
    several = len(comparisons.systems) > 2
    if several or summary:
        print_standings(comparisons)
    if several and not summary and look().format == "markdown":
        print()
    if pairs or not (several or summary):
        print_pairs(comparisons)
    elif not summary:
        print_differences(comparisons)
    print_origin(comparisons.scores)
    n_pairs = len(comparisons) // len(comparisons.metrics)
    floor = comparisons.p_floor
    note(
        f"p (Holm): randomisation, corrected for {comparisons.family:,} comparisons "
        f"({counted(n_pairs, 'pair')} × {counted(len(comparisons.metrics), 'metric')}); "
        f"ahead: at most {comparisons.alpha:g}"
    )
    note(
        f"smallest possible p: {floor:.2g} ({round(1 / floor) - 1:,} trials), "
        f"corrected {min(1.0, comparisons.family * floor):.2g}; more --trials allow smaller ones"
    )


def print_differences(comparisons: Comparisons) -> None:
    """Print a matrix of differences for each metric, or one table of differences to the baseline."""
    systems = comparisons.systems
    opponents = {name: sum(name in (row.system_a, row.system_b) for row in comparisons) for name in systems}
    baseline = next((name for name in systems if opponents[name] == len(comparisons)), None)
    if baseline is not None:
        others = [name for name in systems if name != baseline]
        cells = [
            [name, *(_difference(comparisons, metric, name, baseline) for metric in comparisons.metrics)]
            for name in others
        ]
        _print_marked(f"difference to {baseline}", ["system", *comparisons.metrics], cells)
        return
    for metric in comparisons.metrics:
        scores = dict(zip(systems, (own[metric] for own in comparisons.scores)))
        measure = scores[systems[0]].measure
        sign = -1 if measure.higher_is_better else 1
        order = sorted(
            systems, key=lambda name: (scores[name].value != scores[name].value, sign * scores[name].value)
        )
        arrow = "" if measure.higher_is_better else " ↓"
        rows = [
            [name, (shown(scores[name].value, measure.format), False)]
            + [_difference(comparisons, metric, name, other) for other in order]
            for name in order
        ]
        _print_marked(f"{metric}{arrow}: difference of row − column", ["system", "value", *order], rows)
        if look().format == "markdown":
            print()


def _difference(comparisons: Comparisons, metric: str, a: str, b: str) -> tuple[str, bool]:
    """Return the difference A − B as text, and whether it is significant."""
    pair = comparisons.pair(metric, a, b)
    if pair is None:
        return "", False
    difference, is_significant = pair
    form = next(row.format for row in comparisons if row.metric == metric)
    return shown(difference, "+" + form), is_significant


def _print_marked(title: str, header: list[str], rows: list[list[Any]]) -> None:
    """Print a table whose cells after the first are pairs of text and mark."""
    cells = [[name, *(text for text, _ in row)] for name, *row in rows]
    marks = [[False, *(mark for _, mark in row)] for _, *row in rows]
    sign = "bold" if look().format in ("markdown", "latex") else "*"
    print_table(f"{title}, {sign} if significant", header, cells, best=marks)


def print_pairs(comparisons: Comparisons) -> None:
    """Print a row for every metric and pair of systems, with intervals and p-values."""
    several = len(comparisons.systems) > 2
    images = len(next(iter(comparisons.scores[0].values())).ids)
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


def print_standings(comparisons: Comparisons) -> None:
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
        "in brackets: systems significantly beaten, of those compared",
        ["system", *comparisons.metrics],
        rows,
        turn=True,
    )


COMMAND = command(
    "compare",
    compare,
    options.Jobs,
    options.ColumnOptions,
    options.PrintedOutput,
    ScoreTables,
)
