"""The training script on a tiny treebank: the written model reproduces it."""

# ruff: noqa: E402

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from captious.core.errors import InputError
from captious.parser.fast_parser import parse_batch
from captious.parser.network_model import read_model
from captious.parser.parsed_sentences import Sentence
from captious.training.parser.averaging import average
from captious.training.parser.labels import choose, convert, recombine
from captious.training.parser.labels import main as labels
from captious.training.parser.train_parser import main
from captious.training.parser.treebank import part_of, read_parses
from captious.training.parser.word_scores import invented, observed_classes, read_scores

NOUNS = ["dog", "cat", "man", "boy", "girl", "bird", "horse", "cow", "fish", "duck"]
VERBS = ["sees", "likes", "chases", "feeds", "hears", "follows"]


def treebank(path: Path) -> None:
    rows = []
    for a in NOUNS:
        for v in VERBS:
            for b in NOUNS:
                form = ["the", a, v, "a", b]
                basic = [[2, 1, "det"], [3, 2, "nsubj"], [0, 3, "root"], [5, 4, "det"], [3, 5, "dobj"]]
                sentence = {
                    "form": form,
                    "tag": ["DT", "NN", "VBZ", "DT", "NN"],
                    "lemma": form,
                    "basic": basic,
                }
                rows.append({"text": " ".join(form), "source": "made", "sentences": [sentence]})
    path.write_text("\n".join(map(json.dumps, rows)))


def scores(path: Path) -> None:
    """Scores of known determiners, nouns and verbs, and of unknown words."""
    lines = ["tags\tDT\tNN\tVBZ", "class\t1:-9.0\t2:-9.5"]
    for number, word in enumerate(["the", "a", *NOUNS, *VERBS], start=1):
        tag = 0 if number < 3 else 1 if word in NOUNS else 2
        lines += [f"class\t{tag}:{-5 - number / 10}\t{(tag + 1) % 3}:-9.0", f"word\t{word}\t1\t{number}"]
    lines += [f"word\t{word}\t0\t0" for word in invented()]
    path.write_text("\n".join(lines), encoding="utf-8")


#: Sizes of a tiny network.
SMALL = [
    "--hidden1",
    "8",
    "--hidden2",
    "8",
    "--embedding",
    "16",
    "--arc",
    "8",
    "--label",
    "8",
    "--threads",
    "1",
    "--rare",
    "1",
]


def test_training_writes_a_model_that_parses(tmp_path: Path) -> None:
    treebank(tmp_path / "parses.jsonl")
    scores(tmp_path / "scores.tsv")
    common = [*SMALL, "--scores", str(tmp_path / "scores.tsv"), "--parses", str(tmp_path / "parses.jsonl")]
    common += ["--batch-words", "100", "--evaluate-every", "5", "--dropout", "0.1"]
    halfway, model = tmp_path / "halfway.pt", tmp_path / "model.npz"
    main([*common, "--epochs", "5", "--output", str(tmp_path / "halfway.npz"), "--checkpoint", str(halfway)])
    main([*common, "--epochs", "8", "--output", str(model), "--initial", str(halfway)])
    [[parsed]] = parse_batch([["the", "bird", "feeds", "a", "cow"]], model=read_model(model)).parses()
    assert parsed.tags == ["DT", "NN", "VBZ", "DT", "NN"]
    assert parsed.heads == [2, 3, 0, 5, 3]
    assert parsed.relations == ["det", "nsubj", "root", "det", "dobj"]


