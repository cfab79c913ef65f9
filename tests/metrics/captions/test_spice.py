"""SPICE and SPIDEr as metrics."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.core.errors import CaptiousError
from captious.corpus import Corpus
from captious.scene import scene_graph

REFERENCES = [
    ["a brown dog sleeps on a red sofa", "a dog is lying on a couch"],
    ["two men ride horses on a beach"],
]


def corpus(candidates: list[list[str]], references: list[list[str]] = REFERENCES) -> Corpus:
    return Corpus.build([str(i) for i in range(len(candidates))], candidates, references)


def test_a_caption_equal_to_its_only_reference_has_one() -> None:
    score = captious.score(corpus([["a cat on a mat"], ["two men ride horses on a beach"]]), "SPICE")["SPICE"]
    assert score.per_caption.tolist() == [0.0, 1.0]
    assert score.value == 0.5


COLUMNS = ("f", "counted", "precision", "recall", "hits", "candidate_tuples", "reference_tuples")


def test_statistics_keep_precision_recall_and_counts() -> None:
    score = captious.score(corpus([["a dog on a couch"], ["two men"]]), "SPICE")["SPICE"]
    rows = [dict(zip(COLUMNS, row)) for row in score.statistics.tolist()]
    # "men" and "two men", of men, horses, beach, two, riding horses, and what is on the beach.
    second = rows[1]
    assert second["hits"] == 2 and second["candidate_tuples"] == 2 and second["precision"] == 1
    assert second["recall"] == pytest.approx(2 / second["reference_tuples"])
    for row in rows:
        p, r = row["precision"], row["recall"]
        assert row["f"] == pytest.approx(2 * p * r / (p + r))


def test_a_category_leaves_out_images_whose_references_have_none() -> None:
    scores = captious.score(corpus([["a red dog"], ["two men"]]), "spice-all")
    colors = scores["SPICE-Color"]
    assert np.isnan(colors.per_caption[1])
    assert colors.value == colors.per_caption[0]
    assert scores["SPICE-Cardinality"].value == 1.0 and np.isnan(scores["SPICE-Cardinality"].per_caption[0])


@pytest.mark.parametrize("caption", ["", "running quickly", "!!!", "😀", "<b>|||</b>", "the"])
def test_captions_without_nouns_score_zero(caption: str) -> None:
    scores = captious.score(corpus([[caption], ["two men"]]), "spice-all")
    assert scores["SPICE"].per_caption[0] == 0.0
    assert scores["SPICE-Object"].per_caption[0] == 0.0


def test_one_word() -> None:
    scores = captious.score(corpus([["dog"], ["men"]]), "SPICE")
    assert (scores["SPICE"].per_caption > 0).all()


def test_references_without_tuples_score_zero_overall_and_are_left_out_of_categories() -> None:
    scores = captious.score(corpus([["a dog"], ["two men"]], [["", "running"], REFERENCES[1]]), "spice-all")
    assert scores["SPICE"].per_caption[0] == 0.0
    assert np.isnan(scores["SPICE-Object"].per_caption[0])
    assert scores["SPICE"].value == scores["SPICE"].per_caption[1] / 2


def test_several_candidates_per_image() -> None:
    score = captious.score(corpus([["a dog", "a cat"], ["two men"]]), "SPICE")["SPICE"]
    assert len(score.per_caption) == 3
    assert score.best_per_image["0"] == score.per_caption[0] > score.per_caption[1] == 0


def test_a_second_system_shares_the_references() -> None:
    first = corpus([["a dog"], ["two men"]])
    second = Corpus.build(first.ids, [["two men"], ["a dog"]], first.references, name="other")
    assert (
        captious.score(second, "SPICE")["SPICE"].value == 0.0 < captious.score(first, "SPICE")["SPICE"].value
    )


def test_long_and_hostile_captions() -> None:
    long = "a dog and a cat " * 700
    assert captious.score(corpus([[long], ["a\x00b\u2028c\nd"]]), "SPICE")["SPICE"].per_caption[0] > 0


def test_spider_is_the_mean_of_spice_and_cider() -> None:
    scores = captious.score(
        corpus([["a dog sleeps on a couch"], ["men ride horses"]]), ["SPICE", "CIDEr-D", "SPIDEr"]
    )
    expected = (scores["SPICE"].per_caption + scores["CIDEr-D"].per_caption) / 2
    assert scores["SPIDEr"].per_caption == pytest.approx(expected)
    parts = {**scores["SPICE"].signature.fields, **scores["CIDEr-D"].signature.fields}
    assert scores["SPIDEr"].signature.fields == parts
    assert parts["df"] == "references"


def test_missing_synonym_data_is_an_error_with_advice(tmp_path: object) -> None:
    with pytest.raises(CaptiousError, match=r"lacks meteor-1\.5\.jar"):
        captious.score(corpus([["a dog"], ["men"]]), "SPICE", meteor_data=str(tmp_path))


def test_scene_graph_of_a_text() -> None:
    graph = scene_graph("Two young girls sit at a wooden table.")
    assert set(graph.objects) == {"girl", "table"}
    assert set(graph.attributes) == {("girl", "two"), ("girl", "young"), ("table", "wooden")}
    assert graph.relations == [("girl", "sit at", "table")]


def test_scene_graph_of_several_captions_is_one() -> None:
    graph = scene_graph(["a dog on a sofa", "a brown dog on a couch"])
    assert sorted(graph.objects) in (["dog", "sofa/couch"], ["couch/sofa", "dog"])
    assert len(graph.relations) == 1
