"""Groups of images as facets of the report, and long captions sentence by sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.core.errors import InputError
from captious.data import demo_path
from tests.reporting.conftest import until


@pytest.fixture(scope="module")
def grouped() -> captious.Report:
    halves = {str(1001 + n): "first" if n < 20 else "rest" for n in range(60)}
    return captious.report(
        demo_path("good"),
        demo_path("poor"),
        references=demo_path("references"),
        group={"half": halves, "length": captious.read_groups(demo_path("references"), "length")},
        metrics="BLEU-4,CIDEr-D",
        names=["good", "poor"],
        corpus=False,
    )


def test_scores_of_groups_are_those_of_group_scores(grouped: captious.Report) -> None:
    half, length = grouped.meta["facets"]
    assert [group["images"] for group in half["groups"]] == [20, 40] and length["column"] == "length"
    scores = captious.score(demo_path("references"), demo_path("good"), "BLEU-4,CIDEr-D")
    expected = captious.group_scores(
        scores, {str(1001 + n): "first" if n < 20 else "rest" for n in range(60)}
    )
    rows = half["scores"]["CIDEr-D"][0]
    for row, name in zip(rows, ("first", "rest")):
        score = expected.groups[name]["CIDEr-D"]
        assert row == pytest.approx([score.value, *score.interval()])
    assert rows[2][0] == pytest.approx(expected.macro_mean("CIDEr-D").value)
    assert sum(1 in own for own in grouped._blocks["groups"][0]) == 40


def test_groups_are_read_from_columns(tmp_path: Path) -> None:
    rows = [
        {"image_id": n, "captions": ["a dog runs", "a dog"], "split": "test" if n % 3 else "val"}
        for n in range(9)
    ]
    path = tmp_path / "refs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = captious.report(
        dict.fromkeys(range(9), "a dog"),
        references=path,
        group="split, length",
        metrics="BLEU-1",
        corpus=False,
    )
    assert [facet["column"] for facet in made.meta["facets"]] == ["split", "length"]
    assert {group["name"]: group["images"] for group in made.meta["facets"][0]["groups"]} == {
        "test": 6,
        "val": 3,
    }
    with pytest.raises(InputError, match="need a file"):
        captious.report(captious.score({1: ["a"]}, {1: "a"}, "BLEU-1"), group="split", corpus=False)


@pytest.mark.browser
def test_groups_are_tables_and_filters(grouped: captious.Report, tmp_path: Path, watch: Any) -> None:
    with watch(grouped.save(tmp_path / "page.html")) as seen:
        page = seen.page
        assert page.locator(".facet h3").all_inner_texts() == ["CIDEr-D by half", "CIDEr-D by length"]
        cells = page.locator(".facets").first.locator("tbody tr").first.locator(".number").all_inner_texts()
        rows = grouped.meta["facets"][0]["scores"]["CIDEr-D"][0]
        assert cells == [f"{row[0]:.4f}" for row in rows]
        page.locator(".facets").first.get_by_role("button", name="rest").click()
        page.wait_for_selector(".row")
        assert page.locator(".matches").inner_text() == "40 of 60 images" and "facet=0.1" in page.url
        page.select_option("form.filters select:has(optgroup)", "0.0")
        until(page, "document.querySelector('.matches').textContent === '20 of 60 images'")
        seen.show("#view=images&facet=7.7")
        assert page.locator(".matches").inner_text() == "60 images"
        assert not seen.wrong


@pytest.mark.browser
def test_long_captions_are_shown_sentence_by_sentence(tmp_path: Path, watch: Any) -> None:
    references = {"1": ["a brown dog sleeps on a red sofa"], "2": ["a cat sits on a table"], "3": ["a bus"]}
    long = "A brown dog sleeps on a red sofa. There is an elephant with <b>3.5</b> ears! The room is bright"
    made = captious.report(
        {"1": long, "2": "a cat", "3": "a bus"}, references=references, metrics="CIDEr-D", corpus=False
    )
    with watch(made.save(tmp_path / "page.html"), "#image=1&system=0&tab=sentences") as seen:
        page = seen.page
        page.wait_for_selector(".sentences")
        rows = page.locator(".sentences tbody tr").all_inner_texts()
        assert (
            len(rows) == 3
            and "8 of 8" in rows[0]
            and "elephant" in rows[1]
            and rows[1].split("\t")[2] == "0 of 8"
        )
        assert page.locator(".sentences tr:nth-child(2) .chip.wrong").inner_text().endswith("elephant")
        seen.show("#image=2&system=0&tab=sentences")
        assert page.locator("#why-sentences").count() == 0 and page.locator("#why-ngrams").count() == 1
        assert not seen.wrong
