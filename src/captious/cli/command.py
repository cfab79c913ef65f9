"""Click commands from functions.

Each parameter of a command's function carries its :class:`Flag` or :class:`Argument` as an annotation:
``Annotated[int, Flag("--seed", min=0, help="Seed of the bootstrap.")]``. Options that belong together are the
fields of an :class:`OptionGroup`. The types of options convert values and complete them in the shell.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import click
from click.shell_completion import CompletionItem, FishComplete, get_completion_class

from captious.core.errors import InputError, WriteError
from captious.core.writing import check_file, check_folder, is_standard

#: Values to complete: a list of texts, or a function that returns it.
Values = Sequence[str] | Callable[[], Sequence[str]]


class NumberType(click.ParamType[Any]):
    """A whole or decimal number, within bounds."""

    def __init__(self, kind: type, low: float | None = None, high: float | None = None) -> None:
        self.kind, self.low, self.high = kind, low, high
        self.name = "integer" if kind is int else "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = self.kind(value)
        except ValueError:
            number = None
        too_low = self.low is not None and number is not None and number < self.low
        too_high = self.high is not None and number is not None and number > self.high
        if number is None or number != number or too_low or too_high:
            self.fail(f"takes {self._described()}, not '{value}'", param, ctx)
        return number

    def _described(self) -> str:
        noun = "a whole number" if self.kind is int else "a number"
        if self.low is not None and self.high is not None:
            return f"{noun} from {self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"{noun} of at least {self.low:g}"
        return noun if self.high is None else f"{noun} of at most {self.high:g}"


class TextType(click.ParamType[Any]):
    """Text, or the path of a file or a folder.

    Lists of ``values`` are completed part by part, anything else with the names of files or folders.
    """

    name = "text"

    def __init__(self, kind: type = str, values: Values | None = None, *, folder: bool = False) -> None:
        self.kind, self.values, self.folder = kind, values, folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.kind(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[Any]]:
        if self.values is None:
            return [CompletionItem(incomplete, type="dir" if self.folder else "file")]
        start, comma, part = incomplete.rpartition(",")
        values = self.values() if callable(self.values) else self.values
        return [
            CompletionItem(start + comma + value)
            for value in values
            if value.casefold().startswith(part.casefold())
        ]


class _FishComplete(FishComplete):
    """Completion in fish, with values that contain commas."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split --max 1 ","')


def install_completion(command: click.Command, name: str = "captious") -> Path:
    """Write the completion script for the user's shell, and have bash and zsh read it when they start."""
    shell = Path(os.environ.get("SHELL", "")).name
    kind = _FishComplete if shell == "fish" else get_completion_class(shell)
    if kind is None or shell not in ("bash", "zsh", "fish"):
        raise InputError(f"completion works in bash, zsh and fish; the variable SHELL names '{shell}'")
    script = kind(command, {}, name, f"_{name.upper()}_COMPLETE").source()
    home = Path.home()
    path = (
        home / f".config/fish/completions/{name}.fish"
        if shell == "fish"
        else home / f".{name}-complete.{shell}"
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="utf-8")
        if shell != "fish":
            _add_line(home / f".{shell}rc", f". {path}")
    except OSError as error:
        raise WriteError(f"cannot install completion in {home}: {error.strerror or error}") from None
    return path


def _add_line(file: Path, line: str) -> None:
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if line not in text.splitlines():
        with file.open("a", encoding="utf-8") as out:
            out.write(("" if text.endswith("\n") or not text else "\n") + line + "\n")


CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 110}

#: Headings of help pages.
INPUT, OUTPUT, INTERVALS = "Input", "Output", "Intervals"

#: Targets of output options. Scores go to a file ``NAME.scores`` or into a folder.
Target = Literal["file", "folder", "scores"]


class Flag:
    """An option of a command, with or without a value. Without flags, it is named after the parameter.

    Help pages list it under ``heading``. ``values`` are completed in the shell. ``old`` flags still work,
    with a warning. If the option ``writes`` something, the target is checked before the command starts.
    Options that are not ``listed`` are absent from the help page only.
    """

    def __init__(
        self,
        *flags: str,
        metavar: str | None = None,
        help: str = "",
        min: float | None = None,
        max: float | None = None,
        heading: str | None = None,
        values: Values | None = None,
        old: Sequence[str] = (),
        writes: Target | None = None,
        listed: bool = True,
    ) -> None:
        self.flags, self.metavar, self.help = flags, metavar, help
        self.min, self.max = min, max
        self.heading, self.values, self.old = heading, values, tuple(old)
        self.writes, self.listed = writes, listed


