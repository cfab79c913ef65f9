"""The benchmark of speed: its sections, its tables of stored results, and the processes that it times."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import captions, growth, speed
from benchmarks.captions import LongTexts, random_captions
from benchmarks.steps import Steps
from benchmarks.timing import Run, in_turn, quickest


def test_tables_of_stored_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "steps.json", tmp_path / "out.md"
    steps = Steps(path, log=lambda text: None)
    steps.measure(
        "cores",
        "METEOR, own work",
        {},
        lambda: {"references": [1.0, 0.5], "candidates": [1.0, 0.5], "both": [2.0, 1.0]},
    )
    steps.measure("measures", "10000 images", {}, lambda: {"BLEU": 0.184})
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "speed",
            "--only",
            "none",
            "--json",
            str(path),
            "--markdown",
            str(out),
            "--plot",
            str(tmp_path / "none.svg"),
        ],
    )
    speed.main()
    text = out.read_text(encoding="utf-8")
    assert capsys.readouterr().out == text + "\n"
    assert [line for line in text.split("\n") if line.startswith("## ")] == [
        "## Two threads beside one",
        "## Single measures",
    ]
    assert (
        "| METEOR, own work: both | 2.00 s | 1.00 s | 2.00× |" in text
        and "| 10,000 images, one thread | processor seconds |" in text
        and "| BLEU | 0.18 |" in text
    )
    assert not (tmp_path / "none.svg").exists()


def test_a_stopped_run_prints_its_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "steps.json"

    def stopped(steps: Steps, names: list[str], sizes: list[int]) -> None:
        assert (names, sizes) == (["and METEOR"], [7, 8])
        steps.measure(
            "growth",
            "and METEOR; 1000",
            {},
            lambda: {"images": 1_000, "seconds": 1.0, "processor": 1.0, "megabytes": 100.0},
        )
        steps.measure(
            "growth",
            "and METEOR; 2000",
            {},
            lambda: {"images": 2_000, "seconds": 2.0, "processor": 2.0, "megabytes": 110.0},
        )
        raise KeyboardInterrupt

    monkeypatch.setattr(growth, "measure", stopped)
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "speed",
            "--only",
            "growth",
            "--sizes",
            "7,8",
            "--sets",
            "and METEOR",
            "--json",
            str(path),
            "--plot",
            str(tmp_path / "growth.svg"),
        ],
    )
    with pytest.raises(KeyboardInterrupt):
        speed.main()
    assert "| and METEOR | 2,000 | 2.0 s | 1000 µs | 110 MB | 10.2 KB |" in capsys.readouterr().out
    assert json.loads(path.read_text())["growth"].keys() == {"and METEOR; 1000", "and METEOR; 2000"}
    drawn = (tmp_path / "growth.svg").read_bytes()
    # Equal numbers give equal files.
    growth.plot(Steps(path).results("growth"), tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == drawn


def test_a_run_with_a_limit_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def two(steps: Steps, folder: Path, images: int) -> None:
        steps.measure("measures", f"{images} images", {}, lambda: {"BLEU": 1.0})
        steps.measure("measures", "20 images", {}, lambda: {"BLEU": 2.0})

    monkeypatch.setattr(speed, "measure_measures", two)
    monkeypatch.setattr(
        sys,
        "argv",
        [
            "speed",
            "--only",
            "measures",
            "--measures-images",
            "10",
            "--steps",
            "1",
            "--json",
            str(tmp_path / "steps.json"),
        ],
    )
    for known in (1, 2):
        speed.main()
        assert capsys.readouterr().out.count("| BLEU |") == known


def test_sections_and_sets_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    parse = speed.arguments().parse_args
    assert parse([]).only == list(speed.SECTIONS) == list(speed.REPORTS)
    assert parse(["--only", "growth,speed"]).only == ["speed", "growth"]
    assert parse(["--only", "none"]).only == []
    for wrong in (["--only", "sped"], ["--sets", "and METOER"]):
        with pytest.raises(SystemExit):
            parse(wrong)
        assert "choose from" in capsys.readouterr().err


def test_sizes_are_measured_once_each_and_share_their_files(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    scored: list[tuple[int, str]] = []

    class FakeRecombiner:
        def write(self, folder: Path, images: int) -> tuple[Path, Path]:
            written.append(images)
            return folder, folder

    class FakeRun:
        wall, processor, megabytes = 1.0, 1.0, 100.0

        def __init__(self, command: list[str]) -> None:
            scored.append((written[-1], command[command.index("-m", 3) + 1]))

    monkeypatch.setattr(growth, "Recombiner", FakeRecombiner)
    monkeypatch.setattr(growth, "Run", FakeRun)
    steps = Steps(log=lambda text: None)
    growth.measure(steps, ["BLEU, ROUGE-L, CIDEr-D", "and METEOR"], [5_000])
    # The smallest size comes first. Its first run fills the cache.
    assert written == [1_000, 5_000]
    assert scored == [
        (1_000, "lexical"),
        (1_000, "lexical"),
        (1_000, "lexical,METEOR"),
        (1_000, "lexical,METEOR"),
        (5_000, "lexical"),
        (5_000, "lexical,METEOR"),
    ]
    growth.measure(steps, ["and METEOR"], [9_000])
    assert written == [1_000, 5_000, 9_000] and scored[6:] == [(9_000, "lexical,METEOR")]


def test_the_memory_of_a_process_is_its_own() -> None:
    large = b"1" * 300_000_000
    run = Run([sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr)"])
    assert len(large) == 300_000_000
    assert 2 < run.megabytes < 100
    assert run.output == "out\n" and run.wall > 0 and run.processor > 0
    assert Run([sys.executable, "-c", "x = b'1' * 150_000_000"]).megabytes > 140


def test_timed_processes_use_this_tree() -> None:
    run = Run([sys.executable, "-c", "import captious; print(captious.__file__)"])
    assert (
        Path(run.output.strip())
        == Path(speed.__file__).resolve().parent.parent / "src" / "captious" / "__init__.py"
    )


def test_a_failing_command_shows_its_error() -> None:
    with pytest.raises(SystemExit, match=r"failed:\n(.|\n)*ValueError: no such thing"):
        Run([sys.executable, "-c", "raise ValueError('no such thing')"])


def test_commands_run_in_turn() -> None:
    order: list[str] = []

    class FakeRun:
        def __init__(self, command: list[str]) -> None:
            order.append(command[0])
            self.wall = 5 - len(order)

    runs = in_turn(2, {"one": ["a"], "other": ["b"]}, FakeRun)  # type: ignore[arg-type]
    assert order == ["a", "b", "a", "b"]
    assert {name: [run.wall for run in several] for name, several in runs.items()} == {
        "one": [4, 2],
        "other": [3, 1],
    }
    assert quickest(runs["one"]).wall == 2


def test_long_captions_are_sentences_of_real_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captions, "coco", lambda: random_captions(60))
    rows = LongTexts().rows(3, 300, 100)
    assert rows == LongTexts().rows(3, 300, 100) != LongTexts(1).rows(3, 300, 100)
    references, predictions = random_captions(60)
    known = {
        word.strip(".").lower()
        for own in (*references.values(), list(predictions.values()))
        for text in own
        for word in text.split()
    }
    openings = {
        word.strip(",").lower()
        for text in (*captions._FIRST_OPENINGS, *captions._LATER_OPENINGS, *captions._JOINTS)
        for word in text.split()
    }
    for text, own in rows:
        assert len(text.split()) == 300 and [len(one.split()) for one in own] == [100] * 5
        for one in (text, *own):
            assert one.endswith(".") and one.count(".") > 3 and "," in one and len(one.split()[-1]) > 2
            assert {word.strip(".,;").lower() for word in one.split()} <= known | openings | {"it"}
            assert all(sentence.strip()[:1].isupper() for sentence in one.split(".")[:-1])
