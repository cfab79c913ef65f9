"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import click

from captious.cli.command import (
    INPUT,
    INTERVALS,
    OUTPUT,
    Argument,
    Flag,
    OptionGroup,
    Target,
    parameter,
)
from captious.core.errors import InputError
from captious.metrics.options import (
    CHAIR_SYNONYMS,
    METEOR_DATA,
    OBJECTS,
    PARSER,
    STANDARD,
    Option,
    entry_points,
)

_TOKENIZERS = ("ptb", "simple", "none", "spacy-like", "raw")


def metric_names() -> list[str]:
    """Return the names of all measures and groups, for completion."""
    from captious.metrics import registry

    return [*registry.GROUPS, *registry.FAMILIES, *registry.names(), *registry.OF_FILES]


def metrics_flag(help: str, *old: str, metavar: str = "NAMES") -> Flag:
    """Return ``--metrics`` of a command, with its old names."""
    return Flag("--metrics", "-m", metavar=metavar, help=help, values=metric_names, old=old)


def writes_to(*flags: str, metavar: str, help: str, writes: Target = "file") -> Flag:
    """Return an option that names an output, under the heading of outputs."""
    return Flag(*flags, metavar=metavar, help=help, heading=OUTPUT, writes=writes)


References = Annotated[
    Path, Argument(metavar="REFS", help="Reference captions (COCO JSON, JSONL, CSV, TSV, …, or prepared).")
]
Predictions = Annotated[list[Path], Argument(metavar="PRED", help="Predictions, one file per system.")]
SomePredictions = Annotated[
    list[Path] | None, Argument(metavar="PRED", help="Predictions, one file per system.")
]
Metrics = Annotated[str, metrics_flag("Metrics, with commas ('captious metrics' lists all).")]
Tokenizer = Annotated[
    str | None,
    Flag(
        "--tokenizer",
        metavar="NAME",
        help="ptb (default), simple, none, spacy-like or raw.",
        heading=INPUT,
        values=_TOKENIZERS,
    ),
]
LengthControl = Annotated[
    bool,
    Flag("--length-control", help="Also compare systems at equal lengths of captions."),
]
Subset = Annotated[bool, Flag("--subset", help="Score only the images that both sides have.", heading=INPUT)]
AllowSeveral = Annotated[
    bool,
    Flag("--allow-several", help="Accept several predictions per image.", heading=INPUT),
]
JsonOut = Annotated[
    str | None,
    writes_to("--json", metavar="OUT", help="Write JSON to a file ('-' for stdout)."),
]
PerImage = Annotated[
    Path | None,
    writes_to("--per-image", metavar="OUT", help="Write the score of every image (OUT.csv or OUT.json)."),
]
Plots = Annotated[
    Path | None,
    writes_to("--plots", metavar="DIR", help="Write figures into this folder.", writes="folder"),
]
SaveTo = Annotated[
    Path | None,
    writes_to(
        "--output", "-o", metavar="OUT", help="Save the scores: NAME.scores, or a folder.", writes="scores"
    ),
]
NoTexts = Annotated[bool, Flag("--no-texts", help="Save scores without the captions.", heading=OUTPUT)]
Part = Annotated[
    bool,
    Flag("--part", help="Predictions of some images, against all references.", heading=INPUT),
]
Split = Annotated[
    str | None,
    Flag(
        "--split",
        metavar="NAMES",
        help="Splits of the references: test, or train,restval.",
        heading=INPUT,
    ),
]
Confidence = Annotated[
    bool, Flag("--ci", help="Show bootstrap confidence intervals over images.", heading=INTERVALS)
]
Names = Annotated[
    list[str] | None,
    Flag(
        "--name",
        metavar="NAME",
        help="Name of a system, in the order of the files; repeatable.",
        heading=INPUT,
    ),
]
WithSignatures = Annotated[
    bool, Flag("--signature", help="Print signatures: how numbers were made.", heading=OUTPUT)
]
MeteorData = Annotated[str | None, Flag("--meteor-data", metavar=METEOR_DATA.metavar, help=METEOR_DATA.help)]
Objects = Annotated[str | None, Flag("--objects", metavar=OBJECTS.metavar, help=OBJECTS.help)]
ChairSynonyms = Annotated[
    str | None, Flag("--chair-synonyms", metavar=CHAIR_SYNONYMS.metavar, help=CHAIR_SYNONYMS.help)
]
ParserName = Annotated[
    str | None,
    Flag("--parser", metavar=PARSER.metavar, help=PARSER.help, values=("fast", "grammar", "exact")),
]
GRAMMAR_HELP = "CoreNLP's models for '--parser exact': the jar, or englishPCFG.ser.gz."
Grammar = Annotated[
    str | None,
    Flag(
        "--grammar",
        metavar="PATH",
        help=GRAMMAR_HELP,
    ),
]
Training = Annotated[
    Path | None,
    Flag(
        "--training",
        metavar="CAPTIONS",
        help="Training captions, for the novelty of captions.",
        heading=INPUT,
        old=("--train",),
    ),
]
Threads = Annotated[int, Flag("--jobs", "-j", min=1, help="Threads of PyTorch.", old=("--threads",))]
Backbone = Annotated[
    Path | None,
    Flag("--backbone", metavar="NET.onnx", help="Network that computes features of photographs."),
]
BackboneOutput = Annotated[
    str | None,
    Flag("--backbone-output", metavar="NAME", help="Output of the network to use (default: its last map)."),
]
BareIds = Annotated[
    Path | None, Flag("--ids", metavar="FILE", help="Ids of the images of a bare array, one per line.")
]
Exclude = Annotated[
    Path | None,
    Flag(
        "--exclude",
        metavar="CAPTIONS",
        help="Exclude the images of this file of captions from training.",
    ),
]
Lambda = Annotated[float | None, Flag("--lambda", metavar="λ", help="Weight of the language model.")]
Alpha = Annotated[
    float | None, Flag("--alpha", metavar="α", help="Weight of the first of two language models.")
]

