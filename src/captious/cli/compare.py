"""``captious compare``: is system B really better than system A?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.output import number, print_table, write_json


def register(app: typer.Typer) -> None:
    app.command("compare")(options.takes_measure_options(compare))


def compare(
    references: options.References,
    a: Annotated[Path, typer.Argument(metavar="A", help="Predictions of the first system.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Predictions of the second system.")],
    metrics: options.Metrics = "coco",
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    resamples: Annotated[int, typer.Option(min=10, help="Bootstrap resamples.")] = 1000,
    trials: Annotated[int, typer.Option(min=10, help="Trials of the randomisation test.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of both tests.")] = 12345,
    json: options.JsonOut = None,
    *,
    given: dict[str, Any],
) -> None:
    """Compare two systems on the same images: differences, intervals and p-values, metric by metric."""
    from captious.api import compare_scores
    from captious.measures.making import make_measures
    from captious.progress import track
    from captious.references import load_systems
    from captious.scores import Score

    made = make_measures(metrics, given)
    first, second = load_systems(
        references, [a, b], tokenizer=tokenizer, subset=subset, several=allow_several or None
    )
    rows = [
        compare_scores(Score.of(metric, first), Score.of(metric, second), resamples=resamples, trials=trials, seed=seed)
        for metric in track(made, "comparing")
    ]
    if json is not None:
        write_json(
            {"references": str(references), "a": first.name, "b": second.name, "metrics": [r.to_json() for r in rows]},
            json,
        )
    if json == "-":
        return
    table = []
    for row in rows:
        low, high = row.interval
        ahead = {"A": first.name, "B": second.name}.get(row.better, "–")
        table.append(
            [
                row.metric, number(row.a), number(row.b), number(row.difference, "+.4f"),
                f"[{number(low, '+.4f')}, {number(high, '+.4f')}]",
                number(row.p_bootstrap), number(row.p_randomisation), ahead,
            ]
        )  # fmt: skip
    header = ["metric", first.name, second.name, "difference", "95 % interval", "p (bootstrap)", "p (randomis.)", "ahead"]
    print_table(f"{len(first):,} images, paired tests", header, table)
