"""The static site: only comparable numbers share a column, pages work without a server, names are escaped."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import captious
from captious.core.errors import InputError
from captious.data import demo_path
from captious.reporting.site import badge_svg, site
from captious.results.significance import Bootstrap
from tests.reporting.conftest import Watched

FEW = Bootstrap(resamples=50)
METRICS = "BLEU-1,BLEU-2,BLEU-3,BLEU-4,ROUGE-L,CIDEr-D,CIDEr,CHAIRs,CHAIRi,Precision-1"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def fifty(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Fifty runs of ten metrics, better by the day."""
    folder = tmp_path_factory.mktemp("runs")
    good, poor = (json.loads(demo_path(name).read_text()) for name in ("good", "poor"))
    systems = []
    for k in range(50):
        generator = random.Random(k)
        systems.append(
            {a["image_id"]: (a if generator.random() < k / 49 else b)["caption"] for a, b in zip(good, poor)}
        )
    names = [HOSTILE if k == 7 else f"run {k:02}" for k in range(50)]
    paths = []
    for k, scores in enumerate(
        captious.score_systems(demo_path("references"), systems, METRICS, names=names)
    ):
        paths.append(folder / f"{k:02}.scores")
        scores.save(paths[-1])
        os.utime(paths[-1], (1.7e9 + 86400 * k,) * 2)
    return paths


