"""The human judgements of Flickr8k (Hodosh et al. 2013): experts and a crowd."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.errors import InputError
from captious.io.content import check_lines, decode, loads, read_bytes


@dataclass
class Judgements:
    """Rated captions with their references. Row k of the ratings is of caption ``caption[k]``."""

    name: str
    candidates: list[str]
    references: list[list[str]]
    #: Index of the rated caption, and the rating: one row per judgement that counts by itself.
    caption: NDArray[np.int64]
    rating: NDArray[np.float64]
    #: Which of Kendall's coefficients the literature reports for this set: "b" or "c".
    variant: str

    @cached_property
    def corpus(self) -> Corpus:
        """Every rated caption is an entry of one corpus with its image's references, so images repeat: that is how the
        published figures were made, and CIDEr's document frequencies depend on it."""
        ids = [str(i) for i in range(len(self.candidates))]
        return Corpus.build(ids, [[text] for text in self.candidates], self.references, name=self.name)


def load_flickr8k(data: str | Path, which: str) -> Judgements:
    """Flickr8k-Expert ("expert") or Flickr8k-CF ("cf") from the public data folder.

    Captions that are among their image's own references are left out. With "cf-all" they stay, and are taken out of
    those references instead; this comes nearer to the published figures of the crowd's judgements.
    """
    folder = Path(data) / "flickr8k"
    captions = {row["image"]: row["captions"] for row in _rows(folder / "captions.jsonl.gz", ("image", "captions"))}
    if which == "expert":
        source, field, name = folder / "expert.jsonl.gz", "scores", "Flickr8k-Expert"
    elif which in ("cf", "cf-all"):
        source, field = folder / "crowdflower.jsonl.gz", "frac_yes"
        name = "Flickr8k-CF" if which == "cf" else "Flickr8k-CF-all"
    else:
        raise InputError(f"the judgements of Flickr8k are 'expert', 'cf' and 'cf-all', not '{which}'")
    rows = list(_rows(source, ("image", "caption", "own_reference", field)))
    if which != "cf-all":
        rows = [row for row in rows if not row["own_reference"]]
    unknown = next((row["image"] for row in rows if row["image"] not in captions), None)
    if unknown is not None:
        raise InputError(f"{source} rates a caption of image {unknown}, which has no references in {folder}")
    # One row per expert; the crowd's votes come as the share that said yes.
    ratings = [row[field] if isinstance(row[field], list) else [row[field]] for row in rows]
    return Judgements(
        name=name,
        candidates=[row["caption"] for row in rows],
        references=[
            [text for text in captions[row["image"]] if not (row["own_reference"] and text == row["caption"])]
            for row in rows
        ],
        caption=np.repeat(np.arange(len(rows)), [len(values) for values in ratings]),
        rating=np.array([value for values in ratings for value in values], dtype=np.float64),
        variant="c" if which == "expert" else "b",
    )


def _rows(path: Path, fields: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    if not path.exists():
        raise InputError(
            f"{path} is not there; give the folder that holds flickr8k/captions.jsonl.gz, expert.jsonl.gz and "
            "crowdflower.jsonl.gz"
        )
    try:
        lines = decode(read_bytes(path), str(path)).split("\n")
        check_lines(lines, str(path))
        for number, line in enumerate(lines, start=1):
            if line.strip():
                row = loads(line, f"{path}, line {number:,}")
                if not isinstance(row, dict):
                    raise InputError(f"{path}, line {number:,}: an object was expected, found {line[:60]!r}")
                missing = [field for field in fields if field not in row]
                if missing:
                    raise InputError(f"{path}, line {number:,}: no field '{missing[0]}'")
                yield row
    except json.JSONDecodeError as error:
        raise InputError(f"{path} cannot be read ({error}); get a fresh copy of the file") from error
