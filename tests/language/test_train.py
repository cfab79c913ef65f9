"""The training script, on a treebank small enough to learn by heart: the written model parses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from captious.errors import InputError  # noqa: E402
from captious.language.model import read_model  # noqa: E402
from captious.language.parse_types import Sentence  # noqa: E402
from captious.language.parser import parse_batch  # noqa: E402
from captious.language.probes import convert, probes  # noqa: E402
from captious.language.train import main  # noqa: E402
from captious.language.treebank import part_of  # noqa: E402

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
    small = ["--hidden1", "8", "--hidden2", "8", "--embedding", "16", "--arc", "8", "--label", "8", "--threads", "1"]
    common = ["--parses", str(tmp_path / "parses.jsonl"), "--batch-words", "100", "--evaluate-every", "5", "--dropout", "0.1", *small]
    halfway, model = tmp_path / "halfway.pt", tmp_path / "model.npz"
    main([*common, "--epochs", "5", "--output", str(tmp_path / "halfway.npz"), "--checkpoint", str(halfway)])
    main([*common, "--epochs", "8", "--output", str(model), "--initial", str(halfway)])
    [[parsed]] = parse_batch([["the", "bird", "feeds", "a", "cow"]], model=read_model(model)).parses()
    assert parsed.tags == ["DT", "NN", "VBZ", "DT", "NN"]
    assert parsed.heads == [2, 3, 0, 5, 3]
    assert parsed.relations == ["det", "nsubj", "root", "det", "dobj"]


def test_bad_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        main(["--parses", str(tmp_path / "none.jsonl")])
    (tmp_path / "bad.jsonl").write_text('{"text": "a dog"}\n')
    with pytest.raises(InputError, match="line 1"):
        main(["--parses", str(tmp_path / "bad.jsonl")])


def test_probes_put_rare_words_into_known_captions() -> None:
    known = [Sentence(["a", "dog", "on", "grass"], ["DT", "NN", "IN", "NN"], [], [2, 0, 4, 2], ["det", "root", "case", "nmod"])] * 80
    made = list(probes(known, ["a zebra on some grass"]))
    assert any("zebra" in text for text in made)
    assert all(part_of(text) == "train" for text in made)
    assert len(made) == len(set(made))


def test_probe_labels_are_read_back() -> None:
    output = ["a/DT dog/NN", "", "det(dog-2, a-1)", "root(ROOT-0, dog-2)", "", "cats/NNS", "", "root(ROOT-0, cats-1)", ""]
    rows = list(convert(output))
    assert [row["text"] for row in rows] == ["a dog", "cats"]
    assert rows[0]["sentences"][0]["basic"] == [[2, 1, "det"], [0, 2, "root"]]
    assert Sentence.from_dict(rows[0]["sentences"][0]).heads == [2, 0]
    with pytest.raises(InputError, match="not the parser's output"):
        list(convert(["hello world"]))
