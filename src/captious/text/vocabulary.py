"""Words as small integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class _Index(dict[str, int]):
    """Dictionary that numbers new keys, unless the dictionary below has the key."""

    def __init__(self, below: dict[str, int] | None, first: int) -> None:
        super().__init__()
        self.below = below
        self.first = first
        self.new: list[str] = []
        self.frozen = False

    def __missing__(self, word: str) -> int:
        number = self.below.get(word, -1) if self.below is not None else -1
        if number < 0:
            if self.frozen:
                raise ValueError(f"this vocabulary is frozen: it takes no new word {word!r}")
            number = self.first + len(self.new)
            self.new.append(word)
        if not self.frozen:
            self[word] = number
        return number


class Vocabulary:
    """Numbered words. The number of a word never changes.

    A vocabulary grows until it is frozen. Words that a frozen one does not have go into an overlay,
    ``Vocabulary(base=…)``: it numbers them from where its base ends, and leaves the base as it is, so
    many overlays can share one base.
    """

    def __init__(self, words: Iterable[str] = (), *, base: Vocabulary | None = None) -> None:
        self.base = base
        if base is not None:
            if base.base is not None:
                raise ValueError(
                    "an overlay lies over a vocabulary that stands by itself, not over another overlay"
                )
            base.freeze()
        self._index: _Index = _Index(
            base._index if base is not None else None, len(base) if base is not None else 0
        )
        listed = list(words)
        if base is None:
            # Fast path for distinct words.
            self._index.update(zip(listed, range(len(listed))))
            if len(self._index) == len(listed):
                self._index.new = listed
                return
            self._index.clear()
        for word in listed:
            self._index[word]

    def __len__(self) -> int:
        return self._index.first + len(self._index.new)

    def __contains__(self, word: object) -> bool:
        return word in self._index or (self.base is not None and word in self.base)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.words if self.base is None else self._index.new, self.base, self._index.frozen)

    @property
    def new(self) -> list[str]:
        """Words that the base lacks, in the order of their numbers."""
        return self._index.new

    @property
    def words(self) -> list[str]:
        """All words, in the order of their numbers."""
        return self.new if self.base is None else [*self.base.words, *self.new]

    def freeze(self) -> None:
        """Refuse new words from now on."""
        self._index.frozen = True

    def encode(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of words. New words are added."""
        return np.fromiter(map(self._index.__getitem__, words), dtype=np.int32, count=len(words))

    def find(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the numbers of words, −1 for unknown words."""
        own: dict[str, int] = self._index
        below: dict[str, int] = self.base._index if self.base is not None else {}
        numbers = (number if (number := own.get(word, -1)) >= 0 else below.get(word, -1) for word in words)
        return np.fromiter(numbers, np.int32, len(words))


def _restore(words: list[str], base: Vocabulary | None, frozen: bool) -> Vocabulary:
    vocabulary = Vocabulary(words, base=base)
    if frozen:
        vocabulary.freeze()
    return vocabulary
