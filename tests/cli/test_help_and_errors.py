"""Help pages, names of options, suggestions, completion, and errors of the option parser."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete
from click.testing import CliRunner

from captious.cli.app import COMMANDS, app, main
from captious.core.errors import did_you_mean
from captious.data import demo_path
from captious.metrics import registry

REFS, GOOD, SAMPLES = (str(demo_path(name)) for name in ("references", "good", "sampling"))


def leaves(command: click.Command = app, path: str = "") -> dict[str, click.Command]:
    """Commands by name, except groups of commands."""
    if not isinstance(command, click.Group):
        return {path.strip(): command}
    context = click.Context(command)
    return {
        name: leaf
        for part in command.list_commands(context)
        if (child := command.get_command(context, part)) is not None
        for name, leaf in leaves(child, f"{path} {part}").items()
    }


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return the error message, which has one line."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    printed = capsys.readouterr()
    assert ended.value.code == 2 and printed.out == ""
    assert printed.err.startswith("captious: ") and printed.err.count("\n") == 1
    return printed.err.removeprefix("captious: ").rstrip("\n")


# Help pages ---------------------------------------------------------------------------------------


def test_the_help_of_score_fits_on_a_screen() -> None:
    page = CliRunner().invoke(app, ["score", "--help"], terminal_width=80).output
    lines = page.splitlines()
    assert len(lines) <= 60 and max(map(len, lines)) <= 80
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings == [
        "Arguments:", "Options:", "Input:", "Output:", "Intervals:", "Metric options:", "Captions in shards:",
    ]  # fmt: skip
    assert "'captious metrics NAME'" in page and "--chair-synonyms" not in page


def test_options_of_metrics_are_described_by_metric(tmp_path: Path) -> None:
    """All flags that ``score`` accepts beside the listed ones are on the page of some metric."""
    page = CliRunner().invoke(app, ["metrics", "all,sets,corpus,Critic"], env={"COLUMNS": "250"}).output
    unlisted = [p.opts[0] for p in leaves()["score"].params if getattr(p, "listed", True) is False]
    assert len(unlisted) > 15 and [flag for flag in unlisted if flag not in page] == []
    one = CliRunner().invoke(app, ["metrics", "cider_d"], env={"COLUMNS": "200"}).output
    assert "--df FILE" in one and "--parser" not in one
    assert "no options" in CliRunner().invoke(app, ["metrics", "BLEU-4"]).output
    listed = json.loads(CliRunner().invoke(app, ["metrics", "CIDEr-D", "SPICE", "--json", "-"]).output)
    assert [row["name"] for row in listed] == ["CIDEr-D", "SPICE"]


# Names of options ---------------------------------------------------------------------------------

#: Flag → other flags that an option with the same meaning must not have in any command.
ONE_NAME = {
    "--metrics": {"--metric", "--accuracy"},
    "--training": {"--train"},
    "--references": {"--refs"},
    "--jobs": {"--threads"},
}


@pytest.mark.parametrize("name", leaves())
def test_one_name_for_one_option(name: str) -> None:
    """In all commands, ``-m`` names metrics, ``-n`` a number, ``-j`` threads and ``-o`` an output."""
    options = [p for p in leaves()[name].params if isinstance(p, click.Option)]
    flags = {flag for p in options for flag in p.opts}
    forbidden = set().union(*ONE_NAME.values()) - ({"--metric"} if name == "rerank" else set())
    assert not flags & forbidden
    for short, long in {"-m": "--metrics", "-j": "--jobs", "-o": "--output", "-f": "--format"}.items():
        assert all(long in p.opts for p in options if short in p.opts), short
    for p in options:
        if "-n" in p.opts:
            assert set(p.opts) & {"--number", "--captions"} and p.type.name == "integer"
        if "--level" in p.opts:
            assert p.type.name == "number"


def test_old_names_work_with_a_warning(tmp_path: Path) -> None:
    new = CliRunner().invoke(
        app, ["diversity", REFS, SAMPLES, "-m", "ROUGE-L", "--training", GOOD, "--json", "-"]
    )
    assert new.exit_code == 0, new.output
    for words, names in (
        (["--accuracy", "ROUGE-L", f"--train={GOOD}"], {"--accuracy": "--metrics", "--train": "--training"}),
        (["-aROUGE-L", "--training", GOOD], {"-a": "--metrics"}),
    ):
        with pytest.warns(UserWarning) as warned:
            old = CliRunner().invoke(app, ["diversity", REFS, SAMPLES, *words, "--json", "-"])
        assert old.stdout == new.stdout
        messages = {str(warning.message) for warning in warned}
        assert {f"the option {old} is now called {new}" for old, new in names.items()} <= messages
    # A value is not mistaken for an option, and words after "--" are unchanged.
    page = CliRunner().invoke(app, ["tokenize", "--", "--train"])
    assert "--train: there is no such file" in str(page.exception)


def test_the_number_of_references_was_called_references(tmp_path: Path) -> None:
    rows = [
        {"image": str(k), "caption": text, "references": ["a dog runs", "the dog"], "ratings": [k, k]}
        for k, text in enumerate(["a cat", "a dog sits", "the dog", "a dog runs"])
    ]
    path = tmp_path / "judged.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["agreement", str(path), "-m", "ROUGE-L", "--json", "-"]
    new = CliRunner().invoke(app, [*words, "--reference-count", "1"])
    with pytest.warns(UserWarning, match="--references 1 is now called --reference-count 1"):
        old = CliRunner().invoke(app, [*words, "--references", "1"])
    assert new.exit_code == 0 and old.stdout == new.stdout


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("scroe", "there is no command 'scroe'; did you mean 'score'? ('captious --help' lists them)"),
        ("evaluate", "there is no command 'evaluate'; did you mean 'score'? ('captious --help' lists them)"),
        ("df biuld", "there is no command 'biuld'; did you mean 'build'? ('captious df --help' lists them)"),
        (
            "score --metrisc a b",
            "there is no option '--metrisc'; did you mean '--metrics'? ('captious score --help' lists them)",
        ),
        ("score", "REFS is missing (usage: captious score [OPTIONS] REFS [PRED...])"),
        ("merge x", "--output OUT.scores is missing (usage: captious merge [OPTIONS] FILE.scores...)"),
        ("score a b --digits 77", "--digits takes a whole number from 0 to 15, not '77'"),
        ("compare a b --alpha half", "--alpha takes a number, not 'half'"),
        ("score a b --digits", "--digits needs a value"),
        (
            "tokenize a b",
            "got unexpected extra argument (b) ('captious tokenize --help' describes the command)",
        ),
        ("score a b --ci=3", "--ci takes no value"),
    ],
)  # fmt: skip
def test_mistakes_of_spelling_get_one_line(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, *shlex.split(line)) == message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["demo", "--report", "page.txt"], "give --report a name that ends with .html, not 'page.txt'"),
        (["score", REFS, GOOD, "--ci", "--level", "2"], "--level lies between 0 and 1, such as 0.95, not 2"),
    ],
)
def test_values_that_mean_nothing(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert message in refused(capsys, *words)


def test_required_options_are_required(capsys: pytest.CaptureFixture[str]) -> None:
    for name, command in leaves().items():
        required = [p for p in command.params if isinstance(p, click.Option) and p.required]
        arguments = ["x"] * sum(isinstance(p, click.Argument) for p in command.params)
        if required:
            assert "is missing" in refused(capsys, *name.split(), *arguments), name


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("blue4", ["BLEU-4"]),
        ("rogue", ["ROUGE-L"]),
        ("scpie", ["SPICE"]),
        ("METEROR", ["METEOR"]),
        ("clipscore", ["CLIP-S"]),
        ("chair", ["CHAIRs", "CHAIRi", "CHAIR-Cover"]),
        ("self_cyder", ["Self-CIDEr"]),
        ("bert", []),  # not 'sets', which shares letters only
        ("bertscore", []),
        ("SPICE-Foo", ["SPICE"]),
    ],
)
def test_suggested_metrics(word: str, names: list[str]) -> None:
    known = [*registry.names(), *registry.GROUPS, *registry.FAMILIES]
    hint = " or ".join(f"'{name}'" for name in names)
    assert did_you_mean(word, known) == (f"; did you mean {hint}?" if names else "")


# Completion ---------------------------------------------------------------------------------------


def completed(shell: type[ShellComplete], monkeypatch: pytest.MonkeyPatch, line: str) -> list[str]:
    """Return the completions of a line, by the protocol between Click and its shell script."""
    words = shlex.split(line) + ([""] if line.endswith(" ") else [])
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell is FishComplete else str(len(words) - 1))
    answer = shell(app, {}, "captious", "_CAPTIOUS_COMPLETE").complete()
    if shell is ZshComplete:  # type, value, description
        lines = answer.split("\n")
        return [f"{kind},{value}" for kind, value in zip(lines[::3], lines[1::3])]
    return [line.partition("\t")[0] for line in answer.split("\n")]


@pytest.mark.parametrize("shell", [BashComplete, ZshComplete, FishComplete])
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("captious sco", ["plain,score"]),
        ("captious df ", ["plain,build", "plain,import", "plain,show"]),
        ("captious score --per", ["plain,--per-image", "plain,--percent"]),
        ("captious score --meteor", ["plain,--meteor-data"]),
        ("captious score a b -m meteo", ["plain,METEOR"]),
        ("captious score a b -m CIDEr-D,SPICE-C", ["plain,CIDEr-D,SPICE-Cardinality", "plain,CIDEr-D,SPICE-Color"]),
        ("captious metrics SPID", ["plain,SPIDEr", "plain,SPIDEr-FL"]),
        ("captious compare a b c -f la", ["plain,latex"]),
        ("captious score a b --tokenizer s", ["plain,simple", "plain,spacy-like"]),
        ("captious score a b --combine m", ["plain,mean", "plain,max", "plain,min"]),
        ("captious score ref", ["file,ref"]),
        ("captious score a b --json out", ["file,out"]),
        ("captious score a b --df tab", ["file,tab"]),
        ("captious corpus a b --plots fig", ["dir,fig"]),
    ],
)  # fmt: skip
def test_completion_of_values(
    shell: type[ShellComplete], line: str, offered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert completed(shell, monkeypatch, line) == offered


# Ends of a run ------------------------------------------------------------------------------------


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_interrupted_quiet_or_not(quiet: list[str]) -> None:
    """Interrupt a command that reads references from a pipe. More is written than the pipe holds, so reading has begun."""
    process = subprocess.Popen(
        [sys.executable, "-m", "captious", "score", "-", GOOD, *quiet],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # A test runner in the background of a shell ignores the signal, and its children would, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(" " * 1_000_000)
    process.send_signal(signal.SIGINT)
    printed = process.communicate()
    assert (process.returncode, *printed) == (130, "", "captious: interrupted\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [["metrics"], ["metrics", "-f", "json"], ["tokenize", "{}"]], ids=" ".join)
def test_a_reader_that_stops_early(words: list[str], unbuffered: str, tmp_path: Path) -> None:
    """As ``captious … | head -1``: the exit code is that of a program ended by SIGPIPE."""
    text = tmp_path / "captions.txt"
    text.write_text("a dog runs on the grass .\n" * 20_000)
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered, "COLUMNS": "20000"}
    process = subprocess.Popen(
        [sys.executable, "-m", "captious", *(word.format(text) for word in words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
    )  # fmt: skip
    assert process.stdout and process.stderr
    if words[0] == "tokenize":
        process.stdout.read(1)
    process.stdout.close()
    assert (process.wait(), process.stderr.read()) == (141, b"")


def test_all_commands_have_a_line_of_help() -> None:
    assert all(COMMANDS.values()) and {name.split()[0] for name in leaves()} == set(COMMANDS)


def test_a_default_metric_that_is_left_out_gets_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulate a base install, which has no package with METEOR's tables."""
    from captious.text import meteor_data

    monkeypatch.delenv(meteor_data.VARIABLE, raising=False)
    monkeypatch.setattr(meteor_data, "installed_folder", lambda: None)
    main(["score", REFS, GOOD])
    printed = capsys.readouterr()
    assert [line for line in printed.err.splitlines() if "METEOR" in line] == [
        "captious: warning: left out METEOR: METEOR (without --meteor-data DIR) needs the package "
        "'pycocoevalcap', which is not installed: pip install 'captious[meteor]'"
    ]
    assert "SPICE" in printed.out and "METEOR" not in printed.out
