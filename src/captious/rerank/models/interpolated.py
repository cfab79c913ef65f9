"""Log-linear interpolation of two language models: P(s) = P_1(s)^α · P_2(s)^(1 − α) (Wang et al. 2020, equation 10).

It is not normalised, and need not be: it weighs captions against each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from captious.errors import InputError
from captious.rerank.models.base import Floats, LanguageModel, WordScores


def check_alpha(alpha: float) -> None:
    """α is a weight."""
    if not 0 <= alpha <= 1:
        raise InputError(f"α weighs the first language model against the second, and lies between 0 and 1, not {alpha}")


def interpolate(first: Floats, second: Floats, alpha: float) -> Floats:
    """From log P of both models."""
    mixed: Floats = alpha * first + (1 - alpha) * second
    return mixed


class Interpolated(LanguageModel):
    """Two models that cut captions alike."""

    kind = "interpolated"

    def __init__(self, first: LanguageModel, second: LanguageModel, alpha: float) -> None:
        check_alpha(alpha)
        if not (first.of_words and second.of_words) or first.tokenizer != second.tokenizer:
            raise InputError(
                f"language models that cut captions differently ({first.tokenizer} and {second.tokenizer}) have no words in common to interpolate; "
                "their log P of whole captions can be"
            )
        self.first, self.second, self.alpha = first, second, alpha
        self.tokenizer, self.made = first.tokenizer, {"alpha": alpha}

    def score(self, captions: Sequence[Sequence[str]]) -> WordScores:
        a, b = self.first.score(captions), self.second.score(captions)
        return WordScores(interpolate(a.values, b.values, self.alpha), a.offsets, a.unknown | b.unknown)
