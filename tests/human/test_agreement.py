from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from captious.cli.app import app
from captious.errors import InputError
from captious.human import agreement, load_flickr8k, tau_b, tau_c
from captious.measures import registry
from captious.scores import Score
from tests.human.conftest import write_rows


def pairs(x: np.ndarray, y: np.ndarray) -> tuple[int, int, int, int]:
    """Concordant and discordant pairs, and pairs tied in x and in y, counted one by one."""
    signs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i, j in itertools.combinations(range(len(x)), 2)]
    agree = sum(a * b > 0 for a, b in signs)
    differ = sum(a * b < 0 for a, b in signs)
    return agree, differ, sum(a == 0 for a, _ in signs), sum(b == 0 for _, b in signs)


def test_taus_by_counting_pairs() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 6, 40).astype(float), rng.integers(1, 5, 40).astype(float)
    agree, differ, tied_x, tied_y = pairs(x, y)
    total = 40 * 39 / 2
    assert tau_b(x, y) == pytest.approx((agree - differ) / np.sqrt((total - tied_x) * (total - tied_y)))
    levels = min(len(set(x)), len(set(y)))
    assert tau_c(x, y) == pytest.approx(2 * (agree - differ) / (40**2 * (levels - 1) / levels))


def test_rows_are_judgements_and_own_references_are_left_out(small: Path) -> None:
    expert, crowd = load_flickr8k(small, "expert"), load_flickr8k(small, "cf")
    assert len(expert.candidates) == 4 and expert.rating.tolist() == [4, 4, 3, 1, 1, 2, 4, 3, 4, 2, 2, 1]
    assert expert.caption.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert crowd.rating.tolist() == [1.0, 0.0, 0.67, 0.33] and crowd.variant == "b"
    every = load_flickr8k(small, "cf-all")
    assert len(every.candidates) == 5 and every.references[3] == ["women sit in a café"]
    assert expert.corpus.references.per_image.tolist() == [2, 2, 2, 2]
    (found,) = agreement(expert, [registry.create("ROUGE-L")])
    values = Score.of(registry.create("ROUGE-L"), expert.corpus).per_caption
    assert found.tau == pytest.approx(100 * tau_c(np.repeat(values, 3), expert.rating))
    assert found.rows == 12 and found.captions == 4
    assert found.signature.startswith("ROUGE-L|")


def test_lower_is_better_turns_the_sign(small: Path) -> None:
    metric = registry.create("ROUGE-L")
    usual = agreement(load_flickr8k(small, "cf"), [metric])[0].tau
    metric.higher_is_better = False  # type: ignore[misc]
    assert agreement(load_flickr8k(small, "cf"), [metric])[0].tau == pytest.approx(-usual)


def test_one_score_for_all_is_no_agreement(small: Path) -> None:
    judgements = load_flickr8k(small, "cf")
    (found,) = agreement(judgements, [registry.create("HWCM-4")])
    assert found.tau == 0.0 and found.rows == 4 and found.undefined == 0


def test_the_command_prints_a_table_and_writes_files(small: Path, tmp_path: Path) -> None:
    runner, data, table = CliRunner(), tmp_path / "out.json", tmp_path / "out.md"
    given = ["agreement", str(small), "-m", "ROUGE-L,BLEU-1", "--json", str(data), "--markdown", str(table)]
    shown = runner.invoke(app, given, catch_exceptions=False)
    assert shown.exit_code == 0
    assert "Flickr8k-Expert (tau-c × 100, 12 rows)" in shown.stdout
    rows = json.loads(data.read_text(encoding="utf-8"))
    assert [(row["metric"], row["judgements"]) for row in rows] == [
        ("ROUGE-L", "Flickr8k-Expert"), ("BLEU-1", "Flickr8k-Expert"), ("ROUGE-L", "Flickr8k-CF"), ("BLEU-1", "Flickr8k-CF"),
    ]  # fmt: skip
    expected = f"| ROUGE-L | {rows[0]['tau']:.3f} | {rows[2]['tau']:.3f} |"
    assert expected in table.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="not 'crowd'"):
        runner.invoke(app, ["agreement", str(small), "--judgements", "crowd", "-m", "ROUGE-L"], catch_exceptions=False)


def test_missing_and_damaged_data_are_named(small: Path) -> None:
    with pytest.raises(InputError, match="'expert', 'cf' and 'cf-all', not 'crowd'"):
        load_flickr8k(small, "crowd")
    (small / "flickr8k" / "expert.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(InputError, match=r"expert\.jsonl\.gz cannot be read"):
        load_flickr8k(small, "expert")
    write_rows(small / "flickr8k" / "crowdflower.jsonl.gz", [{"image": "1"}])
    with pytest.raises(InputError, match=r"line 1: no field 'caption'"):
        load_flickr8k(small, "cf")
    (small / "flickr8k" / "captions.jsonl.gz").unlink()
    with pytest.raises(InputError, match=r"captions\.jsonl\.gz is not there"):
        load_flickr8k(small, "cf")


@pytest.mark.shared
def test_the_published_figures_of_flickr8k_expert(shared_data: Path) -> None:
    judgements = load_flickr8k(shared_data, "expert")
    assert len(judgements.candidates) == 5_664 and len(judgements.rating) == 16_992
    names = {"BLEU-1": 32.324, "BLEU-4": 30.776, "ROUGE-L": 32.314, "CIDEr-D": 43.891}
    for found in agreement(judgements, [registry.create(name) for name in names]):
        assert found.tau == pytest.approx(names[found.metric], abs=6e-4)


@pytest.mark.shared
def test_word_vectors_agree_better_than_n_grams(shared_data: Path) -> None:
    judgements = load_flickr8k(shared_data, "expert")
    found = {item.metric: item.tau for item in agreement(judgements, [registry.create(n) for n in ("WEmbSim", "MOWE", "WMD")])}
    # Values measured here, see docs/agreement.md.
    assert found["WEmbSim"] == pytest.approx(51.8, abs=0.3)
    assert found["MOWE"] == pytest.approx(49.8, abs=0.3)
    assert found["WMD"] == pytest.approx(46.2, abs=0.3)
