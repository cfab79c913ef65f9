"""An LSTM language model (Wang et al. 2020: one layer of 512, embeddings of 300). Scoring is NumPy alone; training needs PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError
from captious.progress import track
from captious.ragged import IntArray
from captious.rerank.models.base import BEGIN, END, Floats, Vocabulary, WordModel
from captious.threads import one_blas_thread

Weights = NDArray[np.float32]
#: Captions that are worked on at a time.
BATCH = 256
NAMES = ("embedding", "input", "recurrent", "bias", "out", "out_bias")


class LSTM(WordModel):
    """Weights by name: ``embedding`` (words × e), ``input`` (4h × e), ``recurrent`` (4h × h), ``bias`` (4h), ``out`` (words × h) and
    ``out_bias`` (words). Gates are in PyTorch's order: input, forget, cell, output."""

    kind = "lstm"

    def __init__(self, vocabulary: Vocabulary, weights: Mapping[str, Weights], tokenizer: str = "ptb", made: Mapping[str, Any] | None = None) -> None:
        self.vocabulary, self.tokenizer, self.made = vocabulary, tokenizer, dict(made or {})
        self.weights = {name: np.asarray(weights[name], np.float32) for name in NAMES if name in weights}
        words = len(vocabulary)
        shapes = {name: array.shape for name, array in self.weights.items()}
        try:
            e, h = shapes["embedding"][1], shapes["out"][1]
            expected = {"embedding": (words, e), "input": (4 * h, e), "recurrent": (4 * h, h), "bias": (4 * h,), "out": (words, h), "out_bias": (words,)}
        except (KeyError, IndexError):
            expected = {}
        if shapes != expected or not all(np.isfinite(array).all() for array in self.weights.values()):
            raise InputError(f"the weights of an LSTM language model do not fit each other or its {words:,} words: the file is damaged")

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of an embedding, and of the state."""
        return self.weights["embedding"].shape[1], self.weights["out"].shape[1]

    def score_numbers(self, numbers: NDArray[np.int64], offsets: IntArray) -> Floats:
        lengths = np.diff(offsets)
        found = np.zeros(len(numbers))
        # Captions of like length together: no place is computed that no caption has.
        order = np.argsort(-lengths, kind="stable")
        with one_blas_thread():
            for at in track(range(0, len(order), BATCH), "language model"):
                rows = order[at : at + BATCH]
                self._batch(numbers, offsets[:-1][rows], lengths[rows], found)
        return found

    def _batch(self, numbers: NDArray[np.int64], starts: IntArray, lengths: IntArray, found: Floats) -> None:
        w = self.weights
        size = self.sizes[1]
        hidden, cell = np.zeros((len(starts), size), np.float32), np.zeros((len(starts), size), np.float32)
        word = np.full(len(starts), BEGIN)
        for t in range(int(lengths.max(initial=0))):
            # The rows are sorted by length: those that are still open come first.
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
            found[starts[:n] + t] = scores[np.arange(n), word] - total

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What is kept of it."""
        return dict(self.weights)


def _sigmoid(x: Weights) -> Weights:
    return 0.5 * (1.0 + np.tanh(0.5 * x))  # type: ignore[no-any-return]


__all__ = ["BATCH", "END", "LSTM", "NAMES"]
