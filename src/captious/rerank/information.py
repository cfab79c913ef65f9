"""Re-ranking by mutual information: log P(s|I) − λ log P(s) (Wang et al. 2020, equation 9)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from captious.core.errors import InputError
from captious.io import CaptionWarning
from captious.rerank.language_models.interpolated import check_alpha, interpolate
from captious.rerank.language_models.language_model import DOUBTFUL, REFUSED, Floats, LanguageModel
from captious.rerank.nbest import NBest
from captious.rerank.selection_rules import Criterion


@dataclass(frozen=True)
class Weights:
    """Weight λ of the language model, and weight α of the first of two language models."""

    lam: float
    alpha: float = 1.0

    def check(self) -> None:
        """Raise InputError for invalid weights."""
        if not math.isfinite(self.lam) or self.lam < 0:
            raise InputError(f"the weight λ of the language model must be 0 or more, not {self.lam}")
        check_alpha(self.alpha)


@dataclass(frozen=True, eq=False)
class Prior:
    """log P(s) of every candidate by one or two language models, and its number of tokens (end included)."""

    log: tuple[Floats, ...]
    lengths: Floats
    names: tuple[str, ...]

    @classmethod
    def of(cls, nbest: NBest, models: Sequence[LanguageModel]) -> Prior:
        """Score every distinct candidate once.

        Raises InputError for a model that does not know most of the words, and warns where it does not know
        some.
        """
        if not 1 <= len(models) <= 2:
            raise InputError(f"{len(models)} language models: pass one, or two to interpolate")
        words = next((model.tokenizer for model in models if model.of_words), "ptb")
        lengths = np.array([len(tokens) + 1 for tokens in nbest.tokens_for(words)], np.float64)
        return cls(
            tuple(log_prior(nbest, model) for model in models),
            lengths,
            tuple(model.name or model.kind for model in models),
        )

    def mixed(self, alpha: float) -> Floats:
        """Return log P(s), interpolated where there are two models."""
        return self.log[0] if len(self.log) == 1 else interpolate(self.log[0], self.log[1], alpha)


def log_prior(nbest: NBest, model: LanguageModel) -> Floats:
    """Return log P(s) of every candidate under one model."""
    tokens = nbest.tokens_for(model.tokenizer) if model.of_words else model.tokens(nbest.texts)
    distinct: dict[tuple[str, ...], int] = {}
    inverse = np.fromiter(
        (distinct.setdefault(tuple(one), len(distinct)) for one in tokens), np.int64, len(tokens)
    )
    scored = model.score([list(one) for one in distinct])
    model_name = model.name or model.kind
    unknown_share = scored.unknown_share
    if unknown_share > REFUSED:
        raise InputError(
            f"the language model {model_name} does not know {unknown_share:.0%} of the candidates' tokens: "
            "its "
            f"vocabulary differs (another language, another tokenizer than {model.tokenizer}, or subwords); "
            "train one on captions like these"
        )
    totals = scored.totals()
    impossible = np.flatnonzero(~np.isfinite(totals))
    if len(impossible):
        text = " ".join(list(distinct)[int(impossible[0])])
        raise InputError(
            f"the language model {model_name} gives probability 0 to {len(impossible):,} candidates, such as "
            f"'{text[:80]}'; use a model with a token for unknown words (<unk>)"
        )
    if unknown_share > DOUBTFUL:
        warnings.warn(
            CaptionWarning(
                f"the language model {model_name} does not know {unknown_share:.1%} of the candidates' "
                "tokens; "
                "all of them count as the same unknown word"
            ),
            stacklevel=3,
        )
    return totals[inverse]


class MutualInformation(Criterion):
    """Criterion log P(s|I) − λ log P(s). With ``normalise``, per token (end included)."""

    name = "mutual information"

    def __init__(self, prior: Prior, weights: Weights, *, normalise: bool = False) -> None:
        weights.check()
        self.prior, self.weights, self.normalise = prior, weights, normalise

    def values(self, nbest: NBest) -> Floats:
        return information(nbest.log_p(), self.prior, self.weights, normalise=self.normalise)


def information(log_p: Floats, prior: Prior, weights: Weights, *, normalise: bool = False) -> Floats:
    """Compute log P(s|I) − λ log P(s), per token with ``normalise``."""
    values = log_p - weights.lam * prior.mixed(weights.alpha)
    return values / prior.lengths if normalise else values
