"""Training sentences as arrays, in batches of one length, so that nothing is padded."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray

from captious.language.features import build_table, encode
from captious.language.parse_types import Sentence

IGNORED = -100  # what torch's cross-entropy leaves out: tags and relations that training has not seen


@dataclass
class Examples:
    """Sentences of one length as (n, length) arrays of numbers."""

    words: NDArray[np.int64]
    tags: NDArray[np.int64]
    heads: NDArray[np.int64]
    relations: NDArray[np.int64]


@dataclass
class Inventory:
    """The names behind the numbers, and the distinct words with the rows of their features."""

    table: dict[str, int]
    tags: list[str]
    relations: list[str]
    words: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Inventory:
        return cls(
            build_table(form for s in sentences for form in s.forms),
            sorted({tag for s in sentences for tag in s.tags}),
            sorted({relation for s in sentences for relation in s.relations}),
        )

    def number(self, word: str) -> int:
        return self.words.setdefault(word, len(self.words))

    def rows(self) -> NDArray[np.int32]:
        """The feature rows of every word numbered so far."""
        return np.array([encode(word, self.table) for word in self.words], np.int32)


def examples(sentences: Sequence[Sentence], inventory: Inventory) -> dict[int, Examples]:
    """The sentences by length."""
    tag_of = {tag: i for i, tag in enumerate(inventory.tags)}
    relation_of = {relation: i for i, relation in enumerate(inventory.relations)}
    grouped: dict[int, list[Sentence]] = {}
    for s in sentences:
        if s.forms:
            grouped.setdefault(len(s), []).append(s)
    return {
        length: Examples(
            np.array([[inventory.number(form) for form in s.forms] for s in group], np.int64),
            np.array([[tag_of.get(tag, IGNORED) for tag in s.tags] for s in group], np.int64),
            np.array([s.heads for s in group], np.int64),
            np.array([[relation_of.get(relation, IGNORED) for relation in s.relations] for s in group], np.int64),
        )
        for length, group in sorted(grouped.items())
    }


def batches(data: dict[int, Examples], words: int, rng: random.Random) -> list[tuple[int, NDArray[np.int64]]]:
    """One pass over the data: (length, indices) of batches of about `words` words, in random order."""
    plan: list[tuple[int, NDArray[np.int64]]] = []
    for length, group in data.items():
        order = list(range(len(group.heads)))
        rng.shuffle(order)
        count = max(1, round(len(order) * length / words))
        plan.extend((length, part) for part in np.array_split(np.array(order, np.int64), count))
    rng.shuffle(plan)
    return plan


@dataclass
class Batch:
    """Tensors (length, batch, …) of some sentences of one length."""

    rows: torch.Tensor
    tags: torch.Tensor
    heads: torch.Tensor
    relations: torch.Tensor


def batch_of(group: Examples, chosen: NDArray[np.int64], rows: NDArray[np.int32]) -> Batch:
    """The chosen sentences; `rows` are the feature rows of each distinct word."""

    def columns(array: NDArray[np.int64]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array[chosen].T))

    return Batch(
        torch.from_numpy(rows[group.words[chosen].T]), columns(group.tags), columns(group.heads), columns(group.relations)
    )
