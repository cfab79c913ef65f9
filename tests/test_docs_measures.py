"""The code of the how-to pages on metrics and prepared references runs unchanged."""

from __future__ import annotations

import re
from pathlib import Path

PAGES = Path(__file__).parent.parent / "docs" / "howto"


def _run(page: str, expected_blocks: int) -> dict[str, object]:
    """Execute the Python blocks of a page and return their names."""
    blocks = re.findall(r"```python\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), flags=re.S)
    assert len(blocks) == expected_blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    return names


def test_the_metric_runs() -> None:
    score = _run("own-metric.md", 2)["score"]
    assert score.value == (2 / 2 + 1 / 2) / 2  # type: ignore[attr-defined]
    assert "out_of:2" in score.signature and "refs:2x1-2@" in score.signature  # type: ignore[attr-defined]


def test_prepared_references_run() -> None:
    assert _run("prepared-references.md", 1)["step"] == 2
