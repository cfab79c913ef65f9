"""Flesch: reading ease of a text (Flesch 1948)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from captious.metrics.base import FloatArray
from captious.metrics.captions.text_measure import TextMeasure
from captious.text.syllables import syllables

_WORD = re.compile(r"[a-zA-Z]+(?:['’][a-zA-Z]+)?")


class Flesch(TextMeasure):
    """Reading ease: 206.835 − 1.015 words per sentence − 84.6 syllables per word. Higher is easier."""

    name = "Flesch"
    summary = "reading ease by words per sentence and syllables per word (Flesch 1948); higher is easier"
    higher_is_better = True
    bounds: tuple[float | None, float | None] = (None, None)
    format = ".1f"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        read = [_WORD.findall(sentence) for sentence in sentences]
        words = [word for own in read for word in own]
        return sum(map(bool, read)), len(words), sum(map(syllables, words))

    def value(self, sums: Any) -> FloatArray:
        sentences, words, spoken = (np.asarray(sums[..., k], np.float64) for k in range(3))
        is_read = words > 0
        per_sentence = np.divide(words, sentences, out=np.full_like(words, np.nan), where=is_read)
        per_word = np.divide(spoken, words, out=np.full_like(words, np.nan), where=is_read)
        ease: FloatArray = 206.835 - 1.015 * per_sentence - 84.6 * per_word
        return ease
