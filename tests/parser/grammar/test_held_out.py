"""The shipped caption grammar on images that it was not trained on, beside CoreNLP and Java SPICE."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.parser.choice import get
from captious.training.grammar.label_trees import PERCENT
from captious.training.parser.labels import is_held_out
from captious.training.parser.treebank import read_parses
from tests.conftest import read_jsonl

pytestmark = pytest.mark.shared


def test_spice_is_nearer_to_java_than_with_the_fast_parser(shared_data: Path) -> None:
    rows = [
        row
        for row in read_jsonl(shared_data / "gold" / "spice_coco.jsonl.gz")
        if is_held_out(row["image_id"], PERCENT)
    ][:500]
    java = np.array([row["scores"]["All"] for row in rows])
    corpus = Corpus.build(
        [str(row["image_id"]) for row in rows],
        [[row["caption"]] for row in rows],
        [row["references"] for row in rows],
        tokenizer="none",
    )
    equal = {}
    for name in ("fast", "grammar"):
        values = np.asarray(captious.score(corpus, "SPICE", parser=name)["SPICE"].per_caption)
        equal[name] = float(np.mean(np.abs(values - java) < 1e-9))
        assert abs(values.mean() - java.mean()) < 0.003
    # The fast parser was trained on most of these captions.
    assert equal["grammar"] > 0.87
    assert equal["grammar"] > equal["fast"] + 0.1


def test_sentences_of_the_test_part_have_corenlp_s_analyses(shared_data: Path) -> None:
    captions = [
        caption
        for caption in read_parses(shared_data / "parses" / "captions.jsonl.gz")
        if caption.part == "test" and caption.source != "coco_raw"
    ][:1500]
    gold = [sentence for caption in captions for sentence in caption.sentences if len(sentence) > 0]
    [*parsed] = (
        sentence
        for caption in get("grammar").parse_batch([s.forms for s in gold]).parses()
        for sentence in caption
    )
    assert len(parsed) == len(gold)
    same = [(a.tags, a.heads, a.relations) == (b.tags, b.heads, b.relations) for a, b in zip(parsed, gold)]
    assert np.mean(same) > 0.95
