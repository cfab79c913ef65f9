"""Log-linear interpolation of two language models: P(s) = P_1(s)^α · P_2(s)^(1 − α).

See Wang et al. (2020), equation 10. The result is not normalised: it only ranks captions.
"""

from __future__ import annotations

from collections.abc import Sequence

from captious.core.errors import InputError
from captious.rerank.language_models.language_model import Floats, LanguageModel, WordScores


def check_alpha(alpha: float) -> None:
    """Raise InputError unless α is between 0 and 1."""
    if not 0 <= alpha <= 1:
        raise InputError(f"the weight α of the first language model must be between 0 and 1, not {alpha}")


def interpolate(first: Floats, second: Floats, alpha: float) -> Floats:
    """Interpolate log P of two models."""
    mixed: Floats = alpha * first + (1 - alpha) * second
    return mixed


class Interpolated(LanguageModel):
    """Interpolation of two models with the same tokenizer."""

    kind = "interpolated"

    def __init__(self, first: LanguageModel, second: LanguageModel, alpha: float) -> None:
        check_alpha(alpha)
        if not (first.of_words and second.of_words) or first.tokenizer != second.tokenizer:
            raise InputError(
                f"language models with different tokenizers ({first.tokenizer} and {second.tokenizer}) "
                "cannot be "
                "interpolated word by word; interpolate log P of whole captions instead"
            )
        self.first, self.second, self.alpha = first, second, alpha
        self.tokenizer, self.made = first.tokenizer, {"alpha": alpha}

    def score(self, captions: Sequence[Sequence[str]]) -> WordScores:
        a, b = self.first.score(captions), self.second.score(captions)
        return WordScores(interpolate(a.values, b.values, self.alpha), a.offsets, a.unknown | b.unknown)
