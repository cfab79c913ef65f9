"""n-best lists: the candidate captions of each image with log P(s|I), from any model.

A file has one JSON object per line: ``image_id``, ``captions``, ``logprobs`` (natural logarithms of whole
captions, end included), and optionally ``tokens``: a list of tokens per caption, for models with their own
tokenizer.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.errors import InputError, some
from captious.core.memo import cached_property
from captious.core.ragged import IntArray, offsets_of
from captious.io import CaptionWarning
from captious.io.caption_files import kind, show
from captious.io.content import check_lines, decode, is_number, json_lines, loads, read_bytes, shown_name
from captious.rerank.language_models.language_model import Floats, tokens_of

_HOW = "'captious generate MODEL IMAGES --how beam -n 10 -o FILE' writes such a file"


@dataclass(frozen=True, eq=False)
class NBest:
    """Candidates of images. Those of image j are ``texts[offsets[j]:offsets[j + 1]]``."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    offsets: IntArray
    #: log P(s|I) of each candidate, if known.
    logprobs: Floats | None
    #: The model's own tokens of each candidate, if known.
    tokens: tuple[tuple[str, ...], ...] | None = None
    name: str = "the n-best lists"

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def image_of(self) -> IntArray:
        """Image index of each candidate."""
        return np.repeat(np.arange(len(self.ids)), np.diff(self.offsets))

    @cached_property
    def groups(self) -> list[list[str]]:
        """Candidates grouped by image."""
        return [list(self.texts[a:b]) for a, b in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist())]

    def log_p(self) -> Floats:
        """Return log P(s|I). Raise InputError where the lists have none."""
        if self.logprobs is None:
            raise InputError(
                f"{self.name}: 'logprobs' are missing; re-ranking needs log P(s|I) of every caption; {_HOW}"
            )
        return self.logprobs

    def tokens_for(self, tokenizer: str) -> list[list[str]]:
        """Return the tokens of candidates: the model's own if present, else those of ``tokenizer``."""
        if self.tokens is not None:
            return [list(tokens) for tokens in self.tokens]
        return tokens_of(self.texts, tokenizer)

    def take(self, images: IntArray) -> NBest:
        """Select images."""
        rows = (
            np.concatenate([np.arange(self.offsets[j], self.offsets[j + 1]) for j in images.tolist()])
            if len(images)
            else np.zeros(0, np.int64)
        )
        return NBest(
            tuple(self.ids[j] for j in images.tolist()),
            tuple(self.texts[i] for i in rows.tolist()),
            offsets_of(np.diff(self.offsets)[images]),
            None if self.logprobs is None else self.logprobs[rows],
            None if self.tokens is None else tuple(self.tokens[i] for i in rows.tolist()),
            self.name,
        )

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], name: str = "the n-best lists") -> NBest:
        """Build from rows as in the file. Invalid rows raise InputError, suspicious ones a warning."""
        if not rows:
            raise InputError(f"{name}: the file has no images; {_HOW}")
        ids: list[str] = []
        groups: list[list[str]] = []
        logprobs: list[list[float]] = []
        tokens: list[list[tuple[str, ...]]] = []
        for number, row in enumerate(rows, 1):
            where = f"{name}, line {number:,}"
            image, texts = _parse_captions(row, where)
            ids.append(image)
            groups.append(texts)
            if row.get("logprobs") is not None:
                logprobs.append(numbers(row["logprobs"], len(texts), image, where, "logprobs"))
            if row.get("tokens") is not None:
                tokens.append(_parse_tokens(row["tokens"], len(texts), image, where))
        _check_unique(ids, name)
        for lists, field in ((logprobs, "logprobs"), (tokens, "tokens")):
            if lists and len(lists) < len(rows):
                raise InputError(
                    f"{name}: {len(rows) - len(lists):,} of {len(rows):,} images have no '{field}'; "
                    "add them for all images, or for none"
                )
        flat = np.array([value for group in logprobs for value in group], np.float64) if logprobs else None
        if flat is not None and (flat > 0).any():
            warnings.warn(
                CaptionWarning(
                    f"{name}: {int((flat > 0).sum()):,} of {len(flat):,} logprobs are above 0, so they are "
                    "not log "
                    "probabilities; check that the file does not hold other scores"
                ),
                stacklevel=3,
            )
        _warn_about_equal(ids, groups, name)
        return cls(
            tuple(ids),
            tuple(text for group in groups for text in group),
            offsets_of([len(group) for group in groups]),
            flat,
            tuple(one for group in tokens for one in group) if tokens else None,
            name,
        )


