"""``captious score``: a table with one row per system, also of captions in shards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from captious.cli import options
from captious.cli.command import INPUT, Flag, OptionGroup, command
from captious.cli.formatting import IntervalTables, counted, look, number
from captious.cli.output import is_taken, note, write_json
from captious.cli.score_tables import (
    length_control_json,
    print_length_control,
    show,
    systems_json,
    write_per_image,
)
from captious.core.errors import InputError, printable
from captious.core.writing import is_standard


@dataclass
class Shards(OptionGroup):
    """Options for captions in shards. With one of them, all arguments are shards."""

    heading: ClassVar[str] = "Captions in shards"

    given_references: Annotated[
        Path | None,
        Flag(
            "--references",
            metavar="REFS",
            help="References; all arguments are then shards.",
        ),
    ] = None
    engine: Annotated[
        str | None,
        Flag(
            "--engine",
            metavar="ENGINE",
            help="local, dask[=ADDRESS], ray[=ADDRESS], spark[=MASTER].",
            values=("local", "dask", "ray", "spark"),
        ),
    ] = None
    on_error: Annotated[
        str | None,
        Flag(
            "--on-error",
            metavar="stop|skip",
            help="Effect of a bad row or shard (default: stop).",
            values=("stop", "skip"),
        ),
    ] = None
    dry_run: Annotated[
        bool,
        Flag(
            "--dry-run",
            help="Print numbers of shards and rows and a forecast.",
        ),
    ] = False
    top: Annotated[
        int | None,
        Flag(
            "--top",
            metavar="K",
            min=1,
            help="Approximate counts with K counters.",
        ),
    ] = None
    false_rate: Annotated[
        float | None,
        Flag(
            "--false-rate",
            metavar="P",
            help="Error rate of Novel-1 … Novel-4 (default: 0.001).",
        ),
    ] = None

    @property
    def requested(self) -> bool:
        """Whether one of these options was given."""
        return any(value not in (None, False) for value in vars(self).values())


def sides(
    files: list[Path], metrics: str, metric_options: dict[str, Any], *, no_references: bool
) -> tuple[Path | None, list[Path]]:
    """Divide files into references and predictions. A file that holds both sides is given alone."""
    from captious.io.describe import missing_side
    from captious.metrics.registry import make_measures

    if no_references:
        return None, files
    path = files[0]
    if len(files) > 1:
        return path, files[1:]
    reason = missing_side(path)
    if reason is None:
        return path, [path]
    if all("references" not in one.needs for one in make_measures(metrics, metric_options)):
        return None, [path]
    raise InputError(
        f"predictions are missing: captious score REFS PRED … ({reason}). One file alone is "
        "scored if it holds both sides, as a harness's log does. For shards of captions: "
        "captious score SHARD … --references REFS"
    )


def score_shards(
    files: list[Path],
    shards: Shards,
    metrics: str,
    metric_options: dict[str, Any],
    *,
    ci: bool,
    signature: bool,
    tokenizer: str | None,
    part: bool,
    name: list[str] | None,
    json: str | None,
    output: Path | None,
    others: dict[str, Any],
) -> None:
    """Score shards, and print the merged scores. ``others`` are options that shards do not have."""
    from captious import scale
    from captious.io.caption_files import known_columns
    from captious.io.caption_files import selected as columns

    wrong = [option for option, value in others.items() if value]
    if wrong:
        raise InputError(
            f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} for files of predictions, not for "
            "shards" + ("; to score the images that the shards have: --part" if "--subset" in wrong else "")
        )
    if name is not None and len(name) > 1:
        raise InputError(f"shards are of one system, and {len(name)} names were given")
    if output is not None and is_standard(output):
        raise InputError(
            "the scores of shards go to files: give a folder, or a name that ends in .scores for the merged "
            "scores"
        )
    # The default without references is measures that need none.
    given = shards.given_references
    wanted = None if metrics == "coco" and given is None else metrics
    settings = {
        "output": output,
        "executor": shards.engine or "local",
        "part": part,
        "on_error": shards.on_error or "stop",
        "image_column": columns().ids or None,
        "caption_column": columns().captions or None,
        "tokenizer": tokenizer,
        "false_rate": 1e-3 if shards.false_rate is None else shards.false_rate,
        "top": shards.top,
        **metric_options,
    }
    # The options name columns of the shards. Columns of references are recognised by their usual names.
    with known_columns():
        if shards.dry_run:
            forecast = scale.forecast(files, given, wanted, **settings)
            print(forecast)
            for shard, reason in forecast.faults.items():
                print(f"{printable(shard)}: {printable(reason)}")
            return
        result = scale.score(files, given, wanted, name=(name or ["captions"])[0], **settings)
    if json is not None:
        write_json(result.to_json(ci=look().bootstrap if ci else False, numbers=look().numbers), json)
    if is_taken(json):
        return
    if len(result.scores):
        show([result.scores], ci=ci, signature=signature)
    for line in summary(result):
        note(line)


def summary(result: Any) -> list[str]:
    """Return the lines below the table."""
    lines = []
    if result.values:
        formats = {"Types": ",.0f", "Hapax": ".1%", "Distinct": ".2%"}
        listed = [
            f"{key} {number(value, formats[key])}"
            + (f" ({result.errors[key]})" if key in result.errors else "")
            for key, value in result.values.items()
        ]
        lines.append(", ".join(listed))
    lines += [f"{key}: {why}" for key, why in result.errors.items() if key not in result.values]
    text = f"{result.rows:,} captions in {counted(len(result.shards), 'shard')}"
    if result.kept:
        text += f", {result.kept:,} of them from an earlier run"
    worked = sum(done.rows for done in result.shards if not done.kept)
    if worked:
        workers = counted(result.workers, "worker")
        speed = f"{worked / result.seconds:,.0f} captions a second"
        text += f"; {result.seconds:,.1f} s, {speed} on {workers} ({result.engine})"
    lines.append(text)
    if result.bad:
        first = next(done for done in result.shards if done.bad)
        row, why = first.listed[0]
        lines.append(
            f"{result.bad:,} bad rows were left out; the first: {printable(first.name)}, row {row:,}: "
            f"{printable(why)}"
        )
    lines += [f"left out: {printable(why)}" for why in list(result.faults.values())[:10]]
    if len(result.faults) > 10:
        lines.append(f"… {len(result.faults):,} shards were left out in all")
    return lines


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
    per_image: options.PerImage = None,
    output: options.SaveTo = None,
    no_texts: options.NoTexts = False,
    split: options.Split = None,
    length_control: options.LengthControl = False,
    no_references: Annotated[
        bool,
        Flag(
            "--no-references",
            help="All files are predictions, none are references.",
            heading=INPUT,
        ),
    ] = False,
    by_group: Annotated[
        str | None,
        Flag(
            "--group",
            metavar="COLUMN",
            help="Also score groups of images, by a column or length.",
            heading=INPUT,
        ),
    ] = None,
    group_file: Annotated[
        Path | None,
        Flag("--group-file", metavar="FILE", help="File with that column (default: REFS).", heading=INPUT),
    ] = None,
    *,
    metric_options: options.MeasureOptions,
    shards: Shards,
) -> None:
    """Score captions against references: one row per system.

    Captions by the million: captious score big/*.parquet --references REFS
    """
    from captious.api import score_systems
    from captious.results.length_control import length_control as control
    from captious.results.saved_scores import check_target
    from captious.results.score_groups import group_scores, read_groups
    from captious.results.scores import Scores

    files = [references, *(predictions or ())]
    if shards.requested:
        score_shards(
            files,
            shards,
            metrics,
            metric_options,
            ci=ci,
            signature=signature,
            tokenizer=tokenizer,
            part=part,
            name=name,
            json=json,
            output=output,
            others={
                "--subset": subset,
                "--per-image": per_image,
                "--allow-several": allow_several,
                "--no-texts": no_texts,
                "--no-references": no_references,
                "--split": split,
                "--group": by_group,
                "--group-file": group_file,
            },
        )
        return
    given, predictions = sides(files, metrics, metric_options, no_references=no_references)
    check_target(output, len(predictions))
    quiet = is_taken(json, per_image, output)
    if group_file is not None and by_group is None:
        raise InputError("--group-file needs the name of the column: give it with --group COLUMN")
    source = group_file or given or predictions[0]
    groups = read_groups(source, by_group) if by_group is not None else {}
    results = score_systems(
        given,
        predictions,
        metrics,
        tokenizer=tokenizer,
        subset=subset,
        part=part,
        several=allow_several or None,
        names=name,
        split=split,
        **metric_options,
    )
    grouped = [group_scores(scores, groups, by_group) for scores in results] if by_group is not None else []
    rows = control(results, bootstrap=look().bootstrap) if length_control else []
    if output is not None:
        Scores.save_all(results, output, texts=not no_texts)
    if per_image is not None:
        write_per_image(results, per_image)
    if json is not None:
        systems = systems_json(results, grouped, ci=ci)
        shown = None if given is None else str(given)
        write_json({"references": shown, "systems": systems, **length_control_json(rows)}, json)
    if not quiet:
        show(results, ci=ci, signature=signature, grouped=grouped)
        if rows:
            print_length_control(rows)


COMMAND = command("score", score, options.Jobs, options.ColumnOptions, IntervalTables)
