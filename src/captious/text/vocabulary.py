"""Words as small integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class _Index(dict[str, int]):
    """A dictionary that gives each new key the next number."""

    def __missing__(self, word: str) -> int:
        number = len(self)
        self[word] = number
        return number


class Vocabulary:
    """A growing list of words; a word's number never changes."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._index = _Index()
        for word in words:
            self._index[word]
        self._words: list[str] = list(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    @property
    def words(self) -> list[str]:
        """All words, in the order of their numbers."""
        if len(self._words) != len(self._index):
            self._words = list(self._index)
        return self._words

    def encode(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of words, adding those that are new."""
        return np.fromiter(map(self._index.__getitem__, words), dtype=np.int32, count=len(words))

    def find(self, words: Sequence[str]) -> NDArray[np.int32]:
        """The numbers of words, −1 for those that are not here; nothing is added."""
        get = self._index.get
        return np.fromiter((get(word, -1) for word in words), dtype=np.int32, count=len(words))