def test_training_goes_on_from_a_model_with_the_same_analyses(tmp_path: Path) -> None:
    """A model read back into torch is the same network: after a tiny step it parses as before."""
    treebank(tmp_path / "parses.jsonl")
    scores(tmp_path / "scores.tsv")
    common = [*SMALL, "--scores", str(tmp_path / "scores.tsv"), "--parses", str(tmp_path / "parses.jsonl")]
    common += ["--batch-words", "100"]
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    main([*common, "--epochs", "1", "--output", str(first)])
    main([*common, "--epochs", "0.1", "--rate", "1e-9", "--initial", str(first), "--output", str(second)])
    words = [["the", a, v, "a", b] for a in NOUNS for v in VERBS for b in NOUNS] + [
        ["unheard-of", "things", "the"]
    ]
    before, after = (parse_batch(words, model=read_model(path)).parses() for path in (first, second))
    same = sum(
        a[0].tags == b[0].tags and a[0].heads == b[0].heads and a[0].relations == b[0].relations
        for a, b in zip(before, after)
    )
    assert same >= 0.98 * len(words)  # weights are rounded once more
    average([first, second], tmp_path / "mean.npz")
    mean = parse_batch(words, model=read_model(tmp_path / "mean.npz")).parses()
    assert sum(a[0].heads == b[0].heads for a, b in zip(before, mean)) >= 0.98 * len(words)
    main([*common, "--epochs", "0.1", "--rate", "1e-9", "--output", str(second)])
    other = parse_batch(words, model=read_model(second)).parses()
    assert sum(a[0].heads == b[0].heads for a, b in zip(before, other)) < 0.5 * len(words)


def test_classes_from_observed_analyses(tmp_path: Path) -> None:
    treebank(tmp_path / "parses.jsonl")
    sentences = [s for c in read_parses(tmp_path / "parses.jsonl") for s in c.sentences]
    rare = Sentence(["one", "zyzzyvas"], ["CD", "NNS"], [], [2, 0], ["nummod", "root"])
    classes, rows = observed_classes([*sentences, rare])
    assert len({classes.of(word) for word in ("the", "a", *NOUNS, *VERBS)}) == 2 + len(NOUNS) + len(VERBS)
    assert (
        classes.of("zyzzyvas") == classes.of("aardvarks") != classes.of("dog")
    )  # known by its last letter only
    tags = sorted({"DT", "NN", "VBZ", "CD", "NNS"})
    assert tags[int(rows[classes.of("feeds")].argmax())] == "VBZ"
    assert tags[int(rows[classes.of("aardvarks")].argmax())] == "NNS"
    assert rows.shape == (classes.size, len(tags)) and rows.max() == 0
    small = [
        "--hidden1",
        "8",
        "--hidden2",
        "8",
        "--embedding",
        "16",
        "--arc",
        "8",
        "--label",
        "8",
        "--threads",
        "1",
        "--batch-words",
        "100",
    ]
    model = tmp_path / "model.npz"
    main(
        [
            "--observed",
            "--parses",
            str(tmp_path / "parses.jsonl"),
            "--rare",
            "1",
            "--epochs",
            "13",
            "--dropout",
            "0.1",
            "--output",
            str(model),
            *small,
        ]
    )
    [[parsed]] = parse_batch([["the", "bird", "feeds", "a", "cow"]], model=read_model(model)).parses()
    assert (parsed.tags, parsed.heads) == (["DT", "NN", "VBZ", "DT", "NN"], [2, 3, 0, 5, 3])


