"""Metrics that are a small network over features: base of LCEval, NNEval, CaptiousScore and Learned."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from captious.core.cache import content_digest
from captious.core.errors import MissingInputError
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics, check_needs
from captious.metrics.learned.composite_network import Network, read
from captious.metrics.learned.feature_table import Features
from captious.metrics.options import WEIGHTS, Option

WEIGHTS_FOLDER = Path(__file__).parent / "weights"


@lru_cache(maxsize=8)
def _network(path: Path, content: str) -> Network:
    return read(path)


def load(path: str | Path) -> Network:
    """Return the network of a file, read again only if the file has changed.

    The name of shipped weights, such as ``captious_score_lite-0.7``, works like a path.
    """
    file = Path(path).expanduser()
    shipped = WEIGHTS_FOLDER / f"{path}.safetensors"
    if not file.exists() and Path(path).name == str(path) and shipped.is_file():
        file = shipped
    return _network(file.resolve(), content_digest(file)) if file.is_file() else read(file)


class Composite(Measure):
    """Probability, by a trained network, that a person wrote the caption for the image."""

    bounds = (0.0, 1.0)
    # The odds of even a perfect caption are finite.
    perfect_is_maximum = False

    def __init__(self, network: Network, options: Mapping[str, Any] | None = None) -> None:
        self.network = network
        self.features = Features(network.features, options)
        self.fixed = {"features": str(len(network.features))}

    def check(self, corpus: Corpus | None = None) -> None:
        self.features.check(corpus)
        if corpus is not None:
            check_needs(self, corpus)

    def resources(self) -> dict[str, Resource]:
        return {"weights": self.network, **self.features.resources()}

    def data_fields(self, corpus: Corpus) -> dict[str, str]:
        return {
            key: value
            for measure in self.features.measures.values()
            for key, value in measure.data_fields(corpus).items()
        }

    def prepare(self, references: Captions) -> dict[str, Any]:
        return self.features.prepare(references)

    def table(self, corpus: Corpus, state: Mapping[str, Any]) -> FloatArray:
        """Return the raw features of each caption, cached with the corpus for explanations of scores."""
        return corpus.cached(("features", self.features), lambda: self.features.table(corpus, state))

    def statistics(self, corpus: Corpus, state: Mapping[str, Any]) -> FloatArray:
        scores = self.network.score(self.table(corpus, state))
        return as_statistics(np.where(np.diff(corpus.pair_offsets) > 0, scores, np.nan))


class Learned(Composite):
    """User-trained metric, from the weights that ``captious train`` wrote."""

    name = "Learned"
    summary = "a learned metric of one's own (captious train), from its weights"
    options: ClassVar[tuple[Option, ...]] = (WEIGHTS,)
    value_option = "weights"

    def __init__(self, weights: str | Path | None = None) -> None:
        self._weights_file = weights
        if weights is not None:
            super().__init__(load(weights))

    def check(self, corpus: Corpus | None = None) -> None:
        if self._weights_file is None:
            raise MissingInputError(
                "Learned needs weights: pass the file that 'captious train' wrote (--weights FILE)"
            )
        super().check(corpus)
