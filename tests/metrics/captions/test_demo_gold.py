"""The demo from raw text, through the public interface: the numbers of pycocoevalcap and the METEOR jar."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import captious
from captious import meteor
from captious.data import demo_path
from tests.gold import SYSTEMS, load
from tests.gold.edge_captions import groups

NAMES = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D", "METEOR")


def compare_with(gold: dict[str, Any], scores: Any) -> None:
    for name in NAMES:
        ours = [scores[name].per_image[image] for image in gold["images"]]
        np.testing.assert_allclose(ours, gold["per_image"][name], rtol=0, atol=1e-12, err_msg=name)
        assert scores[name].value == pytest.approx(gold["corpus"][name], rel=0, abs=1e-12), name


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_demo_scores_as_with_the_coco_tools(system: str) -> None:
    corpus = captious.load(demo_path("references"), demo_path(system))
    compare_with(load("lexical")[system], captious.score(corpus, NAMES))


def test_captions_that_are_hard_to_read_score_as_with_the_coco_tools() -> None:
    images = {f"edge{i:03}": group for i, group in enumerate(groups())}
    corpus = captious.load({i: g[1:] for i, g in images.items()}, {i: g[0] for i, g in images.items()})
    compare_with(load("lexical")["edge"], captious.score(corpus, NAMES))


def test_meteor_says_of_each_pair_what_the_jar_says() -> None:
    """All numbers of the statistics lines: alignment, stems, synonyms, paraphrases, function words."""
    rows = load("meteor")
    ours = meteor.statistics([row[0] for row in rows], [row[1] for row in rows])
    theirs = np.array([row[2].split() for row in rows], np.float64)
    wrong = [rows[i][:3] for i in np.flatnonzero((ours != theirs).any(axis=1))]
    assert not wrong
    np.testing.assert_allclose(meteor.score(ours), [row[3] for row in rows], rtol=0, atol=1e-12)


def test_the_pairs_reach_every_module_of_meteor() -> None:
    """Gold that never matched by stem, synonym or paraphrase would prove little."""
    theirs = np.array([row[2].split() for row in load("meteor")], np.int64)
    matched = theirs[:, 4:20].reshape(-1, 4, 4)
    assert (np.count_nonzero(matched.any(axis=2), axis=0) >= 100).all()
