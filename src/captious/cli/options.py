"""Arguments and options that several commands share, and what they turn into."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from captious.errors import InputError
from captious.measures.options import CHAIR_SYNONYMS, METEOR_DATA, OBJECTS, PARSER, STANDARD, Option
from captious.measures.plugins import points

References = Annotated[Path, typer.Argument(metavar="REFS", help="Reference captions (COCO JSON, JSONL, CSV, TSV, …, or prepared).")]
Predictions = Annotated[list[Path], typer.Argument(metavar="PRED", help="Predictions, one file per system.")]
SomePredictions = Annotated[list[Path] | None, typer.Argument(metavar="PRED", help="Predictions, one file per system.")]
Metrics = Annotated[
    str, typer.Option("--metrics", "-m", help="coco, all, or names separated by commas ('captious metrics' lists them).")
]
Tokenizer = Annotated[
    str | None,
    typer.Option("--tokenizer", help="ptb (as in the COCO tools), simple, none or spacy-like (default: ptb, or that of prepared references)."),
]
Subset = Annotated[bool, typer.Option("--subset", help="Score only the images that both sides have.")]
AllowSeveral = Annotated[
    bool, typer.Option("--allow-several", help="Accept several predictions per image; each is scored.")
]
JsonOut = Annotated[str | None, typer.Option("--json", metavar="OUT", help="Write JSON to a file, or '-' for stdout.")]
SaveTo = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="OUT", help="Save the scores: one system as NAME.scores, several in a folder."),
]
NoTexts = Annotated[bool, typer.Option("--no-texts", help="Save the scores without the captions themselves.")]
Part = Annotated[
    bool, typer.Option("--part", help="The predictions cover only a part of the images; score them against all references.")
]
Confidence = Annotated[
    bool, typer.Option("--ci", help="Show bootstrap confidence intervals over images (95 %, or --level).")
]
Names = Annotated[
    list[str] | None, typer.Option("--name", metavar="NAME", help="Name of a system, in the order of the files; repeatable.")
]
WithSignatures = Annotated[bool, typer.Option("--signature", help="Also print signatures: how each number was made.")]
MeteorData = Annotated[str | None, typer.Option("--meteor-data", metavar=METEOR_DATA.metavar, help=METEOR_DATA.help)]
Objects = Annotated[str | None, typer.Option("--objects", metavar=OBJECTS.metavar, help=OBJECTS.help)]
ChairSynonyms = Annotated[str | None, typer.Option("--chair-synonyms", metavar=CHAIR_SYNONYMS.metavar, help=CHAIR_SYNONYMS.help)]
ParserName = Annotated[str | None, typer.Option("--parser", metavar=PARSER.metavar, help=PARSER.help)]
Grammar = Annotated[
    str | None, typer.Option("--grammar", metavar="PATH", help="CoreNLP's models for '--parser exact': the jar, or englishPCFG.ser.gz.")
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-O", metavar="NAME=VALUE", help="Set an option of a metric, such as combine=max; repeatable."),
]


CaptionColumn = Annotated[
    str | None,
    typer.Option("--caption-column", metavar="NAME", help="Column (or key) with the captions; with NAME,NAME the first that exists."),
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", "--image-column", metavar="NAME", help="Column (or key) with the image ids; with NAME,NAME the first that exists.")
]


def takes_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that reads captions the options ``--caption-column`` and ``--id-column``."""
    signature = inspect.signature(command, eval_str=True)
    added = [_parameter("caption_column", CaptionColumn), _parameter("id_column", IdColumn)]

    @functools.wraps(command)
    def run(*, caption_column: str | None = None, id_column: str | None = None, **values: Any) -> None:
        from captious.io import columns

        with columns(caption_column, id_column):
            command(**values)

    parameters = [*signature.parameters.values(), *added]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


Backbone = Annotated[
    Path | None, typer.Option("--backbone", metavar="NET.onnx", help="The network that looks at photographs.")
]
BackboneOutput = Annotated[
    str | None, typer.Option("--backbone-output", metavar="NAME", help="What to take of the network (default: its last map).")
]

Jobs = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Threads to use (default: all processors). Results do not depend on it.")
]


def takes_jobs(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that works long the option ``--jobs``."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(*, jobs: int | None = None, **values: Any) -> None:
        from captious.threads import working

        with working(jobs or 0):
            command(**values)

    parameters = [*signature.parameters.values(), _parameter("jobs", Jobs)]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


PrintTo = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="OUT", help="Write what is printed to a file instead ('-' for stdout).")
]


def takes_output(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that prints its result the option ``-o``: the result goes to a file, whole or not at all."""
    signature = inspect.signature(command, eval_str=True)

    @functools.wraps(command)
    def run(*, output: Path | None = None, **values: Any) -> None:
        from captious.writing import atomic_write, is_standard

        if output is None or is_standard(output):
            command(**values)
            return
        if is_standard(values.get("json")):
            raise InputError("'--json -' and '-o' both say where the result goes; with -o, give --json a file or use --format json")
        with (
            atomic_write(output) as temporary,
            temporary.open("w", encoding="utf-8", errors="backslashreplace") as file,
            redirect_stdout(file),
        ):
            command(**values)

    parameters = [*signature.parameters.values(), _parameter("output", PrintTo)]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


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
    flags += [_parameter("grammar", Grammar), _parameter("option", Options)]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        pairs, grammar = values.pop("option", None), values.pop("grammar", None)
        named = {o.name: values.pop(o.name, None) for o in declared}
        named["parser"] = parser_choice(named.get("parser"), grammar)
        command(**values, given=measure_options(pairs, **named))

    run.__signature__ = signature.replace(parameters=[*own, *flags])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *flags]}
    return run


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def known_options() -> dict[str, Option]:
    """Options of our own measures, and of measures that installed packages bring."""
    found = {option.name: option for option in STANDARD}
    for point in points():
        # A package that cannot be loaded is reported by whoever asks for its measure.
        with suppress(Exception):
            found |= {option.name: option for option in point.load().options if option.name not in found}
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


def parser_choice(parser: str | None, grammar: str | None) -> str | None:
    """What ``--parser`` and ``--grammar`` say together."""
    if grammar is None:
        return parser
    if parser is not None and parser.casefold() != "exact":
        raise InputError(f"--grammar belongs to '--parser exact', not to the parser '{parser}'")
    return f"exact={grammar}"


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
