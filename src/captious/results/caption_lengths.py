"""Lengths of captions and references, and the warning about metrics that cannot work at such lengths."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.io import CaptionWarning
from captious.metrics.captions.cider_r import LENGTH

#: Standard deviation of the length factor of CIDEr-D in words, and the factor below which the metric is 0 for
#: practical purposes.
CIDER_SIGMA = 6.0
CIDER_FACTOR = 0.01
#: Ratio of mean lengths (or its inverse) from which BLEU and ROUGE-L measure length more than content.
RATIO = 5.0
#: Metrics by the reason why they cannot work, by the beginnings of their names.
_CIDER = ("CIDEr-D", "SPIDEr")
_OVERLAP = ("BLEU-", "ROUGE-L")


@dataclass(frozen=True)
class CaptionLengths:
    """Words of each caption of a system, and the mean of its references."""

    per_caption: NDArray[np.int64]
    #: Mean number of words of the references. NaN if they are not available.
    references: float

    @classmethod
    def of(cls, corpus: Corpus) -> CaptionLengths:
        """Count the tokens of a corpus."""
        references = corpus.references.lengths if corpus.has_references else np.zeros(0, np.int64)
        return cls(
            np.asarray(corpus.candidates.lengths, np.int64),
            float(references.mean()) if len(references) else math.nan,
        )

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> CaptionLengths:
        """Count the words of captions without references, such as those of saved scores."""
        return cls(np.array([len(text.split()) for text in texts], np.int64), math.nan)

    @property
    def mean(self) -> float:
        """Mean number of words of the captions."""
        return float(self.per_caption.mean()) if len(self.per_caption) else math.nan


def describe_lengths(systems: Sequence[tuple[str, CaptionLengths | None]]) -> str:
    """Return a line with the mean lengths of systems and references, "" if none is known."""
    named = [(name, one) for name, one in systems if one is not None and one.mean == one.mean]
    if not named:
        return ""
    own = ", ".join(f"{name} {one.mean:.1f}" for name, one in named)
    theirs = {f"{one.references:.1f}" for _, one in named if one.references == one.references}
    return f"mean words: {own}" + (f"; references {theirs.pop()}" if len(theirs) == 1 else "")


def warn_of_length(system: str, metrics: Iterable[str], lengths: CaptionLengths) -> None:
    """Warn once about the metrics that cannot work on captions so much longer or shorter than references."""
    own, theirs = lengths.mean, lengths.references
    if not (own > 0 and theirs > 0):
        return
    factor = math.exp(-((own - theirs) ** 2) / (2 * CIDER_SIGMA**2))
    # That of CIDEr-R is relative to the reference.
    relative = math.exp(-LENGTH * ((own - theirs) / theirs) ** 2)
    ratio = own / theirs
    names = list(metrics)
    unfit = [name for name in names if factor < CIDER_FACTOR and name.startswith(_CIDER)]
    reasons = [f"{', '.join(unfit)} nearly 0 (length factor {factor:.0e})"] if unfit else []
    if relative < CIDER_FACTOR and "CIDEr-R" in names:
        reasons.append(f"CIDEr-R nearly 0 (length factor {relative:.0e})")
    overlap = [name for name in names if name.startswith(_OVERLAP)]
    if overlap and not 1 / RATIO < ratio < RATIO:
        reasons.append(f"{', '.join(overlap)} a measure of length")
    if reasons:
        warnings.warn(
            CaptionWarning(
                f"{system}: captions have {own:.1f} words and references {theirs:.1f}, which makes "
                f"{' and '.join(reasons)}; use {'CIDEr-R, ' if relative >= CIDER_FACTOR else ''}CAPTURE, "
                "ALOHa, FactRecall or FactPrecision"
            ),
            stacklevel=4,
        )
