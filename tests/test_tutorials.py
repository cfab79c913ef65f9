"""The commands of the tutorials run as written and print the output shown."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.data import demo_path

PAGES = sorted((Path(__file__).parent.parent / "docs" / "tutorials").glob("*.md"))


class Step(NamedTuple):
    """A command of a page, and the lines of output below it, if any."""

    command: str
    shown: list[str]


def blocks(page: str) -> list[str]:
    """The blocks of a page: indented, fenced, or prose."""
    found: list[str] = []
    for part in re.split(r"^(```.*?^```)$", page, flags=re.S | re.M):
        if part.startswith("```"):
            found.append("\n".join(part.split("\n")[1:-1]))
        else:
            found += re.split(r"\n\n(?=\S)|\n\n(?=    )|(?<=\S)\n\n", part)
    return [block for block in found if block.strip()]


def steps(page: str) -> list[Step]:
    """The commands of a page in order."""
    listed: list[Step] = []
    follows = False
    for block in blocks(page):
        lines = [line.removeprefix("    ") for line in block.strip("\n").split("\n")]
        if re.match(r"    captious ", block.lstrip("\n")):
            listed += [Step(line, []) for line in lines if line.startswith("captious ")]
            follows = True
        elif follows:
            # A table, or LaTeX; prose ends the output.
            if re.match(r"    |\\begin", block.lstrip("\n")):
                listed[-1].shown.extend(lines)
            follows = False
    return listed


def missing(shown: list[str], printed: str) -> str | None:
    """Return the first line that is not printed in its place. Dots match any lines."""
    lines = iter([line.rstrip() for line in printed.split("\n")])
    for line in shown:
        if line.strip() and line != "…" and line.rstrip() not in lines:
            return line
    return None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in demo_path("references").parent.glob("*.json*"):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_the_page_shows(page: Path, folder: Path) -> None:
    run = steps(page.read_text(encoding="utf-8"))
    assert run
    for command, shown in run:
        done = CliRunner().invoke(app, shlex.split(command, comments=True)[1:])
        assert done.exit_code == 0, (command, done.output, done.exception)
        assert missing(shown, done.stdout) is None, f"{command}\n{done.stdout}"


def test_a_line_that_is_not_printed_is_noticed() -> None:
    page = "Run:\n\n    captious show x\n\n    one\n    …\n    three\n\nProse.\n\n    other\n"
    (step,) = steps(page)
    assert step == Step("captious show x", ["one", "…", "three"])
    assert missing(step.shown, "one\ntwo\nthree") is None
    assert missing(step.shown, "three\none") == "three"
