"""Arguments and options that several commands share, and what they turn into."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from captious.errors import InputError
from captious.measures.options import (
    CHAIR_SYNONYMS,
    ENTRY_POINTS,
    METEOR_DATA,
    OBJECTS,
    PARSER,
    STANDARD,
    Option,
)

References = Annotated[Path, typer.Argument(metavar="REFS", help="Reference captions (COCO JSON, JSONL, CSV, TSV, …, or prepared).")]
Predictions = Annotated[list[Path], typer.Argument(metavar="PRED…", help="Predictions, one file per system.")]
Metrics = Annotated[
    str, typer.Option("--metrics", "-m", help="coco, all, or names separated by commas ('captious metrics' lists them).")
]
Tokenizer = Annotated[
    str | None,
    typer.Option("--tokenizer", help="ptb (as the COCO tools), simple, none, …; default: ptb, or that of prepared references."),
]
Subset = Annotated[bool, typer.Option("--subset", help="Score the images that both sides have.")]
AllowSeveral = Annotated[
    bool, typer.Option("--allow-several", help="An image may have several predictions; each is scored.")
]
JsonOut = Annotated[str | None, typer.Option("--json", metavar="OUT", help="Write JSON to a file, or '-' for stdout.")]
SaveTo = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="OUT", help="Save the scores: one system to NAME.scores, several into a folder."),
]
NoTexts = Annotated[bool, typer.Option("--no-texts", help="Save the scores without the captions themselves.")]
Part = Annotated[
    bool, typer.Option("--part", help="The predictions are of a part of the images: score them against all references.")
]
Confidence = Annotated[bool, typer.Option("--ci", help="Show 95 % bootstrap confidence intervals over images.")]
WithSignatures = Annotated[bool, typer.Option("--signature", help="Also print how each number was made.")]
MeteorData = Annotated[str | None, typer.Option("--meteor-data", metavar=METEOR_DATA.metavar, help=METEOR_DATA.help)]
Objects = Annotated[str | None, typer.Option("--objects", metavar=OBJECTS.metavar, help=OBJECTS.help)]
ChairSynonyms = Annotated[str | None, typer.Option("--chair-synonyms", metavar=CHAIR_SYNONYMS.metavar, help=CHAIR_SYNONYMS.help)]
ParserName = Annotated[str | None, typer.Option("--parser", metavar=PARSER.metavar, help=PARSER.help)]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-O", metavar="NAME=VALUE", help="An option of a metric, such as combine=max; repeatable."),
]


def takes_measure_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command a flag for each option that measures declare, and ``--option NAME=VALUE`` for any.

    What is given arrives as the argument ``given``.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "given"]
    declared = list(known_options().values())
    flags = [
        _parameter(o.name, Annotated[o.kind | None, typer.Option(o.flag, metavar=o.metavar, help=o.help)]) for o in declared
    ]
    flags.append(_parameter("option", Options))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        pairs = values.pop("option", None)
        named = {o.name: values.pop(o.name, None) for o in declared}
        command(**values, given=measure_options(pairs, **named))

    run.__signature__ = signature.replace(parameters=[*own, *flags])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *flags]}
    return run


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def known_options() -> dict[str, Option]:
    """Options of our own measures, and of measures that installed packages bring."""
    from importlib.metadata import entry_points

    found = {option.name: option for option in STANDARD}
    for point in entry_points(group=ENTRY_POINTS):
        for option in getattr(point.load(), "options", ()):
            found.setdefault(option.name, option)
    return found


def measure_options(given: list[str] | None, **named: Any) -> dict[str, Any]:
    """The options of measures, from NAME=VALUE pairs (numbers become numbers) and from options with a name of their own."""
    parsed: dict[str, Any] = {}
    for item in given or []:
        name, equals, value = item.partition("=")
        if not equals:
            raise InputError(f"an option is written NAME=VALUE, not '{item}'")
        parsed[name.strip().replace("-", "_")] = _value(value)
    return parsed | {name: value for name, value in named.items() if value is not None}


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
