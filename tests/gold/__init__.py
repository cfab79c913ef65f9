"""Output of the reference tools for the demo and for captions of our own (see ``README.md``)."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from captious.parser import Sentence

SYSTEMS = ("good", "generic", "poor")


@cache
def load(name: str) -> Any:
    """Return the content of a gold file, by its name without endings. Tests must not change it."""
    path = Path(__file__).parent / f"{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))


def sentences(name: str = "parses") -> dict[str, list[Sentence]]:
    """Return CoreNLP's sentences, graphs included, of each caption as the COCO pipeline tokenizes it."""
    return {caption: [_sentence(row) for row in rows] for caption, rows in load(name).items()}


def _sentence(row: dict[str, str]) -> Sentence:
    fields: dict[str, Any] = {column: row[column].split(" ") for column in ("form", "tag", "lemma")}
    fields |= {column: [_arc(arc) for arc in row[column].split(" ")] for column in ("basic", "cc")}
    return Sentence.from_dict(fields)


def _arc(text: str) -> tuple[float, float, str]:
    governor, dependent, relation = text.split("/", 2)
    return (
        (float(governor) if "." in governor else int(governor)),
        (float(dependent) if "." in dependent else int(dependent)),
        relation,
    )
