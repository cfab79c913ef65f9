"""LSTM language model (Wang et al. 2020: one layer of 512 units, embeddings of 300).

Scoring uses NumPy only. Training needs PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.progress import track
from captious.core.ragged import IntArray
from captious.core.threads import one_blas_thread
from captious.rerank.language_models.language_model import BEGIN, END, Floats, ModelVocabulary, WordModel

Weights = NDArray[np.float32]
#: Number of captions per batch.
BATCH = 256
NAMES = ("embedding", "input", "recurrent", "bias", "out", "out_bias")


class LSTM(WordModel):
    """LSTM language model with weights by name.

    Shapes: ``embedding`` (words × e), ``input`` (4h × e), ``recurrent`` (4h × h), ``bias`` (4h), ``out``
    (words × h) and ``out_bias`` (words). Gates are in PyTorch's order: input, forget, cell, output.
    """

    kind = "lstm"

    def __init__(
        self,
        vocabulary: ModelVocabulary,
        weights: Mapping[str, Weights],
        tokenizer: str = "ptb",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        self.vocabulary, self.tokenizer, self.provenance = vocabulary, tokenizer, dict(provenance or {})
        self.weights = {name: np.asarray(weights[name], np.float32) for name in NAMES if name in weights}
        words = len(vocabulary)
        shapes = {name: array.shape for name, array in self.weights.items()}
        try:
            e, h = shapes["embedding"][1], shapes["out"][1]
            expected = {
                "embedding": (words, e),
                "input": (4 * h, e),
                "recurrent": (4 * h, h),
                "bias": (4 * h,),
                "out": (words, h),
                "out_bias": (words,),
            }
        except (KeyError, IndexError):
            expected = {}
        if shapes != expected or not all(np.isfinite(array).all() for array in self.weights.values()):
            raise InputError(
                f"the weights of the LSTM language model do not match each other or its {words:,} words; "
                "the file is damaged"
            )

    @property
    def sizes(self) -> tuple[int, int]:
        """Sizes of the embedding and of the state."""
        return self.weights["embedding"].shape[1], self.weights["out"].shape[1]

    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        lengths = np.diff(offsets)
        log_p = np.zeros(len(numbers))
        # Batches of captions of similar length avoid computation on padding.
        order = np.argsort(-lengths, kind="stable")
        with one_blas_thread():
            for at in track(range(0, len(order), BATCH), "language model"):
                rows = order[at : at + BATCH]
                self._batch(numbers, offsets[:-1][rows], lengths[rows], log_p)
        return log_p

    def _batch(self, numbers: NDArray[np.int64], starts: IntArray, lengths: IntArray, log_p: Floats) -> None:
        w = self.weights
        size = self.sizes[1]
        hidden, cell = np.zeros((len(starts), size), np.float32), np.zeros((len(starts), size), np.float32)
        word = np.full(len(starts), BEGIN)
        for t in range(int(lengths.max(initial=0))):
            # Rows are sorted by length, so unfinished captions come first.
            n = int(np.searchsorted(-lengths, -t, side="left"))
            hidden, cell, word = hidden[:n], cell[:n], word[:n]
            gates = w["embedding"][word] @ w["input"].T + hidden @ w["recurrent"].T + w["bias"]
            enter, forget, new, out = (gates[:, k * size : (k + 1) * size] for k in range(4))
            cell = _sigmoid(forget) * cell + _sigmoid(enter) * np.tanh(new)
            hidden = _sigmoid(out) * np.tanh(cell)
            scores = hidden @ w["out"].T + w["out_bias"]
            # The beginning is never predicted.
            scores[:, BEGIN] = -np.inf
            word = numbers[starts[:n] + t]
            most = scores.max(axis=1, keepdims=True)
            total = np.log(np.exp(scores - most).sum(axis=1, dtype=np.float64)) + most[:, 0]
            log_p[starts[:n] + t] = scores[np.arange(n), word] - total

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to save."""
        return dict(self.weights)


def _sigmoid(x: Weights) -> Weights:
    return 0.5 * (1.0 + np.tanh(0.5 * x))  # type: ignore[no-any-return]


__all__ = ["BATCH", "END", "LSTM", "NAMES"]
