"""Functions and files that a command crosses."""

from __future__ import annotations

from pathlib import Path

from tools.crossed import counts, crossed

SOURCE = Path(__file__).resolve().parents[2] / "src"


def test_functions_of_a_command_are_listed_by_file(tmp_path: Path) -> None:
    captions = tmp_path / "captions.txt"
    captions.write_text("A dog runs.\n")
    functions = crossed(SOURCE, ["tokenize", str(captions)])
    names = {(file, name) for file, _, name in functions}
    assert {("cli/language.py", "tokenize"), ("text/ptb/numbering.py", "number")} <= names
    # Functions that only run on import, and those of commands that did not run, are absent.
    assert not any(name in ("_set", "score", "parse") for _, name in names)
    assert counts(functions)["files"] == len({file for file, _ in names}) < counts(functions)["functions"]
