"""The page that lists every table and figure of the five works: its commands exist, and the list is complete."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.data import demo_path
from captious.metrics.registry import GROUPS, OF_FILES, names, split_value

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`((?:captious|python -m benchmarks\.\w+) ?[^`]*)`", PAGE)))
MEASURES = {*names(), *OF_FILES, *GROUPS}
#: Tables and figures of each work, as printed.
PRINTED = {
    "Wang & Chan 2019": {"Table": "1-2", "Figure": "1-18"},
    "van Miltenburg et al. 2018": {"Table": "1-3", "Figure": "1-7"},
    "Cui et al. 2018": {"Table": "1-3", "Figure": "1-10"},
    "Wang et al. 2020": {"Table": "1-3", "Figure": "1-4"},
    "Sharif 2020": {
        "Table": "7.1-7.13 8.1-8.5 A.1-A.4 B.1-B.2",
        "Figure": "7.1-7.10 8.1-8.4 9.1-9.1 A.1-A.3 B.1-B.14",
    },
}


def spread(text: str) -> set[str]:
    """Return the numbers of a list such as ``7.1-7.3 B.2``, with ``to`` or a hyphen for ranges."""
    numbers = set(re.findall(r"[\dAB.]*\d", text))
    for first, last in re.findall(r"([\dAB.]*\d)(?:-| to )([\dAB.]*\d)", text):
        head, _, low = first.rpartition(".")
        high = last.rpartition(".")[2]
        numbers |= {f"{head}.{at}".lstrip(".") for at in range(int(low), int(high) + 1)}
    return numbers


def unknown_parts(line: str) -> list[str]:
    """Return the sub-commands, options, metrics and parts of a command line that do not exist."""
    words = shlex.split(line)
    if words[0] == "python":
        source = (ROOT / (words[2].replace(".", "/") + ".py")).read_text(encoding="utf-8")
        options = [word for word in words[3:] if word.startswith("--")]
        parts = [after for word, after in itertools.pairwise(words) if word == "--only"]
        exist = [f'"{word}"' in source or f"{word[2:]}: int" in source for word in options]
        return [word for word, right in zip(options, exist) if not right] + [
            part for part in parts if not re.search(rf'"{part}"|def {part}\b', source)
        ]
    command: click.Command | None = app
    context = click.Context(app, info_name="captious")
    rest = words[1:]
    while isinstance(command, click.Group) and rest:
        command = command.get_command(context, rest[0])
        rest = rest[1:]
    if command is None:
        return [line]
    try:
        values, extra, _ = command.make_parser(click.Context(command)).parse_args(rest)
    except click.UsageError as error:
        return [str(error)]
    metrics = [text for text in [values.get("metrics")] if isinstance(text, str)]
    absent = [
        option.name
        for option in command.params
        if option.required and not isinstance(values[option.name], str | list | tuple)
    ]
    measures = [split_value(name)[0] for text in metrics for name in text.split(",")]
    return [*extra, *absent, *(name for name in measures if name not in MEASURES)]


def test_the_page_has_commands() -> None:
    assert len(COMMANDS) > 30


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_exist(line: str) -> None:
    assert not unknown_parts(line)


#: Files of the page, and the demo's files that take their place.
DEMO = {
    "refs.json": ["references"],
    "refs.jsonl": ["references"],
    "captions.jsonl": ["references"],
    "train.json": ["references"],
    "train.jsonl": ["references"],
    "SYSTEMS": ["good", "generic"],
    "SETS": ["sampling"],
    "samples.jsonl": ["sampling"],
    "results.json": ["good"],
    "system.json": ["good"],
    "candidates.json": ["good"],
    "objects.jsonl": ["objects"],
}
#: Files and folders that the commands write.
WRITTEN = {"out.csv", "tasks.jsonl"}


def on_the_demo(line: str, folder: Path) -> list[str] | None:
    """Return a command with the demo's files, or None if it needs other files, training or METEOR's tables."""
    # Figures take long, and have tests of their own.
    words = shlex.split(line.replace("--plots DIR", "").replace("--image 42", ""))[1:]
    if words[0] not in ("corpus", "diversity", "robustness", "score", "templates"):
        return None
    arguments = []
    for word in words:
        if word in WRITTEN:
            arguments.append(str(folder / word))
        elif word in DEMO:
            arguments += [str(demo_path(name)) for name in DEMO[word]]
        elif re.search(r"\.(jsonl?|npz|pkl|bin|csv)$", word) or word in ("DATA", "*.jsonl"):
            return None
        else:
            arguments.append(word)
    return None if "METEOR" in line or "--vectors" in line else arguments


RUN = {tuple(arguments): line for line in COMMANDS if (arguments := on_the_demo(line, Path()))}


def test_commands_run_on_the_demo() -> None:
    assert len(RUN) > 9


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", RUN.values())
def test_command_runs_on_the_demo(line: str, tmp_path: Path) -> None:
    arguments = on_the_demo(line, tmp_path)
    assert arguments
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "line",
    [
        "captious nothing",
        "captious corpus refs.json --no-such-option",
        "captious corpus",
        "captious score refs.json results.json -m BLEU-9",
        "python -m benchmarks.rerank --only nothing",
        "python -m benchmarks.rerank --nothing",
    ],
)
def test_commands_that_do_not_exist_are_noticed(line: str) -> None:
    assert unknown_parts(line)


@pytest.mark.parametrize("work", PRINTED)
def test_every_table_and_figure_has_a_row(work: str) -> None:
    section = re.search(rf"^## {re.escape(work)}$(.*?)(?=^## |\Z)", PAGE, flags=re.S | re.M)
    assert section
    listed: dict[str, set[str]] = {"Table": set(), "Figure": set()}
    for row in re.findall(r"^\| ([^|]+?) \|", section[1], flags=re.M):
        for kind, numbers in re.findall(r"(Table|Figure)s? ((?:[\dAB.]*\d(?:, | to )?)+)", row):
            listed[kind] |= spread(numbers)
    missing = {kind: spread(numbers) - listed[kind] for kind, numbers in PRINTED[work].items()}
    assert missing == {"Table": set(), "Figure": set()}
