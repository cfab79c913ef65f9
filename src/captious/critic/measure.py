"""The critic as a measure, for everything that takes one: scores, agreement with people, robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.errors import InputError
from captious.measures.base import FloatArray, Measure, as_statistics

if TYPE_CHECKING:
    from captious.critic.checkpoint import Trained


class CriticMeasure(Measure):
    """Critics that are trained already; the score is the mean of what they say."""

    name = "Critic"
    summary = "how likely a person wrote the caption, by a critic that learned to tell"
    perfect_is_maximum = False
    needs = frozenset({"references"})

    def __init__(
        self, critics: Sequence[Trained] = (), features: Mapping[str, NDArray[np.float32]] | None = None, *, name: str = "Critic",
        fixed: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        """``features`` has a row for each image, where the critics look at images."""
        self.name = name
        self.critics = tuple(critics)
        self.features = features
        self.fixed = dict(fixed or {})

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        if not self.critics:
            raise InputError("a critic is trained for each system; 'captious critic REFS SYSTEM' does that")
        from captious.critic.scoring import chances

        candidates, references = corpus.candidates, corpus.references
        features = None
        if self.features is not None:
            missing = next((image for image in references.ids if image not in self.features), None)
            if missing is not None:
                raise InputError(f"there are no features of image {missing}")
            features = np.stack([self.features[image] for image in references.ids])
        image_of = corpus.images[candidates.image_of]
        values = [
            chances(critic, candidates.sentences, image_of, references.sentences, references.image_offsets, features) for critic in self.critics
        ]
        return as_statistics(np.mean(values, axis=0))
