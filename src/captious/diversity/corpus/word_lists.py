"""Measures that read words one by one: negation and concreteness."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.diversity.corpus.flat import Flat, FloatArray
from captious.errors import InputError

#: Words that deny: with them a caption says what is not there.
NEGATIONS = frozenset(
    ["no", "not", "n't", "nt", "n’t", "never", "none", "nobody", "nothing", "nowhere", "neither", "nor", "without", "cannot"]
)

#: How the column with the rating is called in published norms.
_COLUMNS = ("conc.m", "concreteness", "conc", "rating", "mean")


def share_negated(flat: Flat, is_negation: NDArray[np.bool_]) -> float:
    """Share of captions with a negation."""
    if not len(flat):
        return float("nan")
    before = np.concatenate([[0], np.cumsum(is_negation[flat.tokens])])
    return float((before[flat.offsets[1:]] > before[flat.offsets[:-1]]).mean())


def read_norms(path: str | Path) -> dict[str, float]:
    """Concreteness norms: a table (comma, semicolon or tab) with the word in the first column and the rating in a
    column called Conc.M or concreteness, else in the second."""
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{source}: cannot be read ({error.strerror or error})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: byte {error.start} is not UTF-8; save the norms as UTF-8") from error
    lines = text.splitlines()
    if not lines:
        raise InputError(f"{source}: the file is empty; norms have a word and its rating in each line")
    delimiter = max("\t;,", key=lines[0].count)
    rows = list(csv.reader(lines, delimiter=delimiter))
    header = [cell.strip().casefold() for cell in rows[0]]
    column = next((header.index(name) for name in _COLUMNS if name in header), 1)
    has_header = not _is_number(rows[0][column]) if len(rows[0]) > column else True
    norms: dict[str, float] = {}
    for number, row in enumerate(rows[has_header:], start=1 + has_header):
        if not row:
            continue
        if len(row) <= column or not _is_number(row[column]):
            found = f"'{row[column][:40]}'" if len(row) > column else f"{len(row)} columns"
            raise InputError(f"{source}, line {number}: a rating was expected in column {column + 1}, found {found}")
        norms[row[0].strip().lower()] = float(row[column])
    if not norms:
        raise InputError(f"{source}: there is no word in it")
    return norms


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def concreteness(flat: Flat, ratings: FloatArray) -> tuple[float, float]:
    """Mean rating over the tokens that have one, and the share of tokens that do (``ratings``: NaN where unknown)."""
    values = ratings[flat.tokens]
    known = ~np.isnan(values)
    if not known.any():
        return float("nan"), 0.0
    return float(values[known].mean()), float(known.mean())
