"""The tokenizer line by line as the Stanford tool: the demo's captions, and lines written to reach every
rule."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

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
            wanted = [
                token for token in theirs.split(" ") if token and (keep or token not in ptb.PUNCTUATION)
            ]
            assert ours == wanted, text


def test_lines_of_one_file_are_split_by_what_follows_them() -> None:
    rows: list[tuple[str, str]] = load("lines")
    lines = [line for line, _ in rows]
    ours = [" ".join(tokens) for tokens in ptb.tokenize_lines(lines, keep_punctuation=True)]
    assert [pair for pair in zip(lines, ours, (line for _, line in rows)) if pair[1] != pair[2]] == []
    # The gold is not trivial: some lines have other tokens as single captions.
    alone = [" ".join(tokens) for tokens in ptb.tokenize_batch(lines, keep_punctuation=True)]
    assert sum(a != b for a, b in zip(ours, alone)) > 100
    words = ptb.tokenize_lines(lines)
    assert words == [[t for t in line.split(" ") if t and t not in ptb.PUNCTUATION] for line in ours]


def test_what_counts_as_punctuation_is_what_the_coco_tools_drop() -> None:
    from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS

    assert frozenset(PUNCTUATIONS) == ptb.PUNCTUATION


@pytest.mark.shared
@pytest.mark.parametrize("file", ["tokens_captions", "tokens_adversarial"])
def test_every_line_of_the_public_gold_has_a_next_line_that_explains_it(shared_data: Path, file: str) -> None:
    """Their next lines are unknown. Each began with a capital article, a small letter, or something else."""
    with gzip.open(shared_data / "gold" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    wrong = rows
    for begin in ("A", "a", "Two", "2"):
        texts = [text for row in wrong for text in (row["raw"], begin + " dog")]
        found = ptb.tokenize_lines(texts, keep_punctuation=True)[::2]
        wrong = [row for row, tokens in zip(wrong, found) if " ".join(tokens) != row["tokens"]]
    assert wrong == []


@pytest.mark.java
def test_files_of_lines_beside_java(tmp_path: Path) -> None:
    """Shuffled lines, half of them with an end that looks ahead."""
    from tests.gold.make_demo_gold import stanford_lines

    chance = random.Random(3)
    lines = [line for line, _ in load("lines")] + list(load("tokens"))
    chance.shuffle(lines)
    theirs = stanford_lines(lines)
    assert [" ".join(tokens) for tokens in ptb.tokenize_lines(lines, keep_punctuation=True)] == theirs