PrintTo = Annotated[
    Path | None,
    writes_to("--output", "-o", metavar="OUT", help="Write the result to a file ('-' for stdout)."),
]


def to_file(metavar: str, help: str) -> Flag:
    """Return ``--output`` of a command that writes one file, which is not the printed result."""
    return Flag("--output", "-o", metavar=metavar, help=help, writes="file")


def random_seed(product: str) -> Flag:
    """Return ``--seed`` of a command that makes something at random."""
    return Flag("--seed", min=0, help=f"Random seed. The same seed gives the same {product}.")


@dataclass
class ColumnOptions(OptionGroup):
    """Columns of the files that a command reads captions from."""

    heading: ClassVar[str] = INPUT

    caption_column: Annotated[
        str | None,
        Flag(
            "--caption-column",
            metavar="NAME",
            help="Column or key of the captions; NAME,NAME: the first (numbered: all).",
        ),
    ] = None
    id_column: Annotated[
        str | None,
        Flag(
            "--id-column",
            metavar="NAME",
            help="Column or key of the image ids.",
            old=("--image-column",),
        ),
    ] = None

    def active(self, values: dict[str, Any]) -> AbstractContextManager[None]:
        from captious.io import columns

        return columns(self.caption_column, self.id_column)


@dataclass
class Jobs(OptionGroup):
    """The number of threads."""

    jobs: Annotated[
        int | None,
        Flag(
            "--jobs",
            "-j",
            min=1,
            help="Threads (default: all processors).",
        ),
    ] = None

    def active(self, values: dict[str, Any]) -> AbstractContextManager[None]:
        from captious.core.threads import working

        return working(self.jobs or 0)


@dataclass
class PrintedOutput(OptionGroup):
    """``-o`` of commands that print their result: it goes to a file, completely or not at all."""

    output: PrintTo = None

    @contextmanager
    def active(self, values: dict[str, Any]) -> Iterator[None]:
        from captious.core.writing import atomic_write, is_standard

        if self.output is None or is_standard(self.output):
            yield
            return
        if is_standard(values.get("json")):
            raise InputError(
                "'--json -' and '-o' both say where the result goes; with -o, give --json a file or use "
                "--format json"
            )
        failed: SystemExit | None = None
        with (
            atomic_write(self.output) as temporary,
            temporary.open("w", encoding="utf-8", errors="backslashreplace") as file,
            redirect_stdout(file),
        ):
            try:
                yield
            except SystemExit as error:
                # The result of a failed check is complete, too.
                failed = error
        if failed is not None:
            raise failed


MetricOption = Annotated[
    list[str] | None,
    Flag("--option", "-O", metavar="NAME=VALUE", help="Set an option of a metric; repeatable."),
]
_UnlistedGrammar = Annotated[str | None, Flag("--grammar", metavar="PATH", listed=False)]


class MeasureOptions(dict[str, Any], OptionGroup):
    """Options of measures by name: a flag for each that measures declare, and ``--option NAME=VALUE``."""

    heading: ClassVar[str] = "Metric options"
    note: ClassVar[str] = "'captious metrics NAME' lists the options of a metric, such as --df FILE."

    def __init__(self, *, option: list[str] | None, grammar: str | None, **named: Any) -> None:
        for pair in option or ():
            name, equals, value = pair.partition("=")
            if not equals:
                raise InputError(f"an option is written NAME=VALUE, not '{pair}'")
            self[name.strip().replace("-", "_")] = _value(value)
        named["parser"] = parser_choice(named.get("parser"), grammar)
        self.update({name: value for name, value in named.items() if value is not None})

    @classmethod
    def parameters(cls) -> list[click.Parameter]:
        declared: dict[str, Any] = {
            o.name: Annotated[
                o.kind | None,
                Flag(
                    flag_of(o),
                    metavar=o.metavar,
                    help=o.help,
                    values=o.choices or None,
                    old=(o.flag,) if flag_of(o) != o.flag else (),
                    listed=False,
                ),
            ]
            for o in known_options().values()
        }
        declared |= {"grammar": _UnlistedGrammar, "option": MetricOption}
        return [p for name, annotation in declared.items() if (p := parameter(name, annotation, None))]


def number_range(text: str, flag: str) -> tuple[float, float]:
    """Return the two numbers of ``FROM:TO``, or one number twice."""
    low, _, high = text.partition(":")
    try:
        return float(low), float(high or low)
    except ValueError:
        raise InputError(f"{flag} is a number, or two as FROM:TO, not '{text}'") from None


def flag_of(option: Option) -> str:
    """Return the flag of a measure's option."""
    return "--training" if option.name == "train" else option.flag


def known_options() -> dict[str, Option]:
    """Return the options of our own measures and of measures in installed packages."""
    options = {option.name: option for option in STANDARD}
    for point in entry_points():
        # A package that cannot be loaded is reported when its measure is requested.
        with suppress(Exception):
            options |= {option.name: option for option in point.load().options if option.name not in options}
    return options


def parser_choice(parser: str | None, grammar: str | None) -> str | None:
    """Combine ``--parser`` and ``--grammar``."""
    if grammar is None:
        return parser
    if parser is not None and parser.casefold() != "exact":
        raise InputError(f"--grammar belongs to '--parser exact', not to the parser '{parser}'")
    return f"exact={grammar}"


def _value(text: str) -> Any:
    """Return a whole number, a decimal number or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
