"""How accurate people are: each reference against the other references of its image."""

from __future__ import annotations

from typing import Any

import numpy as np

from captious.corpus import Corpus
from captious.measures.base import FloatArray
from captious.ragged import offsets_of
from captious.scores import Score
from captious.signature import sign
from captious.variety.sets.accuracy import SetAccuracy
from captious.variety.sets.selection import leave_one_out


class LeaveOneOut(SetAccuracy):
    """A metric of the references by leave-one-out: the mean over an image's references, or its best one."""

    def _score(self, corpus: Corpus, state: Any) -> Score:
        people = corpus.candidates

        def make() -> Score:
            held_out = people.cached("leave one out", lambda: leave_one_out(people))
            several = np.flatnonzero(people.per_image > 1)
            return Score(
                self.metric,
                self.metric.statistics(held_out, state),
                tuple(people.ids[i] for i in several.tolist()),
                offsets_of(people.per_image[several]),
                sign(self.metric, corpus),
            )

        return corpus.cached(("leave-one-out score", self.metric), make)

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        return self.rows_of(self._score(corpus, state))

    def score(self, corpus: Corpus) -> Score:
        """The score of people: ``corpus`` has the references in the place of the candidates."""
        state = self.prepare(corpus.references)
        ids = self._score(corpus, state).ids
        return Score.of_images(self, self.statistics(corpus, state), ids, sign(self, corpus))

    def parameters(self) -> dict[str, str]:
        return {**super().parameters(), "references": "leave-one-out"}
