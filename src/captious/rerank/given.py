"""Scores of candidates from a file: those of a critic, of a learned metric, of any other program.

A file of lines with ``image_id`` and ``scores`` (one for each candidate, in the order of the n-best lists), or ``NAME.scores`` as
captious saves them for the same candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious.errors import InputError, did_you_mean, some
from captious.io.captions import show
from captious.io.content import shown_name
from captious.records import SUFFIX
from captious.rerank.choosing import Criterion
from captious.rerank.models.base import Floats
from captious.rerank.nbest import NBest, image_of, numbers, read_rows
from captious.scores import Scores

_HOW = "scores of candidates are lines of {\"image_id\": …, \"scores\": […]}, or a file NAME.scores"


class Given(Criterion):
    """Numbers by image; less is better with ``lower``."""

    def __init__(self, scores: dict[str, Floats], name: str, *, lower: bool = False, texts: dict[str, Sequence[str]] | None = None) -> None:
        self.scores, self.name, self.lower, self.texts = scores, name, lower, texts or {}

    def values(self, nbest: NBest) -> Floats:
        missing = [image for image in nbest.ids if image not in self.scores]
        if missing:
            raise InputError(f"{self.name} has no scores for {len(missing):,} of {len(nbest):,} images of {nbest.name} ({some(map(show, missing))})")
        for image, group in zip(nbest.ids, nbest.groups):
            if len(self.scores[image]) != len(group):
                raise InputError(f"{self.name} has {len(self.scores[image]):,} scores for image {show(image)}, and {nbest.name} has {len(group):,} candidates of it")
            known = self.texts.get(image)
            if known is not None and list(known) != group:
                raise InputError(f"{self.name} was made for other captions of image {show(image)} than {nbest.name} has, or in another order; score the same file")
        values = np.concatenate([self.scores[image] for image in nbest.ids])
        return -values if self.lower else values


def read_given(path: str | Path, metric: str | None = None) -> Given:
    """Scores of candidates; ``metric`` says which, where a file has several."""
    if str(path).endswith(SUFFIX):
        return _saved(Path(path), metric)
    name = shown_name(path)
    scores: dict[str, Floats] = {}
    texts: dict[str, Sequence[str]] = {}
    for number, row in enumerate(read_rows(path, _HOW), 1):
        where = f"{name}, line {number:,}"
        if not isinstance(row, dict):
            raise InputError(f"{where}: {_HOW}")
        image = image_of(row, where)
        if image in scores:
            raise InputError(f"{where}: image {show(image)} is there more than once")
        found: Any = row.get(metric or "scores")
        if not isinstance(found, list):
            raise InputError(f"{where}: image {show(image)} has no list of '{metric or 'scores'}'; {_HOW}")
        scores[image] = np.array(numbers(found, len(found), image, where, metric or "scores"))
        if isinstance(row.get("captions"), list):
            texts[image] = row["captions"]
    return Given(scores, metric or name, texts=texts)


def _saved(path: Path, metric: str | None) -> Given:
    saved = Scores.load(path)
    usable = [name for name in saved if saved[name].measure.rows == "caption"]
    if metric is None and len(usable) != 1:
        raise InputError(f"{path} has {some(saved, 20)}; say by which to choose (--metric)" if usable else f"{path} has no scores of single captions")
    wanted = metric or usable[0]
    if wanted not in saved or saved[wanted].name not in usable:
        raise InputError(f"{path} has no scores of single captions by '{wanted}'{did_you_mean(wanted, usable)} ({some(saved, 20)})")
    score = saved[wanted]
    values, offsets = np.nan_to_num(score.per_caption, nan=0.0), score.image_offsets.tolist()
    by_image = {image: values[a:b] for image, a, b in zip(score.ids, offsets, offsets[1:])}
    texts: dict[str, Sequence[str]] = {}
    kept = saved.captions
    if kept is not None and kept.texts is not None:
        bounds = kept.image_offsets.tolist()
        texts = {image: list(kept.texts[a:b]) for image, a, b in zip(kept.ids, bounds, bounds[1:])}
    return Given(by_image, f"{score.name} of {path}", lower=not score.measure.higher_is_better, texts=texts)