class Argument:
    """A positional argument."""

    def __init__(self, *, metavar: str, help: str = "", values: Values | None = None) -> None:
        self.metavar, self.help, self.values = metavar, help, values


class OptionGroup:
    """Options that belong together: the fields of a dataclass.

    A command that uses their values has a parameter of this class. Where they only change the surroundings of
    a command (the number of threads, the format of tables), the group is passed to :func:`command`, which
    runs the command inside :meth:`active`.

    Help pages list them under ``heading`` unless they have their own, and ``note`` below that heading.
    """

    heading: ClassVar[str] = "Options"
    note: ClassVar[str] = ""

    @classmethod
    def parameters(cls) -> list[click.Parameter]:
        """Return the options as Click parameters, named after the fields."""
        # A field's default is an attribute of its class.
        return [
            p
            for name, hint in get_type_hints(cls, include_extras=True).items()
            if (p := parameter(name, hint, getattr(cls, name, None)))
        ]

    def active(self, values: dict[str, Any]) -> AbstractContextManager[None]:
        """Return the surroundings of a command, which may change its values before it runs."""
        return nullcontext()


class Command(click.Command):
    """A command whose help page lists arguments, its own options, and those of each group."""

    def __init__(
        self,
        name: str,
        sections: Sequence[tuple[str, Sequence[click.Parameter]]],
        notes: dict[str, str],
        **attributes: Any,
    ) -> None:
        super().__init__(
            name,
            context_settings=dict(CONTEXT),
            params=[parameter for _, parameters in sections for parameter in parameters],
            **attributes,
        )
        self.sections, self.notes = sections, notes

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        """Return the names of the help option, whatever the context says.

        Click keeps the option that the first context made, so it must not depend on that context.
        """
        return list(CONTEXT["help_option_names"])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        renamed = {old: p.opts[0] for p in self.params if isinstance(p, _Option) for old in p.old}
        return super().parse_args(ctx, _with_new_names(args, renamed, ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [(p.label, p.about) for p in self.params if isinstance(p, _Argument)]
        if arguments:
            with formatter.section("Arguments"):
                formatter.write_dl(arguments)
        by_heading: dict[str, list[click.Parameter]] = {
            heading: [] for heading in ("Options", INPUT, OUTPUT, INTERVALS)
        }
        for heading, parameters in self.sections:
            for p in parameters:
                by_heading.setdefault(getattr(p, "heading", None) or heading, []).append(p)
        if help_option := self.get_help_option(ctx):
            by_heading["Options"].append(help_option)
        for heading, parameters in by_heading.items():
            rows = [
                row for p in parameters if isinstance(p, click.Option) and (row := p.get_help_record(ctx))
            ]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows, col_max=28)
                    if heading in self.notes:
                        formatter.write_text(self.notes[heading])


def command(
    name: str, function: Callable[..., None], *groups: type[OptionGroup], help: str | None = None
) -> Command:
    """Make a Click command from a function and groups of options.

    The command runs inside all groups; the first is outermost. An option that the function declares itself
    replaces the group's option of that name.
    """
    signature = inspect.signature(function, eval_str=True).parameters
    own = {
        p.name: option
        for p in signature.values()
        if (option := parameter(p.name, p.annotation, p.default)) is not None
    }
    # Groups that the function takes as parameters, by their names there.
    taken = {name: p.annotation for name, p in signature.items() if _is_group(p.annotation)}
    shared = {
        kind: [p for p in kind.parameters() if p.name not in own] for kind in (*taken.values(), *groups)
    }
    sections = [
        (taken[name].heading, shared[taken[name]]) if name in taken else ("Options", [own[name]])
        for name in signature
        if name in taken or name in own
    ] + [(kind.heading, shared[kind]) for kind in groups]

    def callback(**values: Any) -> None:
        _check_targets([p for _, parameters in sections for p in parameters], values)
        for name, value in values.items():
            if isinstance(value, tuple):  # Click's form of a repeatable option
                values[name] = list(value) or (signature[name].default if name in signature else None)

        def make(kind: type[OptionGroup]) -> OptionGroup:
            return kind(**{p.name: values.pop(p.name) for p in shared[kind] if p.name})

        around = [make(kind) for kind in groups]
        values |= {name: make(kind) for name, kind in taken.items()}
        with ExitStack() as stack:
            for group in around:
                stack.enter_context(group.active(values))
            # Inside all groups, so that --quiet hides the warnings.
            for old, new in click.get_current_context().meta.get(_OLD_NAMES, []):
                warn_of_old_name(old, new)
            function(**values)

    text = inspect.cleandoc(help or function.__doc__ or "")
    notes = {group.heading: group.note for group in (*taken.values(), *groups) if group.note}
    return Command(name, sections, notes, callback=callback, help=text)


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, OptionGroup)


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
    # Click takes an explicit default of None for a value, so a required parameter has none.
    settings: dict[str, Any] = {"required": True} if required else {"required": False, "default": default}
    if isinstance(declared, Argument):
        return _Argument(name, declared, _type(kind, declared), several=several, **settings)
    flags = declared.flags or ("--" + name.replace("_", "-"),)
    if kind is bool:
        return _Option(declared, [name, *flags], is_flag=True, **settings)
    metavar = declared.metavar or {int: "N", float: "NUMBER", Path: "PATH"}.get(kind, "TEXT")
    return _Option(
        declared,
        [name, *flags],
        type=_type(kind, declared),
        multiple=several,
        show_default=not required and default not in (None, "") and not several,
        metavar=metavar,
        **settings,
    )


