"""Re-ranking by mutual information: log P(s|I) − λ log P(s) (Wang et al. 2020, equation 9)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from captious.errors import InputError
from captious.io import CaptionWarning
from captious.rerank.choosing import Criterion
from captious.rerank.models.base import DOUBTFUL, REFUSED, Floats, LanguageModel
from captious.rerank.models.interpolated import check_alpha, interpolate
from captious.rerank.nbest import NBest


@dataclass(frozen=True)
class Weights:
    """λ of the language model; α of the first of two."""

    lam: float
    alpha: float = 1.0

    def check(self) -> None:
        """Refuse weights that are none."""
        if not math.isfinite(self.lam) or self.lam < 0:
            raise InputError(f"λ weighs the language model and is 0 or more, not {self.lam}")
        check_alpha(self.alpha)


@dataclass(frozen=True, eq=False)
class Prior:
    """log P(s) of every candidate by one or two language models, and the number of tokens with the end."""

    log: tuple[Floats, ...]
    lengths: Floats
    names: tuple[str, ...]

    @classmethod
    def of(cls, nbest: NBest, models: Sequence[LanguageModel]) -> Prior:
        """Score all candidates, each different one once. A model that does not know the words is refused, or warned of."""
        if not 1 <= len(models) <= 2:
            raise InputError(f"one language model is used, or two are interpolated; {len(models)} were given")
        words = next((model.tokenizer for model in models if model.of_words), "ptb")
        lengths = np.array([len(tokens) + 1 for tokens in nbest.tokens_for(words)], np.float64)
        return cls(tuple(log_prior(nbest, model) for model in models), lengths, tuple(model.name or model.kind for model in models))

    def mixed(self, alpha: float) -> Floats:
        """log P(s), interpolated where there are two models."""
        return self.log[0] if len(self.log) == 1 else interpolate(self.log[0], self.log[1], alpha)


def log_prior(nbest: NBest, model: LanguageModel) -> Floats:
    """log P(s) of every candidate under one model."""
    tokens = nbest.tokens_for(model.tokenizer) if model.of_words else model.tokens(nbest.texts)
    seen: dict[tuple[str, ...], int] = {}
    inverse = np.fromiter((seen.setdefault(tuple(one), len(seen)) for one in tokens), np.int64, len(tokens))
    scored = model.score([list(one) for one in seen])
    called = model.name or model.kind
    share = scored.unknown_share
    if share > REFUSED:
        raise InputError(
            f"the language model {called} does not know {share:.0%} of the tokens of the candidates: it has another vocabulary "
            f"(another language, another tokenizer than {model.tokenizer}, or pieces of words); train one on captions like these"
        )
    totals = scored.totals()
    lost = np.flatnonzero(~np.isfinite(totals))
    if len(lost):
        text = " ".join(list(seen)[int(lost[0])])
        raise InputError(f"the language model {called} gives no probability to {len(lost):,} candidates, such as '{text[:80]}': it has no place for words that it does not know (<unk>)")
    if share > DOUBTFUL:
        warnings.warn(CaptionWarning(f"the language model {called} does not know {share:.1%} of the tokens of the candidates; they count as one unknown word"), stacklevel=3)
    return totals[inverse]


class MutualInformation(Criterion):
    """log P(s|I) − λ log P(s); with ``normalise``, per token (words and the end)."""

    name = "mutual information"

    def __init__(self, prior: Prior, weights: Weights, *, normalise: bool = False) -> None:
        weights.check()
        self.prior, self.weights, self.normalise = prior, weights, normalise

    def values(self, nbest: NBest) -> Floats:
        return information(nbest.log_p(), self.prior, self.weights, normalise=self.normalise)


def information(log_p: Floats, prior: Prior, weights: Weights, *, normalise: bool = False) -> Floats:
    """The formula."""
    values = log_p - weights.lam * prior.mixed(weights.alpha)
    return values / prior.lengths if normalise else values
