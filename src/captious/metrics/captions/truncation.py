"""Truncated: texts that end in the middle of a sentence, as after a limit of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from captious.metrics.captions.text_measure import TextMeasure
from captious.text.endings import is_cut_off


class Truncated(TextMeasure):
    """Share of captions that end in the middle of a sentence.

    A text of several sentences is cut off if no mark ends it. Any text is cut off after a comma or a word
    such as "the". A single sentence without a full stop is not, because classic captioners write none.
    """

    name = "Truncated"
    summary = "share of captions that end in the middle of a sentence"

    def count(self, text: str, sentences: Sequence[str]) -> tuple[float, ...]:
        return float(is_cut_off(text)), 1.0
