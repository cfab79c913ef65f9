"""``captious score``: a table with one row per system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.output import number, print_table, write_csv, write_json


def register(app: typer.Typer) -> None:
    app.command("score")(options.takes_measure_options(score))


def score(
    references: options.References,
    predictions: options.Predictions,
    metrics: options.Metrics = "coco",
    ci: Annotated[bool, typer.Option("--ci", help="Show 95 % bootstrap confidence intervals over images.")] = False,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    json: options.JsonOut = None,
    per_image: Annotated[
        Path | None, typer.Option("--per-image", metavar="OUT.csv", help="Write the score of every image.")
    ] = None,
    *,
    given: dict[str, Any],
) -> None:
    """Score captions against references: one row per system, the best value of each column marked."""
    from captious.measures.making import make_measures
    from captious.progress import track
    from captious.references import load_systems
    from captious.scores import Score, Scores

    # Made first: a typing mistake or a missing package is reported before files are read.
    made = make_measures(metrics, given)
    corpora = load_systems(
        references, predictions, tokenizer=tokenizer, subset=subset, several=allow_several or None
    )
    work = [(corpus, metric) for corpus in corpora for metric in made]
    found: dict[int, list[Score]] = {}
    for corpus, metric in track(work, "scoring"):
        found.setdefault(id(corpus), []).append(Score.of(metric, corpus))
    results = [Scores(corpus.name, found[id(corpus)]) for corpus in corpora]
    if per_image is not None:
        write_per_image(results, per_image)
    if json is not None:
        write_json({"references": str(references), "systems": [r.to_json(per_image=True, ci=ci) for r in results]}, json)
    if json != "-":
        show(results, ci=ci)


def show(results: list[Any], *, ci: bool = False, title: str = "") -> None:
    """Print the table of scores; several captions per image add a row with the best caption of each image."""
    names = list(results[0])
    rows: list[list[str]] = []
    numbers: list[list[float | None]] = []
    for scores in results:
        numbers.append([scores[name].value for name in names])
        rows.append([scores.system, *(_cell(scores[name], ci) for name in names)])
        if any(score.several for score in scores.values()):
            numbers.append([None] * len(names))
            rows.append([f"{scores.system} (best of each image)", *(number(scores[name].oracle) for name in names)])
    best = [[False] * (len(names) + 1) for _ in rows]
    if len(results) > 1:
        for j, name in enumerate(names):
            column = [row[j] for row in numbers]
            known = [value for value in column if value is not None and value == value]
            if known:
                top = max(known) if results[0][name].measure.higher_is_better else min(known)
                for i, value in enumerate(column):
                    best[i][j + 1] = value == top
    header = [name if results[0][name].measure.higher_is_better else f"{name} ↓" for name in names]
    print_table(title, ["system", *header], rows, best=best, turn=True)


def _cell(score: Any, ci: bool) -> str:
    form = score.measure.format
    if not ci or score.value != score.value:
        return number(score.value, form)
    low, high = score.interval()
    return f"{number(score.value, form)} [{number(low, form)},{number(high, form)}]"  # no space inside, so that a narrow table breaks before it


def write_per_image(results: list[Any], target: Path) -> None:
    """One row per image and system."""
    names = list(dict.fromkeys(name for scores in results for name in scores))
    rows: list[list[Any]] = [["system", "image_id", *names]]
    for scores in results:
        columns = {name: score.per_image for name, score in scores.items()}
        images = dict.fromkeys(image for column in columns.values() for image in column)
        rows.extend(
            [scores.system, image, *(repr(columns[n][image]) if image in columns.get(n, ()) else "" for n in names)]
            for image in images
        )
    write_csv(rows, target)
