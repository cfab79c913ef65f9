"""Likelihood test: how often a model finds a wrong generic caption likelier than a human one (Wang et al.
2020).

Distractors are the most frequent captions of a training corpus (§3.1). An image uses a distractor only if
CHAIR finds an object in it that the image does not have, so the distractor is certainly wrong. The test fails
on an image if P(d|I) > P(g|I) for some distractor d and some human caption g.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, some
from captious.core.memo import cached_property
from captious.corpus import Corpus
from captious.io.caption_files import show
from captious.metrics.captions.chair import ChairS
from captious.rerank.language_models.language_model import Floats, tokens_of
from captious.rerank.nbest import NBest, read_nbest
from captious.results import significance
from captious.results.references import References
from captious.results.scores import json_number


def commonest(captions: Sequence[str], count: int = 5, tokenizer: str = "ptb") -> list[tuple[str, int]]:
    """Return the most frequent captions (by tokens) with their counts. Ties are in alphabetical order."""
    if count < 1:
        raise InputError(f"the number of distractors must be at least 1, not {count}")
    counts = Counter(" ".join(tokens) for tokens in tokens_of(captions, tokenizer))
    counts.pop("", None)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:count]


def distractors(references: References, generic: Sequence[str], chair: ChairS) -> dict[str, list[str]]:
    """Return for each image the generic captions that name an object the image does not have."""
    ids = references.captions.ids
    corpus = Corpus.build(ids, [list(generic)] * len(ids), references.captions)
    rows = iter(chair.mentions(corpus))
    return {
        image: [row.caption for row in (next(rows) for _ in generic) if row.hallucinated] for image in ids
    }


@dataclass(frozen=True, eq=False)
class Tested:
    """Scores of human captions and of distractors, for the images that have both."""

    ids: tuple[str, ...]
    human: tuple[Floats, ...]
    wrong: tuple[Floats, ...]
    #: Images without a certainly wrong distractor.
    left_out: int

    @cached_property
    def fooled(self) -> NDArray[np.bool_]:
        """Whether some distractor is likelier than some human caption (the paper's criterion), per image."""
        return np.array([w.max() > h.min() for w, h in zip(self.wrong, self.human)], np.bool_)

    @cached_property
    def fooled_by_all(self) -> NDArray[np.bool_]:
        """Whether some distractor is likelier than every human caption, per image."""
        return np.array([w.max() > h.max() for w, h in zip(self.wrong, self.human)], np.bool_)

    @cached_property
    def pairs(self) -> Floats:
        """Share of (distractor, human caption) pairs in which the distractor is likelier, per image."""
        return np.array([(w[:, None] > h[None]).mean() for w, h in zip(self.wrong, self.human)])

    def shares(
        self, level: float = 0.95, resamples: int = significance.RESAMPLES, seed: int = significance.SEED
    ) -> dict[str, tuple[float, float, float]]:
        """Return each share with its interval over images."""
        shares = {}
        for name, rows in (("some", self.fooled), ("every", self.fooled_by_all), ("pairs", self.pairs)):
            table = _table(rows)
            shares[name] = (float(rows.mean()), *significance.interval(table, _mean, level, resamples, seed))
        return shares

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        rows = {
            name: {"share": json_number(value), "interval": [json_number(low), json_number(high)]}
            for name, (value, low, high) in self.shares().items()
        }
        return {"images": len(self.ids), "left out": self.left_out, **rows}


def _table(rows: Any) -> Floats:
    values = np.asarray(rows, np.float64)
    return np.stack([values, np.ones(len(values))], axis=1)


def _mean(sums: Any) -> Floats:
    mean: Floats = sums[..., 0] / sums[..., 1]
    return mean


def likelihood_test(
    scored: NBest, values: Floats, references: References, wrong: Mapping[str, Sequence[str]]
) -> Tested:
    """Compare the scores of human captions and distractors. Both must be among the scored captions."""
    texts = references.captions.texts
    bounds = references.captions.image_offsets.tolist()
    row_of = {image: j for j, image in enumerate(scored.ids)}
    ids, human, distractor_values, left_out = [], [], [], 0
    for j, image in enumerate(references.captions.ids):
        if not wrong.get(image):
            left_out += 1
            continue
        if image not in row_of:
            raise InputError(
                f"{scored.name} has no captions of image {show(image)}; "
                "score the captions written with --write"
            )
        a, b = scored.offsets[row_of[image] : row_of[image] + 2].tolist()
        value_of = {text: values[i] for i, text in zip(range(a, b), scored.texts[a:b])}
        own = list(dict.fromkeys(texts[bounds[j] : bounds[j + 1]]))
        missing_texts = [text for text in (*own, *wrong[image]) if text not in value_of]
        if missing_texts:
            raise InputError(
                f"{scored.name} has no log P of {some(map(show, missing_texts), 2)} of image {show(image)}; "
                "score the captions written with --write"
            )
        ids.append(image)
        human.append(np.array([value_of[text] for text in own]))
        distractor_values.append(np.array([value_of[text] for text in wrong[image]]))
    if not ids:
        raise InputError("no image has a certainly wrong distractor; use more generic captions (--common)")
    return Tested(tuple(ids), tuple(human), tuple(distractor_values), left_out)


def to_score(references: References, wrong: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return the captions that need log P: the human captions and distractors of each image."""
    texts = references.captions.texts
    bounds = references.captions.image_offsets.tolist()
    return [
        {
            "image_id": image,
            "captions": list(dict.fromkeys([*texts[bounds[j] : bounds[j + 1]], *wrong[image]])),
        }
        for j, image in enumerate(references.captions.ids)
        if wrong.get(image)
    ]


def p_of_difference(
    before: Tested, after: Tested, trials: int = significance.TRIALS, seed: int = significance.SEED
) -> float:
    """Return the two-sided p-value (approximate randomisation) between two tests of the same images."""
    if before.ids != after.ids:
        raise InputError("likelihood tests can only be compared on the same images")
    return significance.randomisation(_table(before.fooled), _table(after.fooled), _mean, trials, seed)


def read_scored(path: str | Path) -> NBest:
    """Read captions with log P, as written by 'captious generate --score'.

    Its tokens are dropped: they may be subwords, for figures only.
    """
    scored = replace(read_nbest(path), tokens=None)
    scored.log_p()
    return scored
