"""External scores of candidates, from a critic, a learned metric or another program.

The file has lines with ``image_id`` and ``scores`` (one per candidate, in the order of the n-best lists), or
is a ``NAME.scores`` file saved by captious for the same candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.errors import InputError, did_you_mean, some
from captious.io.caption_files import show
from captious.io.content import shown_name
from captious.rerank.criteria import Criterion
from captious.rerank.language_models.language_model import Floats
from captious.rerank.nbest import NBest, image_of, numbers, read_rows
from captious.results.saved_scores import SUFFIX
from captious.results.scores import Scores

_HOW = 'scores of candidates are lines of {"image_id": …, "scores": […]}, or a file NAME.scores'


class ExternalScores(Criterion):
    """Scores by image. With ``lower``, lower is better."""

    def __init__(
        self,
        scores: dict[str, Floats],
        name: str,
        *,
        lower: bool = False,
        texts: dict[str, Sequence[str]] | None = None,
    ) -> None:
        self.scores, self.name, self.lower, self.texts = scores, name, lower, texts or {}

    def values(self, nbest: NBest) -> Floats:
        missing_ids = [image for image in nbest.ids if image not in self.scores]
        if missing_ids:
            raise InputError(
                f"{self.name} has no scores for {len(missing_ids):,} of {len(nbest):,} images of "
                f"{nbest.name} "
                f"({some(map(show, missing_ids))})"
            )
        for image, group in zip(nbest.ids, nbest.groups):
            if len(self.scores[image]) != len(group):
                raise InputError(
                    f"{self.name} has {len(self.scores[image]):,} scores for image {show(image)}, "
                    f"but {nbest.name} has {len(group):,} candidates for it"
                )
            scored_texts = self.texts.get(image)
            if scored_texts is not None and list(scored_texts) != group:
                raise InputError(
                    f"{self.name} was computed for other captions of image {show(image)} than those of "
                    f"{nbest.name}, "
                    "or in another order; score the same file"
                )
        values = np.concatenate([self.scores[image] for image in nbest.ids])
        return -values if self.lower else values


def read_given(path: str | Path, metric: str | None = None) -> ExternalScores:
    """Read scores of candidates. ``metric`` selects one of several in the file.

    Parameters
    ----------
    path
        JSON lines with a score for each candidate of an image.
    metric
        Name of the score, if the file has several.

    Examples
    --------
    >>> import json, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     print(json.dumps({"image_id": 1, "scores": [0.25, 0.5]}), file=file, flush=True)
    ...     read_given(file.name).scores["1"].tolist()
    [0.25, 0.5]
    """
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
            raise InputError(
                f"{where}: image {show(image)} occurs more than once; put all its scores in one line"
            )
        values: Any = row.get(metric or "scores")
        if not isinstance(values, list):
            raise InputError(f"{where}: image {show(image)} has no list of '{metric or 'scores'}'; {_HOW}")
        scores[image] = np.array(numbers(values, len(values), image, where, metric or "scores"))
        if isinstance(row.get("captions"), list):
            texts[image] = row["captions"]
    return ExternalScores(scores, metric or name, texts=texts)


def _saved(path: Path, metric: str | None) -> ExternalScores:
    saved = Scores.load(path)
    usable = [name for name in saved if saved[name].measure.rows == "caption"]
    if metric is None and len(usable) != 1:
        raise InputError(
            f"{path} has several metrics ({some(saved, 20)}); select one with --metric"
            if usable
            else f"{path} has no caption-level scores"
        )
    selected = metric or usable[0]
    if selected not in saved or saved[selected].name not in usable:
        raise InputError(
            f"{path} has no caption-level scores of '{selected}'{did_you_mean(selected, usable)} "
            f"(available: {some(saved, 20)})"
        )
    score = saved[selected]
    values, offsets = np.nan_to_num(score.per_caption, nan=0.0), score.image_offsets.tolist()
    by_image = {image: values[a:b] for image, a, b in zip(score.ids, offsets, offsets[1:])}
    texts: dict[str, Sequence[str]] = {}
    captions = saved.captions
    if captions is not None and captions.texts is not None:
        bounds = captions.image_offsets.tolist()
        texts = {image: list(captions.texts[a:b]) for image, a, b in zip(captions.ids, bounds, bounds[1:])}
    return ExternalScores(
        by_image, f"{score.name} of {path}", lower=not score.measure.higher_is_better, texts=texts
    )
