"""The sets printed in Wang & Chan (2019), with the numbers printed beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.io.frequency_files import read_frequencies

pytestmark = pytest.mark.shared

IMAGES = 40_504


@pytest.fixture(scope="module")
def published(shared_data: Path) -> list[dict[str, Any]]:
    lines = (shared_data / "gold" / "diversity_published_sets.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def measured(shared_data: Path, published: list[dict[str, Any]]) -> dict[str, Any]:
    df = read_frequencies(shared_data / "coco" / "df_val2014.tsv.gz", images=IMAGES)
    sets = {str(i): row["captions"] for i, row in enumerate(published)}
    return {kernel: captious.diversity(sets, df=df, kernel=kernel) for kernel in ("cider", "cider-d")}


def test_mbleu_to_the_last_digit(published: list[dict[str, Any]], measured: dict[str, Any]) -> None:
    compared = 0
    for i, row in enumerate(published):
        for n in range(1, 5):
            if f"1-mBLEU-{n}" in row["published"]:
                value = measured["cider"][f"1-mBLEU-{n}"].per_image[str(i)]
                assert value == pytest.approx(row["published"][f"1-mBLEU-{n}"], abs=1e-3)
                compared += 1
    assert compared >= 8


def test_lsa_of_models(published: list[dict[str, Any]], measured: dict[str, Any]) -> None:
    compared = 0
    for i, row in enumerate(published):
        if row["name"] != "Human" and "lsa" in row["published"]:
            assert measured["cider"]["LSA"].per_image[str(i)] == pytest.approx(
                row["published"]["lsa"], abs=0.01
            )
            compared += 1
    assert compared >= 3


@pytest.mark.parametrize(("kernel", "within", "share"), [("cider", 0.03, 0.5), ("cider-d", 0.01, 1.0)])
def test_self_cider_of_models(
    published: list[dict[str, Any]], measured: dict[str, Any], kernel: str, within: float, share: float
) -> None:
    """Document frequencies here are of val2014, those of the paper of the training images."""
    scores = measured[kernel]["Self-CIDEr"].per_image
    apart = [
        abs(scores[str(i)] - row["published"]["self_cider"])
        for i, row in enumerate(published)
        if row["name"] != "Human"
    ]
    assert len(apart) >= 7
    assert max(apart) <= within
    assert sum(difference <= 0.01 for difference in apart) > share * len(apart) - 1e-9
