"""``captious tokenize`` on files."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests import command


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return command.run_bytes("tokenize", *arguments, stdin=stdin)


def test_one_line_per_line_from_stdin() -> None:
    done = run(stdin="A dog.\n\nIt's café (x)".encode())
    assert done.returncode == 0
    assert done.stdout.decode() == "a dog\n\nit 's café -lrb- x -rrb-\n"


def test_a_file_with_punctuation(tmp_path: Path) -> None:
    path = tmp_path / "captions.txt"
    path.write_text("A dog, running.\r\nTwo\n", encoding="utf-8")
    assert run(str(path), "--keep-punctuation").stdout.decode() == "a dog , running .\ntwo\n"


def test_bad_input_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9\n")
    for arguments in ([str(path)], [str(tmp_path / "none.txt")]):
        done = run(*arguments)
        assert done.returncode == 2 and done.stdout == b"" and done.stderr.startswith(b"captious: ")
