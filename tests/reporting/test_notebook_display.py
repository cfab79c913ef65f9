"""A real notebook, executed by Jupyter and inspected in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reporting.conftest import Watched

pytestmark = pytest.mark.browser

CELLS = [
    "import captious\n"
    "from captious.data import demo_path\n"
    "paths = [demo_path(name) for name in ('good', 'generic')]\n"
    "good, generic = captious.score_systems(demo_path('references'), paths, 'BLEU-4,CIDEr-D,CHAIRs', names=['good', 'generic'])",
    "good",
    "captious.compare(good, generic, trials=500)",
    "captious.check(generic, good, 'CIDEr-D < -1%', trials=500)",
    "captious.report(good, generic, references=demo_path('references'), corpus=False)",
]


def test_a_notebook_shows_scores_comparisons_and_reports(tmp_path: Path, browser: Any) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    client.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [[output["output_type"] for output in cell["outputs"]] for cell in notebook["cells"]]
    assert shown == [[], *[["execute_result"]] * 4]
    # Jupyter inserts the HTML of each output.
    body = "".join(f"<div>{cell['outputs'][0]['data']['text/html']}</div>" for cell in notebook["cells"][1:])
    page_path = tmp_path / "notebook.html"
    page_path.write_text(
        f"<!DOCTYPE html><html data-ready lang=en><title>x</title><body>{body}</body></html>",
        encoding="utf-8",
    )
    with Watched(browser, page_path) as seen:
        page = seen.page
        tables = page.locator("table").all_inner_texts()
        assert len(tables) == 3
        assert "CIDEr-D ↑\t1.1185" in tables[0] and "95 % interval" in tables[0]
        assert "good" in tables[1] and "-0.4420" in tables[1]
        assert "failed: 1 rule of 1 broken by generic against good" in tables[2]
        # No table is wider than the notebook.
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
        inner = page.frame_locator("iframe")
        inner.locator("table.leader").wait_for()
        assert inner.locator(".leader tbody tr").count() == 2
        inner.locator('.ways a:has-text("Images")').click()
        inner.locator(".detail .card").first.wait_for()
        assert not [wrong for wrong in seen.wrong if "about:srcdoc" not in wrong]
