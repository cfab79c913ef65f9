"""Explanations of single captions agree with the scores they explain."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.data import demo_path
from captious.metrics import registry
from captious.results.explanation_html import SENTENCE_MARKS, explanation_html, save_html
from captious.results.references import load


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """The demo, with an empty caption, one without nouns and a second caption of an image."""
    predictions: dict[str, list[str]] = {
        str(row["image_id"]): [row["caption"]] for row in json.loads(demo_path("poor").read_text())
    }
    first, second, third = list(predictions)[:3]
    predictions[first].append("a red dog and two blue frisbees on a large green field")
    predictions[second], predictions[third] = [""], ["so very quickly"]
    return load(demo_path("references"), predictions, several=True)


@pytest.mark.parametrize("metric", ["CIDEr-D", "CIDEr"])
def test_points_of_ngrams_add_up_to_the_score(corpus: Corpus, metric: str) -> None:
    explanations = captious.explain(corpus, metric=metric)
    score = captious.score(corpus, metric)[metric]
    assert [one.score for one in explanations] == score.per_caption.tolist()
    sums = [sum(part["points"] for part in one.parts) for one in explanations]
    assert sums == pytest.approx(score.per_caption.tolist(), abs=1e-12)
    for one in explanations[:4]:
        for part in one.parts:
            in_caption = f" {part['ngram']} " in f" {one.caption} "
            assert in_caption == (part["status"] != "missed")
            assert (part["references"] > 0) == (part["status"] != "extra")


def test_alignment_has_the_words_and_chunks_that_meteor_counts(corpus: Corpus) -> None:
    explanations = captious.explain(corpus, metric="METEOR")
    statistics = captious.score(corpus, "METEOR")["METEOR"].statistics
    # Columns of the reference implementation: length of the caption first, then …, chunks, matched words.
    for one, row in zip(explanations, statistics):
        by_status = {
            status: [part for part in one.parts if part["status"] == status]
            for status in ("matched", "missed", "extra")
        }
        matched = sum(len(part["caption"].split()) for part in by_status["matched"])
        assert matched + len(by_status["extra"]) == row[0]
        assert (one.details["chunks"], matched) == (row[20], row[21])
    first = explanations[0]
    assert first.details["reference"] in corpus.references.texts
    assert {part["by"] for part in first.parts} >= {"exact", ""}


@pytest.mark.parametrize("metric", registry.GROUPS["spice-all"])
def test_tuples_are_those_that_spice_counts(corpus: Corpus, metric: str) -> None:
    explanations = captious.explain(corpus, metric=metric)
    score = captious.score(corpus, metric)[metric]
    counted = 0
    for one, (_, counts, _, _, hits, own, theirs) in zip(explanations, score.statistics):
        statuses = [part["status"] for part in one.parts]
        if not counts:
            assert "does not count" in one.summary and math.isnan(one.score)
            continue
        counted += 1
        assert statuses.count("matched") == hits
        assert statuses.count("matched") + statuses.count("extra") == own
        assert one.summary.endswith(f"which have {theirs:.0f}")
    assert counted


def test_objects_are_those_that_chair_counts(corpus: Corpus) -> None:
    explanations = captious.explain(corpus, metric="CHAIRi")
    hallucinated, named = captious.score(corpus, "CHAIRi")["CHAIRi"].statistics.T
    for one, wrong, all_named in zip(explanations, hallucinated, named):
        statuses = [part["status"] for part in one.parts]
        assert statuses.count("hallucinated") == wrong
        assert statuses.count("hallucinated") + statuses.count("matched") == all_named
        present = {part["object"] for part in one.parts if part["status"] != "hallucinated"}
        assert present == set(one.details["image_objects"])


def test_features_move_the_score_from_the_mean_example(corpus: Corpus) -> None:
    explanations = captious.explain(corpus, metric="CaptiousScore-lite", images=corpus.ids[:2])
    assert len(explanations) == 3
    for one in explanations:
        odds = np.log(one.details["start"] / (1 - one.details["start"]))
        odds += sum(part["share"] for part in one.parts)
        assert 1 / (1 + np.exp(-odds)) == pytest.approx(one.score)


def test_chosen_images_are_explained_as_among_all(corpus: Corpus) -> None:
    some = [corpus.ids[5], corpus.ids[2], corpus.ids[5]]
    everything = {one.image: one for one in captious.explain(corpus, metric="CIDEr-D")}
    chosen = captious.explain(corpus, metric="CIDEr-D", images=some)
    assert [one.image for one in chosen] == some[:2]
    assert chosen == [everything[image] for image in some[:2]]


def test_the_description_is_valid_json(corpus: Corpus) -> None:
    for metric in ("CIDEr-D", "SPICE-Color", "CHAIRi", "CaptiousScore-lite"):
        for one in captious.explain(corpus, metric=metric, images=corpus.ids[:3]):
            content = json.loads(json.dumps(one.to_json(), allow_nan=False))
            assert content["image_id"] == one.image and len(content[one.kind]) == len(one.parts)
    assert content["start"] > 0


def test_other_metrics_and_unknown_images_are_refused(corpus: Corpus) -> None:
    with pytest.raises(captious.InputError, match="BLEU-4 cannot be explained; name one of CIDEr-D, CIDEr, "):
        captious.explain(corpus, metric="BLEU-4")
    with pytest.raises(captious.InputError, match="coco cannot be explained"):
        captious.explain(corpus, metric="coco")
    with pytest.raises(captious.InputError, match="image 'nope' is not among the 60 images"):
        captious.explain(corpus, images=["nope"])
    with pytest.raises(captious.InputError, match=r"'combine' .* not of the chosen metric CIDEr-D"):
        captious.explain(corpus, metric="CIDEr-D", combine="max")


REFERENCES = {
    1: ["A dog catches a frisbee in a park.", "A black and white dog jumps for a frisbee."],
    2: ["A bus."],
}
DESCRIPTION = (
    "The image features a dog that jumps to catch a frisbee. There is possibly a cat behind it. "
    "A red car is parked nearby <i & co. It is lively."
)


def test_sentences_have_the_status_of_their_worst_part() -> None:
    [one] = captious.explain(REFERENCES, {1: DESCRIPTION, 2: "a bus"}, "ALOHa", images=[1])
    assert [status for _, status in one.sentences] == ["supported", "ambiguous", "unsupported", "neutral"]
    [one] = captious.explain(REFERENCES, {1: DESCRIPTION, 2: "a bus"}, "FactPrecision", images=[1])
    assert [status for _, status in one.sentences][::2] == ["supported", "unsupported"]
    # FactRecall judges the facts of the references, not the sentences.
    [one] = captious.explain(REFERENCES, {1: DESCRIPTION, 2: "a bus"}, "FactRecall", images=[1])
    assert one.sentences == []


def test_the_page_says_the_status_in_words_and_escapes_captions(tmp_path: Path) -> None:
    explanations = captious.explain(REFERENCES, {1: DESCRIPTION, 2: "a bus"}, "ALOHa")
    save_html(explanations, tmp_path / "why.html", "a <title>")
    page = (tmp_path / "why.html").read_text("utf-8")
    assert "&lt;i &amp; co" in page and "<i" not in page and "a &lt;title&gt;" in page
    for status, mark in SENTENCE_MARKS.items():
        assert f">{mark} {status}</span>" in page
    assert "<script" not in page and explanation_html(explanations[0]) in page
    assert explanations[0]._repr_html_() == explanation_html(explanations[0])
