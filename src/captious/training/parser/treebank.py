"""Files of parsed captions, divided into training, development and test parts."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from captious.core.errors import InputError
from captious.parser.parsed_sentences import Sentence

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
    """Return the words of a caption in lower case, without punctuation."""
    return " ".join(_WORD.findall(text.lower()))


def part_of(text: str) -> str:
    """Return `train`, `development` or `test`, by a hash of the caption's words.

    Case, spacing and punctuation are ignored, so that a raw caption and its tokenized form are in the same
    part.
    """
    bucket = int.from_bytes(hashlib.sha1(words_of(text).encode()).digest()[:4], "big") % 100
    if bucket < TEST_PERCENT:
        return "test"
    if bucket < TEST_PERCENT + DEVELOPMENT_PERCENT:
        return "development"
    return "train"


def open_text(path: Path) -> IO[str]:
    """Open a text file, gzip-compressed if it ends in .gz."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def read_parses(path: str | Path) -> Iterator[ParsedCaption]:
    """Yield the distinct captions of a JSON-lines file.

    The fields are `text`, `source` and `sentences` with `form`, `tag`, `lemma`, `basic`, `cc`.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"{path}: no such file; expected parsed captions as JSON lines (.jsonl or .jsonl.gz)"
        )
    seen: set[str] = set()
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                caption = ParsedCaption(
                    row["text"],
                    row.get("source", "unknown"),
                    [Sentence.from_dict(s) for s in row["sentences"]],
                )
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{path}, line {number}: not a parsed caption ({type(error).__name__}: {error}); "
                    "each line needs "
                    "text, source and sentences with form, tag, lemma and basic"
                ) from error
            if caption.text not in seen:
                seen.add(caption.text)
                yield caption
