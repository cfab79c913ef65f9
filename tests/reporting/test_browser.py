"""The page in a real browser: its content, use by keyboard, and safety from hostile captions."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import captious
from captious.data import demo_path
from captious.metrics.learned.composite import Composite
from captious.metrics.learned.composite_network import explain
from captious.reporting.metric_descriptions import feature_words
from tests.reporting import hostile
from tests.reporting.conftest import until

pytestmark = pytest.mark.browser


def test_the_leaderboard_has_the_scores(demo_page: Path, demo_report: captious.Report, watch: Any) -> None:
    with watch(demo_page) as seen:
        shown = seen.page.locator("table.leader tbody tr").first.inner_text().split()
        metrics = demo_report.meta["metrics"]
        assert shown[:3] == ["place", "1", "good"]
        assert all(f"{metric['values'][0]:.4f}" in shown for metric in metrics)
        # By METEOR, then in reverse.
        seen.page.click('[data-metric="METEOR"]')

        def names() -> list[str]:
            return seen.page.locator("table.leader tbody th bdi").all_inner_texts()

        assert names() == ["good", "generic", "poor"]
        seen.page.click('[data-metric="METEOR"]')
        assert names() == ["poor", "generic", "good"]
        assert "board=METEOR" in seen.page.url and "turn=1" in seen.page.url
        assert seen.page.locator("figure h3").first.inner_text() == "METEOR, closer"
        assert not seen.wrong


def test_images_are_searched_filtered_and_sorted(
    demo_page: Path, demo_report: captious.Report, watch: Any
) -> None:
    with watch(demo_page, "#view=images") as seen:
        page = seen.page
        page.wait_for_selector(".row")

        def found() -> str:
            return page.locator(".matches").inner_text()

        assert found() == "60 images"
        page.fill("#search", "umbrella -beach")
        until(page, "document.querySelector('.matches').textContent !== '60 images'")
        texts = demo_report._blocks["captions"]["texts"]
        both = [" ".join(system[i] for system in texts).lower() for i in range(60)]
        assert found() == f"{sum('umbrella' in text and 'beach' not in text for text in both)} of 60 images"
        page.fill("#search", "")
        seen.show("#view=images&sort=difference&of=0&minus=1&metric=CIDEr-D")
        scores = demo_report._blocks["scores"]
        place = [metric["name"] for metric in demo_report.meta["metrics"]].index("CIDEr-D")
        apart = [scores[0][place][i] - scores[1][place][i] for i in range(60)]
        best = max(range(60), key=lambda i: apart[i])
        assert page.locator("#row-0 .id bdi").inner_text() == demo_report._blocks["captions"]["ids"][best]
        assert page.locator("#row-0 .sortkey").inner_text() == f"{apart[best]:.3f}"
        seen.show("#view=images&hallucinated=1&sort=hallucinated")
        rows = [
            sum(
                mention[2] for system in demo_report._blocks["objects"]["systems"] for mention in system[i][0]
            )
            for i in range(60)
        ]
        assert found() == f"{sum(n > 0 for n in rows)} of 60 images"
        assert page.locator("#row-0 .sortkey").inner_text() == str(max(rows))
        for order in ("disagreement", "length", "metric"):
            seen.show(f"#view=images&sort={order}")
            assert page.locator(".row").count() > 3
        assert not seen.wrong


def test_scores_are_explained_by_the_numbers_themselves(
    demo_page: Path, demo_report: captious.Report, watch: Any
) -> None:
    """The page weighs n-grams and counts tuples by itself: its sums are the scores of captious."""
    names = [metric["name"] for metric in demo_report.meta["metrics"]]
    scores = demo_report._blocks["scores"]
    with watch(demo_page) as seen:
        for system, image in ((0, 0), (1, 7), (2, 31)):
            link = f"#image={demo_report._blocks['captions']['ids'][image]}&system={system}"
            seen.show(link + "&tab=ngrams")
            result = seen.page.locator(".parts .note").first.inner_text()
            assert float(result.split()[-1].rstrip(".")) == pytest.approx(
                scores[system][names.index("CIDEr-D")][image], abs=1e-4
            )
            seen.show(link + "&tab=scenes")
            result = seen.page.locator(".panel p").first.inner_text()
            assert float(result.split()[-1].rstrip(".")) == pytest.approx(
                scores[system][names.index("SPICE")][image], abs=6e-4
            )
            seen.show(link + "&tab=meteor")
            row = demo_report._blocks["meteor"]["systems"][system][image][0]
            assert seen.page.locator("svg.links path.link").count() == len(row[1]) // 5
            seen.show(link + "&tab=objects")
            objects = demo_report._blocks["objects"]["systems"][system][image][0]
            assert seen.page.locator(".panel .chip.wrong").count() == sum(mention[2] for mention in objects)
        assert not seen.wrong


def test_learned_scores_are_taken_apart_as_captious_explain_does(tmp_path: Path, watch: Any) -> None:
    """The page computes the shares by itself, from features and weights: a linear model, and one with two
    hidden layers.
    """
    corpus = captious.load(demo_path("references"), demo_path("poor"), name="poor")
    scores = captious.score(corpus, "CaptiousScore-lite,NNEval")
    path = captious.report(scores, references=demo_path("references"), corpus=False).save(
        tmp_path / "report.html"
    )
    with watch(path) as seen:
        for name, image in (("CaptiousScore-lite", 0), ("NNEval", 21)):
            measure = scores[name].measure
            assert isinstance(measure, Composite)
            results = explain(
                measure.network, measure.table(corpus, measure.prepare(corpus.references))[image]
            )
            seen.show(f"#image={corpus.ids[image]}&system=0&tab=learned&learned={name}")
            if len(results.features) > 8:
                seen.page.locator("#why-panel .more").click()
            rows = [row.split("\t") for row in seen.page.locator("table.shares tbody tr").all_inner_texts()]
            shown = [float(row[3].replace("\N{MINUS SIGN}", "-")) for row in rows]
            assert shown == pytest.approx([share for _, _, share in results.ordered()], abs=0.02)
            labels = [
                feature_words(feature, measure.features.measures.get(feature))[0]
                for feature, _, _ in results.ordered()
            ]
            assert rows[0][0].split("\n")[0].strip() == labels[0]
            result = seen.page.locator("#why-panel p").first.inner_text()
            assert f"{results.start:.3f}; it gives this caption {results.score:.3f}" in result
            # Bars go to the side of their sign, and the longest is the first.
            bars = seen.page.evaluate(
                "[...document.querySelectorAll('.diverging')].map(e => [e.children[0].className, "
                "e.children[0].getBoundingClientRect().width])"
            )
            assert [kind for kind, _ in bars] == ["up" if share >= 0 else "down" for share in shown] and bars[
                0
            ][1] == max(width for _, width in bars)
        seen.page.click('[data-learned="CaptiousScore-lite"]')
        assert (
            "learned=CaptiousScore-lite" in seen.page.url
            and seen.page.locator('.choice [aria-pressed="true"]').inner_text() == "CaptiousScore-lite"
        )
        assert not seen.wrong


def test_sets_are_measured_as_captious_does(
    demo_page: Path, demo_report: captious.Report, watch: Any
) -> None:
    sets = demo_report._blocks["sets"]
    values = sets["values"][0][sets["measures"].index("Self-CIDEr")]
    with watch(demo_page, "#view=diversity") as seen:
        for image in (0, 17, 42):
            seen.show(f"#view=diversity&set={demo_report._blocks['captions']['ids'][image]}")
            assert float(seen.page.locator(".set").first.get_attribute("data-value")) == pytest.approx(
                values[image], abs=2e-4
            )
        assert seen.page.locator("figure").count() >= 10
        assert not seen.wrong


def test_two_systems(demo_page: Path, watch: Any) -> None:
    with watch(demo_page, "#view=compare&a=2&b=0&metric=SPICE") as seen:
        seen.page.wait_for_selector(".verdict")
        assert "good is better than poor by SPICE" in " ".join(
            seen.page.locator(".verdict").inner_text().split()
        )
        seen.page.locator("table.wordlist tbody button").first.click()
        seen.page.wait_for_selector(".row")
        assert "whole=1" in seen.page.url
        assert not seen.wrong


def test_links_lead_to_states_and_back(demo_page: Path, watch: Any) -> None:
    with watch(demo_page, "#image=1007") as seen:
        page = seen.page
        page.wait_for_selector(".detail .card")
        assert page.locator(".detail h3").inner_text() == "Image 1007"
        page.click('button[data-caption="1.0"]')
        assert "system=1" in page.url
        page.click('.ways a:has-text("Leaderboard")')
        assert page.locator("#view-leaderboard").is_visible()
        page.go_back()
        page.wait_for_selector("#why-panel")
        seen.show("#image=nothing")
        assert "There is no image nothing" in page.locator(".hint").inner_text()
        assert not seen.wrong


def test_the_keyboard_is_enough(demo_page: Path, watch: Any) -> None:
    with watch(demo_page, "#view=images") as seen:
        page = seen.page
        page.wait_for_selector(".row")
        page.keyboard.press("/")
        page.keyboard.type("dog")
        until(page, "document.querySelector('.matches').textContent !== '60 images'")
        page.focus(".list")
        for key in ("ArrowDown", "End", "ArrowUp", "Home", "ArrowDown", "Enter"):
            page.keyboard.press(key)
        assert page.locator('.row[aria-selected="true"]').get_attribute("aria-posinset") == "2"
        page.focus('button[data-caption="0.0"]')
        page.keyboard.press("Enter")
        page.focus("#why-ngrams")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector('#why-meteor[aria-selected="true"]')
        assert page.evaluate("document.activeElement.id") == "why-meteor"
        assert not seen.wrong


STATES = [
    "#view=leaderboard",
    "#image=1002&system=0&tab=ngrams",
    "#image=1002&system=0&tab=meteor",
    "#image=1002&system=2&tab=scenes",
    "#image=1002&system=0&tab=learned",
    "#view=compare",
    "#view=diversity",
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(demo_page: Path, watch: Any, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    # The page's policy forbids every script but its own, that of axe too.
    with watch(demo_page, color_scheme=scheme, bypass_csp=True) as seen:
        # Colours are all that differs in the dark.
        rules = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
        for state in STATES:
            seen.show(state)
            text = (
                Axe().run(seen.page, options={"resultTypes": ["violations"], **rules}).response["violations"]
            )
            serious = [
                (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
                for one in text
                if one["impact"] in ("serious", "critical")
            ]
            assert not serious, f"{state}: {serious}"


def test_on_a_phone_nothing_is_wider_than_the_screen(demo_page: Path, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 375, "height": 740}, has_touch=True)
    page = context.new_page()
    for state in STATES:
        page.goto(demo_page.as_uri() + state)
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, state
    context.close()


def test_nothing_moves_while_the_page_loads(demo_page: Path, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver(l => { for (const e of l.getEntries()) window.moved += "
        "e.value; }).observe({type: 'layout-shift', buffered: true});"
    )
    for state in ("", "#view=images", "#view=diversity"):
        page.goto("about:blank")
        page.goto(demo_page.as_uri() + state)
        page.wait_for_selector("html[data-ready]")
        page.wait_for_timeout(300)
        assert page.evaluate("window.moved") < 0.02, state
    context.close()


# Safety


@pytest.fixture(scope="module")
def hostile_page(hostile_report: captious.Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_report.save(tmp_path_factory.mktemp("hostile") / "hostile.html")


def test_hostile_text_is_text_everywhere(hostile_page: Path, watch: Any) -> None:
    with watch(hostile_page) as seen:
        page = seen.page
        assert page.locator("h1").inner_text() == "</title><script>alert('title')</script>"
        assert hostile.NAMES[0][:24] in page.locator("table.leader").inner_text()
        for state in (
            "#view=images",
            "#view=compare",
            "#view=diversity",
            "#view=images&sort=length",
            "#view=images&q=%3Cscript%3E&whole=1",
            "#view=images&empty=1",
        ):
            seen.show(state)
        for n, image in enumerate(hostile.IDS):
            link = (
                "#image="
                + quote(image.encode("utf-8", "replace"))
                + f"&system={n % 3}&tab={['ngrams', 'meteor', 'scenes', 'objects'][n % 4]}"
            )
            seen.show(link)
            assert page.locator(".detail h3 bdi").count() == 1, image
        seen.show("#image=" + quote(hostile.IDS[0]) + "&system=0")
        assert page.locator(".card .quote").first.inner_text() == hostile.TEXTS[0]
        # Only the page's own elements: no caption became one.
        kinds = page.evaluate("[...new Set([...document.body.querySelectorAll('*')].map(e => e.localName))]")
        assert not {"img", "iframe", "object", "embed", "link", "b", "i", "form input[type=hidden]"} & set(
            kinds
        )
        assert page.locator("script").count() == page.locator("script[id^=data-]").count() + 1
        assert not seen.wrong


def test_links_are_hostile_too(demo_page: Path, watch: Any) -> None:
    for address in (
        "#image=__proto__&system=constructor&tab=toString",
        "#view=<script>alert(1)</script>&q=(((",
        "#sort=%F0%28%8C&metric=hasOwnProperty&a=99&b=-1&view=compare",
        "#view=images&of=77&minus=x&sort=difference&least=a",
        "#image=1001&system=99&caption=-4",
        "#theme=constructor",
    ):
        with watch(demo_page, address) as seen:
            seen.page.wait_for_timeout(150)
            assert not seen.wrong, address


def test_the_policy_forbids_all_that_the_page_does_not_need(demo_page: Path, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text))
    page.goto(demo_page.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.evaluate("""() => {
        const script = document.createElement('script'); script.textContent = 'window.ran = 1';
        document.body.append(script);
        const image = new Image(); image.src = 'https://example.org/x.png'; document.body.append(image);
        document.body.insertAdjacentHTML('beforeend', '<p style="color: red" onclick="window.ran = 1">x</p>');
    }""")
    page.evaluate("fetch('https://example.org/').catch(() => null)")
    assert page.evaluate("window.ran") is None
    assert len(refused) >= 4 and all("Content Security Policy" in text for text in refused)
    context.close()


def _download(page: Any, name: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name, exact=True).click()
    return Path(waiting.value.path()).read_bytes().decode("utf-8")


def test_exports_are_safe_and_complete(
    hostile_page: Path, hostile_report: captious.Report, watch: Any
) -> None:
    with watch(hostile_page, permissions=["clipboard-read", "clipboard-write"]) as seen:
        page = seen.page
        rows = list(csv.reader(io.StringIO(_download(page, "CSV of images"), newline=""), strict=True))
        captions = [row[2] for row in rows[1:]]
        assert len(captions) == 3 * len(hostile.IDS)
        assert not [
            text
            for text in captions + [row[0] for row in rows] + [row[1] for row in rows]
            if text.startswith(("=", "+", "@", "\t", "\r"))
        ]
        assert all(not text.startswith("-") or text.lstrip("-").isdecimal() for text in captions)
        assert "'" + hostile.TEXTS[15] in captions and hostile.TEXTS[0] in captions
        scores = list(csv.reader(io.StringIO(_download(page, "CSV of scores"), newline=""), strict=True))
        assert {row[0] for row in scores[1:]} == {hostile.NAMES[0], "'" + hostile.NAMES[1], hostile.NAMES[2]}
        first = hostile_report.meta["metrics"][0]
        assert float(scores[1][2]) == first["values"][0]
        data = json.loads(_download(page, "JSON"))
        assert [one["image"] for one in data["per_image"]] == hostile.IDS
        assert data["per_image"][0]["systems"][0]["captions"][0]["caption"] == hostile.TEXTS[0]
        page.get_by_role("button", name="Copy Markdown").click()
        page.wait_for_selector(".flash")
        text = page.evaluate("navigator.clipboard.readText()")
        assert r"\<img src=x onerror=alert('name')\>" in text and all(
            line.startswith("|") for line in text.strip().split("\n")
        )
        page.get_by_role("button", name="Copy LaTeX").click()
        until(page, "document.querySelector('.flash').textContent.startsWith('LaTeX')")
        text = page.evaluate("navigator.clipboard.readText()")
        assert (
            r"\$\_\% \textbackslash{}name" in text
            and r"\begin{tabular}{l" in text
            and "\\textless{}img" in text
        )
        assert not [wrong for wrong in seen.wrong if not wrong.startswith("request: blob:")]


def test_pictures_are_shown_and_asked_for_only_when_given(
    demo_page: Path, tmp_path: Path, browser: Any
) -> None:
    red = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
    )
    (tmp_path / "pictures").mkdir()
    for name in ("1", "COCO_val2014_000000000002"):
        (tmp_path / "pictures" / f"{name}.png").write_bytes(red)
    refs = {"1": ["a dog runs"], "2": ["a cat sits"], "3": ["a bird flies"]}
    report = captious.report(
        {"1": "a dog", "2": "a cat", "3": "a bird"},
        references=refs,
        images=tmp_path / "pictures",
        embed=0,
        metrics="BLEU-1",
        corpus=False,
    )
    page = browser.new_page()
    page.goto(report.save(tmp_path / "report.html").as_uri() + "#image=2")
    until(
        page,
        "[...document.images].length === 3 && [...document.images].every(i => i.complete && i.naturalWidth "
        "=== 1)",
    )
    assert page.locator(".detail img").get_attribute("src") == "pictures/COCO_val2014_000000000002.png"
    page.close()
    asked: list[str] = []
    context = browser.new_context()
    context.route(
        "https://pictures.test/**",
        lambda route: (asked.append(route.request.url), route.fulfill(body=red, content_type="image/png")),
    )
    page = context.new_page()
    report = captious.report(
        {"1": "a dog", "2": "a cat", "3": "a bird"},
        references=refs,
        images="https://pictures.test/{id:012}.png",
        metrics="BLEU-1",
        corpus=False,
    )
    page.goto(report.save(tmp_path / "report.html").as_uri() + "#view=images")
    # Three in the list, and the first of them opened beside it.
    until(
        page,
        "[...document.images].length === 4 && [...document.images].every(i => i.complete && i.naturalWidth "
        "=== 1)",
    )
    assert sorted(asked) == [f"https://pictures.test/00000000000{n}.png" for n in (1, 2, 3)]
    context.close()


def test_saved_scores_alone_make_a_page(tmp_path: Path, watch: Any) -> None:
    corpora = [
        captious.load({"1": ["a dog"], "2": ["a cat"]}, {"1": text, "2": "a cat"}, name=text)
        for text in ("a dog", "a cow")
    ]
    for n, corpus in enumerate(corpora):
        captious.score(corpus, "BLEU-1,ROUGE-L").save(tmp_path / f"{n}.scores", texts=n == 0)
    report = captious.report(tmp_path / "0.scores", tmp_path / "1.scores")
    with watch(report.save(tmp_path / "report.html"), "#image=1") as seen:
        seen.page.wait_for_selector(".detail .card")
        assert "The caption is not in the file." in seen.page.locator(".detail").inner_text()
        assert seen.page.locator(".explain").count() == 0
        for state in ("#view=leaderboard", "#view=compare", "#view=images&q=dog"):
            seen.show(state)
        assert not seen.wrong


def test_notebooks_show_the_page(demo_report: captious.Report, tmp_path: Path, watch: Any) -> None:
    outer = tmp_path / "notebook.html"
    outer.write_text(
        "<!DOCTYPE html><html data-ready "
        f"lang=en><title>x</title><body>{demo_report._repr_html_()}</body></html>",
        encoding="utf-8",
    )
    with watch(outer) as seen:
        inner = seen.page.frame_locator("iframe")
        inner.locator("table.leader").wait_for()
        inner.locator('.ways a:has-text("Images")').click()
        inner.locator(".row").first.click()
        assert inner.locator(".detail h3").inner_text() == "Image 1001"
        assert not [wrong for wrong in seen.wrong if "about:srcdoc" not in wrong]


def test_bold_is_significantly_better_than_every_other(
    demo_page: Path, demo_report: captious.Report, tmp_path: Path, watch: Any
) -> None:
    alone = [
        sum("a" in letters for letters in metric["groups"]) == 1 for metric in demo_report.meta["metrics"]
    ]
    with watch(demo_page) as seen:
        assert 0 < seen.page.locator(".leader .number.best").count() == sum(alone) < len(alone)
    good = json.loads(demo_path("good").read_text())
    good[0]["caption"] += " umbrella"
    near = captious.report(
        demo_path("good"),
        {row["image_id"]: row["caption"] for row in good},
        references=demo_path("references"),
        metrics="BLEU-1,ROUGE-L",
        corpus=False,
    )
    with watch(near.save(tmp_path / "near.html")) as seen:
        assert seen.page.locator(".leader .value").count() == 4
        assert seen.page.locator(".leader .number.best").count() == 0
        assert "significantly better than every other" in seen.page.locator(".key").inner_text()
