"""n-best lists: the captions of each image with log P(s|I), from any model.

A file has one JSON object per line: ``image_id``, ``captions``, ``logprobs`` (natural logarithms of whole captions, their end
among them), and if wanted ``tokens``: a list of tokens for each caption, where the model cuts captions otherwise than our tokenizers.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from captious.errors import InputError, some
from captious.io import CaptionWarning
from captious.io.captions import kind, show
from captious.io.content import check_lines, decode, loads, read_bytes, shown_name
from captious.ragged import IntArray, offsets_of
from captious.rerank.models.base import Floats, tokens_of

_HOW = "'captious generate MODEL IMAGES --how beam -n 10 -o FILE' writes such a file"


@dataclass(frozen=True, eq=False)
class NBest:
    """Candidates of images: those of image j are ``texts[offsets[j]:offsets[j + 1]]``."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    offsets: IntArray
    #: log P(s|I) of each candidate; nothing where none is needed.
    logprobs: Floats | None
    #: The model's own tokens of each candidate, where they were given.
    tokens: tuple[tuple[str, ...], ...] | None = None
    name: str = "the n-best lists"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def image_of(self) -> IntArray:
        """The image of each candidate."""
        return np.repeat(np.arange(len(self.ids)), np.diff(self.offsets))

    @cached_property
    def groups(self) -> list[list[str]]:
        """The candidates, image by image."""
        return [list(self.texts[a:b]) for a, b in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist())]

    def log_p(self) -> Floats:
        """log P(s|I), or an error where there is none."""
        if self.logprobs is None:
            raise InputError(f"{self.name}: there are no 'logprobs', and mutual information needs log P(s|I) of every caption; {_HOW}")
        return self.logprobs

    def tokens_for(self, tokenizer: str) -> list[list[str]]:
        """Candidates as tokens: the model's own where it gave them, else those of a tokenizer."""
        if self.tokens is not None:
            return [list(tokens) for tokens in self.tokens]
        return tokens_of(self.texts, tokenizer)

    def take(self, images: IntArray) -> NBest:
        """Some of the images."""
        rows = np.concatenate([np.arange(self.offsets[j], self.offsets[j + 1]) for j in images.tolist()]) if len(images) else np.zeros(0, np.int64)
        return NBest(
            tuple(self.ids[j] for j in images.tolist()), tuple(self.texts[i] for i in rows.tolist()), offsets_of(np.diff(self.offsets)[images]),
            None if self.logprobs is None else self.logprobs[rows],
            None if self.tokens is None else tuple(self.tokens[i] for i in rows.tolist()), self.name,
        )  # fmt: skip

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], name: str = "the n-best lists") -> NBest:
        """From rows as the file has them; what cannot be used is refused, what is odd is warned of."""
        if not rows:
            raise InputError(f"{name}: there are no images in it; {_HOW}")
        ids: list[str] = []
        groups: list[list[str]] = []
        logprobs: list[list[float]] = []
        tokens: list[list[tuple[str, ...]]] = []
        for number, row in enumerate(rows, 1):
            where = f"{name}, line {number:,}"
            image, texts = _captions(row, where)
            ids.append(image)
            groups.append(texts)
            if row.get("logprobs") is not None:
                logprobs.append(_logprobs(row["logprobs"], len(texts), image, where))
            if row.get("tokens") is not None:
                tokens.append(_tokens(row["tokens"], len(texts), image, where))
        _repeated(ids, name)
        for found, what in ((logprobs, "logprobs"), (tokens, "tokens")):
            if found and len(found) < len(rows):
                raise InputError(f"{name}: {len(rows) - len(found):,} of {len(rows):,} images have no '{what}'; give them for all, or for none")
        flat = np.array([value for group in logprobs for value in group], np.float64) if logprobs else None
        if flat is not None and (flat > 0).any():
            warnings.warn(
                CaptionWarning(f"{name}: {int((flat > 0).sum()):,} of {len(flat):,} logprobs are above 0, which no log P of a caption is; are they scores, or densities?"),
                stacklevel=3,
            )
        _warn_of_equal(ids, groups, name)
        return cls(
            tuple(ids), tuple(text for group in groups for text in group), offsets_of([len(group) for group in groups]), flat,
            tuple(one for group in tokens for one in group) if tokens else None, name,
        )  # fmt: skip


