"""``captious parse``: files in, CoNLL-U or trees out, messages for mistakes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from captious.parser import Sentence, parse
from captious.parser.conllu import conllu, draw
from tests import command


def run(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return command.run_bytes("parse", *arguments, folder=folder, stdin=stdin)


def test_lines_become_conllu(tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_text("A dog runs. Two cats sleep!\n\na bird\n")
    done = run(tmp_path, "captions.txt")
    assert done.returncode == 0, done.stderr
    blocks = done.stdout.decode().strip().split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == [
        "# sent_id = 1.1",
        "# sent_id = 1.2",
        "# sent_id = 3.1",
    ]
    rows = [line.split("\t") for line in blocks[0].splitlines() if not line.startswith("#")]
    assert [row[1] for row in rows] == ["A", "dog", "runs", "."]
    assert all(len(row) == 10 for row in rows)
    assert [row[7] for row in rows].count("root") == 1


def test_caption_files_standard_input_and_output_files(tmp_path: Path) -> None:
    (tmp_path / "refs.json").write_text(json.dumps({"7": ["a dog runs", "the dog"], "9": ["a cat"]}))
    done = run(tmp_path, "refs.json", "-o", "out.conllu", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "out.conllu").read_text()
    assert [line for line in written.splitlines() if "sent_id" in line] == [
        "# sent_id = 7.1.1",
        "# sent_id = 7.2.1",
        "# sent_id = 9.1.1",
    ]
    piped = run(tmp_path, "-", "--tree", "--tokenizer", "none", stdin=b"a dog runs\n")
    assert piped.stdout.decode().splitlines()[0] == "a dog runs"
    assert "root" in piped.stdout.decode()


def test_mistakes_are_one_message(tmp_path: Path) -> None:
    for arguments, said in ((("none.txt",), b"none.txt"), ((".",), b"folder")):
        done = run(tmp_path, *arguments)
        assert done.returncode == 2
        assert said in done.stderr
        assert b"Traceback" not in done.stderr
    (tmp_path / "a.txt").write_text("a dog")
    done = run(tmp_path, "a.txt", "--tokenizer", "nltk", "-o", "out.txt")
    assert (done.returncode, (tmp_path / "out.txt").exists()) == (2, False)
    assert b"nltk" in done.stderr


def test_copied_nodes_have_a_line_of_their_own() -> None:
    rows = [
        ("dog", "NN", 0, "root"),
        ("with", "IN", 3, "case"),
        ("hat", "NN", 1, "nmod"),
        ("and", "CC", 3, "cc"),
        ("with", "IN", 6, "case"),
        ("bag", "NN", 3, "conj"),
    ]
    forms, tags, heads, relations = map(list, zip(*rows))
    text = conllu(Sentence(forms, tags, forms, heads, relations), "x")
    lines = {line.split("\t")[0]: line.split("\t") for line in text.splitlines() if not line.startswith("#")}
    assert lines["1.1"][1] == "dog"
    assert lines["1.1"][8] == "1:conj:and"
    assert lines["6"][8] == "1.1:nmod:with"


def test_control_characters_cannot_steer_the_terminal() -> None:
    sentence = Sentence(["a\tb", "\x1b[31m"], ["NN", "NN"], ["a\tb", "\x1b[31m"], [2, 0], ["dep", "root"])
    assert "\x1b" not in draw(sentence) + conllu(sentence, "1")
    assert all(
        line.count("\t") == 9 for line in conllu(sentence, "1").splitlines() if not line.startswith("#")
    )


def test_trees_show_every_word() -> None:
    [[sentence]] = parse(["two dogs run with a ball and with a stick"])
    lines = draw(sentence).splitlines()
    assert len(lines) == 1 + len(sentence)
    assert sum("root" in line for line in lines) == 1
