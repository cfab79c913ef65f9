"""``captious train captioner`` and ``captious generate`` on files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import output as run
from tests.command import refused
from tests.generate.world import write

pytest.importorskip("torch")
pytest.importorskip("safetensors")

SMALL = [
    "--hidden",
    "24",
    "--steps",
    "40",
    "--batch",
    "40",
    "--rate",
    "0.01",
    "--least",
    "1",
    "--validation",
    "8",
    "--evaluate-every",
    "20",
]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data and a trained model."""
    home = tmp_path_factory.mktemp("commands")
    write(home)
    out = run(
        "train",
        "captioner",
        home / "objects.jsonl",
        home / "captions.jsonl",
        "-o",
        home / "m.safetensors",
        *SMALL,
    )
    assert "step 20" in out and "validation CIDEr-D" in out and "52 images" in out
    return home


def test_a_captioner_is_trained_rewarded_and_measured(folder: Path, tmp_path: Path) -> None:
    model, objects, captions = folder / "m.safetensors", folder / "objects.jsonl", folder / "captions.jsonl"
    tuned = tmp_path / "t.safetensors"
    out = run(
        "train",
        "captioner",
        objects,
        captions,
        "-o",
        tuned,
        "--from",
        model,
        "--reward",
        "CIDEr-D=2",
        "--retrieval",
        "1",
        "--steps",
        "3",
        "--images",
        "10",
        "--samples",
        "3",
        "--validation",
        "8",
        "--json",
        "-",
    )
    found = json.loads(out[out.index("{") : out.rindex("}") + 1])
    assert found["history"][-1]["settings"]["rewards"] == {"CIDEr-D": 2.0} and len(found["history"]) == 2
    for how in ("rs", "gnc", "crop", "beam", "diverse"):
        path = tmp_path / f"{how}.jsonl"
        run("generate", tuned, objects, "-o", path, "--how", how, "-m", 5)
        assert [len(row["captions"]) for row in rows(path)] == [5] * 60
        assert all(len(row["logprobs"]) == 5 for row in rows(path))
    table = run("diversity", captions, tmp_path / "rs.jsonl", tmp_path / "crop.jsonl")
    assert "rs (5)" in table and "Self-CIDEr" in table


def test_n_best_lists_and_scores_agree(folder: Path, tmp_path: Path) -> None:
    best, scored = tmp_path / "best.jsonl", tmp_path / "scored.jsonl"
    run("generate", folder / "m.safetensors", folder / "objects.jsonl", "-o", best, "--how", "beam", "-n", 4)
    run("generate", folder / "m.safetensors", folder / "objects.jsonl", "-o", scored, "--score", best)
    for made, again in zip(rows(best), rows(scored)):
        assert made["image_id"] == again["image_id"] and made["captions"] == again["captions"]
        assert made["logprobs"] == sorted(made["logprobs"], reverse=True)
        assert made["logprobs"] == pytest.approx(again["logprobs"], abs=1e-3)


