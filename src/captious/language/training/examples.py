"""Training sentences as arrays, in batches of one length, so that nothing is padded."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from captious.language.classes import WordClasses
from captious.language.parse_types import Sentence

IGNORED = -100  # what torch's cross-entropy leaves out: tags and relations that training has not seen


@dataclass
class Examples:
    """Sentences of one length as (n, length) arrays of numbers."""

    classes: NDArray[np.int64]
    tags: NDArray[np.int64]
    heads: NDArray[np.int64]
    relations: NDArray[np.int64]


@dataclass
class Inventory:
    """What the numbers stand for."""

    classes: WordClasses
    tags: list[str]
    relations: list[str]

    @classmethod
    def of(cls, sentences: Sequence[Sentence], classes: WordClasses) -> Inventory:
        return cls(
            classes,
            sorted({tag for s in sentences for tag in s.tags}),
            sorted({relation for s in sentences for relation in s.relations}),
        )


def examples(sentences: Sequence[Sentence], inventory: Inventory) -> dict[int, Examples]:
    """The sentences by length."""
    tag_of = {tag: i for i, tag in enumerate(inventory.tags)}
    relation_of = {relation: i for i, relation in enumerate(inventory.relations)}
    class_of = {form: inventory.classes.of(form) for s in sentences for form in s.forms}
    grouped: dict[int, list[Sentence]] = {}
    for s in sentences:
        if s.forms:
            grouped.setdefault(len(s), []).append(s)
    return {
        length: Examples(
            np.array([[class_of[form] for form in s.forms] for s in group], np.int64),
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
    """Tensors (length, batch) of some sentences of one length."""

    classes: torch.Tensor
    tags: torch.Tensor
    heads: torch.Tensor
    relations: torch.Tensor


def batch_of(group: Examples, chosen: NDArray[np.int64]) -> Batch:
    """The chosen sentences."""
    arrays = (group.classes, group.tags, group.heads, group.relations)
    return Batch(*(torch.from_numpy(np.ascontiguousarray(array[chosen].T)) for array in arrays))


def occurrences(data: dict[int, Examples], classes: int) -> NDArray[np.int64]:
    """How often each class occurs."""
    counts: NDArray[np.int64] = np.zeros(classes, np.int64)
    for group in data.values():
        counts += np.bincount(group.classes.ravel(), minlength=classes)
    return counts
