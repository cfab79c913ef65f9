"""Completion of commands and options in the shell."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from captious.core.errors import InputError, WriteError


def install(command: click.Command, name: str = "captious") -> Path:
    """Write the completion script for the user's shell, and have bash and zsh read it when they start."""
    shell = Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(shell)
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