def read_nbest(path: str | Path) -> NBest:
    """n-best lists from JSON lines (also gzip, or one JSON list of the same objects)."""
    return NBest.of(read_rows(path, _HOW), shown_name(path))


def read_rows(path: str | Path, how: str) -> list[Any]:
    """JSON lines, or one JSON list."""
    name = shown_name(path)
    text = decode(read_bytes(path), name)
    if text.lstrip().startswith("["):
        try:
            value = loads(text, name)
        except json.JSONDecodeError as error:
            raise InputError(f"{name} is not JSON ({error}); {how}") from None
        return list(value)
    lines = text.split("\n")
    check_lines(lines, name)
    rows = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                rows.append(loads(line, f"{name}, line {number:,}"))
            except json.JSONDecodeError as error:
                raise InputError(f"{name}, line {number:,}: not JSON ({error}); {how}") from None
    return rows


def _captions(row: Any, where: str) -> tuple[str, list[str]]:
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: an object with image_id, captions and logprobs was expected, not {kind(row)}; {_HOW}")
    image, texts = image_of(row, where), row.get("captions")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: image {show(image)} has no list of 'captions'; {_HOW}")
    if not texts:
        raise InputError(f"{where}: image {show(image)} has no candidates; leave it out")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: a caption of image {show(image)} holds half a character; write the file again from the original text") from None
    return image, texts


def image_of(row: Mapping[str, Any], where: str) -> str:
    """The image's id as text."""
    image = row.get("image_id", row.get("id"))
    if isinstance(image, bool) or not isinstance(image, str | int) or not str(image).strip():
        raise InputError(f"{where}: the image_id is {kind(image)}; ids are whole numbers or text")
    return str(image).strip()


def _logprobs(found: Any, count: int, image: str, where: str) -> list[float]:
    return numbers(found, count, image, where, "logprobs")


def numbers(found: Any, count: int, image: str, where: str, what: str) -> list[float]:
    """A list of as many finite numbers as there are captions."""
    if not isinstance(found, list) or len(found) != count:
        size = f"{len(found):,}" if isinstance(found, list) else kind(found)
        raise InputError(f"{where}: image {show(image)} has {count:,} captions and {size} {what}; give one for each caption")
    for value in found:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"{where}: one of the {what} of image {show(image)} is {kind(value) if not isinstance(value, float) else value}; they are finite numbers")
    return [float(value) for value in found]


def _tokens(found: Any, count: int, image: str, where: str) -> list[tuple[str, ...]]:
    good = isinstance(found, list) and len(found) == count and all(isinstance(one, list) and all(isinstance(t, str) for t in one) for one in found)
    if not good:
        raise InputError(f"{where}: 'tokens' of image {show(image)} must be a list of tokens (text) for each of its {count:,} captions")
    return [tuple(one) for one in found]


def _repeated(ids: Sequence[str], name: str) -> None:
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = [image for image in ids if image in seen or seen.add(image)]  # type: ignore[func-returns-value]
        raise InputError(f"{name}: {len(set(twice)):,} images are there more than once ({some(map(show, dict.fromkeys(twice)))}); put all candidates of an image in one row")


def _warn_of_equal(ids: Sequence[str], groups: Sequence[Sequence[str]], name: str) -> None:
    equal = [image for image, group in zip(ids, groups) if len(group) > 1 and len(set(group)) == 1]
    if equal:
        warnings.warn(CaptionWarning(f"{name}: the candidates of {len(equal):,} images are all equal, so that nothing can be chosen there ({some(map(show, equal))})"), stacklevel=4)
