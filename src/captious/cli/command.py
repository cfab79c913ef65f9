"""Click commands from functions.

Each parameter of a command's function carries its :class:`Option` or :class:`Argument` as an annotation:
``Annotated[int, Option("--seed", min=0, help="Seed of the bootstrap.")]``. Options that several commands
share are the fields of an :class:`OptionGroup`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class Option:
    """An option. Without flags, it is named after the parameter."""

    def __init__(
        self,
        *flags: str,
        metavar: str | None = None,
        help: str = "",
        min: float | None = None,
        max: float | None = None,
    ) -> None:
        self.flags, self.metavar, self.help = flags, metavar, help
        self.min, self.max = min, max


class Argument:
    """A positional argument."""

    def __init__(self, *, metavar: str, help: str = "") -> None:
        self.metavar, self.help = metavar, help


class OptionGroup:
    """Options that several commands share: the fields of a dataclass.

    Help pages list them under ``heading``.
    """

    heading: ClassVar[str] = "Options"

    @classmethod
    def parameters(cls) -> list[click.Parameter]:
        """Return the options as Click parameters, named after the fields."""
        # A field's default is an attribute of its class.
        return [
            p
            for name, hint in get_type_hints(cls, include_extras=True).items()
            if (p := parameter(name, hint, getattr(cls, name, None)))
        ]

    def run(self, command: Callable[..., None], values: dict[str, Any]) -> None:
        """Call the command with its own values.

        Override this to set something up around it, or to change the values.
        """
        command(**values)


class Command(click.Command):
    """A command whose help page lists arguments, its own options, and those of each group."""

    def __init__(
        self, name: str, sections: Sequence[tuple[str, Sequence[click.Parameter]]], **attributes: Any
    ) -> None:
        super().__init__(
            name, params=[parameter for _, parameters in sections for parameter in parameters], **attributes
        )
        self.sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [(p.label, p.about) for p in self.params if isinstance(p, _Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        help_option = self.get_help_option(ctx)
        by_heading: dict[str, list[click.Parameter]] = {"Options": []}
        for heading, parameters in self.sections:
            by_heading.setdefault(heading, []).extend(parameters)
        by_heading["Options"] += [help_option] if help_option else []
        for heading, parameters in by_heading.items():
            rows = [
                row for p in parameters if isinstance(p, click.Option) and (row := p.get_help_record(ctx))
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=28)


def command(
    name: str, function: Callable[..., None], *groups: type[OptionGroup], help: str | None = None
) -> Command:
    """Make a Click command from a function and groups of options.

    The first group runs outermost. An option that the function declares itself replaces the group's option of
    that name.
    """
    signature = inspect.signature(function, eval_str=True)
    own = [
        option
        for p in signature.parameters.values()
        if (option := parameter(p.name, p.annotation, p.default))
    ]
    taken = {p.name for p in own}
    shared = [(group, [p for p in group.parameters() if p.name not in taken]) for group in groups]
    defaults = {p.name: p.default for p in signature.parameters.values()}

    def callback(**values: Any) -> None:
        values = {name: _listed(value, defaults.get(name)) for name, value in values.items()}
        call: Callable[..., None] = function
        for group, parameters in reversed(shared):
            call = partial(_run, group(**{p.name: values.pop(p.name) for p in parameters if p.name}), call)
        call(**values)

    text = inspect.cleandoc(help or function.__doc__ or "")
    sections = [("Options", own), *((group.heading, parameters) for group, parameters in shared)]
    return Command(name, sections, callback=callback, help=text)


def group(
    name: str, help: str, *commands: click.Command, cls: type[click.Group] = click.Group
) -> click.Group:
    """Make a command that has sub-commands."""
    return cls(name, commands=list(commands), help=help, no_args_is_help=True)


def parameter(name: str, annotation: Any, default: Any) -> click.Parameter | None:
    """Return the Click parameter that an annotation declares, or None if it declares none."""
    kind, declared = _declaration(annotation)
    if declared is None:
        return None
    required = default is inspect.Parameter.empty
    several = get_origin(kind) is list
    if several:
        (kind,) = get_args(kind)
    default = None if required else default
    if isinstance(declared, Argument):
        return _Argument(name, declared, _type(kind), several=several, required=required, default=default)
    flags = declared.flags or ("--" + name.replace("_", "-"),)
    if kind is bool:
        return click.Option([name, *flags], is_flag=True, default=default, help=declared.help)
    shown = default is not None and not several
    type_ = _type(kind, declared.min, declared.max)
    metavar = declared.metavar or {int: "INTEGER", float: "NUMBER", Path: "PATH"}.get(kind, "TEXT")
    return click.Option(
        [name, *flags],
        type=type_,
        multiple=several,
        required=required,
        default=default,
        show_default=shown,
        metavar=metavar,
        help=declared.help,
    )


class _Argument(click.Argument):
    """An argument with a line in the help page."""

    def __init__(
        self,
        name: str,
        declared: Argument,
        kind: click.ParamType[Any],
        *,
        several: bool,
        required: bool,
        default: Any,
    ) -> None:
        self.label, self.about = declared.metavar, declared.help
        usage = f"{declared.metavar}..." if several else declared.metavar
        usage = usage if required else f"[{usage}]"
        super().__init__(
            [name], type=kind, nargs=-1 if several else 1, required=required, default=default, metavar=usage
        )


def _declaration(annotation: Any) -> tuple[Any, Option | Argument | None]:
    """Return the type of a parameter without None, and its declaration."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    kind, *notes = get_args(annotation)
    kinds = [part for part in get_args(kind) if part is not NoneType]
    if NoneType in get_args(kind) and len(kinds) == 1:
        (kind,) = kinds
    return kind, next((note for note in notes if isinstance(note, Option | Argument)), None)


def _type(kind: Any, low: float | None = None, high: float | None = None) -> click.ParamType[Any]:
    if kind is Path:
        return click.Path(path_type=Path)
    if low is not None or high is not None:
        ranges: dict[Any, Any] = {int: click.IntRange, float: click.FloatRange}
        return ranges[kind](low, high)  # type: ignore[no-any-return]
    return {str: click.STRING, int: click.INT, float: click.FLOAT}[kind]


def _listed(value: Any, default: Any) -> Any:
    """Convert Click's tuple of a repeatable option to a list, or to the default if it is empty."""
    if not isinstance(value, tuple):
        return value
    return list(value) or default


def _run(group: OptionGroup, command: Callable[..., None], **values: Any) -> None:
    group.run(command, values)
