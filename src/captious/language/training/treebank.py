"""Parsed captions on disk: reading them, and dividing them into training, development and test parts."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from captious.errors import InputError
from captious.language.parse_types import Sentence

DEVELOPMENT_PERCENT = 1
TEST_PERCENT = 4
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class ParsedCaption:
    """A caption with the reference parser's analysis."""

    text: str
    source: str
    sentences: list[Sentence]

    @property
    def part(self) -> str:
        return part_of(self.text)


def words_of(text: str) -> str:
    """A caption's words, without case and punctuation."""
    return " ".join(_WORD.findall(text.lower()))


def part_of(text: str) -> str:
    """`train`, `development` or `test`, by a hash of the caption's words.

    Case, spacing and punctuation do not count, so a raw caption and its lowercased twin fall on the same side.
    """
    bucket = int.from_bytes(hashlib.sha1(words_of(text).encode()).digest()[:4], "big") % 100
    if bucket < TEST_PERCENT:
        return "test"
    if bucket < TEST_PERCENT + DEVELOPMENT_PERCENT:
        return "development"
    return "train"


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def read_parses(path: str | Path) -> Iterator[ParsedCaption]:
    """The captions of a JSON-lines file (`text`, `source`, `sentences` with `form`, `tag`, `lemma`, `basic`, `cc`).

    A caption that was seen before in the same file is left out.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected parsed captions as JSON lines (.jsonl or .jsonl.gz)")
    seen: set[str] = set()
    with _open(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                caption = ParsedCaption(
                    row["text"], row.get("source", "unknown"), [Sentence.from_dict(s) for s in row["sentences"]]
                )
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{path}, line {number}: not a parsed caption ({type(error).__name__}: {error}); each line needs "
                    "text, source and sentences with form, tag, lemma and basic"
                ) from error
            if caption.text not in seen:
                seen.add(caption.text)
                yield caption
