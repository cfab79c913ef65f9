"""The training script, on a treebank small enough to learn by heart: the written model parses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from captious.errors import InputError  # noqa: E402
from captious.language.model import read_model  # noqa: E402
from captious.language.parser import parse_batch  # noqa: E402
from captious.language.train import main  # noqa: E402

NOUNS = ["dog", "cat", "man", "boy", "girl", "bird", "horse", "cow", "fish", "duck"]
VERBS = ["sees", "likes", "chases", "feeds", "hears", "follows"]


def treebank(path: Path) -> None:
    rows = []
    for a in NOUNS:
        for v in VERBS:
            for b in NOUNS:
                form = ["the", a, v, "a", b]
                basic = [[2, 1, "det"], [3, 2, "nsubj"], [0, 3, "root"], [5, 4, "det"], [3, 5, "dobj"]]
                sentence = {"form": form, "tag": ["DT", "NN", "VBZ", "DT", "NN"], "lemma": form, "basic": basic}
                rows.append({"text": " ".join(form), "source": "made", "sentences": [sentence]})
    path.write_text("\n".join(map(json.dumps, rows)))


def test_training_writes_a_model_that_parses(tmp_path: Path) -> None:
    treebank(tmp_path / "parses.jsonl")
    (tmp_path / "more.txt").write_text("the dog sees a frog\nthe frog likes a dog\n")
    small = ["--hidden1", "8", "--hidden2", "8", "--embedding", "16", "--arc", "8", "--label", "8", "--threads", "1"]
    common = ["--parses", str(tmp_path / "parses.jsonl"), "--batch-words", "100", "--evaluate-every", "5", *small]
    teacher, model = tmp_path / "teacher.pt", tmp_path / "model.npz"
    main([*common, "--epochs", "5", "--output", str(tmp_path / "teacher.npz"), "--checkpoint", str(teacher)])
    main([*common, "--epochs", "10", "--output", str(model), "--teacher", str(teacher), "--unlabelled", str(tmp_path / "more.txt")])
    [[parsed]] = parse_batch(["the bird feeds a cow".split()], model=read_model(model)).parses()
    assert parsed.tags == ["DT", "NN", "VBZ", "DT", "NN"]
    assert parsed.heads == [2, 3, 0, 5, 3]
    assert parsed.relations == ["det", "nsubj", "root", "det", "dobj"]


def test_bad_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        main(["--parses", str(tmp_path / "none.jsonl")])
    (tmp_path / "bad.jsonl").write_text('{"text": "a dog"}\n')
    with pytest.raises(InputError, match="line 1"):
        main(["--parses", str(tmp_path / "bad.jsonl")])
