"""How accurate people are: each reference against the other references of its image."""

from __future__ import annotations

import numpy as np

from captious.corpus import Corpus, offsets_of
from captious.diversity.sets.accuracy import SetAccuracy
from captious.diversity.sets.selection import leave_one_out
from captious.metrics.base import FloatArray
from captious.scores import Score, signature


class LeaveOneOut(SetAccuracy):
    """A metric of the references by leave-one-out: the mean over an image's references, or its best one."""

    def _score(self, corpus: Corpus) -> Score:
        def make() -> Score:
            held_out = corpus.cached("leave one out", lambda: leave_one_out(corpus))
            several = np.flatnonzero(corpus.references.per_image > 1)
            return Score(
                self.metric,
                self.metric.statistics(held_out),
                tuple(corpus.ids[i] for i in several.tolist()),
                offsets_of(corpus.references.per_image[several]),
                signature(self.metric, held_out),
            )

        return corpus.cached(("leave-one-out score", id(self.metric)), make)

    def statistics(self, corpus: Corpus) -> FloatArray:
        score = self._score(corpus)
        return score.statistics[score.best_captions] if self.oracle else score.image_statistics

    def score(self, corpus: Corpus) -> Score:
        ids = self._score(corpus).ids
        return Score.of_images(self, self.statistics(corpus), ids, signature(self, corpus))

    def signature_fields(self, corpus: Corpus) -> dict[str, str]:
        return {**super().signature_fields(corpus), "references": "leave-one-out"}
