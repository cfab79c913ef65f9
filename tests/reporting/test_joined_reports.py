"""Several data sets in one report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.data import demo_path

HOSTILE = "<img src=x onerror=alert(1)>"


def joined() -> captious.Report:
    demo = captious.report(
        demo_path("good"), demo_path("poor"), references=demo_path("references"), names=["good", "poor"], metrics="BLEU-4,CIDEr-D", corpus=False
    )  # fmt: skip
    other = captious.report(
        {"x": "a dog runs", "y": "a cat"},
        references={"x": ["a dog runs fast"], "y": ["a cat", "one cat"]},
        names=["good"],
        metrics="BLEU-4",
        corpus=False,
    )
    return captious.join_reports({"demo": demo, HOSTILE: other}, title="Two data sets")


@pytest.mark.browser
def test_one_data_set_at_a_time_and_all_side_by_side(tmp_path: Path, watch: Any) -> None:
    report = joined()
    with watch(report.save(tmp_path / "page.html"), "#view=datasets") as seen:
        page = seen.page
        page.wait_for_selector("#view-datasets table")
        assert page.locator("h1").inner_text() == "Two data sets"
        rows = page.locator("#view-datasets tbody tr").all_inner_texts()
        assert len(rows) == 2 and rows[0].startswith("good") and "1.1185" in rows[0] and rows[1].endswith("–")
        page.locator(".setpicker select").select_option("1")
        page.wait_for_selector(".facts:has-text('2 images')")
        page.wait_for_selector("html[data-ready]")
        assert "data=1" in page.url
        seen.show("#data=1&image=x")
        page.wait_for_selector(".detail .card")
        assert "a dog runs fast" in page.locator(".detail").inner_text()
        page.locator('.ways a:has-text("Leaderboard")').click()
        assert "data=1" in page.url and page.locator(".leader tbody tr").first.is_visible()
        assert HOSTILE in page.locator(".setpicker").inner_text() and page.locator("img").count() == 0
        page.evaluate("location.hash = '#image=1001'")
        page.wait_for_selector(".facts:has-text('60 images')")
        page.wait_for_selector(".detail .card")
        assert not seen.wrong or all(wrong.startswith("request: file:") for wrong in seen.wrong)


def test_the_command_divides_its_inputs(tmp_path: Path) -> None:
    references, good = str(demo_path("references")), str(demo_path("good"))
    target = tmp_path / "page.html"
    words = [
        "report",
        references,
        good,
        "+",
        references,
        str(demo_path("poor")),
        "-m",
        "BLEU-1",
        "--no-corpus",
    ]
    done = CliRunner().invoke(app, [*words, "-o", str(target)])
    assert done.exit_code == 0, done.output
    assert '{"datasets":[{"name":"references","meta":' in target.read_text()
    done = CliRunner().invoke(app, [*words[:4], "-o", str(target)])
    assert isinstance(done.exception, InputError) and "stands between data sets" in str(done.exception)
    with pytest.raises(InputError, match="no reports"):
        captious.join_reports({})
