"""The same numbers as pycocoevalcap 1.2 on COCO, from raw text, for two systems."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from tests.conftest import read_jsonl

pytestmark = pytest.mark.shared
SYSTEMS = ["Dai-et-al-2017", "Vinyals-et-al-2017"]


def load_gold(folder: Path, system: str) -> dict[str, Any]:
    with gzip.open(folder / "gold" / f"lexical_{system}.json.gz", "rt", encoding="utf-8") as handle:
        loaded: dict[str, Any] = json.load(handle)
    return loaded


def coco_corpus(folder: Path, system: str, images: list[int]) -> Corpus:
    """The images of a gold file in its order."""
    references = {
        row["image_id"]: row["captions"] for row in read_jsonl(folder / "coco" / "references.jsonl.gz")
    }
    predictions = {
        r["image_id"]: r["caption"] for r in read_jsonl(folder / "coco" / "systems" / f"{system}.jsonl.gz")
    }
    return captious.load({i: references[i] for i in images}, {i: predictions[i] for i in images})


@pytest.mark.parametrize("system", SYSTEMS)
def test_equal_to_the_coco_tools(shared_data: Path, system: str) -> None:
    gold = load_gold(shared_data, system)
    corpus = coco_corpus(shared_data, system, gold["images"])
    scores = captious.score(corpus, "lexical")
    for n in range(1, 5):
        assert scores[f"BLEU-{n}"].value == pytest.approx(gold["corpus"]["BLEU"][n - 1], abs=1e-9)
        np.testing.assert_allclose(
            scores[f"BLEU-{n}"].per_caption, gold["per_image"]["BLEU"][n - 1], rtol=0, atol=1e-9
        )
    for ours, theirs in [("ROUGE-L", "ROUGE_L"), ("CIDEr-D", "CIDEr")]:
        assert scores[ours].value == pytest.approx(gold["corpus"][theirs], abs=1e-9)
        np.testing.assert_allclose(scores[ours].per_caption, gold["per_image"][theirs], rtol=0, atol=1e-9)
