"""The parser's network in torch, and training examples. `captious.parser.network_model` is the NumPy form."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from captious.parser.network_model import WordClasses
from captious.parser.parsed_sentences import Sentence

DISTANCES = 16  # words; larger distances to the head count as this one


@dataclass
class Size:
    """Widths of the layers."""

    embedding: int = 96
    hidden1: int = 96
    hidden2: int = 72
    hidden3: int = 0  # no third layer
    arc: int = 48
    label: int = 64
    lexical: int = 128  # layer between the lexicon's scores and the embedding

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


class ParserNetwork(nn.Module):  # type: ignore[misc]
    """Two or three bidirectional LSTMs over the words; tags, arc scores and relations from their states."""

    def __init__(
        self, scores: torch.Tensor, tags: int, relations: int, size: Size, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.size = size
        self.scores: torch.Tensor
        self.register_buffer("scores", scores, persistent=False)
        self.score_in = nn.Linear(scores.shape[1], size.lexical)
        self.score_out = nn.Linear(size.lexical, size.embedding)
        # The part of a class's vector that does not depend on its scores.
        self.embedding = nn.Embedding(len(scores), size.embedding)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.rate = dropout
        self.first = nn.LSTM(size.embedding, size.hidden1, bidirectional=True)
        self.second = nn.LSTM(2 * size.hidden1, size.hidden2, bidirectional=True)
        self.third = nn.LSTM(2 * size.hidden2, size.hidden3, bidirectional=True) if size.hidden3 else None
        width = 2 * (size.hidden3 or size.hidden2)
        self.tag = nn.Linear(width, tags)
        self.arc_dependent = nn.Linear(width, size.arc)
        self.arc_head = nn.Linear(width, size.arc)
        self.arc_root = nn.Parameter(torch.randn(size.arc) * 0.1)
        self.arc_bilinear = nn.Parameter(torch.eye(size.arc) / size.arc**0.5)
        self.arc_bias = nn.Parameter(torch.zeros(size.arc))
        self.arc_distance = nn.Parameter(torch.zeros(2 * DISTANCES + 1))
        self.label_dependent = nn.Linear(width, size.label)
        self.label_head = nn.Linear(width, size.label, bias=False)
        self.label_root = nn.Parameter(torch.randn(size.label) * 0.1)
        self.label_out = nn.Linear(size.label, relations)

    def drop(self, x: torch.Tensor) -> torch.Tensor:
        """Apply dropout with one mask for all positions of a sentence."""
        if not self.training or self.rate <= 0:
            return x
        keep = torch.rand(1, *x.shape[1:]) >= self.rate
        return x * (keep / (1 - self.rate)).to(x.dtype)

    def vectors(self, classes: torch.Tensor) -> torch.Tensor:
        """Return the vectors of classes as a function of their scores."""
        vectors: torch.Tensor = self.score_out(nn.functional.relu(self.score_in(self.scores[classes])))
        return vectors

    def encode(self, classes: torch.Tensor, keep: torch.Tensor | None = None) -> torch.Tensor:
        """Return the states of words; `classes` is (length, batch).

        Where `keep` is 0, only scores are used.
        """
        distinct, places = torch.unique(classes, return_inverse=True)
        x = nn.functional.embedding(places, self.vectors(distinct))
        own = self.embedding(classes)
        x = x + (own if keep is None else own * keep[..., None])
        x = self.drop(x)
        x, _ = self.first(x)
        x = self.drop(x)
        x, _ = self.second(x)
        if self.third is not None:
            x, _ = self.third(self.drop(x))
        return self.drop(x)

    def arcs(self, h: torch.Tensor) -> torch.Tensor:
        """Return arc scores (batch, dependent, head). Head 0 is the root."""
        length, batch = h.shape[:2]
        dependent = nn.functional.leaky_relu(self.arc_dependent(h), 0.1)
        head = nn.functional.leaky_relu(self.arc_head(h), 0.1)
        head = torch.cat([self.arc_root.expand(1, batch, -1).to(head.dtype), head])
        query = dependent @ self.arc_bilinear.to(head.dtype) + self.arc_bias.to(head.dtype)
        scores = torch.bmm(query.transpose(0, 1), head.permute(1, 2, 0)).float()
        position = torch.arange(length)
        distance = (position[None, :] - position[:, None]).clamp(-DISTANCES, DISTANCES) + DISTANCES
        bias = torch.zeros(length, length + 1)
        bias[:, 1:] = self.arc_distance[distance]
        return scores + bias

    def labels(self, h: torch.Tensor, heads: torch.Tensor) -> torch.Tensor:
        """Return relation scores (length, batch, relation) of the arcs from `heads` (length, batch)."""
        batch = h.shape[1]
        dependent = self.label_dependent(h)
        head = self.label_head(h)
        head = torch.cat([self.label_root.expand(1, batch, -1).to(head.dtype), head])
        chosen = head.gather(0, heads[..., None].expand(-1, -1, head.shape[2]))
        return self.label_out(nn.functional.relu(dependent + chosen)).float()

    def forward(
        self, classes: torch.Tensor, heads: torch.Tensor, keep: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        h = self.encode(classes, keep)
        return self.tag(h).float(), self.arcs(h), self.labels(h, heads)


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
