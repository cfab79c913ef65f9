"""SPIDEr-FL and FENSE's form: a score divided by ten where the fluency detector fires (Zhou et al. 2022)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from captious.corpus import Captions, Corpus
from captious.corpus.frequencies import DocumentFrequencies
from captious.metrics.base import FloatArray, Measure, Need, Resource, as_statistics
from captious.metrics.captions.sentence_sim import SentenceSim, SentenceSimLite
from captious.metrics.captions.spider import Spider
from captious.metrics.options import Option
from captious.parser import Parser
from captious.text import fluency

#: Factor on the score of a caption with an error.
PENALTY = 0.1


def error_probabilities(captions: Captions) -> FloatArray:
    """Return the probability that each caption has a fluency error."""
    model = fluency.load()
    return captions.cached(("fluency", model.digest), lambda: model.error_probability(captions.texts))


def penalty_factors(captions: Captions) -> FloatArray:
    """Return the factor of each caption: 0.1 if the detector fires, else 1."""
    return np.where(error_probabilities(captions) > fluency.THRESHOLD, PENALTY, 1.0)


class FluencyError(Measure):
    """Share of captions in which the fluency detector fires."""

    name = "FluencyError"
    summary = "share of captions with a dangling end, repeats, or missing words, by our detector"
    higher_is_better = False
    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False
    fixed: Mapping[str, str] = {"threshold": f"{fluency.THRESHOLD:g}"}

    def resources(self) -> dict[str, Resource]:
        return {"detector": fluency.load()}

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        return as_statistics((error_probabilities(corpus.candidates) > fluency.THRESHOLD).astype(np.float64))


class PenalisedMeasure(Measure):
    """Base of measures that reduce another one's score of captions with errors."""

    inner: Measure
    perfect_is_maximum = False

    def check(self, corpus: Corpus | None = None) -> None:
        self.inner.check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {**self.inner.resources(), "detector": fluency.load()}

    def parameters(self) -> dict[str, str]:
        penalty = {"penalty": f"{PENALTY:g}", "threshold": f"{fluency.THRESHOLD:g}"}
        return {**self.inner.parameters(), **penalty}

    def prepare(self, references: Captions) -> Any:
        return self.inner.prepare(references)

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        rows = np.array(self.inner.statistics(corpus, state), dtype=np.float64)
        rows[:, 0] *= penalty_factors(corpus.candidates)
        return rows


class SpiderFL(PenalisedMeasure):
    """SPIDEr, divided by ten where the detector fires."""

    name = "SPIDEr-FL"
    summary = "SPIDEr, times 0.1 where our fluency detector fires (Zhou et al. 2022)"
    bounds = Spider.bounds
    needs = Spider.needs
    options: ClassVar[tuple[Option, ...]] = Spider.options

    def __init__(
        self,
        df: DocumentFrequencies | None = None,
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
    ) -> None:
        self.inner = Spider(df, meteor_data, parser)


class FenseLite(PenalisedMeasure):
    """Mean cosine of distilled caption vectors, divided by ten where the detector fires."""

    name = "FENSE-lite"
    summary = "FENSE's form with distilled caption vectors and our fluency detector, for the base install"
    bounds = SentenceSimLite.bounds

    def __init__(self) -> None:
        self.inner = SentenceSimLite(combine="mean")


class Fense(PenalisedMeasure):
    """Mean cosine of sentence vectors, divided by ten where the detector fires."""

    name = "FENSE"
    summary = "mean cosine of sentence vectors, times 0.1 where our fluency detector fires (Zhou et al. 2022)"
    bounds = SentenceSim.bounds
    options: ClassVar[tuple[Option, ...]] = tuple(
        option for option in SentenceSim.options if option.name != "combine"
    )

    def __init__(self, sentence_model: Any = None) -> None:
        self.inner = SentenceSim(sentence_model, combine="mean")