class _Option(click.Option):
    """A Click option with the properties of its declaration."""

    def __init__(self, declared: Flag, names: list[str], **attributes: Any) -> None:
        super().__init__(names, help=declared.help, **attributes)
        self.heading, self.listed = declared.heading, declared.listed
        self.old, self.writes = declared.old, declared.writes

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        return super().get_help_record(ctx) if self.listed else None


class _Argument(click.Argument):
    """An argument with a line in the help page."""

    def __init__(
        self,
        name: str,
        declared: Argument,
        kind: click.ParamType[Any],
        *,
        several: bool,
        **settings: Any,
    ) -> None:
        self.label, self.about = declared.metavar, declared.help
        usage = f"{declared.metavar}..." if several else declared.metavar
        usage = usage if settings["required"] else f"[{usage}]"
        super().__init__([name], type=kind, nargs=-1 if several else 1, metavar=usage, **settings)


def _declaration(annotation: Any) -> tuple[Any, Flag | Argument | None]:
    """Return the type of a parameter without None, and its declaration."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    kind, *notes = get_args(annotation)
    kinds = [part for part in get_args(kind) if part is not NoneType]
    if NoneType in get_args(kind) and len(kinds) == 1:
        (kind,) = kinds
    return kind, next((note for note in notes if isinstance(note, Flag | Argument)), None)


def _type(kind: Any, declared: Flag | Argument) -> click.ParamType[Any]:
    if isinstance(declared, Argument):
        return TextType(kind, None if kind is Path else declared.values)
    if kind in (int, float):
        return NumberType(kind, declared.min, declared.max)
    if kind is Path or declared.writes:
        return TextType(kind, folder=declared.writes == "folder")
    return TextType(kind, declared.values)


def _check_targets(parameters: Sequence[click.Parameter], values: dict[str, Any]) -> None:
    """Refuse outputs that cannot be written, before hours of work are lost."""
    for p in parameters:
        target = values.get(p.name or "")
        if not isinstance(p, _Option) or p.writes is None or target is None:
            continue
        is_file = p.writes == "file" or (p.writes == "scores" and Path(target).suffix == ".scores")
        if is_file or is_standard(target):
            check_file(target)
        else:
            check_folder(target)


# Old names ----------------------------------------------------------------------------------------

_OLD_NAMES = "captious.old_names"


def _with_new_names(args: list[str], renamed: dict[str, str], ctx: click.Context) -> list[str]:
    """Replace old names of options, and note them for a warning."""
    words: list[str] = []
    for place, word in enumerate(args):
        if word == "--":
            return words + args[place:]
        is_long = word.startswith("--")
        flag, equals, value = word.partition("=") if is_long else (word[:2], "", word[2:])
        if flag not in renamed:
            words.append(word)
            continue
        ctx.meta.setdefault(_OLD_NAMES, []).append((flag, renamed[flag]))
        if is_long or not value:
            words.append(renamed[flag] + equals + value)
        else:
            words += [renamed[flag], value]
    return words


def warn_of_old_name(old: str, new: str) -> None:
    """Warn of an option that has another name since an earlier version."""
    from captious.io import CaptionWarning

    warnings.warn(CaptionWarning(f"the option {old} is now called {new}"), stacklevel=2)
