"""The parser's network in torch, for training. `captious.parser.network_model` is its NumPy counterpart."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import nn

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
