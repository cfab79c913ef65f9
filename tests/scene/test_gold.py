"""Fidelity to Java SPICE: the rules on CoreNLP's own parses, and end to end on ours."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.metrics.captions.spice import KINDS
from captious.parser import Sentence
from captious.parser.choice import get as get_parser
from captious.scene import (
    SceneGraph,
    Tuple,
    candidate_graphs,
    counts,
    match,
    precision_recall_f,
    reference_graphs,
    tuples,
)
from captious.text.synonyms import Synonyms
from tests.conftest import read_jsonl

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def gold(shared_data: Path) -> list[Any]:
    return list(read_jsonl(shared_data / "gold" / "spice_coco.jsonl.gz"))


@pytest.fixture(scope="module")
def synonyms() -> Synonyms:
    return Synonyms.load()


@pytest.fixture(scope="module")
def stated(shared_data: Path, gold: list[Any]) -> dict[str, list[Tuple]]:
    """Tuples from CoreNLP's graphs of all parsed candidates, and of the references of every third image."""
    wanted = {row["caption"] for row in gold}
    wanted |= {row["caption"] for row in read_jsonl(shared_data / "gold" / "spice_flickr8k_expert.jsonl.gz")}
    wanted |= {text for row in gold[::3] for text in row["references"]}
    found: dict[str, list[Tuple]] = {}
    with gzip.open(shared_data / "parses" / "captions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            # Most of the lines are not wanted, and not worth reading in full.
            text = json.loads(line[len('{"text":') : line.index(',"source":')])
            if text in wanted and text not in found:
                sentences = [Sentence.from_dict(row) for row in json.loads(line)["sentences"]]
                found[text] = [item for sentence in sentences for item in tuples(sentence)]
    return found


def test_candidate_tuples_on_parses_of_corenlp(
    shared_data: Path, gold: list[Any], stated: dict[str, list[Tuple]], synonyms: Synonyms
) -> None:
    rows = [*gold, *read_jsonl(shared_data / "gold" / "spice_flickr8k_expert.jsonl.gz")]
    known = {row["caption"]: row["candidate_tuples"] for row in rows if row["caption"] in stated}
    same = [set(SceneGraph(stated[c], synonyms).tuples) == set(map(tuple, t)) for c, t in known.items()]
    assert len(same) > 2000
    assert np.mean(same) >= 0.999


def test_reference_graphs_on_parses_of_corenlp(
    gold: list[Any], stated: dict[str, list[Tuple]], synonyms: Synonyms
) -> None:
    rows = [row for row in gold[::3] if all(text in stated for text in row["references"])]
    same = [
        set(SceneGraph((i for t in row["references"] for i in stated[t]), synonyms).tuples)
        == set(map(tuple, row["reference_tuples"]))
        for row in rows
    ]
    assert len(same) > 1000
    assert np.mean(same) >= 0.995


def test_hits_and_scores_on_parses_of_corenlp(
    gold: list[Any], stated: dict[str, list[Tuple]], synonyms: Synonyms
) -> None:
    rows = [row for row in gold[::3] if all(text in stated for text in (row["caption"], *row["references"]))]
    assert len(rows) > 400
    for row in rows:
        candidate = SceneGraph(stated[row["caption"]], synonyms)
        reference = SceneGraph((i for t in row["references"] for i in stated[t]), synonyms)
        hits = dict(zip(candidate.tuples, match(candidate, reference).hits))
        assert hits == dict(zip(map(tuple, row["candidate_tuples"]), row["candidate_hits"]))
        table = counts(candidate, reference)
        for kind, expected in row["scores"].items():
            f = precision_recall_f(table[kind])[2] if kind == "All" or table[kind][2] else None
            assert f == pytest.approx(expected, abs=1e-12), kind


def test_end_to_end(gold: list[Any], synonyms: Synonyms) -> None:
    rows = gold[::8]
    corpus = Corpus.build(
        [str(row["image_id"]) for row in rows],
        [[row["caption"]] for row in rows],
        [row["references"] for row in rows],
        tokenizer="none",
    )
    scores = captious.score(corpus, "spice-all")
    java = np.array([row["scores"]["All"] for row in rows])
    assert abs(scores["SPICE"].value - java.mean()) < 0.005
    assert np.corrcoef(scores["SPICE"].per_caption, java)[0, 1] >= 0.95
    for kind in KINDS[1:4]:
        expected = np.mean([row["scores"][kind] for row in rows if row["scores"][kind] is not None])
        assert abs(scores[f"SPICE-{kind}"].value - expected) < 0.01, kind
    for graphs, key in (
        (candidate_graphs(corpus.candidates, get_parser(), synonyms), "candidate_tuples"),
        (reference_graphs(corpus.references, get_parser(), synonyms), "reference_tuples"),
    ):
        ours = [set(graph.tuples) for graph in graphs]
        theirs = [set(map(tuple, row[key])) for row in rows]
        shared = sum(len(a & b) for a, b in zip(ours, theirs))
        assert 2 * shared / (sum(map(len, ours)) + sum(map(len, theirs))) >= 0.92, key


def test_agreement_with_experts(shared_data: Path) -> None:
    """Kendall's tau-c with the experts of Flickr8k; Java SPICE has 44.888 on these captions."""
    from scipy.stats import kendalltau

    rows = list(read_jsonl(shared_data / "gold" / "spice_flickr8k_expert.jsonl.gz"))
    corpus = Corpus.build(
        list(map(str, range(len(rows)))),
        [[r["caption"]] for r in rows],
        [r["references"] for r in rows],
        tokenizer="none",
    )
    values = captious.score(corpus, "SPICE")["SPICE"].per_caption
    pairs = np.array([(value, expert) for value, row in zip(values, rows) for expert in row["expert_scores"]])
    assert len(pairs) == 16992
    tau = 100 * kendalltau(pairs[:, 0], pairs[:, 1], variant="c").statistic
    assert tau >= 44.888 - 0.5