@pytest.fixture(scope="module")
def big(fifty: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("big") / "public"
    return site(fifty, folder, title="Fifty runs", bootstrap=FEW, address="https://example.org/x").folder


@pytest.mark.browser
def test_fifty_runs_of_ten_metrics(big: Path, fifty: list[Path], browser: Any) -> None:
    with Watched(browser, big / "index.html") as seen:
        page = seen.page
        assert float(page.evaluate("document.documentElement.dataset.ready")) < 4000
        assert page.locator(".leader tbody tr").count() == 50
        assert page.locator(".leader thead th").count() == 11
        values = sorted((captious.load_scores(path)["CIDEr-D"].value for path in fifty), reverse=True)
        column = (
            page.locator(".leader thead th")
            .all_inner_texts()
            .index(
                next(
                    text
                    for text in page.locator(".leader thead th").all_inner_texts()
                    if text.startswith("CIDEr-D")
                )
            )
        )
        shown = [
            row.locator("td").nth(column - 1).locator(".number").inner_text()
            for row in page.locator(".leader tbody tr").all()[:3]
        ]
        assert shown == [f"{value:.4f}" for value in values[:3]]
        page.get_by_role("button", name="CHAIRs").click()
        assert page.locator('th[aria-sort="ascending"]').inner_text().startswith("CHAIRs")
        page.get_by_role("button", name="Run", exact=True).click()
        assert page.locator(".leader tbody tr th a").first.inner_text() == "run 49"
        assert HOSTILE in page.locator(".leader").inner_text() and page.locator(".leader img").count() == 0
        page.fill("#search", "run 1")
        assert page.locator(".leader tbody tr").count() == 10
        assert page.locator(".trend circle").count() == 50
        page.locator(".leader tbody tr th a").first.click()
        page.wait_for_selector("html[data-ready]")
        assert page.locator("h1").inner_text() == "run 19" and "/runs/run-19.html" in page.url
        assert page.locator("tr.own").count() >= 1 and page.locator(".own tbody tr").count() >= 10
        page.wait_for_timeout(200)
        assert page.evaluate("[...document.images].filter(i => i.naturalWidth > 20).length") == 10
        page.get_by_role("link", name="Report: every caption").click()
        page.wait_for_selector("html[data-ready]")
        assert page.locator("h1").inner_text() == "run 19" and page.locator("table.leader").count() == 1
        assert not [wrong for wrong in seen.wrong if not wrong.startswith(f"request: {big.as_uri()}")]


@pytest.mark.browser
def test_axe_and_phones(big: Path, browser: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for name in ("index.html", "runs/run-03.html"):
        for scheme in ("light", "dark"):
            with Watched(browser, big / name, bypass_csp=True, color_scheme=scheme) as seen:
                result = Axe().run(seen.page, options={"resultTypes": ["violations"]}).response["violations"]
                serious = [
                    (one["id"], one["nodes"][0]["html"][:150])
                    for one in result
                    if one["impact"] in ("serious", "critical")
                ]
                assert not serious, (name, scheme, serious)
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
        page = context.new_page()
        page.goto((big / name).as_uri())
        page.wait_for_selector("html[data-ready]")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        visible = "[...document.querySelectorAll('.leader tbody tr:first-child .value')].filter(e => e.offsetWidth).length"
        assert page.evaluate(visible) == 1
        context.close()


def test_only_comparable_numbers_share_a_column(tmp_path: Path) -> None:
    references, good = demo_path("references"), demo_path("good")
    half = {k: ["a dog"] for k in range(4)}
    runs = {
        "ptb": captious.score(references, good, "BLEU-1,ROUGE-L", name="ptb"),
        "simple": captious.score(references, good, "BLEU-1", tokenizer="simple", name="simple"),
        "other": captious.score(half, dict.fromkeys(half, "a dog"), "BLEU-1", name="other"),
    }
    paths = []
    for name, scores in runs.items():
        paths.append(tmp_path / f"{name}.scores")
        scores.save(paths[-1])
    made = site(paths, tmp_path / "public", bootstrap=FEW, data_names={"4x1": "x"}, reports=False)
    first, second = made.boards
    columns = [(column["name"], sorted(column["rows"]), column["apart"]) for column in first["columns"]]
    assert columns == [("BLEU-1", [0], "tok:ptb"), ("ROUGE-L", [0], ""), ("BLEU-1", [1], "tok:simple")]
    assert [sorted(column["rows"]) for column in second["columns"]] == [[2]]
    assert not list((tmp_path / "public" / "reports").iterdir())


def test_feed_badges_and_the_mark(big: Path) -> None:
    feed = ElementTree.parse(big / "feed.xml").getroot()
    items = feed.findall("channel/item")
    assert len(items) == 50 and items[0].findtext("title") == "run 49"
    assert items[0].findtext("link") == "https://example.org/x/runs/run-49.html"
    assert HOSTILE in [item.findtext("title") for item in items]
    badge = ElementTree.parse(big / "badges" / "run-49-cider-d.svg").getroot()
    assert badge.get("aria-label", "").startswith("CIDEr-D: 1.")
    ElementTree.fromstring(badge_svg('<x>&"', "\x1b1"))
    assert len(list((big / "runs").iterdir())) == len(list((big / "reports").iterdir())) == 50


def test_folders_are_replaced_whole_or_refused(tmp_path: Path, fifty: list[Path]) -> None:
    target = tmp_path / "public"
    site(fifty[:2], target, bootstrap=FEW, reports=False)
    site(fifty[2:3], target, bootstrap=FEW, reports=False)
    assert [path.name for path in (target / "runs").iterdir()] == ["run-02.html"]
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("x")
    for paths, folder, why in (
        (fifty[:1], foreign, "not of a site"),
        (fifty[:1], foreign / "thesis.tex", "is a file"),
        ([], target, "needs runs"),
        ([Path("a.json")], target, "made of saved scores"),
    ):
        with pytest.raises(InputError, match=why):
            site(paths, folder, bootstrap=FEW, reports=False)
    assert (foreign / "thesis.tex").read_text() == "x" and sorted(
        path.name for path in tmp_path.iterdir()
    ) == ["foreign", "public"]
    damaged = tmp_path / "damaged.scores"
    damaged.write_bytes(fifty[0].read_bytes()[:-50])
    with pytest.raises(InputError):
        site([damaged], target, bootstrap=FEW)
    assert (target / "index.html").is_file()
