"""``captious diversity``: how diverse the captions of each image are, beside people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.look import interval, look, takes_look
from captious.cli.look import score as shown
from captious.cli.output import check_target, is_taken, note, print_table, save_scores, write_csv, write_json
from captious.cli.score import print_origin, print_signatures
from captious.errors import InputError

#: Rows of the table, before accuracy; the JSON has every measure.
MEASURES = (
    "Self-CIDEr", "LSA", "1-mBLEU-1", "1-mBLEU-2", "1-mBLEU-3", "1-mBLEU-4", "1-mBLEU-mix",
    "Div-1", "Div-2", "Unique", "Novel", "Vocabulary",
)  # fmt: skip


def register(app: typer.Typer) -> None:
    app.command("diversity")(options.takes_jobs(options.takes_columns(takes_look(diversity))))


def diversity(
    references: options.References,
    samples: Annotated[
        list[Path], typer.Argument(metavar="SAMPLES", help="Several captions per image, one file per system.")
    ],
    df: Annotated[
        Path | None,
        typer.Option("--df", help="Document frequencies for Self-CIDEr and CIDEr (default: the references of the run)."),
    ] = None,
    kernel: Annotated[
        str, typer.Option("--kernel", help="Similarity inside Self-CIDEr: cider, cider-d, or a metric's name.")
    ] = "cider",
    accuracy: Annotated[
        str, typer.Option("--accuracy", "-a", help="Accuracy metrics, comma-separated; the first enters the F-measure.")
    ] = "CIDEr-D",
    beta2: Annotated[float, typer.Option("--beta2", help="β² of the F-measure.")] = 5.0,
    train: Annotated[
        Path | None, typer.Option("--train", metavar="CAPTIONS", help="Training captions, for the share of novel captions.")
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="Also measure the best 2, 5, 8 and 10 captions of each image.")] = False,
    human_scores: Annotated[
        Path | None,
        typer.Option("--human-scores", metavar="F", help="Human diversity scores (JSON: system → image → score)."),
    ] = None,
    ci: options.Confidence = False,
    signature: options.WithSignatures = False,
    name: options.Names = None,
    plots: Annotated[Path | None, typer.Option("--plots", metavar="DIR", help="Draw figures into a folder.")] = None,
    image: Annotated[
        list[str] | None, typer.Option("--image", help="Image for the latent space and the map; repeatable.")
    ] = None,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    output: options.SaveTo = None,
    no_texts: options.NoTexts = False,
    json: options.JsonOut = None,
    per_image: Annotated[
        Path | None, typer.Option("--per-image", metavar="OUT.csv", help="Write the measures of every image.")
    ] = None,
) -> None:
    """Measure the diversity of several captions per image: one column per system, and one for people (the references)."""
    from captious.figures import style
    from captious.measures.making import make_measures
    from captious.progress import track
    from captious.references import load_systems
    from captious.variety.sets import best as best_of
    from captious.variety.sets import diversity as measure
    from captious.variety.sets import human as measure_human
    from captious.variety.sets.api import read_df
    from captious.variety.sets.caption_kernels import make_kernel
    from captious.variety.training_captions import TrainingCaptions

    check_target(output, len(samples))
    quiet = is_taken(json, per_image, output)
    if plots is not None:
        style.pyplot("drawing figures of diversity")  # a missing package is reported before any work
    judged = read_human_scores(human_scores) if human_scores is not None else None
    table = read_df(df)
    metrics = make_measures(accuracy, {} if table is None else {"df": table}) if accuracy.strip() else []
    chosen = make_kernel(kernel, table)
    corpora = load_systems(references, samples, tokenizer=tokenizer, subset=subset, several=True, names=name or None)
    training = TrainingCaptions.read(train) if train is not None else None
    shared: dict[str, Any] = {
        "df": table, "kernel": chosen, "accuracy": metrics, "beta_squared": beta2, "train": training,
    }  # fmt: skip
    systems = [measure(corpus, **shared) for corpus in track(corpora, "measuring diversity")]
    people = measure_human(corpora[0], **shared)
    first = metrics[0].name if metrics else ""
    cut = {s.system: best_of(s.corpus, metric=metrics[0], df=table, kernel=chosen) for s in systems} if best and metrics else {}
    agreed = agreements(systems, judged) if judged is not None else []

    drawn: list[Path] = []
    if plots is not None:
        from captious.figures.diversity_figures import draw

        drawn = draw(
            systems, people, plots, df=table, kernel=chosen, accuracy=first or "CIDEr-D", images=image, beta_squared=beta2
        )
    if output is not None:
        save_scores([*systems, people], output, texts=not no_texts)
    if per_image is not None:
        write_per_image([*systems, people], per_image)
    if json is not None:
        write_json(
            {
                "references": str(references),
                "systems": [found.to_json(per_image=True, ci=ci and look().bootstrap) for found in systems],
                "human": people.to_json(per_image=True, ci=ci and look().bootstrap),
                **({"best": {name: [_best_json(row) for row in rows] for name, rows in cut.items()}} if cut else {}),
                **({"agreement": [row.to_json() for row in agreed]} if agreed else {}),
                **({"figures": [str(path) for path in drawn]} if drawn else {}),
            },
            json,
        )
    if not quiet:
        show([*systems, people], [metric.name for metric in metrics], ci=ci)
        print_origin(systems, ci=ci)
        if signature:
            print_signatures([*systems, people], ci=ci)
        if cut:
            show_best(cut, first)
        if agreed:
            show_agreement(agreed)
        if drawn:
            note(f"{len(drawn)} figures in {plots}: {', '.join(sorted({path.stem for path in drawn}))}")


def show(systems: list[Any], accuracies: list[str], *, ci: bool) -> None:
    """One row per measure and one column per system, people last; the best system of each row is marked."""
    wanted = [*MEASURES, *(f"{kind} {name}" for name in accuracies for kind in ("mean", "oracle")), "F-measure"]
    rows, best = [], []
    for name in wanted:
        known = {i: system[name] for i, system in enumerate(systems) if name in system}
        if not known:
            continue
        better = next(iter(known.values())).measure.higher_is_better
        # People are the yardstick, not a competitor.
        values = [score.value for i, score in known.items() if i < len(systems) - 1]
        fair = len({(score.signature, score.ids) for i, score in known.items() if i < len(systems) - 1}) == 1
        # Where all are equal, none is the best.
        top = (max if better else min)(values) if len(set(values)) > 1 and fair else None
        rows.append([name if better else f"{name} ↓", *(_cell(system, name, ci) for system in systems)])
        best.append([False, *(i in known and i < len(systems) - 1 and known[i].value == top for i in range(len(systems)))])
    header = [f"{len(systems[0].corpus):,} images", *(f"{system.system} ({system.corpus.candidates.sizes})" for system in systems)]
    print_table("captions per image in brackets", header, rows, best=best)


def _cell(row: Any, name: str, ci: bool) -> str:
    if name not in row:
        return "–"
    score = row[name]
    form = ".1f" if name == "Vocabulary" else ".4f"
    text = shown(score.value, form)
    return text if not ci else f"{text} {interval(score.interval(*look().bootstrap), form)}"


def show_best(cut: dict[str, Any], metric: str) -> None:
    """The best m captions of each image."""
    rows = []
    for name, listed in cut.items():
        for row in listed:
            scores = row.scores
            values = [scores[k].value for k in ("Self-CIDEr", "LSA", "1-mBLEU-mix", f"mean {metric}")]
            rows.append([name, str(row.m), f"{row.images:,}", *(shown(value) for value in values)])
    print_table(
        f"the m best captions of each image by {metric}",
        ["system", "m", "images", "Self-CIDEr", "LSA", "1-mBLEU-mix", f"mean {metric}"], rows,
    )  # fmt: skip


def _best_json(row: Any) -> dict[str, Any]:
    return {"m": row.m, "images": row.images, **row.scores.to_json()}


def agreements(systems: list[Any], judged: dict[str, dict[str, float]]) -> list[Any]:
    """Agreement of each measure with the human scores."""
    from captious.variety.sets import correlate_judgements

    return [
        correlate_judgements({found.system: found[name] for found in systems}, judged, measure=name)
        for name in ("Self-CIDEr", "LSA", "1-mBLEU-mix", "1-mBLEU-4", "Div-1", "Div-2")
        if all(name in found for found in systems)
    ]


def show_agreement(agreed: list[Any]) -> None:
    """Correlations with people."""
    rows = [
        [a.measure, f"{a.pearson:.3f}", f"{a.spearman:.3f}", f"{a.per_image_spearman:.3f}", f"{a.sets:,}", f"{a.images:,}"]
        for a in agreed
    ]
    print_table(
        "agreement with human diversity scores",
        ["measure", "Pearson", "Spearman", "Spearman per image", "sets", "images"], rows,
    )  # fmt: skip


def read_human_scores(path: Path) -> dict[str, dict[str, float]]:
    """``{system: {image: score}}`` from JSON."""
    import math

    from captious.io.content import read_json

    shape = 'expected {"system": {"image": score}}'
    found = read_json(path, f"human scores: {shape}")
    if not isinstance(found, dict) or not found:
        raise InputError(f"{path}: {shape}, found {type(found).__name__}")
    for system, scores in found.items():
        if not isinstance(scores, dict):
            raise InputError(f"{path}: {shape}, but '{system}' holds {type(scores).__name__}")
        for image, value in scores.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise InputError(f"{path}: the score of {system} for image {image} is {value!r}, not a number")
    return found


def write_per_image(rows: list[Any], target: Path) -> None:
    """One row per system and image."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    out: list[list[Any]] = [["system", "image_id", *names]]
    for row in rows:
        columns = {name: row[name].per_image for name in names if name in row}
        out.extend(
            [row.system, image, *(repr(columns[n][image]) if n in columns and image in columns[n] else "" for n in names)]
            for image in row.corpus.ids
        )
    write_csv(out, target)
