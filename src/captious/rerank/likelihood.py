"""The likelihood test: how often a model finds a wrong generic caption likelier than a human one (Wang et al. 2020, §3.1).

Distractors are the commonest captions of a training corpus. One is kept for an image only if CHAIR finds an object in it that the
image does not have, so that it is surely wrong. The test fails on an image if some distractor d and some human caption g have
P(d|I) > P(g|I).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious import significance
from captious.corpus import Corpus
from captious.errors import InputError, some
from captious.io.captions import show
from captious.metrics.chair import ChairS
from captious.references import References
from captious.rerank.models.base import Floats, tokens_of
from captious.rerank.nbest import NBest, read_nbest
from captious.scores import json_number


def commonest(captions: Sequence[str], count: int = 5, tokenizer: str = "ptb") -> list[tuple[str, int]]:
    """The captions that are there most often, token by token the same, with how often; of equals the first in the alphabet."""
    if count < 1:
        raise InputError(f"there is at least one distractor, not {count}")
    counts = Counter(" ".join(tokens) for tokens in tokens_of(captions, tokenizer))
    counts.pop("", None)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:count]


def distractors(references: References, generic: Sequence[str], chair: ChairS) -> dict[str, list[str]]:
    """For each image those of the generic captions that name an object which is not there."""
    ids = references.captions.ids
    corpus = Corpus.build(ids, [list(generic)] * len(ids), references.captions)
    rows = iter(chair.mentions(corpus))
    return {image: [row.caption for row in (next(rows) for _ in generic) if row.hallucinated] for image in ids}


@dataclass(frozen=True, eq=False)
class Tested:
    """Scores of human captions and of distractors, image by image; only images that have both."""

    ids: tuple[str, ...]
    human: tuple[Floats, ...]
    wrong: tuple[Floats, ...]
    #: Images without a distractor that is surely wrong.
    left_out: int

    @cached_property
    def fooled(self) -> NDArray[np.bool_]:
        """Whether some distractor is likelier than some human caption (theirs)."""
        return np.array([w.max() > h.min() for w, h in zip(self.wrong, self.human)], np.bool_)

    @cached_property
    def fooled_by_all(self) -> NDArray[np.bool_]:
        """Whether some distractor is likelier than every human caption."""
        return np.array([w.max() > h.max() for w, h in zip(self.wrong, self.human)], np.bool_)

    @cached_property
    def pairs(self) -> Floats:
        """The share of pairs of a distractor and a human caption in which the distractor is likelier, image by image."""
        return np.array([(w[:, None] > h[None]).mean() for w, h in zip(self.wrong, self.human)])

    def shares(self, level: float = 0.95, resamples: int = significance.RESAMPLES, seed: int = significance.SEED) -> dict[str, tuple[float, float, float]]:
        """Each share with its interval over images."""
        found = {}
        for name, rows in (("some", self.fooled), ("every", self.fooled_by_all), ("pairs", self.pairs)):
            table = _table(rows)
            found[name] = (float(rows.mean()), *significance.interval(table, _mean, level, resamples, seed))
        return found

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        rows = {name: {"share": json_number(value), "interval": [json_number(low), json_number(high)]} for name, (value, low, high) in self.shares().items()}
        return {"images": len(self.ids), "left out": self.left_out, **rows}


def _table(rows: Any) -> Floats:
    values = np.asarray(rows, np.float64)
    return np.stack([values, np.ones(len(values))], axis=1)


def _mean(sums: Any) -> Floats:
    found: Floats = sums[..., 0] / sums[..., 1]
    return found


def likelihood_test(scored: NBest, values: Floats, references: References, wrong: Mapping[str, Sequence[str]]) -> Tested:
    """Compare scores of human captions with those of distractors; both must be among the scored captions."""
    texts = references.captions.texts
    bounds = references.captions.image_offsets.tolist()
    place = {image: j for j, image in enumerate(scored.ids)}
    ids, human, others, left_out = [], [], [], 0
    for j, image in enumerate(references.captions.ids):
        if not wrong.get(image):
            left_out += 1
            continue
        if image not in place:
            raise InputError(f"{scored.name} has no captions of image {show(image)}; score the captions that '--write' writes")
        a, b = scored.offsets[place[image] : place[image] + 2].tolist()
        known = {text: values[i] for i, text in zip(range(a, b), scored.texts[a:b])}
        own = list(dict.fromkeys(texts[bounds[j] : bounds[j + 1]]))
        lost = [text for text in (*own, *wrong[image]) if text not in known]
        if lost:
            raise InputError(f"{scored.name} has no log P of {some(map(show, lost), 2)} of image {show(image)}; score the captions that '--write' writes")
        ids.append(image)
        human.append(np.array([known[text] for text in own]))
        others.append(np.array([known[text] for text in wrong[image]]))
    if not ids:
        raise InputError("no image has a distractor that is surely wrong; use more of the commonest captions (--common)")
    return Tested(tuple(ids), tuple(human), tuple(others), left_out)


def to_score(references: References, wrong: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The captions whose log P is needed: human ones and distractors, image by image."""
    texts = references.captions.texts
    bounds = references.captions.image_offsets.tolist()
    return [
        {"image_id": image, "captions": list(dict.fromkeys([*texts[bounds[j] : bounds[j + 1]], *wrong[image]]))}
        for j, image in enumerate(references.captions.ids)
        if wrong.get(image)
    ]


def p_of_difference(before: Tested, after: Tested, trials: int = significance.TRIALS, seed: int = significance.SEED) -> float:
    """Two-sided p-value of approximate randomisation for two tests of the same images."""
    if before.ids != after.ids:
        raise InputError("two likelihood tests are compared on the same images")
    return significance.randomisation(_table(before.fooled), _table(after.fooled), _mean, trials, seed)


def read_scored(path: str | Path) -> NBest:
    """Captions with log P, as 'captious generate --score' writes them. Its tokens may be pieces of words, and are for figures."""
    found = replace(read_nbest(path), tokens=None)
    found.log_p()
    return found
