"""``-o`` and ``-`` mean the same in every command."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import COMMANDS, app
from captious.core.errors import WriteError
from captious.data import demo_path

REFS, GOOD, POOR = (str(demo_path(name)) for name in ("references", "good", "poor"))
JUDGED = [
    {"image": str(k), "caption": said, "references": ["a dog runs", "the dog"], "ratings": [rating, rating]}
    for k, (said, rating) in enumerate([("a dog runs", 4), ("a cat", 1), ("the dog", 3), ("a dog sits", 2)])
]


def run(*words: str, stdin: bytes | None = None) -> bytes:
    done = CliRunner().invoke(app, list(words), input=stdin)
    assert done.exit_code == 0, (words, done.output, done.exception)
    return done.stdout_bytes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Input files of the commands."""
    folder = tmp_path_factory.mktemp("made")
    rows = json.loads(Path(GOOD).read_text())
    for name, part in (("one", rows[:30]), ("two", rows[30:])):
        (folder / f"{name}.json").write_text(json.dumps(part))
        run(
            "score",
            REFS,
            str(folder / f"{name}.json"),
            "--part",
            "-m",
            "BLEU-4",
            "-o",
            str(folder / f"{name}.scores"),
        )
    run("df", "build", REFS, "-o", str(folder / "df"))
    run("concepts", "build", REFS, "-o", str(folder / "concepts"))
    (folder / "judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in JUDGED))
    (folder / "captions.txt").write_text("A dog runs.\nTwo cats\n")
    (folder / "changes.json").write_text('{"reference": "a dog runs", "same": {"order": "runs a dog"}}')
    (folder / "concepts.pkl").write_bytes(pickle.dumps({"dog": 4, "dog on grass": 2}))
    (folder / "task.json").write_text(json.dumps({"name": "ours", "about": "ours", "metrics": ["BLEU-1"]}))
    (folder / "counts.tsv").write_text("a\t2\na dog\t1\n")
    return folder


#: Commands that print their result.
PRINTING = {
    "show": ["show", "{}/one.scores", "--ci"],
    "compare": ["compare", REFS, GOOD, POOR, "-m", "BLEU-1", "--trials", "50"],
    "check": ["check", "{}/one.scores", "--against", "{}/one.scores"],
    "agreement": ["agreement", "{}/judged.jsonl", "-m", "ROUGE-L"],
    "robustness": ["robustness", REFS, "-m", "BLEU-1", "--no-tasks", "--resamples", "10"],
    "changes": ["changes", "{}/changes.json", "-m", "BLEU-1"],
    "metrics": ["metrics"],
    "cache": ["cache"],
    "df show": ["df", "show", "{}/df"],
    "parse": ["parse", "{}/captions.txt"],
    "tokenize": ["tokenize", "{}/captions.txt"],
    "demo": ["demo", "-m", "BLEU-1"],
    "scene": ["scene", "a red bus"],
    "facts": ["facts", "A red bus stops."],
    "concepts show": ["concepts", "show", "{}/concepts"],
    "chair": ["chair", REFS, POOR],
    "explain": ["explain", REFS, GOOD, "-m", "CaptiousScore-lite"],
    "formats": ["formats", GOOD],
    "task": ["task", "{}/task.json", GOOD, "--references", REFS],
    "why": ["why", GOOD, "--references", REFS, "--published", "BLEU-4 39.1"],
}
#: Commands that write a file.
MAKING = {
    "score": ["score", REFS, GOOD, "-m", "BLEU-1"],
    "merge": ["merge", "{}/one.scores", "{}/two.scores"],
    "prepare": ["prepare", REFS, "-m", "BLEU-4"],
    "diversity": ["diversity", REFS, str(demo_path("sampling")), "-m", ""],
    "corpus": ["corpus", REFS, GOOD, "--no-trees"],
    "df build": ["df", "build", REFS],
    "df import": ["df", "import", "{}/counts.tsv", "--images", "3"],
    "concepts build": ["concepts", "build", REFS],
    "concepts import": ["concepts", "import", "{}/concepts.pkl", "--images", "9"],
    "report": ["report", REFS, GOOD, "-m", "BLEU-1", "--no-corpus"],
}
#: Slower commands. The tests of their output run them.
LONGER = {
    "train lceval",
    "train nneval",
    "train composite",
    "train captioner",
    "train critic",
    "generate",
    "synonyms",
    "critic",
    "dense",
    "train lm",
    "rerank",
    "likelihood",
    "templates",
    "site",
}
#: Commands whose output is that of another program.
FOREIGN = {"wrap"}


def commands() -> set[str]:
    found = set()
    for name in COMMANDS:
        found |= {f"{name} {part}" for part in getattr(_command(name), "commands", {})} or {name}
    return found


def _command(name: str) -> click.Command:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    return command


def test_no_command_is_left_out() -> None:
    assert commands() == PRINTING.keys() | MAKING.keys() | LONGER | FOREIGN
    for name in LONGER:
        command = _command(name.split()[0])
        for part in name.split()[1:]:
            command = command.commands[part]  # type: ignore[attr-defined]
        assert any({"-o", "--output"} <= set(parameter.opts) for parameter in command.params), name


@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
@pytest.mark.parametrize("name", PRINTING)
def test_what_is_printed_can_go_to_a_file(name: str, made: Path, tmp_path: Path) -> None:
    words = [word.format(made) if word.startswith("{}") else word for word in PRINTING[name]]
    shown = run(*words)
    assert shown.strip()
    assert run(*words, "-o", str(tmp_path / "out")) == b""
    assert (tmp_path / "out").read_bytes() == shown
    assert run(*words, "--output", "-") == shown


@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
@pytest.mark.parametrize("name", MAKING)
def test_what_is_made_can_go_to_standard_output(name: str, made: Path, tmp_path: Path) -> None:
    words = [word.format(made) if word.startswith("{}") else word for word in MAKING[name]]
    endings = {"report": ".html", **dict.fromkeys(("score", "merge", "diversity", "corpus"), ".scores")}
    target = tmp_path / f"out{endings.get(name, '')}"
    if name == "diversity":  # people are a second system
        run(*words, "-o", str(tmp_path / "new"))
        assert {path.name for path in (tmp_path / "new").iterdir()} == {"sampling.scores", "human.scores"}
        return
    run(*words, "-o", str(target))
    assert run(*words, "-o", "-") == target.read_bytes()


@pytest.mark.parametrize("form", ["json", "markdown", "latex", "csv"])
@pytest.mark.parametrize("name", ["compare", "agreement", "metrics", "concepts show", "chair", "demo"])
def test_formats_go_to_files_too(name: str, form: str, made: Path, tmp_path: Path) -> None:
    words = [word.format(made) if word.startswith("{}") else word for word in PRINTING[name]]
    assert run(*words, "--format", form, "--quiet", "-o", str(tmp_path / "out")) == b""
    text = (tmp_path / "out").read_text()
    if form == "json":
        assert json.loads(text)
    else:
        assert {"markdown": "| ", "latex": "\\toprule", "csv": ","}[form] in text and "┏" not in text


def test_one_result_has_one_place(made: Path, tmp_path: Path) -> None:
    for words in (
        ["--json", "-", "-o", str(tmp_path / "out")],
        ["--format", "json", "--json", str(tmp_path / "out")],
    ):
        done = CliRunner().invoke(app, ["show", str(made / "one.scores"), *words])
        assert done.exit_code != 0 and "--json" in str(done.exception) and not (tmp_path / "out").exists()


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    kept = tmp_path / "out"
    kept.write_text("old")
    assert (
        CliRunner()
        .invoke(app, ["compare", REFS, GOOD, str(tmp_path / "none.json"), "-o", str(kept)])
        .exit_code
        != 0
    )
    assert kept.read_text() == "old" and list(tmp_path.iterdir()) == [kept]


@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
@pytest.mark.parametrize(
    ("words", "file"),
    [
        (["score", "-", GOOD, "-m", "BLEU-1"], REFS),
        (["score", REFS, "-", "-m", "BLEU-1"], GOOD),
        (["compare", REFS, "-", POOR, "-m", "BLEU-1", "--trials", "50"], GOOD),
        (["diversity", REFS, "-"], str(demo_path("sampling"))),
        (["corpus", "-", GOOD, "--no-trees"], REFS),
        (["robustness", "-", "-m", "BLEU-1", "--no-tasks", "--resamples", "10"], REFS),
        (["chair", REFS, "-"], POOR),
        (["chair", REFS, POOR, "--objects", "-"], str(demo_path("objects"))),
        (["df", "build", "-", "-o", "{}/new"], REFS),
        (["concepts", "build", "-", "-o", "{}/new"], REFS),
        (["prepare", "-", "-m", "BLEU-1", "-o", "{}/new"], REFS),
        (["df", "show", "-"], "{}/df"),
        (["df", "import", "-", "--images", "3", "-o", "{}/new"], "{}/counts.tsv"),
        (["concepts", "show", "-"], "{}/concepts"),
        (["show", "-"], "{}/one.scores"),
        (["merge", "-", "{}/two.scores", "-o", "{}/new.scores"], "{}/one.scores"),
        (["agreement", "-", "-m", "ROUGE-L"], "{}/judged.jsonl"),
        (["parse", "-"], "{}/captions.txt"),
        (["parse"], "{}/captions.txt"),
        (["tokenize", "-"], "{}/captions.txt"),
        (["tokenize"], "{}/captions.txt"),
    ],
)
def test_a_dash_is_standard_input(
    words: list[str], file: str, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("captious.io.content._standard_taken", False)  # as in a new process
    fill = lambda word: word.format(made) if word.startswith("{}") else word  # noqa: E731
    printed = run(*map(fill, words), stdin=Path(fill(file)).read_bytes())
    assert Path(fill(words[-1])).stat().st_size if "-o" in words else printed.strip()


def _options(command: click.Command) -> list[tuple[str, str]]:
    """Return the output options of a command, each with its kind of target."""
    return [(p.opts[0], p.writes) for p in command.params if getattr(p, "writes", None)]


def _leaves(command: click.Command, words: list[str]) -> list[tuple[list[str], click.Command]]:
    if not isinstance(command, click.Group):
        return [(words, command)]
    return [leaf for name, part in command.commands.items() for leaf in _leaves(part, [*words, name])]


LEAVES = [leaf for name in COMMANDS if name not in FOREIGN for leaf in _leaves(_command(name), [name])]


@pytest.mark.parametrize(("words", "command"), LEAVES, ids=[" ".join(words) for words, _ in LEAVES])
def test_outputs_into_folders_that_do_not_exist_are_refused_before_any_work(
    words: list[str], command: click.Command, tmp_path: Path
) -> None:
    """The output is refused before the inputs, which do not exist either, are opened."""
    arguments = ["missing"] * sum(isinstance(p, click.Argument) for p in command.params)
    required = [
        word
        for p in command.params
        if isinstance(p, click.Option) and p.required
        for word in (p.opts[0], "x")
    ]
    assert any(flag == "--output" for flag, _ in _options(command)), "-o is an output"
    for flag, kind in _options(command):
        target = tmp_path / "typo" / {"file": "x.html", "folder": "new", "scores": "new"}[kind]
        done = CliRunner().invoke(app, [*words, *arguments, *required, flag, str(target)])
        assert isinstance(done.exception, WriteError), (flag, done.output)
        assert f"there is no folder {tmp_path / 'typo'}; create it" in str(done.exception)
        assert not list(tmp_path.iterdir())


def test_other_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for words, message in (
        (["score", "a", "b", "--json", str(tmp_path / "folder")], "it is a folder; name a file"),
        (["corpus", "a", "b", "--plots", str(tmp_path / "file")], "it is a file; name a folder"),
        (["score", "a", "b", "--json", str(tmp_path / "file" / "x")], "Not a directory"),
    ):
        done = CliRunner().invoke(app, words)
        assert isinstance(done.exception, WriteError) and message in str(done.exception), words
    assert (tmp_path / "file").read_text() == "x"


def test_nothing_creates_folders_from_python_either(tmp_path: Path) -> None:
    scores = captious.score({1: ["a dog"], 2: ["a cat"]}, {1: "a dog", 2: "a cat"}, "BLEU-1")
    with pytest.raises(WriteError, match="there is no folder"):
        scores.save(tmp_path / "typo" / "x.scores")
    with pytest.raises(WriteError, match="there is no folder"):
        captious.prepare({1: ["a dog"]}, "BLEU-1").save(tmp_path / "typo" / "x")
    assert not list(tmp_path.iterdir())
    captious.Scores.save_all([scores], tmp_path / "new")  # a folder for scores may be new
    assert [path.suffix for path in (tmp_path / "new").iterdir()] == [".scores"]
