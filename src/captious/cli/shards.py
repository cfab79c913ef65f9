"""``captious score SHARD… --references REFS --engine …``: what ``score`` does where captions come in shards."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli.look import look, number
from captious.cli.output import SUFFIX, is_taken, note, write_json
from captious.errors import InputError, printable
from captious.writing import is_standard

_PANEL = "Captions in shards"

Given = Annotated[
    Path | None,
    typer.Option("--references", metavar="REFS", rich_help_panel=_PANEL, help="References; all arguments are then shards of captions (Parquet, JSONL, tar; files, folders, patterns)."),
]
EngineName = Annotated[
    str | None,
    typer.Option("--engine", metavar="ENGINE", rich_help_panel=_PANEL, help="Score shards on local (processes), dask[=ADDRESS], ray[=ADDRESS] or spark[=MASTER]; without --references for metrics that need none."),
]
OnError = Annotated[
    str | None, typer.Option("--on-error", metavar="stop|skip", rich_help_panel=_PANEL, help="What a bad row or shard does (default: stop).")
]
DryRun = Annotated[bool, typer.Option("--dry-run", rich_help_panel=_PANEL, help="Say how many shards, rows and bytes there are, and roughly how long it would take.")]
Top = Annotated[
    int | None, typer.Option("--top", metavar="K", min=1, rich_help_panel=_PANEL, help="Approximate counts: keep K counters, sketch what is different; errors are stated.")
]
FalseRate = Annotated[
    float | None, typer.Option("--false-rate", metavar="P", rich_help_panel=_PANEL, help="How often the filter of training n-grams may err, for Novel-1 … Novel-4 (default: 0.001).")
]

_ALONE = "ASL,SDSL,Types,Hapax,TTR1,TTR2,Distinct"
_NAMES = {"given_references": Given, "engine": EngineName, "on_error": OnError, "dry_run": DryRun, "top": Top, "false_rate": FalseRate}


def takes_shards(command: Callable[..., None], show: Callable[..., None]) -> Callable[..., None]:
    """Give ``score`` the options for shards. With one of them, all of its arguments are shards; ``show`` prints its table."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(**values: Any) -> None:
        shards = {name: values.pop(name, None) for name in _NAMES}
        if any(value not in (None, False) for value in shards.values()):
            score_shards(show, **values, **shards)
            return
        if not values.get("predictions"):
            raise InputError(
                "predictions are missing: captious score REFS PRED … (for shards of captions: captious score SHARD … --references REFS)"
            )
        command(**values)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False if name == "dry_run" else None, annotation=annotation)
        for name, annotation in _NAMES.items()
    ]
    own = list(signature.parameters.values())
    place = next((i for i, parameter in enumerate(own) if parameter.kind is inspect.Parameter.VAR_KEYWORD), len(own))
    run.__signature__ = signature.replace(parameters=[*own[:place], *added, *own[place:]])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *added]}
    return run


def score_shards(
    show: Callable[..., None],
    *,
    references: Path,
    predictions: list[Path] | None,
    metrics: str,
    ci: bool,
    signature: bool,
    tokenizer: str | None,
    name: list[str] | None,
    json: str | None,
    output: Path | None,
    given: dict[str, Any],
    given_references: Path | None,
    engine: str | None,
    on_error: str | None,
    dry_run: bool,
    top: int | None,
    false_rate: float | None,
    **others: Any,
) -> None:
    """Score shards, and show the whole."""
    from captious import scale
    from captious.io.columns import given as columns
    from captious.io.columns import known_columns

    wrong = [f"--{option.replace('_', '-')}" for option in ("subset", "part", "per_image", "allow_several", "no_texts") if others.get(option)]
    if wrong:
        raise InputError(f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} for files of predictions, not for shards")
    if name is not None and len(name) > 1:
        raise InputError(f"shards are of one system, and {len(name)} names were given")
    if output is not None and is_standard(output):
        raise InputError("the scores of shards go to files: give a folder, or a name that ends in .scores for the merged scores")
    as_file = output is not None and output.name.endswith(SUFFIX)
    options_of = dict(given)
    settings = {
        "output": None if as_file else output, "executor": engine or "local", "on_error": on_error or "stop",
        "image_column": columns().ids or None, "caption_column": columns().captions or None, "tokenizer": tokenizer,
        "train": options_of.pop("train", None), "false_rate": 1e-3 if false_rate is None else false_rate, "top": top,
    }  # fmt: skip
    # What is measured unless somebody says what: without references, what the captions say by themselves.
    wanted = _ALONE if metrics == "coco" and given_references is None else metrics
    shards = [references, *(predictions or [])]
    if dry_run:
        with known_columns():
            found = scale.forecast(shards, given_references, wanted, **settings, **options_of)
        print(found)
        for shard, why in found.faults.items():
            print(f"{printable(shard)}: {printable(why)}")
        return
    # The columns named are those of the shards; references are found by the names that are known.
    with known_columns():
        result = scale.score(shards, given_references, wanted, name=(name or ["captions"])[0], **settings, **options_of)
    if as_file and output is not None:
        result.scores.save(output)
        result.files.append(output)
    if json is not None:
        write_json(result.to_json(ci=look().bootstrap if ci else False), json)
    if is_taken(json):
        return
    if len(result.scores):
        show([result.scores], ci=ci, signature=signature)
    for line in summary(result):
        note(line)


def summary(result: Any) -> list[str]:
    """What there is to say below the table."""
    lines = []
    if result.values:
        formats = {"Types": ",.0f", "Hapax": ".1%", "Distinct": ".2%"}
        listed = [f"{key} {number(value, formats[key])}" + (f" ({result.errors[key]})" if key in result.errors else "") for key, value in result.values.items()]
        lines.append(", ".join(listed))
    lines += [f"{key}: {why}" for key, why in result.errors.items() if key not in result.values]
    text = f"{result.rows:,} captions in {len(result.shards):,} shard{'s' if len(result.shards) != 1 else ''}"
    if result.kept:
        text += f", {result.kept:,} of them from an earlier run"
    worked = sum(done.rows for done in result.shards if not done.kept)
    if worked:
        text += f"; {result.seconds:,.1f} s, {worked / result.seconds:,.0f} captions a second on {result.workers} worker{'s' if result.workers != 1 else ''} ({result.engine})"
    lines.append(text)
    if result.bad:
        first = next(done for done in result.shards if done.bad)
        row, why = first.listed[0]
        lines.append(f"{result.bad:,} bad rows were left out; the first: {printable(first.name)}, row {row:,}: {printable(why)}")
    lines += [f"left out: {printable(why)}" for why in list(result.faults.values())[:10]]
    if len(result.faults) > 10:
        lines.append(f"… {len(result.faults):,} shards were left out in all")
    return lines
