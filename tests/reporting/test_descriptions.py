"""Descriptions in the report: sentences with their status, objects, and facts covered and missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import captious
from captious.results.explanation_html import SENTENCE_MARKS

REFERENCES = {
    "1": [
        "A dog catches a frisbee in a park.",
        "A black and white dog jumps for a frisbee.",
        "Dog in the grass.",
    ],
    "2": ["A man rides a wave on a surfboard."],
}
DESCRIPTION = (
    "The image features a black and white dog that jumps to catch a frisbee. There is possibly a cat behind it. "
    'A red car with <9 & "wheels" is parked in the background. It is lively.'
)
SYSTEM = {"1": DESCRIPTION, "2": "A man is surfing. He is on a surfboard."}
METRICS = ["CIDEr-D", "ALOHa", "FactRecall", "FactPrecision"]


def build(metrics: Any) -> captious.Report:
    return captious.report(SYSTEM, references=REFERENCES, metrics=metrics, corpus=False)


def test_the_block_holds_what_captious_explain_says() -> None:
    report = build(METRICS)
    [sentences, objects, recall, precision] = report._blocks["descriptions"]["systems"][0][0][0]
    [aloha] = captious.explain(REFERENCES, SYSTEM, "ALOHa", images=[1])
    assert [tuple(row) for row in sentences] == aloha.sentences
    assert [row[:3] for row in objects] == [
        [part["object"], part["sentence"], part["status"]] for part in aloha.parts
    ]
    for facts, metric in ((recall, "FactRecall"), (precision, "FactPrecision")):
        [one] = captious.explain(REFERENCES, SYSTEM, metric, images=[1])
        assert [row[0] for row in facts] == [part["fact"] for part in one.parts]
        assert sum(row[1] for row in facts) / len(facts) == pytest.approx(one.score)


def test_descriptions_are_judged_without_their_metrics_and_captions_are_not() -> None:
    assert build("CIDEr-D")._blocks["descriptions"]["systems"][0][0][0][2:] == [None, None]
    short = captious.report(
        {"1": "a dog", "2": "a man"}, references=REFERENCES, metrics="CIDEr-D", corpus=False
    )
    assert "descriptions" not in short._blocks


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sentences_are_marked_not_by_colour_alone(tmp_path: Path, watch: Any, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    path = build(METRICS).save(tmp_path / "page.html")
    address = "#image=1&system=0&tab=descriptions"
    with watch(path, address, color_scheme=scheme, bypass_csp=True) as seen:
        page = seen.page
        page.wait_for_selector(".judged li")
        expected = ["supported", "ambiguous", "unsupported", "neutral"]
        assert page.locator(".judged .mark").all_inner_texts() == [
            f"{SENTENCE_MARKS[status]} {status}" for status in expected
        ]
        assert (
            page.locator(".judged li")
            .nth(2)
            .inner_text()
            .endswith('A red car with <9 & "wheels" is parked in the background.')
        )
        row = page.locator(".panel table tbody tr", has_text="frisbee").inner_text()
        assert row.split("\t")[0] == "frisbee" and "supported" in row and row.endswith("frisbee")
        missed = page.locator(".panel .chip.missed").all_inner_texts()
        assert any("grass" in text for text in missed)
        assert page.locator(".panel .chip.wrong", has_text="There is a car.").count() == 1
        assert not seen.wrong
        violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert not [one["id"] for one in violations if one["impact"] in ("serious", "critical")]


@pytest.mark.browser
def test_the_panel_fits_on_a_phone(tmp_path: Path, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 375, "height": 740}, has_touch=True)
    page = context.new_page()
    page.goto(build(METRICS).save(tmp_path / "page.html").as_uri() + "#image=1&system=0&tab=descriptions")
    page.wait_for_selector(".judged li")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    context.close()
