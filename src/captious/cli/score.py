"""``captious score``: a table with one row per system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.look import interval, look, takes_look
from captious.cli.look import score as shown
from captious.cli.output import check_target, is_taken, note, print_table, save_scores, write_csv, write_json
from captious.cli.shards import takes_shards
from captious.errors import InputError


def register(app: typer.Typer) -> None:
    app.command("score")(options.takes_jobs(options.takes_columns(options.takes_measure_options(takes_look(takes_shards(score, show))))))


def score(
    references: options.References,
    predictions: options.SomePredictions = None,
    metrics: options.Metrics = "coco",
    ci: options.Confidence = False,
    signature: options.WithSignatures = False,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    part: options.Part = False,
    allow_several: options.AllowSeveral = False,
    name: options.Names = None,
    json: options.JsonOut = None,
    per_image: Annotated[
        Path | None, typer.Option("--per-image", metavar="OUT.csv", help="Write the score of every image.")
    ] = None,
    output: options.SaveTo = None,
    no_texts: options.NoTexts = False,
    *,
    given: dict[str, Any],
) -> None:
    """Score captions against references: one row per system, the best value of each column marked.

    Captions by the million come in shards: captious score big/*.parquet --references REFS --engine local.
    """
    from captious.measures.making import make_measures
    from captious.progress import track
    from captious.records import ScoredCaptions
    from captious.references import load_systems
    from captious.scores import Score, Scores

    assert predictions is not None  # of shards there are none, and they are scored elsewhere
    check_target(output, len(predictions))
    quiet = is_taken(json, per_image, output)
    if subset and part:
        raise InputError("--subset scores against the references of the images that both have, --part against all; give one of them")
    # Made first: a typing mistake or a missing package is reported before files are read.
    made = make_measures(metrics, given)
    corpora = load_systems(
        references, predictions, tokenizer=tokenizer, subset=subset, part=part, several=allow_several or None, names=name or None
    )
    work = [(corpus, metric) for corpus in corpora for metric in made]
    found: dict[int, list[Score]] = {}
    for corpus, metric in track(work, "scoring"):
        found.setdefault(id(corpus), []).append(Score.of(metric, corpus))
    results = [Scores(corpus.name, found[id(corpus)], ScoredCaptions.of(corpus)) for corpus in corpora]
    if output is not None:
        save_scores(results, output, texts=not no_texts)
    if per_image is not None:
        write_per_image(results, per_image)
    if json is not None:
        write_json({"references": str(references), "systems": [r.to_json(per_image=True, ci=ci and look().bootstrap) for r in results]}, json)
    if not quiet:
        show(results, ci=ci, signature=signature)


def show(results: list[Any], *, ci: bool = False, signature: bool = False, title: str = "") -> None:
    """Print the table of scores, and what it is of; several captions per image add a row with the best caption of each image.

    A value is marked as the best only among values that can be compared.
    """
    names = list(dict.fromkeys(name for scores in results for name in scores))
    rows: list[list[str]] = []
    numbers: list[list[float | None]] = []
    for scores in results:
        numbers.append([scores[name].value if name in scores else None for name in names])
        rows.append([scores.system, *(_cell(scores[name], ci) if name in scores else "–" for name in names)])
        if any(score.several for score in scores.values()):
            numbers.append([None] * len(names))
            best_ones = (shown(scores[name].oracle, scores[name].measure.format) if name in scores else "–" for name in names)
            rows.append([f"{scores.system} (best of each image)", *best_ones])
    best = [[False] * (len(names) + 1) for _ in rows]
    header = []
    for j, name in enumerate(names):
        found = [scores[name] for scores in results if name in scores]
        higher = found[0].measure.higher_is_better
        header.append(name if higher else f"{name} ↓")
        column = [row[j] for row in numbers]
        known = [value for value in column if value is not None and value == value]
        # Where all are equal, none is the best.
        if len(set(known)) > 1 and len({(score.signature, score.ids) for score in found}) == 1:
            top = max(known) if higher else min(known)
            for i, value in enumerate(column):
                best[i][j + 1] = value == top
    print_table(title, ["system", *header], rows, best=best, turn=True)
    print_origin(results, ci=ci)
    if signature:
        print_signatures(results, ci=ci)


def print_origin(results: list[Any], *, ci: bool = False) -> None:
    """Below a table: images, references per image, images that were left out; once where all systems agree."""
    said: dict[str, list[str]] = {}
    for scores in results:
        found = list(scores.values())
        if not found:
            continue
        images = max(len(score.ids) for score in found)
        fields = [score.origin for score in found]
        known = next((f["refs"].partition("@")[0].partition("x")[2] for f in fields if "refs" in f), None)
        cut = next((f["subset"].split("of") for f in fields if "subset" in f), None)
        # Of shards, what is known of images is sums over groups of them.
        grouped = any("groups" in f for f in fields)
        text = f"{images:,} group{'s' if images != 1 else ''} of images" if grouped else f"{images:,} image{'s' if images != 1 else ''}"
        if known is not None:
            text += f", {known} reference{'s' if known != '1' else ''} per image"
        if cut is not None:
            text += f"; {int(cut[1]) - int(cut[0]):,} of {int(cut[1]):,} images left out (--subset)"
        said.setdefault(text, []).append(scores.system)
    lines = [text if len(said) == 1 else f"{', '.join(systems)}: {text}" for text, systems in said.items()]
    if ci:
        how = look().bootstrap
        lines.append(f"in brackets: {100 * how.level:g} % intervals, {how.resamples:,} bootstrap resamples of the images, seed {how.seed}")
    if lines:
        note("\n".join(lines))


def print_signatures(results: list[Any], *, ci: bool = False) -> None:
    """How each number was made: once where all systems agree."""
    for name in dict.fromkeys(name for scores in results for name in scores):
        made: dict[str, list[str]] = {}
        for scores in results:
            if name in scores:
                score = scores[name]
                made.setdefault(score.interval_signature(*look().bootstrap) if ci else str(score.signature), []).append(scores.system)
        for signature, systems in made.items():
            note(signature if len(made) == 1 else f"{', '.join(systems)}: {signature}")


def _cell(score: Any, ci: bool) -> str:
    form = score.measure.format
    if not ci or score.value != score.value:
        return shown(score.value, form)
    return f"{shown(score.value, form)} {interval(score.interval(*look().bootstrap), form)}"


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
