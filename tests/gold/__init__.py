"""What the reference tools say of the demo and of captions of our own; ``README.md`` says how each file was made."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from captious.language import Sentence

SYSTEMS = ("good", "generic", "poor")


@cache
def load(name: str) -> Any:
    """The content of a gold file, by its name without endings. It is shared between tests: do not change it."""
    path = Path(__file__).parent / f"{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))


def sentences() -> dict[str, list[Sentence]]:
    """Captions (as the COCO pipeline tokenizes them) and their sentences as CoreNLP parses them, graphs included."""
    return {caption: [_sentence(row) for row in rows] for caption, rows in load("parses").items()}


def _sentence(row: dict[str, str]) -> Sentence:
    fields: dict[str, Any] = {column: row[column].split(" ") for column in ("form", "tag", "lemma")}
    fields |= {column: [_arc(arc) for arc in row[column].split(" ")] for column in ("basic", "cc")}
    return Sentence.from_dict(fields)


def _arc(text: str) -> tuple[float, float, str]:
    governor, dependent, relation = text.split("/", 2)
    return (float(governor) if "." in governor else int(governor)), (float(dependent) if "." in dependent else int(dependent)), relation