def read_nbest(path: str | Path) -> NBest:
    """Read n-best lists from JSON lines (also gzip), or from one JSON list of the same objects.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import json, tempfile
    >>> row = {"image_id": 1, "captions": ["a dog", "a cat"], "logprobs": [-1.0, -2.5]}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     print(json.dumps(row), file=file, flush=True)
    ...     nbest = read_nbest(file.name)
    >>> nbest.texts
    ('a dog', 'a cat')
    """
    return NBest.of(read_rows(path, _HOW), shown_name(path))


def read_rows(path: str | Path, how: str) -> list[Any]:
    """Read JSON lines, or one JSON list."""
    name = shown_name(path)
    text = decode(read_bytes(path), name)
    if text.lstrip().startswith("["):
        try:
            value = loads(text, name)
        except json.JSONDecodeError as error:
            raise InputError(f"{name} is not JSON ({error}); {how}") from None
        return list(value)
    check_lines(text.split("\n"), name)
    return json_lines(text, name, how)


def _parse_captions(row: Any, where: str) -> tuple[str, list[str]]:
    if not isinstance(row, Mapping):
        raise InputError(
            f"{where}: expected an object with image_id, captions and logprobs, not {kind(row)}; {_HOW}"
        )
    image, texts = image_of(row, where), row.get("captions")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{where}: image {show(image)} has no list of 'captions'; {_HOW}")
    if not texts:
        raise InputError(f"{where}: image {show(image)} has no candidates; remove the line")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{where}: a caption of image {show(image)} has an unpaired surrogate character; "
            "write the file again from the original text"
        ) from None
    return image, texts


def image_of(row: Mapping[str, Any], where: str) -> str:
    """Return the image id of a row as text."""
    image = row.get("image_id", row.get("id"))
    if isinstance(image, bool) or not isinstance(image, str | int) or not str(image).strip():
        raise InputError(f"{where}: the image_id is {kind(image)}; use an integer or a string")
    return str(image).strip()


def numbers(values: Any, count: int, image: str, where: str, field: str) -> list[float]:
    """Check that ``values`` is a list of finite numbers, one per caption."""
    if not isinstance(values, list) or len(values) != count:
        size = f"{len(values):,}" if isinstance(values, list) else kind(values)
        raise InputError(
            f"{where}: image {show(image)} has {count:,} captions but {size} {field}; write one per caption"
        )
    for value in values:
        if not is_number(value):
            raise InputError(
                f"{where}: the {field} of image {show(image)} contain "
                f"{kind(value) if not isinstance(value, float) else value}; use finite numbers"
            )
    return [float(value) for value in values]


def _parse_tokens(tokens: Any, count: int, image: str, where: str) -> list[tuple[str, ...]]:
    is_valid = (
        isinstance(tokens, list)
        and len(tokens) == count
        and all(isinstance(one, list) and all(isinstance(t, str) for t in one) for one in tokens)
    )
    if not is_valid:
        raise InputError(
            f"{where}: 'tokens' of image {show(image)} must be a list of strings for each of its "
            f"{count:,} captions"
        )
    return [tuple(one) for one in tokens]


def _check_unique(ids: Sequence[str], name: str) -> None:
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        repeated = [image for image in ids if image in seen or seen.add(image)]  # type: ignore[func-returns-value]
        raise InputError(
            f"{name}: {len(set(repeated)):,} images occur more than once "
            f"({some(map(show, dict.fromkeys(repeated)))}); put all candidates of an image in one line"
        )


def _warn_about_equal(ids: Sequence[str], groups: Sequence[Sequence[str]], name: str) -> None:
    equal = [image for image, group in zip(ids, groups) if len(group) > 1 and len(set(group)) == 1]
    if equal:
        warnings.warn(
            CaptionWarning(
                f"{name}: all candidates are equal for {len(equal):,} images, so re-ranking cannot change "
                "them "
                f"({some(map(show, equal))})"
            ),
            stacklevel=4,
        )
