"""Tables of scores: one row per system, with images and signatures below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from captious.cli.formatting import interval, look
from captious.cli.formatting import score as shown
from captious.cli.output import note, print_table, print_tidy, write_csv, write_json


def show(results: list[Any], *, ci: bool = False, signature: bool = False, title: str = "") -> None:
    """Print the table of scores, and the images and references behind it.

    A system with several captions per image gets a second row, with the best caption of each image. A value
    is marked as the best only among values that can be compared.
    """
    if look().format == "csv":
        print_tidy(row for scores in results for row in scores.tidy_rows(ci=ci and look().bootstrap))
        print_origin(results, ci=ci)
        return
    names = list(dict.fromkeys(name for scores in results for name in scores))
    rows: list[list[str]] = []
    numbers: list[list[float | None]] = []
    for scores in results:
        numbers.append([scores[name].value if name in scores else None for name in names])
        rows.append([scores.system, *(_cell(scores[name], ci) if name in scores else "–" for name in names)])
        if any(score.several for score in scores.values()):
            numbers.append([None] * len(names))
            best_ones = (
                shown(scores[name].oracle, scores[name].measure.format) if name in scores else "–"
                for name in names
            )
            rows.append([f"{scores.system} (best of each image)", *best_ones])
    best = [[False] * (len(names) + 1) for _ in rows]
    header = []
    for j, name in enumerate(names):
        of_metric = [scores[name] for scores in results if name in scores]
        higher = of_metric[0].measure.higher_is_better
        header.append(name if higher else f"{name} ↓")
        column = [row[j] for row in numbers]
        values = [value for value in column if value is not None and value == value]
        # If all are equal, none is marked.
        if len(set(values)) > 1 and len({(score.signature, score.ids) for score in of_metric}) == 1:
            top = max(values) if higher else min(values)
            for i, value in enumerate(column):
                best[i][j + 1] = value == top
    print_table(title, ["system", *header], rows, best=best, turn=True)
    print_origin(results, ci=ci)
    if signature:
        print_signatures(results, ci=ci)


def print_origin(results: list[Any], *, ci: bool = False) -> None:
    """Print numbers of images, references and left-out images below a table, once if all systems agree."""
    said: dict[str, list[str]] = {}
    for scores in results:
        if not scores:
            continue
        images = max(len(score.ids) for score in scores.values())
        fields = [score.origin for score in scores.values()]
        references = next(
            (f["refs"].partition("@")[0].partition("x")[2] for f in fields if "refs" in f), None
        )
        cut = next((f["subset"].split("of") for f in fields if "subset" in f), None)
        # Shards have sums over groups of images.
        grouped = any("groups" in f for f in fields)
        text = (
            f"{images:,} group{'s' if images != 1 else ''} of images"
            if grouped
            else f"{images:,} image{'s' if images != 1 else ''}"
        )
        if references is not None:
            text += f", {references} reference{'s' if references != '1' else ''} per image"
        if cut is not None:
            text += f"; {int(cut[1]) - int(cut[0]):,} of {int(cut[1]):,} images left out (--subset)"
        said.setdefault(text, []).append(scores.system)
    lines = [text if len(said) == 1 else f"{', '.join(systems)}: {text}" for text, systems in said.items()]
    if ci:
        how = look().bootstrap
        lines.append(
            f"in brackets: {100 * how.level:g} % intervals, {how.resamples:,} bootstrap resamples of the "
            f"images, seed {how.seed}"
        )
    if lines:
        note("\n".join(lines))


def print_signatures(results: list[Any], *, ci: bool = False) -> None:
    """Print the signature of each score, once if all systems agree."""
    for name in dict.fromkeys(name for scores in results for name in scores):
        by_signature: dict[str, list[str]] = {}
        for scores in results:
            if name in scores:
                score = scores[name]
                by_signature.setdefault(
                    score.interval_signature(*look().bootstrap) if ci else str(score.signature), []
                ).append(scores.system)
        for signature, systems in by_signature.items():
            note(signature if len(by_signature) == 1 else f"{', '.join(systems)}: {signature}")


def _cell(score: Any, ci: bool) -> str:
    form = score.measure.format
    if not ci or score.value != score.value:
        return shown(score.value, form)
    return f"{shown(score.value, form)} {interval(score.interval(*look().bootstrap), form)}"


def write_per_image(results: list[Any], target: Path) -> None:
    """Write the score of every image: CSV with one row per system and image, or JSON if the name says so."""
    style = look().numbers
    if target.suffix == ".json":
        systems = [scores.to_json(per_image=True, numbers=style) for scores in results]
        write_json({"systems": systems}, target)
        return
    names = list(dict.fromkeys(name for scores in results for name in scores))
    rows: list[list[Any]] = [["system", "image_id", *names]]
    for scores in results:
        columns = {
            name: {
                image: style.number(value, score.measure.format) for image, value in score.per_image.items()
            }
            for name, score in scores.items()
        }
        images = dict.fromkeys(image for column in columns.values() for image in column)
        rows.extend(
            [
                scores.system,
                image,
                *(columns[n].get(image) if n in columns else None for n in names),
            ]
            for image in images
        )
    write_csv(rows, target)
