"""Training sentences as arrays, in batches of one length without padding."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from captious.parser.network_model import WordClasses
from captious.parser.sentences import Sentence

IGNORED = -100  # label of unknown tags and relations, which torch's cross-entropy skips


@dataclass
class ParseExamples:
    """Sentences of one length as (n, length) arrays of numbers."""

    classes: NDArray[np.int64]
    tags: NDArray[np.int64]
    heads: NDArray[np.int64]
    relations: NDArray[np.int64]


@dataclass
class Inventory:
    """Names of classes, tags and relations by number."""

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


def examples(sentences: Sequence[Sentence], inventory: Inventory) -> dict[int, ParseExamples]:
    """Group sentences by length."""
    tag_of = {tag: i for i, tag in enumerate(inventory.tags)}
    relation_of = {relation: i for i, relation in enumerate(inventory.relations)}
    class_of = {form: inventory.classes.of(form) for s in sentences for form in s.forms}
    grouped: dict[int, list[Sentence]] = {}
    for s in sentences:
        if s.forms:
            grouped.setdefault(len(s), []).append(s)
    return {
        length: ParseExamples(
            np.array([[class_of[form] for form in s.forms] for s in group], np.int64),
            np.array([[tag_of.get(tag, IGNORED) for tag in s.tags] for s in group], np.int64),
            np.array([s.heads for s in group], np.int64),
            np.array(
                [[relation_of.get(relation, IGNORED) for relation in s.relations] for s in group], np.int64
            ),
        )
        for length, group in sorted(grouped.items())
    }


def batches(
    data: dict[int, ParseExamples], words: int, rng: random.Random
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return one epoch as (length, indices) of batches of about `words` words, in random order."""
    plan: list[tuple[int, NDArray[np.int64]]] = []
    for length, group in data.items():
        order = list(range(len(group.heads)))
        rng.shuffle(order)
        count = max(1, round(len(order) * length / words))
        plan.extend((length, part) for part in np.array_split(np.array(order, np.int64), count))
    rng.shuffle(plan)
    return plan


@dataclass
class ParseBatch:
    """Tensors (length, batch) of sentences of one length."""

    classes: torch.Tensor
    tags: torch.Tensor
    heads: torch.Tensor
    relations: torch.Tensor


def batch_of(group: ParseExamples, chosen: NDArray[np.int64]) -> ParseBatch:
    """Return the tensors of the chosen sentences."""
    arrays = (group.classes, group.tags, group.heads, group.relations)
    return ParseBatch(*(torch.from_numpy(np.ascontiguousarray(array[chosen].T)) for array in arrays))


def occurrences(data: dict[int, ParseExamples], classes: int) -> NDArray[np.int64]:
    """Count the occurrences of each class."""
    counts: NDArray[np.int64] = np.zeros(classes, np.int64)
    for group in data.values():
        counts += np.bincount(group.classes.ravel(), minlength=classes)
    return counts
