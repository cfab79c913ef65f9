"""Tables of scores: one row per system, with images and signatures below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.cli.formatting import counted, interval, look
from captious.cli.formatting import score as shown
from captious.cli.output import note, print_table, print_tidy, write_csv, write_json

if TYPE_CHECKING:
    from captious.results.length_control import LengthControl
    from captious.results.scores import Scores


def show(
    results: list[Any],
    *,
    ci: bool = False,
    signature: bool = False,
    title: str = "",
    grouped: Sequence[Any] = (),
    origin: bool = True,
) -> None:
    """Print the table of scores, and the numbers of images and references.

    A system with several captions per image gets a second row, with the best caption of each image. A value
    is marked as the best only among values that can be compared. Tables of ``grouped`` scores follow.
    """
    if look().format == "csv":
        print_tidy(
            row for scores in [*results, *grouped] for row in scores.tidy_rows(ci=ci and look().bootstrap)
        )
        print_origin(results, ci=ci)
        return
    names = list(dict.fromkeys(name for scores in results for name in scores))
    marks = marked(results, names, ci=ci)
    rows: list[list[str]] = []
    best: list[list[bool]] = []
    for i, scores in enumerate(results):
        rows.append([scores.system, *(cell(scores, name, ci=ci) for name in names)])
        best.append([False, *(i in marks.get(name, ()) for name in names)])
        if any(score.several for score in scores.values()):
            best_ones = (
                shown(scores[name].oracle, scores[name].measure.format) if name in scores else "–"
                for name in names
            )
            rows.append([f"{scores.system} (best of each image)", *best_ones])
            best.append([False] * (len(names) + 1))
    header = []
    for name in names:
        score = next(scores[name] for scores in results if name in scores)
        header.append(name if score.measure.higher_is_better else f"{name} ↓")
    print_table(title, ["system", *header], rows, best=best, turn=True)
    if origin:
        note_marks(marks, len(results), ci=ci)
        print_origin(results, ci=ci)
    if signature:
        print_signatures(results, ci=ci)
    if grouped:
        _show_groups(grouped, ci=ci)


def marked(systems: Sequence[Scores], names: Sequence[str], *, ci: bool) -> dict[str, list[int]]:
    """Return the systems to mark, by metric: the best value, or with intervals only a significant lead."""
    from captious.results.comparison import best_systems, leaders

    return leaders(systems, names, bootstrap=look().bootstrap) if ci else best_systems(systems, names)


def note_marks(marks: Mapping[str, Sequence[int]], systems: int, *, ci: bool) -> None:
    """Print what a mark means below a table of several systems."""
    from captious.results.comparison_result import ALPHA

    if systems < 2 or not (marks or ci):
        return
    sign = "bold" if look().format in ("markdown", "latex") else "*"
    if not ci:
        note(f"{sign}: the best value, which need not be significantly better (--ci tests it)")
    elif marks:
        note(f"{sign}: significantly better than every other system (paired test, Holm, p ≤ {ALPHA:g})")
    else:
        note(f"no {sign}: no system is significantly better than every other (paired test, p ≤ {ALPHA:g})")


def print_origin(results: list[Any], *, ci: bool = False) -> None:
    """Print numbers of images, references and left-out images below a table, once if all systems agree."""
    from captious.results.caption_lengths import describe_lengths

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
        # Rows of shards are groups of images, which cover all images of the references unless they say so.
        grouped = any("groups" in f for f in fields)
        total = next((int(f["refs"].partition("x")[0]) for f in fields if "refs" in f), None)
        partial = next((f["part"].partition("of")[0] for f in fields if "part" in f), None)
        if grouped:
            if total is None:
                continue
            images = int(partial) if partial is not None else total
        text = counted(images, "image")
        if total is not None and images < total:
            text = f"{images:,} of {total:,} images (--part)"
        if references is not None:
            text += f", {references} reference{'s' if references != '1' else ''} per image"
        if cut is not None:
            text += f"; {int(cut[1]) - int(cut[0]):,} of {int(cut[1]):,} images left out (--subset)"
        said.setdefault(text, []).append(scores.system)
    lines = [text if len(said) == 1 else f"{', '.join(systems)}: {text}" for text, systems in said.items()]
    lengths = describe_lengths([(scores.system, scores.lengths) for scores in results if len(scores)])
    lines += [lengths] if lengths else []
    lines += _without_value(results)
    if ci:
        how = look().bootstrap
        where = "low, high" if look().format == "csv" else "in brackets"
        lines.append(
            f"{where}: {100 * how.level:g} % intervals, {how.resamples:,} bootstrap resamples of the "
            f"images, seed {how.seed}"
        )
    if lines:
        note("\n".join(lines))


def _without_value(results: list[Any]) -> list[str]:
    """Return a line for each metric that some images have no value of."""
    by_text: dict[str, list[str]] = {}
    for scores in results:
        for name, score in scores.items():
            if score.counted < len(score.ids):
                text = f"{name}: {score.counted:,} of {len(score.ids):,} images have a value and count"
                by_text.setdefault(text, []).append(scores.system)
    return [
        text if len(systems) == len(results) else f"{', '.join(systems)}: {text}"
        for text, systems in by_text.items()
    ]


def _show_groups(grouped: Sequence[Any], *, ci: bool = False) -> None:
    """Print a table for each group of images, and one with the macro means."""
    from captious.results.score_groups import MACRO

    for group in dict.fromkeys(name for one in grouped for name in one.groups):
        results = [one.groups[group] for one in grouped if group in one.groups]
        images = max(len(score.ids) for scores in results for score in scores.values())
        size = counted(images, "image")
        show(results, ci=ci, title=f"{grouped[0].column}: {group} ({size})", origin=False)
    names = list(grouped[0].all)
    rows = []
    for one in grouped:
        rows.append([one.system])
        for name in names:
            mean, form = one.macro_mean(name), one.all[name].measure.format
            cell = shown(mean.value, form)
            if ci and mean.value == mean.value:
                cell += f" {interval(mean.interval(*look().bootstrap), form)}"
            rows[-1].append(cell)
    header = [name if grouped[0].all[name].measure.higher_is_better else f"{name} ↓" for name in names]
    print_table(f"{MACRO} over {len(grouped[0].groups)} groups", ["system", *header], rows, turn=True)
    if grouped[0].alone:
        note("each group was scored alone, with the document frequencies of its own references")
    else:
        note("all groups share the document frequencies and other weights of all images")


def print_length_control(rows: Sequence[LengthControl]) -> None:
    """Print differences of systems as they are, at equal length, and on images with captions equally long."""
    table = [
        [
            f"{row.system_b} − {row.system_a}",
            row.metric,
            f"{row.words_b - row.words_a:+.1f}",
            *(
                f"{shown(value, '+' + row.format)} {interval(bounds, '+' + row.format)}"
                for value, bounds in (
                    (row.difference, row.interval),
                    (row.adjusted, row.adjusted_interval),
                )
            ),
            "–" if row.explained != row.explained else f"{row.explained:.0%}",
            f"{shown(row.matched, '+' + row.format)} {interval(row.matched_interval, '+' + row.format)}"
            if row.matched_images
            else "–",
            f"{row.matched_images:,}",
        ]
        for row in rows
    ]
    header = ["systems", "metric", "words", "difference", "at equal length", "by length", "matched", "images"]
    print_table("length control", header, table, text=(0, 1), keys=2)
    note(
        "at equal length: regression on log length within systems; by length: share of the difference that "
        "length explains\nmatched: images on which the lengths differ by at most 10 %\ndifferences are of "
        "means over images; in brackets: intervals by bootstrap over images"
    )


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


def cell(scores: Any, name: str, *, ci: bool) -> str:
    """Return the value of a metric as text, with its interval if ``ci``; a dash where there is none."""
    if name not in scores:
        return "–"
    score = scores[name]
    form = score.measure.format
    text = shown(score.value, form)
    if not ci or score.value != score.value:
        return text
    return f"{text} {interval(score.interval(*look().bootstrap), form)}"


def systems_json(
    results: Iterable[Any], grouped: Iterable[Any] = (), *, ci: bool = False
) -> list[dict[str, Any]]:
    """Return the scores of systems for JSON, with those of groups of images."""
    style: dict[str, Any] = {"ci": ci and look().bootstrap, "numbers": look().numbers}
    systems: list[dict[str, Any]] = [scores.to_json(**style) for scores in results]
    for system, one in zip(systems, grouped):
        system["groups"] = one.to_json(**style)
    return systems


def length_control_json(rows: Sequence[LengthControl]) -> dict[str, Any]:
    """Return the comparison at equal lengths for JSON, nothing if it was not made."""
    return {"length_control": [row.to_json() for row in rows]} if rows else {}


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
