"""The captions that systems were trained on: what is new in a caption is measured against them."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any

from captious import digest
from captious.corpus import Captions
from captious.errors import InputError
from captious.io import read
from captious.memo import Memo


class TrainingCaptions:
    """Training captions as texts; tokenized as the captions they are compared with."""

    label = "training"

    def __init__(self, texts: Collection[str]) -> None:
        if not texts:
            raise InputError("there are no training captions")
        self.texts = list(texts)
        self._memo = Memo()

    @classmethod
    def read(cls, source: Any) -> TrainingCaptions:
        """From a list of texts, or whatever :func:`captious.io.read` takes as references."""
        if isinstance(source, TrainingCaptions):
            return source
        if isinstance(source, list | tuple | set | frozenset) and all(isinstance(text, str) for text in source):
            return cls(sorted(source) if isinstance(source, set | frozenset) else list(source))
        path = Path(source) if isinstance(source, str) else source
        return cls([text for group in read(path, "references").captions for text in group])

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def digest(self) -> str:
        """Names the captions, whatever their order and however often they stand there."""
        return digest.of_lines(sorted(set(self.texts)))

    def captions(self, tokenizer: str) -> Captions:
        """The captions, tokenized once."""
        return self._memo.get(("captions", tokenizer), lambda: Captions.of([self.texts], tokenizer))

    def sentences(self, tokenizer: str) -> frozenset[str]:
        """The captions as tokens joined by spaces."""
        return self._memo.get(tokenizer, lambda: frozenset(self.captions(tokenizer).sentences))
