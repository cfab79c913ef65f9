"""The tokenizer line by line as the Stanford tool: the demo's captions, and lines written to reach every rule."""

from __future__ import annotations

import captious.text.ptb as ptb
from tests.gold import load


def test_every_line_is_split_as_by_the_stanford_tokenizer() -> None:
    lines: dict[str, str] = load("tokens")
    assert len(lines) > 2000
    wrong = {
        text: (ours, theirs)
        for text, theirs in lines.items()
        if (ours := " ".join(ptb.tokenize(text, keep_punctuation=True))) != theirs
    }
    assert not wrong


def test_the_quick_path_for_many_captions_gives_the_same() -> None:
    lines: dict[str, str] = load("tokens")
    for keep in (True, False):
        batch = ptb.tokenize_batch(list(lines), keep_punctuation=keep)
        for text, theirs, ours in zip(lines, lines.values(), batch):
            wanted = [token for token in theirs.split(" ") if token and (keep or token not in ptb.PUNCTUATION)]
            assert ours == wanted, text


def test_what_counts_as_punctuation_is_what_the_coco_tools_drop() -> None:
    from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS

    assert frozenset(PUNCTUATIONS) == ptb.PUNCTUATION
