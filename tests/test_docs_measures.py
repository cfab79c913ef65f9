"""The code of docs/measures.md runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs" / "measures.md"


def test_the_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.S)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(DOCS), "exec"), names)
    score = names["score"]
    assert score.value == (2 / 2 + 1 / 2) / 2  # type: ignore[attr-defined]
    assert "out_of:2" in score.signature and "refs:2x1-2@" in score.signature  # type: ignore[attr-defined]
