"""Hedging: sentences that leave open whether they are true."""

from __future__ import annotations

import re
from collections.abc import Sequence

from captious.metrics.captions.text_measure import TextMeasure
from captious.text.hedges import HEDGES

_WORD = re.compile(r"[a-z]+")


class Hedging(TextMeasure):
    """Sentences with a word such as "possibly" or "appears", over all sentences of the corpus."""

    name = "Hedging"
    summary = "share of sentences with a hedge, such as “possibly” or “appears”"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        hedged = sum(not HEDGES.isdisjoint(_WORD.findall(sentence.lower())) for sentence in sentences)
        return hedged, len(sentences)
