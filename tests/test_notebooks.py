"""HTML for notebooks, and data frames."""

from __future__ import annotations

import pytest

import captious
from captious.data import demo_path

HOSTILE = "<script>alert(1)</script> & \"'"


def shown(thing: object) -> str:
    text: str = thing._repr_html_()  # type: ignore[attr-defined]
    assert text.count("<table>") == text.count("</table>") == 1
    assert "<script" not in text
    return text


def test_corpora_and_scores() -> None:
    corpus = captious.load(
        {HOSTILE: [f"a dog {HOSTILE}"], "2": ["a cat"]}, {HOSTILE: HOSTILE, "2": "a cat"}, name=HOSTILE
    )
    assert "&lt;script&gt;" in shown(corpus)
    scores = captious.score(corpus, "BLEU-1,ROUGE-L")
    text = shown(scores)
    assert "&lt;script&gt;" in text and "ROUGE-L" in text and f"{scores['ROUGE-L'].value:.4f}" in text
    assert "ROUGE-L|beta:1.2" in shown(scores["ROUGE-L"])


def test_comparisons_and_checks() -> None:
    paths = [demo_path(name) for name in ("good", "poor", "generic")]
    systems = captious.score_systems(
        demo_path("references"), paths, "BLEU-4,CHAIRs", names=["good", HOSTILE, "c"]
    )
    rows = captious.compare(*systems[:2], trials=200)
    text = shown(rows)
    assert "&lt;script&gt;" in text and "BLEU-4 ↑" in text and "CHAIRs ↓" in text
    assert f"{rows[0].difference:+.4f}" in text and text.count("font-weight:bold") == sum(
        r.ahead is not None for r in rows
    )
    assert shown(rows[0]).count("<tr") == 2
    assert shown(captious.compare(*systems, trials=2000)).count("<tr") == 1 + 6
    assert "failed: 2 rules of 2" in shown(captious.check(systems[1], systems[0], trials=2000))
    scores = shown(systems[0])
    low, high = systems[0]["BLEU-4"].interval()
    assert f"[{low:.4f}, {high:.4f}]" in scores


def test_a_corpus_without_references() -> None:
    assert "2 images" in shown(captious.load(None, {"1": "a dog", "2": "a cat"}))


def test_scene_graphs() -> None:
    text = shown(captious.scene_graph("a brown dog chases a cat"))
    assert "dog" in text and "brown" in text and "chase → cat" in text
    shown(captious.scene_graph(f"a {HOSTILE} dog"))


def test_numbers() -> None:
    score = captious.score({1: ["a dog"], 2: ["a cat"]}, {1: "a dog", 2: "a cat"}, "BLEU-1")["BLEU-1"]
    assert float(score) == score.value


def test_frames() -> None:
    pytest.importorskip("pandas")
    scores = captious.score(demo_path("references"), demo_path("good"), "BLEU-4,CIDEr-D")
    frame = scores.to_frame()
    assert list(frame.index) == ["BLEU-4", "CIDEr-D"]
    assert frame.loc["CIDEr-D", "value"] == scores["CIDEr-D"].value and frame.loc["CIDEr-D", "images"] == 60
    images = scores.to_frame(per_image=True)
    assert images.shape == (60, 2) and images.index.name == "image_id"
    assert images["CIDEr-D"].to_dict() == scores["CIDEr-D"].per_image
    assert scores["CIDEr-D"].to_frame()["CIDEr-D"].to_dict() == scores["CIDEr-D"].per_image
