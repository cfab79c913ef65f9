"""Re-ranking criteria: the model's likelihood, mutual information, and consensus.

Mutual information is log P(s|I) − λ log P(s) (Wang et al. 2020, equation 9). The consensus of a candidate is
its expected similarity to the other candidates j of the image (minimum Bayes risk), Σ_j w_j ·
metric(candidate, j). The weights w_j are equal, or the model's probabilities P(s|I).
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from captious.core.errors import InputError
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.io import CaptionWarning
from captious.metrics.base import Measure
from captious.rerank.language_models.language_model import DOUBTFUL, REFUSED, Floats, LanguageModel
from captious.rerank.nbest import NBest


class Criterion(ABC):
    """Base class of re-ranking criteria."""

    #: Display name in tables.
    name: str

    @abstractmethod
    def values(self, nbest: NBest) -> Floats:
        """Return a finite score for each candidate. Higher is better."""


class Likelihood(Criterion):
    """log P(s|I), the model's own ranking."""

    name = "baseline"

    def values(self, nbest: NBest) -> Floats:
        return nbest.log_p()


@dataclass(frozen=True)
class Weights:
    """Weight λ of the language model, and weight α of the first of two language models."""

    lam: float
    alpha: float = 1.0

    def check(self) -> None:
        """Raise InputError for invalid weights."""
        if not math.isfinite(self.lam) or self.lam < 0:
            raise InputError(f"the weight λ of the language model must be 0 or more, not {self.lam}")
        if not 0 <= self.alpha <= 1:
            raise InputError(
                f"the weight α of the first language model must be between 0 and 1, not {self.alpha}"
            )


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
        """Return log P(s). Two models are interpolated: P(s) = P_1(s)^α · P_2(s)^(1 − α) (equation 10)."""
        if len(self.log) == 1:
            return self.log[0]
        first, second = self.log
        mixed: Floats = alpha * first + (1 - alpha) * second
        return mixed


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


class Consensus(Criterion):
    """Similarity to the other candidates, by any caption-level metric with references."""

    def __init__(self, measure: Measure, *, posterior: bool = False, tokenizer: str = "ptb") -> None:
        if measure.rows != "caption" or "references" not in measure.needs:
            raise InputError(
                f"{measure.name} does not compare a caption with another one; "
                "choose a metric that does, such as CIDEr-D or SentenceSim"
            )
        self.measure, self.posterior, self.tokenizer = measure, posterior, tokenizer
        self.name = f"consensus ({measure.name})"

    def values(self, nbest: NBest) -> Floats:
        counts = np.diff(nbest.offsets)
        if counts.max(initial=0) < 2:
            raise InputError(
                f"{nbest.name}: every image has only one candidate; a consensus needs several per image"
            )
        weights = _weights(nbest.log_p(), nbest.offsets) if self.posterior else np.ones(len(nbest.texts))
        texts = Captions.of(nbest.groups, self.tokenizer, ids=nbest.ids)
        first, second = _pairs(nbest.offsets)
        # Each pair becomes an image of its own: one candidate, with the other as its reference.
        single = texts.take(np.arange(len(texts)), np.arange(len(texts) + 1))
        corpus = Corpus(texts.take(first, np.arange(len(first) + 1)), single, name=nbest.name, images=second)
        measure = self.measure
        # Statistics over images (document frequencies) come from the images of the lists, not from pairs.
        rows = measure.statistics(corpus, measure.prepare(texts if "images" in measure.needs else single))
        scores = np.nan_to_num(measure.per_row(rows), nan=0.0)
        similarities = scores if measure.higher_is_better else -scores
        total = np.bincount(first, similarities * weights[second], len(nbest.texts))
        weight = np.bincount(first, weights[second], len(nbest.texts))
        return np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)


def _pairs(offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Return all ordered pairs of different candidates of the same image."""
    first, second = [], []
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist()):
        rows = np.arange(a, b, dtype=np.int64)
        pairs = np.stack([np.repeat(rows, b - a), np.tile(rows, b - a)])
        pairs = pairs[:, pairs[0] != pairs[1]]
        first.append(pairs[0])
        second.append(pairs[1])
    return np.concatenate(first), np.concatenate(second)


def _weights(log_p: Floats, offsets: IntArray) -> Floats:
    """Return P(s|I), scaled so that the most likely candidate of an image has weight 1."""
    most = np.maximum.reduceat(log_p, offsets[:-1])
    weights: Floats = np.exp(log_p - np.repeat(most, np.diff(offsets)))
    return weights
