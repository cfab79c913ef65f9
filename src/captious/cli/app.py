"""The ``captious`` command: gathers the sub-commands and turns errors into one message and exit code 2."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import typer

from captious._version import __version__
from captious.cli.values import simplify
from captious.errors import one_message, printable

#: Modules of this package with a ``register(app)``; the order is that of the help page.
COMMANDS = [
    "score", "show", "compare", "report", "merge", "prepare", "diversity", "corpus", "agreement", "robustness", "metrics", "df", "parse", "tokenize", "demo",
    "scene", "concepts", "chair", "explain", "train", "generate", "critic", "rerank", "likelihood", "templates",
]  # fmt: skip

def _version(wanted: bool) -> None:
    if wanted:
        print(f"captious {__version__}")
        raise typer.Exit()


def _main(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version.")) -> None:
    pass


def application(commands: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command with all its sub-commands, or with some: to make every one of them takes as long as to score a few images."""
    made = typer.Typer(
        name="captious",
        help="The caption critic: how good, how diverse, how unique and how human-like are image captions?",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_main)
    for command in commands:
        import_module(f"captious.cli.{command}").register(made)
    return made


def __getattr__(name: str) -> Any:
    """``app``: the whole command, made when somebody asks for it."""
    if name == "app":
        globals()["app"] = application()
        return globals()["app"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _asked_for() -> Sequence[str]:
    """The sub-command of this run, if it names one as its first word; else all."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if first == "--version":
        return []
    return [first] if first in COMMANDS and not any(name.endswith("_COMPLETE") for name in os.environ) else COMMANDS


def main() -> None:
    """Entry point: every foreseeable mistake ends in one clear message on standard error and exit code 2."""
    warnings.showwarning = _show_warning
    try:
        with one_message():
            try:
                tidy(typer.main.get_command(application(_asked_for())))()
            finally:
                sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output (head, less) has seen enough.
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        # A full disk behind standard output, a temporary folder that is gone.
        where = f" {error.filename}" if error.filename else ""
        _give_up(f"captious: cannot read or write{printable(where)}: {error.strerror or error}")
    except KeyboardInterrupt:
        print("captious: interrupted", file=sys.stderr)
        sys.exit(130)


def _give_up(message: str) -> None:
    print(message, file=sys.stderr)
    # What is left in the buffer cannot be written either: nobody shall try again when the interpreter ends.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(2)


def tidy(command: Any) -> Any:
    """Help pages without the types of switches, which take no value, and of arguments, whose names say what they are; and values
    that are made without Pydantic where they are simple."""
    switches = [*command.params, command.get_help_option(command.context_class(command, help_option_names=["-h", "--help"]))]
    for parameter in switches:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.param_type_name == "argument":
            # The name says it; "<list[Path]>" is for programmers.
            parameter.display_type_rich = lambda ctx: None
        simplify(parameter)
    for part in getattr(command, "commands", {}).values():
        tidy(part)
    return command


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Our own warnings as one line; others (of libraries) only where Python was asked to show them."""
    if category.__module__.startswith("captious") or sys.warnoptions:
        print(f"captious: warning: {printable(str(message))}", file=sys.stderr)


if __name__ == "__main__":
    main()
