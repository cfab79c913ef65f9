"""Comparing the conversion with the tool's output."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.core.errors import InputError
from captious.training.parser.corenlp_agreement import main

OUTPUT = """\
(ROOT (NP (DT a) (NN kite) (. .)))
det(kite-2, a-1)
root(ROOT-0, kite-2)
punct(kite-2, .-3)

(ROOT (NP (DT a) (NN kite)))
amod(kite-2, a-1)
root(ROOT-0, kite-2)
"""


def test_agreement_and_differences_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "parsed.out"
    path.write_text(OUTPUT + "\n(ROOT (NP (DT a) (NN kite)))\ndet(kite-2, a-1)\n", encoding="utf-8")
    main([str(path)])
    shown = capsys.readouterr().out
    assert "1 of 2 sentences are identical (50.00%)" in shown  # the third was cut off
    assert "1  det where the tool has amod" in shown


def test_other_output_is_named(tmp_path: Path) -> None:
    path = tmp_path / "parsed.out"
    path.write_text("a/DT kite/NN\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1: not the parser's output"):
        main([str(path)])
    with pytest.raises(InputError, match="no such file"):
        main([str(tmp_path / "none.out")])