def test_the_same_seed_gives_the_same_captions_in_another_process(folder: Path, tmp_path: Path) -> None:
    arguments = [
        "generate",
        str(folder / "m.safetensors"),
        str(folder / "objects.jsonl"),
        "--only",
        str(folder / "captions.jsonl"),
        "--seed",
        "3",
        "-m",
        "2",
    ]
    run(*arguments, "-o", tmp_path / "a.jsonl")
    code = "from captious.cli.app import main; main()"
    subprocess.run(
        [sys.executable, "-c", code, *arguments, "-o", str(tmp_path / "b.jsonl")],
        check=True,
        capture_output=True,
    )
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_what_cannot_work_is_said_before_training(folder: Path, tmp_path: Path) -> None:
    objects, captions, model, out = (
        folder / "objects.jsonl",
        folder / "captions.jsonl",
        folder / "m.safetensors",
        tmp_path / "x.safetensors",
    )
    train = ["train", "captioner", objects, captions, "-o", out]
    assert "already exists" in refused("train", "captioner", objects, captions, "-o", model)
    assert "train one by cross-entropy first" in refused(*train, "--reward", "CIDEr-D=5")
    assert "METRIC=WEIGHT" in refused(*train, "--reward", "CIDEr-D:5")
    assert "unknown metric 'CIDERX'" in refused(*train, "--reward", "CIDERX=5")
    assert "unknown model 'cnn'" in refused(*train, "--model", "cnn")
    assert "cannot be held out" in refused(*train, "--validation", "60")
    assert "have no image in common" in refused(*train, "--exclude", captions)
    other = tmp_path / "other.jsonl"
    other.write_text('{"image_id": 1, "objects": ["unicorn"]}\n')
    assert "knows no object called unicorn" in refused("generate", model, other, "-o", out)
    assert "need a model with a latent vector" in refused(
        "generate", model, objects, "-o", out, "--how", "drv"
    )
    assert "--sigma is a number" in refused("generate", model, objects, "-o", out, "--sigma", "a:b")
    assert "not a captioner" in refused("generate", objects, objects, "-o", out)
    for arguments, message in (
        (["--how", "greedy", "--captions", 5], "greedy decoding writes one caption per image, not 5"),
        (
            ["--how", "beam", "--temperature", 0.5],
            "--how beam does not use --temperature, --top-k and --top-p",
        ),
        (["--sigma", "1:2"], "leave it out, or use --how gnc or drv"),
        (["--how", "ss", "--groups", 2], "use --how diverse"),
        (["--neighbours", 3], "--how rs does not use --neighbours"),
        (["--how", "ss", "--switch", "a:b"], "--switch is a number"),
        (["--score", captions, "--how", "beam"], "leave out --how"),
        (["--score", captions, "--captions", 3], "leave out --how"),
    ):
        assert message in refused("generate", model, objects, "-o", out, *arguments), arguments
    assert not out.exists()


def test_help_names_the_group() -> None:
    assert "captioner" in run("train", "--help")


def test_importing_the_command_line_loads_no_torch() -> None:
    code = "import sys, captious.cli.app; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_log_p_of_single_units(folder: Path, tmp_path: Path) -> None:
    model, objects, captions = folder / "m.safetensors", folder / "objects.jsonl", folder / "captions.jsonl"
    run("generate", model, objects, "-o", tmp_path / "plain.jsonl", "--score", captions)
    run("generate", model, objects, "-o", tmp_path / "units.jsonl", "--score", captions, "--tokens")
    for plain, units in zip(rows(tmp_path / "plain.jsonl"), rows(tmp_path / "units.jsonl")):
        assert units["captions"] == plain["captions"] and units["logprobs"] == pytest.approx(
            plain["logprobs"], abs=1e-5
        )
        assert [sum(values) for values in units["token_logprobs"]] == pytest.approx(
            units["logprobs"], abs=1e-9
        )
        assert [len(values) for values in units["token_logprobs"]] == [
            len(tokens) + 1 for tokens in units["tokens"]
        ]
        assert units["tokens"][0] == units["captions"][0].lower().rstrip(".").split()
    assert "--score" in refused("generate", model, objects, "-o", tmp_path / "x.jsonl", "--tokens")


def test_latent_vectors_and_rewards_without_cross_entropy(tmp_path: Path) -> None:
    objects, captions = write(tmp_path, 30)
    small = ["--batch", "20", "--least", "1", "--validation", "0", "--steps", "3"]
    gmm, cider = tmp_path / "gmm.safetensors", tmp_path / "cider.safetensors"
    run("train", "captioner", objects, captions, "-o", gmm, "--hidden", 16, "--latent", 4, "--prior", "gmm",
        "--free-bits", 0.1, "--annealing", 0.2, *small)  # fmt: skip
    assert json.loads(run("generate", gmm, objects, "-o", "-", "--how", "drv", "-n", 2).splitlines()[0])
    log = run("train", "captioner", objects, captions, "-o", cider, "--from", gmm, "--reward", "CIDEr-D=1",
              "--xe", 0, "--images", 8, "--samples", 2, *small)  # fmt: skip
    assert "reward" in log and "xe" not in log
    plain = ["train", "captioner", objects, captions, "-o", tmp_path / "x"]
    assert "beside a reward only" in refused(*plain, "--xe", 0)
    assert "must be 0 or more" in refused(*plain, "--from", gmm, "--reward", "CIDEr-D=1", "--xe", -1)
    assert "share of annealing" in refused(*plain, "--annealing", 2)
    assert "add --latent 32" in refused(*plain, "--prior", "gmm")