def test_images_are_held_out_with_all_their_captions(tmp_path: Path) -> None:
    references, system = tmp_path / "references.json", tmp_path / "system.json"
    references.write_text(json.dumps({str(i): [f"Image {i}, once.", f"image {i} twice"] for i in range(200)}))
    system.write_text(json.dumps([{"image_id": i, "caption": f"system on {i}"} for i in range(200)]))
    labels(
        [
            "hold-out",
            "--captions",
            str(references),
            str(system),
            "--percent",
            "20",
            "--output",
            str(tmp_path / "held.txt"),
        ]
    )
    held = set((tmp_path / "held.txt").read_text().splitlines())
    images = {line.split()[-1] for line in held if line.startswith("system")}
    assert 20 < len(images) < 60
    assert held == {
        line for i in images for line in (f"image {i} once", f"image {i} twice", f"system on {i}")
    }
    rows = [
        {
            "text": f"Image {i} twice",
            "source": "made",
            "sentences": [{"form": [f"w{i}"], "tag": ["NN"], "lemma": [f"w{i}"], "basic": [[0, 1, "root"]]}],
        }
        for i in range(200)
    ]
    (tmp_path / "parses.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "empty.jsonl").write_text("")
    given = [
        "choose",
        "--parses",
        str(tmp_path / "empty.jsonl"),
        "--captions",
        str(references),
        "--exclude",
        str(tmp_path / "held.txt"),
    ]
    labels([*given, "--output", str(tmp_path / "more.txt")])
    chosen = (tmp_path / "more.txt").read_text().splitlines()
    assert len(chosen) > 200 and held.isdisjoint(chosen)


def test_bad_input_is_named(tmp_path: Path) -> None:
    scores(tmp_path / "scores.tsv")
    given = ["--scores", str(tmp_path / "scores.tsv"), "--parses"]
    with pytest.raises(InputError, match="no such file"):
        main([*given, str(tmp_path / "none.jsonl")])
    (tmp_path / "bad.jsonl").write_text('{"text": "a dog"}\n')
    with pytest.raises(InputError, match="line 1"):
        main([*given, str(tmp_path / "bad.jsonl")])


def test_word_scores_are_read(tmp_path: Path) -> None:
    scores(tmp_path / "scores.tsv")
    classes, rows = read_scores(tmp_path / "scores.tsv")
    assert classes.of("the") == 1
    assert classes.of("never-seen") == classes.of("anything") == 0
    assert rows[0].tolist()[1:] == [0.0, -0.5]
    for content, message in [
        ("hello", "line 1"),
        ("tags\tDT", "no words"),
        ("tags\tDT\nword\ta\t1\t3", "line 2"),
    ]:
        (tmp_path / "bad.tsv").write_text(content)
        with pytest.raises(InputError, match=message):
            read_scores(tmp_path / "bad.tsv")
    with pytest.raises(InputError, match="no such file"):
        read_scores(tmp_path / "none.tsv")


def test_captions_to_label_are_new_and_of_the_training_part() -> None:
    texts = [f"A zebra, number {i}, on some grass." for i in range(300)]
    chosen = list(choose([*texts, *texts, "", "A dog."], ["a dog"]))
    assert len(chosen) == len(set(chosen))
    assert 250 < len(chosen) < 300
    assert all(part_of(text) == "train" and "," not in text for text in chosen)
    assert list(choose(["A dog. Two cats!"], [], raw=True)) == ["A dog .", "Two cats !"]


def test_recombined_captions_are_new_and_of_known_parts() -> None:
    tags, relations = ["DT", "NN", "IN", "DT", "NN"], ["det", "root", "case", "det", "nmod"]
    known = [
        Sentence(["a", a, "on", "the", b], tags, [], [2, 0, 5, 5, 2], relations)
        for a in NOUNS
        for b in ("grass", "road", "beach")
    ]
    made = list(itertools.islice(recombine(known[:20]), 30))
    assert len(made) == len(set(made)) == 30
    assert {" ".join(s.forms) for s in known[:20]}.isdisjoint(made)
    assert all(part_of(text) == "train" and text.split()[0] in ("a", "the") for text in made)
    assert len(list(recombine(known[:2]))) < 20


def test_labels_are_read_back(tmp_path: Path) -> None:
    output = [
        "a/DT dog/NN",
        "",
        "det(dog-2, a-1)",
        "root(ROOT-0, dog-2)",
        "",
        "(())",
        "cats/NNS",
        "",
        "root(ROOT-0, cats-1)",
        "",
    ]
    stopped = ["two/CD dogs/NNS", "", "nummod(dogs-2, two-1)"]
    (tmp_path / "more.out").write_text("\n".join(output + stopped))
    rows = list(convert(tmp_path / "more.out"))
    assert [row["text"] for row in rows] == ["a dog", "cats"]
    assert rows[0]["sentences"][0]["basic"] == [[2, 1, "det"], [0, 2, "root"]]
    assert Sentence.from_dict(rows[0]["sentences"][0]).heads == [2, 0]
    (tmp_path / "bad.out").write_text("a/DT\n\nroot(ROOT-0, a-1)\n\nhello world\n")
    with pytest.raises(InputError, match=r"line 5: not the parser's output"):
        list(convert(tmp_path / "bad.out"))
    with pytest.raises(InputError, match="no such file"):
        list(convert(tmp_path / "none.out"))


def test_a_mistake_is_one_message(tmp_path: Path) -> None:
    """The scripts end like the commands: no traceback, no incomplete files."""
    given = ["convert", "--parsed", str(tmp_path / "none.out"), "--output", str(tmp_path / "more.jsonl")]
    run = subprocess.run(
        [sys.executable, "-m", "captious.training.parser.labels", *given], capture_output=True, text=True
    )
    assert run.returncode == 2
    assert run.stderr.startswith("captious: ") and run.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
