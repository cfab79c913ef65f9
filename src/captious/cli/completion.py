"""Types of options and arguments: how their values are converted and completed in the shell."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem, FishComplete, get_completion_class

from captious.core.errors import InputError, WriteError

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


class TextType(click.ParamType[str]):
    """Text. Lists of values are completed part by part, other texts with the names of files."""

    name = "text"

    def __init__(self, values: Values | None = None) -> None:
        self.values = values

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[Any]]:
        if self.values is None:
            return [CompletionItem(incomplete, type="file")]
        start, comma, part = incomplete.rpartition(",")
        values = self.values() if callable(self.values) else self.values
        return [
            CompletionItem(start + comma + value)
            for value in values
            if value.casefold().startswith(part.casefold())
        ]


class FileType(click.ParamType[Any]):
    """Path of a file or a folder, as ``str`` or ``Path``."""

    name = "path"

    def __init__(self, kind: type, *, folder: bool = False) -> None:
        self.kind, self.folder = kind, folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.kind(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[Any]]:
        return [CompletionItem(incomplete, type="dir" if self.folder else "file")]


class _FishComplete(FishComplete):
    """Completion in fish, with values that contain commas."""

    source_template = FishComplete.source_template.replace('string split ","', 'string split --max 1 ","')


def install(command: click.Command, name: str = "captious") -> Path:
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
