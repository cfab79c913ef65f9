"""The ``captious`` command: gathers the sub-commands and turns errors into one message and exit code 2."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from captious._version import __version__
from captious.cli.command import CONTEXT
from captious.core.errors import did_you_mean, one_message, printable

#: Commands and their lines on the help page.
COMMANDS = {
    "score": "Score captions against references.",
    "show": "Print saved scores.",
    "compare": "Compare systems, with intervals and p-values.",
    "check": "Fail if a new run is significantly worse (for CI).",
    "report": "Make one HTML file about systems.",
    "wrap": "Run code that uses pycocoevalcap on captious.",
    "site": "Make a static site of many runs.",
    "merge": "Merge saved scores of parts of the images.",
    "prepare": "Prepare references once for many runs.",
    "dense": "Score events of videos with times.",
    "diversity": "Measure the diversity of several captions per image.",
    "corpus": "Measure the diversity of whole corpora.",
    "agreement": "Measure how well metrics agree with people.",
    "robustness": "Test metrics with wrong captions.",
    "task": "Score systems on a named benchmark.",
    "why": "Say why a number does not match a published one.",
    "formats": "Say what a caption file is.",
    "changes": "Show how metrics react to changes of one caption.",
    "metrics": "List all metrics and their options.",
    "cache": "Show or clear cached files.",
    "df": "Make and import document frequencies for CIDEr.",
    "parse": "Parse captions.",
    "tokenize": "Tokenize captions as the COCO tools do.",
    "demo": "Score the sample that ships with captious.",
    "scene": "Show the scene graph of a caption.",
    "facts": "Split a description into atomic facts.",
    "concepts": "Make and inspect concept frequencies for SPICE-U.",
    "chair": "List objects that captions name but images do not show.",
    "explain": "Show how much each feature moved a learned score.",
    "train": "Train a metric, a captioner or a language model.",
    "generate": "Write captions of images with a captioner.",
    "synonyms": "Write sets of captions by switching words.",
    "critic": "Train critics to tell captions from people's.",
    "rerank": "Choose a caption from each n-best list.",
    "likelihood": "Test whether a captioner prefers generic captions.",
    "templates": "Write captions from objects by a template.",
}

#: Commands that share a module: its name, and the command's name there. Each other command is the ``COMMAND``
#: of the module with its name.
_SHARED_MODULES = {
    "task": ("task", "TASK"),
    "why": ("task", "WHY"),
    "show": ("saved", "SHOW"),
    "merge": ("saved", "MERGE"),
    "prepare": ("reference_data", "PREPARE"),
    "df": ("reference_data", "DF"),
    "concepts": ("reference_data", "CONCEPTS"),
    "tokenize": ("language", "TOKENIZE"),
    "parse": ("language", "PARSE"),
    "scene": ("language", "SCENE"),
    "facts": ("language", "FACTS"),
    "metrics": ("listings", "METRICS"),
    "cache": ("listings", "CACHE"),
}

#: Names of commands in other tools.
_ELSEWHERE = {
    "eval": "score",
    "evaluate": "score",
    "diff": "compare",
    "test": "compare",
    "gate": "check",
    "list": "metrics",
    "hallucinations": "chair",
    "html": "report",
}


class _ReaderGoneError(Exception):
    """The reader of standard output (head, less) has exited. Click would exit with code 1."""


class _InterruptedError(Exception):
    """The user has pressed Ctrl-C. Click would print an empty line."""


@contextmanager
def _own_exceptions() -> Iterator[None]:
    """Replace exceptions that Click handles in another way."""
    try:
        yield
    except BrokenPipeError as error:
        raise _ReaderGoneError from error
    except KeyboardInterrupt as error:
        raise _InterruptedError from error


class _Commands(click.Group):
    """Sub-commands, each imported when it runs."""

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        with _own_exceptions():
            return super().make_context(*arguments, **settings)

    def invoke(self, ctx: click.Context) -> Any:
        with _own_exceptions():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, attribute = _SHARED_MODULES.get(cmd_name, (cmd_name, "COMMAND"))
        command: click.Command = getattr(import_module(f"captious.cli.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _install_completion(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from captious.cli.command import install_completion

        print(f"completion is in {install_completion(ctx.command)}; open a new shell to use it")
        ctx.exit()


@click.group(cls=_Commands, name="captious", no_args_is_help=True, context_settings=CONTEXT)
@click.version_option(__version__, message="captious %(version)s", help="Show the version.")
@click.option(
    "--install-completion",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_install_completion,
    help="Set up completion of commands and options in your shell (bash, zsh, fish).",
)
def app() -> None:
    """The caption critic: how good, how diverse, how unique and how human-like are image captions?"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point: every foreseeable mistake ends in one clear message on standard error and exit code 2."""
    warnings.showwarning = _show_warning
    try:
        with one_message():
            try:
                app.main(arguments, prog_name="captious", standalone_mode=False)
            finally:
                sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        _give_up(f"captious: {printable(_usage_message(error))}")
    except (click.Abort, KeyboardInterrupt, _InterruptedError):
        _give_up("captious: interrupted", code=130)
    except (BrokenPipeError, _ReaderGoneError):
        # As a program that is ended by SIGPIPE.
        _give_up("", code=141)
    except OSError as error:
        # Such as a full disk, or a temporary folder that was removed.
        where = f" {error.filename}" if error.filename else ""
        _give_up(f"captious: cannot read or write{printable(where)}: {error.strerror or error}")


def _give_up(message: str, code: int = 2) -> None:
    if message:
        print(message, file=sys.stderr)
    # The rest of the buffer cannot be written either: do not try again when the interpreter exits.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _usage_message(error: click.ClickException) -> str:
    """Return one line for an error of the option parser."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "captious"
    if isinstance(error, click.NoSuchOption):
        known = [flag for p in context.command.params for flag in p.opts] if context is not None else []
        hint = did_you_mean(error.option_name, [flag for flag in known if flag.startswith("--")])
        return f"there is no option '{error.option_name}'{hint} ('{path} --help' lists them)"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        name = getattr(error.param, "label", None) or f"{error.param.opts[0]} {error.param.metavar}"
        usage = context.command.get_usage(context).removeprefix("Usage: ") if context is not None else path
        return f"{name} is missing (usage: {' '.join(usage.split())})"
    if isinstance(error, click.BadParameter) and error.param is not None:
        name = getattr(error.param, "label", None) or max(error.param.opts, key=len)
        return f"{name} {error.message}"
    if isinstance(error, click.BadOptionUsage):
        takes_none = "does not take a value" in error.message
        return f"{error.option_name} {'takes no' if takes_none else 'needs a'} value"
    unknown = re.fullmatch(r"No such command '(.*)'\..*", error.format_message(), re.DOTALL)
    if unknown and isinstance(getattr(context, "command", None), click.Group):
        assert context is not None and isinstance(context.command, click.Group)
        known = context.command.list_commands(context)
        elsewhere = _ELSEWHERE.get(unknown[1])
        hint = f"; did you mean '{elsewhere}'?" if elsewhere in known else did_you_mean(unknown[1], known)
        return f"there is no command '{unknown[1]}'{hint} ('{path} --help' lists them)"
    message = " ".join(error.format_message().split())
    return f"{message[:1].lower()}{message[1:].rstrip('.')} ('{path} --help' describes the command)"


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    """Print warnings of captious as one line; those of libraries only with Python's ``-W``."""
    if category.__module__.startswith("captious") or sys.warnoptions:
        print(f"captious: warning: {printable(str(message))}", file=sys.stderr)


if __name__ == "__main__":
    main()
