"""``captious train lm``, ``rerank``, ``likelihood`` and ``templates`` on files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from captious.data import demo_path
from tests.command import output as run
from tests.command import refused
from tests.rerank.world import rows, write

pytestmark = pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
REFS = demo_path("references")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("rerank")
    write(home / "n.jsonl", rows(60))
    said = run("train", "lm", REFS, "-o", home / "uni.npz", "--kind", "unigram", "--held-out", 10)
    assert "perplexity" in said and "on 50 held-out captions" in said
    run("train", "lm", REFS, "-o", home / "tri.npz", "--kind", "ngram", "--held-out", 0)
    run("train", "lm", REFS, "-o", home / "tri.arpa", "--kind", "ngram", "--held-out", 0)
    return home


def test_a_language_model_says_how_good_it_is(folder: Path, tmp_path: Path) -> None:
    found = json.loads(
        run(
            "train",
            "lm",
            REFS,
            "-o",
            tmp_path / "x.npz",
            "--kind",
            "ngram",
            "--held-out",
            12,
            "--json",
            "-",
            "--seed",
            3,
        )
    )
    assert found["captions"] == 240 and found["held out"] == 60 and 1 < found["perplexity"] < 1000
    assert "already exists" in refused("train", "lm", REFS, "-o", folder / "uni.npz")
    assert "unknown kind of language model 'markov'" in refused(
        "train", "lm", REFS, "-o", tmp_path / "y", "--kind", "markov"
    )
    assert "holds n-grams, not lstm" in refused(
        "train", "lm", REFS, "-o", tmp_path / "y.arpa", "--kind", "lstm"
    )
    assert "cannot be held out" in refused("train", "lm", REFS, "-o", tmp_path / "y", "--held-out", 60)
    assert "no images left to learn from" in refused(
        "train", "lm", REFS, "-o", tmp_path / "y", "--exclude", REFS
    )


def test_an_lstm_by_command(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    small = ["--kind", "lstm", "--hidden", 16, "--embedding", 8, "--epochs", 2, "--least", 2, "--held-out", 5]
    said = run("train", "lm", REFS, "-o", tmp_path / "m.safetensors", *small)
    assert "epoch 2" in said and "perplexity" in said
    run("train", "lm", REFS, "-o", tmp_path / "m.safetensors", *small, "--resume")
    write(tmp_path / "n.jsonl", rows(4))
    run(
        "rerank",
        tmp_path / "n.jsonl",
        "--lm",
        tmp_path / "m.safetensors",
        "--lambda",
        0.5,
        "-o",
        tmp_path / "out.json",
    )
    assert len(json.loads((tmp_path / "out.json").read_text())) == 4


def test_a_caption_is_chosen_and_all_scores_are_kept(folder: Path, tmp_path: Path) -> None:
    out, kept = tmp_path / "out.json", tmp_path / "all.jsonl"
    said = run(
        "rerank",
        folder / "n.jsonl",
        "--lm",
        folder / "uni.npz",
        "--lambda",
        0.8,
        "-o",
        out,
        "--candidates",
        kept,
    )
    assert "60 images by mutual information" in said
    chosen = {str(row["image_id"]): row["caption"] for row in json.loads(out.read_text())}
    for row in lines(kept):
        assert row["captions"][row["chosen"]] == chosen[str(row["image_id"])]
        assert row["scores"][row["chosen"]] == max(row["scores"])
    assert "BLEU-4" in run("score", REFS, out, "-m", "BLEU-4")
    # The stored list can be re-ranked again.
    again = tmp_path / "again.json"
    run("rerank", folder / "n.jsonl", "--by", "scores", "--scores", kept, "-o", again)
    assert again.read_text() == out.read_text()
    # Scores that captious saved for the same candidates, as a critic's are.
    run("score", REFS, folder / "n.jsonl", "-m", "BLEU-1", "--allow-several", "-o", tmp_path / "c.scores")
    assert "BLEU-1 of" in run(
        "rerank",
        folder / "n.jsonl",
        "--by",
        "critic",
        "--scores",
        tmp_path / "c.scores",
        "-o",
        tmp_path / "critic.json",
    )
    for model in ("tri.npz", "tri.arpa"):
        run(
            "rerank",
            folder / "n.jsonl",
            "--lm",
            folder / model,
            "--lambda",
            0.5,
            "--normalise",
            "-o",
            tmp_path / f"{model}.json",
        )
    assert (tmp_path / "tri.npz.json").read_text() == (tmp_path / "tri.arpa.json").read_text()


def test_without_weight_nothing_changes(folder: Path, tmp_path: Path) -> None:
    base, none = tmp_path / "base.json", tmp_path / "none.json"
    run("rerank", folder / "n.jsonl", "--by", "likelihood", "-o", base)
    said = run(
        "rerank",
        folder / "n.jsonl",
        "--lm",
        folder / "uni.npz",
        "--lm",
        folder / "tri.npz",
        "--alpha",
        0.5,
        "--lambda",
        0,
        "-o",
        none,
    )
    assert base.read_text() == none.read_text() and " 0 captions differ from the likeliest" in said
    assert run("rerank", folder / "n.jsonl", "--by", "likelihood", "-o", "-") == base.read_text()


def test_consensus_by_command(folder: Path, tmp_path: Path) -> None:
    said = run(
        "rerank", folder / "n.jsonl", "--by", "consensus", "--metric", "CIDEr-D", "-o", tmp_path / "c.json"
    )
    assert "consensus (CIDEr-D)" in said
    run(
        "rerank",
        folder / "n.jsonl",
        "--by",
        "consensus",
        "--metric",
        "ROUGE-L",
        "--posterior",
        "-o",
        tmp_path / "r.json",
    )
    assert (tmp_path / "c.json").read_text() != (tmp_path / "r.json").read_text()
    assert "names 8" in refused(
        "rerank", folder / "n.jsonl", "--by", "consensus", "--metric", "coco", "-o", tmp_path / "x.json"
    )


def test_tuning_by_command(folder: Path, tmp_path: Path) -> None:
    arguments = [
        "rerank",
        folder / "n.jsonl",
        "--lm",
        folder / "uni.npz",
        "--lm",
        folder / "tri.npz",
        "--tune",
        REFS,
        "-m",
        "BLEU-4,CIDEr-D,CHAIRs",
        "--trials",
        100,
        "--resamples",
        50,
    ]
    text = run(*arguments, "-o", tmp_path / "out.json", "--plots", tmp_path / "plots", "--format", "markdown")
    assert (
        "| baseline" in text
        and "| + uni " in text
        and "| + interpolated" in text
        and "30 images that were not tuned on" in text
    )
    assert (tmp_path / "plots" / "rerank_grid.png").exists()
    found = json.loads(run(*arguments, "--json", "-"))
    assert found["tuned on"] == 30 and len(found["grid"]["objective"]) == 11 and len(found["systems"]) == 4
    by_hand = tmp_path / "hand.json"
    run(
        "rerank",
        folder / "n.jsonl",
        "--lm",
        folder / "uni.npz",
        "--lm",
        folder / "tri.npz",
        "--lambda",
        found["lambda"],
        "--alpha",
        found["alpha"],
        "-o",
        by_hand,
    )
    assert by_hand.read_text() == (tmp_path / "out.json").read_text()


def test_what_does_not_belong_together_is_refused(folder: Path, tmp_path: Path) -> None:
    nbest, out = folder / "n.jsonl", tmp_path / "x.json"
    uni, tri = ["--lm", folder / "uni.npz"], ["--lm", folder / "tri.npz"]
    for arguments, said in (
        (["-o", out], "needs a language model"),
        ([*uni, "-o", out], "weight of the language model is missing"),
        ([*uni, "--lambda", 1], "write the chosen captions with -o"),
        ([*uni, *tri, "--lambda", 1, "-o", out], "set it (--alpha 0.5)"),
        ([*uni, "--lambda", 1, "--alpha", 0.5, "-o", out], "pass --lm twice, or leave out --alpha"),
        ([*uni, "--lambda", -1, "-o", out], "0 or more"),
        ([*uni, "--lambda", "nan", "-o", out], "takes a number"),
        ([*uni, *tri, "--lambda", 1, "--alpha", 2, "-o", out], "between 0 and 1"),
        ([*uni, *tri, *uni, "--lambda", 1, "-o", out], "3 language models"),
        ([*uni, "--lambda", 1, "--tune", REFS, "-o", out], "leave out --lambda"),
        ([*uni, "--by", "consensus", "-o", out], "belong to '--by mi'"),
        (["--by", "scores", "-o", out], "belong together"),
        (["--by", "magic", "-o", out], "unknown criterion 'magic'"),
        ([*uni, "--tune", REFS, "--part", 0, "-o", out], "share of images"),
        (["--lm", tmp_path / "none.npz", "--lambda", 1, "-o", out], "no such file"),
        (["--lm", nbest, "--lambda", 1, "-o", out], "not a language model"),
    ):
        assert said in refused("rerank", nbest, *arguments), arguments
    assert not out.exists()
    bare = write(
        tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "logprobs"} for row in rows(3)]
    )
    assert "'logprobs' are missing" in refused("rerank", bare, *uni, "--lambda", 1, "-o", out)


def test_templates_by_command(tmp_path: Path) -> None:
    objects, out = demo_path("objects"), tmp_path / "t.json"
    run("templates", objects, "-o", out, "-k", 10)
    made = json.loads(out.read_text())
    assert all(row["caption"] == "" or row["caption"].startswith("there is a") for row in made)
    text = run(
        "templates",
        objects,
        "--curves",
        REFS,
        "-k",
        "5,80",
        "--most",
        "1,3",
        "-m",
        "ROUGE-L,CHAIRs",
        "--format",
        "markdown",
        "--plots",
        tmp_path / "p",
    )
    assert text.count("\n| 80 |") == 2 and (tmp_path / "p" / "rerank_templates.svg").exists()
    for arguments, said in (
        ([], "no output is named"),
        (["-o", out, "-k", "5,10"], "the captions of one setting"),
        (["-o", out, "-k", "x"], "integers separated by commas"),
        (["-o", out, "--threshold", "x"], "numbers separated by commas"),
    ):
        assert said in refused("templates", objects, *arguments)


def test_the_likelihood_test_by_command(folder: Path, tmp_path: Path) -> None:
    generic = ["a man riding a horse", "a dog with a frisbee", "a cat on a bed"]
    training = write(tmp_path / "training.jsonl", [{"image_id": 1, "captions": generic * 2}])
    common = ["--training", training, "-k", 3]
    need = tmp_path / "need.jsonl"
    written = run("likelihood", REFS, "--write", need, *common)
    assert all(f"{text} (2)" in written for text in generic)
    listed = lines(need)
    # A model that likes short captions.
    for row in listed:
        row["tokens"] = [text.lower().split() for text in row["captions"]]
        row["token_logprobs"] = [[-1.0] * (len(tokens) + 1) for tokens in row["tokens"]]
        row["logprobs"] = [sum(values) for values in row["token_logprobs"]]
    scored = write(tmp_path / "scored.jsonl", listed)
    text = run("likelihood", REFS, "--scored", scored, *common, "--format", "markdown")
    assert "log P(s\\|I)" in text or "log P(s|I)" in text
    found = json.loads(
        run(
            "likelihood",
            REFS,
            "--scored",
            scored,
            *common,
            "--lm",
            folder / "uni.npz",
            "--lambda",
            0.5,
            "--json",
            "-",
            "--trials",
            50,
        )
    )
    assert len(found["tests"]) == 3 and next(iter(found["tests"])) == "log P(s|I) per word"
    assert len(found["distractors"]) == 3 and 0 < found["p"] <= 1
    image = str(listed[0]["image_id"])
    assert "0.37" in run("likelihood", REFS, "--scored", scored, "--words", image)
    for ending in ("html", "svg"):
        run("likelihood", REFS, "--scored", scored, "--words", image, "--figure", tmp_path / f"w.{ending}")
        assert "0.37" in (tmp_path / f"w.{ending}").read_text()
    for arguments, said in (
        ([], "--write CAPTIONS"),
        (["--scored", scored, "--lm", folder / "uni.npz"], "belong together"),
        (
            ["--scored", scored, "--lm", folder / "uni.npz", "--lambda", 1, "--alpha", 0.5],
            "pass it with --lm twice",
        ),
        (["--scored", scored, "--words", "nowhere"], "has no image nowhere"),
        (["--scored", scored, "--words", image, "--figure", tmp_path / "w.gif"], "name a file .html or .svg"),
        (["--scored", need], "'logprobs' are missing"),
        (["--scored", need, "--words", image], "no log P of single words"),
        (["--scored", write(tmp_path / "short.jsonl", listed[:1])], "has no captions of image"),
    ):
        assert said in refused("likelihood", REFS, *arguments, *common), arguments
