"""First view and layout of the report: order, presets, phones, bars, legends, wrong links."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.data import demo_path
from tests.reporting.conftest import until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def worst_first(tmp_path_factory: pytest.TempPathFactory) -> tuple[captious.Report, Path]:
    """A report whose files come in the wrong order, with a title from the files."""
    report = captious.report(
        *(demo_path(name) for name in ("poor", "good", "generic")),
        references=demo_path("references"),
        objects=demo_path("objects"),
        metrics=["BLEU-4", "METEOR", "CIDEr-D", "SPICE", "CHAIRs"],
    )
    return report, report.save(tmp_path_factory.mktemp("order") / "report.html")


def test_titles_come_from_the_files(worst_first: tuple[captious.Report, Path], tmp_path: Path) -> None:
    assert worst_first[0].meta["title"] == "poor, good and generic on references"
    one = {"1": "a dog", "2": "a cat"}
    references = tmp_path / "captions_val.jsonl.gz"
    references.write_bytes(
        gzip.compress(b'{"image_id": 1, "caption": "a dog"}\n{"image_id": 2, "caption": "a cow"}\n')
    )
    made = captious.report(one, references=references, names=["mine"], metrics="BLEU-1", corpus=False)
    assert made.meta["title"] == "mine on captions_val"
    many = captious.report(
        *[one] * 4,
        references={"1": ["a dog"], "2": ["a cow"]},
        names=list("abcd"),
        metrics="BLEU-1",
        corpus=False,
    )
    assert many.meta["title"] == "4 systems"


def test_the_leaderboard_opens_best_first(worst_first: tuple[captious.Report, Path], watch: Any) -> None:
    with watch(worst_first[1]) as seen:
        page = seen.page
        assert page.locator("table.leader tbody th bdi").all_inner_texts() == ["good", "generic", "poor"]
        assert [one.split() for one in page.locator(".rank").all_inner_texts()] == [
            ["place", n] for n in "123"
        ]
        assert page.locator('th[aria-sort="descending"]').inner_text().startswith("CIDEr-D")
        assert "↓" in page.locator('[data-metric="CHAIRs"]').inner_text()
        assert "↑" in page.locator('[data-metric="SPICE"]').inner_text()
        page.click('[data-metric="CHAIRs"]')
        assert page.locator('th[aria-sort="ascending"]').inner_text().startswith("CHAIRs")
        assert page.locator("table.leader tbody th bdi").first.inner_text() == "good"
        assert not seen.wrong


def test_a_phone_shows_one_metric_with_a_picker(
    worst_first: tuple[captious.Report, Path], browser: Any
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(worst_first[1].as_uri())
    page.wait_for_selector("html[data-ready]")
    visible = "[...document.querySelectorAll('.leader tbody tr:first-child .value')].filter(e => e.offsetWidth).length"
    assert page.evaluate(visible) == 1
    assert page.evaluate(
        "document.querySelector('.board').scrollWidth <= document.querySelector('.board').clientWidth"
    )
    page.select_option(".picker select", "CHAIRs")
    assert page.locator(".leader td.picked").first.inner_text().split()[0] == "0.0000"
    assert "board=CHAIRs" in page.url and page.locator("figure h3").first.inner_text() == "CHAIRs, closer"
    for metric in ("CHAIRs", "CIDEr-D", "BLEU-4"):
        page.select_option(".picker select", metric)
        boxes = page.evaluate(
            "[...document.querySelectorAll('figure svg.chart .tick')].map(e => e.getBoundingClientRect()).map(b => [b.left, b.right])"
        )
        assert len(boxes) >= 2
        assert all(a[1] < b[0] for a, b in zip(sorted(boxes), sorted(boxes)[1:])), metric
    context.close()


def test_images_open_on_an_image_with_presets(worst_first: tuple[captious.Report, Path], watch: Any) -> None:
    report, path = worst_first
    blocks = report._blocks
    names = [metric["name"] for metric in report.meta["metrics"]]
    cider = [blocks["scores"][k][names.index("CIDEr-D")] for k in range(3)]
    with watch(path, "#view=images") as seen:
        page = seen.page
        page.wait_for_selector(".detail .card")
        ids = blocks["captions"]["ids"]
        assert page.locator(".detail h3").inner_text() == f"Image {ids[0]}"

        def choose(name: str) -> int:
            page.locator(".presets button", has_text=name).click()
            until(page, "!document.querySelector('[aria-busy]')")
            page.wait_for_timeout(100)
            assert page.locator('.presets [aria-pressed="true"]').inner_text() == name
            assert (
                page.locator(".detail h3").inner_text()
                == "Image " + page.locator("#row-0 .id bdi").inner_text()
            )
            return int(page.locator(".matches").inner_text().split()[0])

        assert choose("Worst 20") == 20
        means = [sum(one[i] for one in cider) / 3 for i in range(60)]
        assert page.locator("#row-0 .id bdi").inner_text() == ids[min(range(60), key=lambda i: means[i])]
        # System 1 is the best, system 2 the second best.
        assert choose("generic beats good") == sum(cider[2][i] > cider[1][i] for i in range(60))
        assert choose("Metrics disagree") == 20
        objects = blocks["objects"]["systems"]
        assert choose("Hallucinates") == sum(
            any(m[2] for k in range(3) for m in objects[k][i][0]) for i in range(60)
        )
        texts, references = blocks["captions"]["texts"], blocks["captions"]["refs"]

        def size(text: str) -> int:
            return len(text.replace(".", " ").replace(",", " ").split())

        assert choose("Too long") == sum(
            max(size(texts[k][i]) for k in range(3)) > max(map(size, references[i])) for i in range(60)
        )
        assert choose("All images") == 60
        assert page.locator(".keys kbd").all_inner_texts() == ["/", "j", "k", "↑", "↓", "Enter"]
        assert page.locator(".keys").is_visible()
        page.keyboard.press("Escape")
        page.locator("body").press("j")
        assert page.locator(".detail h3").inner_text() == f"Image {ids[1]}"
        page.fill("#search", "nosuchword")
        until(page, "document.querySelector('.matches').textContent.startsWith('0 of')")
        seen.show("#view=images&q=nosuchword")
        assert "No image matches" in page.locator(".hint").inner_text()
        assert not seen.wrong


def test_bars_are_longer_where_captions_are_better(
    worst_first: tuple[captious.Report, Path], watch: Any
) -> None:
    report, path = worst_first
    names = [metric["name"] for metric in report.meta["metrics"]]
    chair = report._blocks["scores"][0][names.index("CHAIRs")]
    wrong = next(i for i in range(60) if chair[i] == 1)
    with watch(path, f"#image={report._blocks['captions']['ids'][wrong]}") as seen:
        seen.page.wait_for_selector(".detail .card")
        widths = seen.page.evaluate(
            "[...document.querySelectorAll('.card')].map(c => [...c.querySelectorAll('.bars li')].at(-1)).map(li => "
            "[li.querySelector('.name').textContent, li.querySelector('.meter span').style.width, li.querySelector('.number').textContent])"
        )
        assert widths[0] == ["CHAIRs ↓", "0%", "1.000"]
        assert widths[1] == ["CHAIRs ↓", "100%", "0.000"]
        seen.show("#view=images&metric=CIDEr-D&sort=metric")
        widths = seen.page.evaluate(
            "[...document.querySelectorAll('.row .meter span')].map(e => parseFloat(e.style.width))"
        )
        # The scale ends at the 99th percentile of all captions: the best ones fill their bars.
        assert max(widths) == 100


def test_edges_of_the_scene_graph_start_at_their_nodes(
    worst_first: tuple[captious.Report, Path], watch: Any
) -> None:
    with watch(worst_first[1]) as seen:
        checked = 0
        for image in ("1001", "1002", "1005", "1010"):
            seen.show(f"#image={image}&system=1&tab=scenes")
            gaps = seen.page.evaluate(
                """() => {
                const nodes = [...document.querySelectorAll('.scene rect.node')].map(r => ['x', 'y', 'width', 'height'].map(k => r[k].baseVal.value));
                const far = (p) => Math.min(...nodes.map(([x, y, w, h]) => {
                    const r = h / 2, px = Math.max(x + r, Math.min(x + w - r, p.x));
                    return Math.abs(Math.hypot(p.x - px, p.y - y - r) - r);
                }));
                return [...document.querySelectorAll('.scene path.edge')].flatMap(p => [far(p.getPointAtLength(0)), far(p.getPointAtLength(p.getTotalLength()))]);
            }"""
            )
            checked += len(gaps)
            assert all(gap < 2.5 for gap in gaps), (image, gaps)
        assert checked >= 4


def test_people_are_beside_the_systems_and_one_legend_stays(demo_page: Path, watch: Any) -> None:
    with watch(demo_page, "#view=diversity") as seen:
        page = seen.page
        page.wait_for_selector(".language")
        header = page.locator(".language thead th").all_inner_texts()
        assert [text.strip() for text in header[:2]] == ["measure", "humans"]
        box = page.evaluate(
            "(() => { const t = document.querySelector('.language'), c = t.closest('.scroll'); return [c.scrollWidth - c.clientWidth, "
            "t.querySelector('tbody th').getBoundingClientRect().width]; })()"
        )
        assert box[0] <= 0 and box[1] > 250
        assert page.locator(".legend.stays").count() == 1
        assert page.locator("#view-diversity .pair .legend").count() == 0
        page.evaluate("document.querySelectorAll('#view-diversity figure')[6].scrollIntoView()")
        page.wait_for_timeout(100)
        top = page.evaluate("document.querySelector('.legend.stays').getBoundingClientRect().top")
        assert 30 < top < 80


def test_paper_shows_all_metrics(demo_page: Path, browser: Any) -> None:
    """Eleven metrics fit the width of a page of A4."""
    context = browser.new_context(viewport={"width": 718, "height": 1000})
    page = context.new_page()
    page.goto(demo_page.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelector('table.leader').getBoundingClientRect().right") <= 718
    context.close()


def test_wrong_links_are_said(demo_page: Path, watch: Any) -> None:
    for address, said in (
        (
            "#image=1002&system=0&tab=bertscore",
            "There is no explanation “bertscore” in this report; there are ngrams",
        ),
        ("#view=charts", "There is no part “charts” in this report; this is the leaderboard."),
        ("#board=CLAIR", "There is no metric “CLAIR” in this report; CIDEr-D is shown."),
    ):
        with watch(demo_page, address) as seen:
            assert said in seen.page.locator(".notice").inner_text()
            seen.show("#view=leaderboard")
            assert not seen.page.locator(".notice").is_visible()
            assert not seen.wrong


def test_controls_say_what_they_do(demo_page: Path, watch: Any) -> None:
    with watch(demo_page, "#view=images") as seen:
        page = seen.page
        page.wait_for_selector(".row")
        assert page.locator(".turn").inner_text() == "↓ First to last"
        page.click(".turn")
        assert page.locator(".turn").inner_text() == "↑ Last to first"
        assert "Colours: automatic" in page.locator(".theme").inner_text()
        page.click(".theme")
        assert "Colours: dark" in page.locator(".theme").inner_text()
