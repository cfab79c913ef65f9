"""Critic as a measure, for scoring, agreement with people, and robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Measure, as_statistics

if TYPE_CHECKING:
    from captious.critic.critic_checkpoint import TrainedCritic


class CriticMeasure(Measure):
    """Mean score of trained critics."""

    name = "Critic"
    summary = "probability that a person wrote the caption, by a trained critic"
    perfect_is_maximum = False
    needs = frozenset({"references"})

    def __init__(
        self,
        critics: Sequence[TrainedCritic] = (),
        features: Mapping[str, NDArray[np.float32]] | None = None,
        *,
        name: str = "Critic",
        fixed: Mapping[str, str] | None = None,
    ) -> None:
        """``features`` maps image ids to vectors, for critics that use the image."""
        self.name = name
        self.critics = tuple(critics)
        self.features = features
        self.fixed = dict(fixed or {})

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        if not self.critics:
            raise InputError(
                "the measure Critic needs trained critics; train them with 'captious critic REFS SYSTEM'"
            )
        from captious.critic.critic_scoring import chances

        candidates, references = corpus.candidates, corpus.references
        features = None
        if self.features is not None:
            missing = next((image for image in references.ids if image not in self.features), None)
            if missing is not None:
                raise InputError(f"the features have no vector for image {missing}")
            features = np.stack([self.features[image] for image in references.ids])
        image_of = corpus.images[candidates.image_of]
        values = [
            chances(
                critic,
                candidates.sentences,
                image_of,
                references.sentences,
                references.image_offsets,
                features,
            )
            for critic in self.critics
        ]
        return as_statistics(np.mean(values, axis=0))
