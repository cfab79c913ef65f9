"""Click commands from annotated functions and groups of options."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import click
import pytest
from click.testing import CliRunner

from captious.cli.app import COMMANDS, app
from captious.cli.command import Argument, Flag, OptionGroup, command

#: Calls of :func:`example` and of the group around it, in order.
calls: list[Any] = []


@dataclass
class Volume(OptionGroup):
    heading: ClassVar[str] = "Sound"

    volume: Annotated[int, Flag("--volume", max=11, help="How loud.")] = 5
    number: Annotated[int | None, Flag("--number", help="Of the group, which the command replaces.")] = None

    @contextmanager
    def active(self, values: dict[str, Any]) -> Iterator[None]:
        calls.append(("before", self.volume, self.number))
        yield
        calls.append("after")


@dataclass
class Colour(OptionGroup):
    heading: ClassVar[str] = "Light"

    red: Annotated[int, Flag("--red", help="A share of red.")] = 1
    text: Annotated[str | None, Flag("--text", help="Of the group, which the command replaces.")] = None


def example(
    paths: Annotated[list[Path], Argument(metavar="PATH", help="Files.")],
    text: Annotated[str, Flag("--text", "-t", help="Any text.")] = "none",
    number: Annotated[int | None, Flag("--number", "-n", min=1, max=10)] = None,
    any_number: Annotated[int, Flag()] = 7,
    fraction: Annotated[float, Flag("-f")] = 0.95,
    several: Annotated[list[str] | None, Flag("--several", "-s")] = None,
    switch: Annotated[bool, Flag("--switch/--no-switch")] = True,
    *,
    colour: Colour,
    internal: str = "not an option",
) -> None:
    """Do something."""
    calls.append((paths, text, number, any_number, fraction, several, switch, colour.red, colour.text))


DEFAULTS = (["x"], "none", None, 7, 0.95, None, True, 1, None)


def run(*words: str) -> tuple[int, str]:
    calls.clear()
    done = CliRunner().invoke(command("example", example, Volume), list(words))
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {}),
        (["y/z", "-t", "ü"], {"paths": ["x", "y/z"], "text": "ü"}),
        (["-n", "007"], {"number": 7}),
        (["--any-number", "99999999999"], {"any_number": 99999999999}),
        (["-f", "0.5"], {"fraction": 0.5}),
        (["-s", "a", "-s", ""], {"several": ["a", ""]}),
        (["--no-switch"], {"switch": False}),
        (["--red", "3"], {"red": 3}),
    ],
)
def test_values(words: list[str], expected: dict[str, Any]) -> None:
    assert run("x", *words)[0] == 0
    names = ("paths", "text", "number", "any_number", "fraction", "several", "switch", "red", "of_group")
    values = dict(zip(names, DEFAULTS)) | expected
    assert calls == [
        ("before", 5, None),
        ([Path(path) for path in values.pop("paths")], *values.values()),
        "after",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["x", "-n", "0"], "takes a whole number from 1 to 10, not '0'"),
        (["x", "-n", "11"], "takes a whole number from 1 to 10, not '11'"),
        (["x", "-n", "3.5"], "takes a whole number from 1 to 10, not '3.5'"),
        (["x", "-f", "half"], "takes a number, not 'half'"),
        (["x", "-f", "nan"], "takes a number, not 'nan'"),
        (["x", "--volume", "12"], "takes a whole number of at most 11, not '12'"),
        (["x", "--internal", "y"], "No such option"),
        ([], "Missing argument"),
    ],
)
def test_mistakes(words: list[str], message: str) -> None:
    status, output = run(*words)
    assert status == 2 and message in output and not calls


def test_groups_have_a_section_in_the_help_page() -> None:
    page = run("--help")[1]
    order = [
        "[OPTIONS] PATH...",
        "Do something.",
        "Arguments:\n",
        "PATH  Files.",
        "\nOptions:\n",
        "-t, --text TEXT",
        "[default: none]",
        "\nLight:\n",
        "--red N",
        "\nSound:\n",
        "--volume N",
    ]
    assert [page.index(part) for part in order] == sorted(page.index(part) for part in order)
    assert page.count("--number") == page.count("--text") == 1


def _pages(group: click.Group, words: list[str]) -> Iterator[list[str]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        part = group.get_command(context, name)
        yield from _pages(part, [*words, name]) if isinstance(part, click.Group) else [[*words, name]]


@pytest.mark.parametrize("words", list(_pages(app, [])), ids=" ".join)
def test_help_pages_fit_in_80_columns(words: list[str]) -> None:
    done = CliRunner().invoke(app, [*words, "-h"], terminal_width=80)
    assert done.exit_code == 0, done.output
    # A word that is longer than a line (a name of an option with its aliases) is not broken.
    assert [line for line in done.output.splitlines() if len(line) > 80] == []


def test_the_short_help_option_works_after_a_command_ran_alone() -> None:
    command = app.get_command(click.Context(app), "templates")
    assert command is not None
    # A context of its own knows no names of the help option, and Click keeps the first option it makes.
    assert command.get_help_option(click.Context(command)) is not None
    for words in (["--help"], ["-h"]):
        assert CliRunner().invoke(command, words).exit_code == 0


def test_the_list_of_commands_is_read_at_a_glance() -> None:
    done = CliRunner().invoke(app, ["--help"], terminal_width=80)
    lines = done.output.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines] == list(COMMANDS)
    code = "import sys; from captious.cli.app import app; app(['--help'], standalone_mode=False); sys.exit('numpy' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0
    )


@pytest.mark.parametrize(
    ("shell", "script", "start"),
    [("zsh", ".captious-complete.zsh", ".zshrc"), ("fish", ".config/fish/completions/captious.fish", None)],
)
def test_completion(tmp_path: Path, shell: str, script: str, start: str | None) -> None:
    environment = os.environ | {"HOME": str(tmp_path), "SHELL": f"/usr/bin/{shell}"}
    if start:
        (tmp_path / start).write_text("alias ll='ls -l'")
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-m", "captious", "--install-completion"],
            env=environment,
            check=True,
            capture_output=True,
        )
    assert "_CAPTIOUS_COMPLETE" in (tmp_path / script).read_text()
    if start:
        assert (tmp_path / start).read_text() == f"alias ll='ls -l'\n. {tmp_path / script}\n"
    asked = environment | {
        "_CAPTIOUS_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "captious sco",
        "COMP_CWORD": "1" if shell == "zsh" else "sco",
    }
    done = subprocess.run(
        [sys.executable, "-m", "captious"], env=asked, check=True, capture_output=True, text=True
    )
    assert "score" in done.stdout


def test_completion_in_other_shells(tmp_path: Path) -> None:
    environment = os.environ | {"HOME": str(tmp_path), "SHELL": "/bin/tcsh"}
    done = subprocess.run(
        [sys.executable, "-m", "captious", "--install-completion"],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "bash, zsh and fish" in done.stderr and not list(tmp_path.iterdir())
