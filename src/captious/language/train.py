"""Train the caption parser: ``python -m captious.language.train --parses captions.jsonl.gz --output model.npz``.

The input is captions parsed by the reference parser, one JSON object per line. Training needs torch
(``pip install 'captious[train]'``); the model it writes does not. The best weights so far are written at every
evaluation, so training can be stopped at any time.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import MissingExtraError
from captious.language.export import export
from captious.language.features import build_table, encode
from captious.language.lemmas import learn_exceptions
from captious.language.parse_types import Sentence
from captious.language.treebank import ParsedCaption, read_parses

try:
    import torch

    from captious.language.network import Network, Size
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("torch", "train", "training the parser") from error


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
    rows: list[list[int]] = field(default_factory=list)

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> Inventory:
        return cls(
            build_table(form for s in sentences for form in s.forms),
            sorted({tag for s in sentences for tag in s.tags}),
            sorted({relation for s in sentences for relation in s.relations}),
        )

    def number(self, word: str) -> int:
        if word not in self.words:
            self.words[word] = len(self.rows)
            self.rows.append(encode(word, self.table))
        return self.words[word]


def examples(sentences: Sequence[Sentence], inventory: Inventory) -> dict[int, Examples]:
    """The sentences by length; a tag or relation that training has not seen becomes -100, which no loss counts."""
    tag_of = {tag: i for i, tag in enumerate(inventory.tags)}
    relation_of = {relation: i for i, relation in enumerate(inventory.relations)}
    grouped: dict[int, list[Sentence]] = {}
    for s in sentences:
        grouped.setdefault(len(s), []).append(s)
    return {
        length: Examples(
            np.array([[inventory.number(form) for form in s.forms] for s in group], np.int64),
            np.array([[tag_of.get(tag, -100) for tag in s.tags] for s in group], np.int64),
            np.array([s.heads for s in group], np.int64),
            np.array([[relation_of.get(relation, -100) for relation in s.relations] for s in group], np.int64),
        )
        for length, group in sorted(grouped.items())
        if length
    }


def batches(data: dict[int, Examples], words: int, rng: random.Random) -> list[tuple[int, NDArray[np.int64]]]:
    """One pass over the data: (length, indices) of batches of about `words` words, in random order."""
    plan: list[tuple[int, NDArray[np.int64]]] = []
    for length, group in data.items():
        order = np.arange(len(group.heads))
        rng.shuffle(order)  # type: ignore[arg-type]
        count = max(1, round(len(order) * length / words))
        plan.extend((length, part) for part in np.array_split(order, count))
    rng.shuffle(plan)
    return plan


class Exchange:
    """Puts other words of the same kind into training sentences.

    The reference parser knows words only through the tags they can have. Two words that are always nouns get the same
    tree in the same place, so exchanging them makes a new sentence whose analysis is known.
    """

    kinds = ("NN", "NNS", "JJ", "CD", "VBZ", "VBG")

    def __init__(self, sentences: Sequence[Sentence], inventory: Inventory, probability: float, seed: int) -> None:
        self.probability = probability
        self.rng = np.random.default_rng(seed)
        seen: dict[str, Counter[str]] = {}
        for s in sentences:
            for form, tag in zip(s.forms, s.tags):
                seen.setdefault(form, Counter())[tag] += 1
        members: dict[str, list[int]] = {kind: [] for kind in self.kinds}
        for form, tags in seen.items():
            (tag, count), total = tags.most_common(1)[0], sum(tags.values())
            if tag in members and total >= 8 and count >= 0.995 * total and form.isalpha() and form.islower():
                members[tag].append(inventory.number(form))
        self.kind = np.full(len(inventory.rows), -1)
        for kind, words in enumerate(members.values()):
            self.kind[words] = kind
        self.sizes = np.array([len(words) for words in members.values()])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        self.pool = np.array([word for words in members.values() for word in words], np.int64)

    def __call__(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        kind = self.kind[words]
        where = (kind >= 0) & (self.rng.random(words.shape) < self.probability)
        kind = kind[where]
        words = words.copy()
        words[where] = self.pool[self.starts[kind] + (self.rng.random(len(kind)) * self.sizes[kind]).astype(np.int64)]
        return words


def tensors(
    group: Examples, chosen: NDArray[np.int64], rows: NDArray[np.int32], exchange: Exchange | None = None
) -> tuple[torch.Tensor, ...]:
    """(length, batch, …) tensors of the chosen sentences; `rows` are the feature rows of each distinct word."""
    words = group.words[chosen]
    if exchange is not None:
        words = exchange(words)
    return (
        torch.from_numpy(rows[words.T]),
        torch.from_numpy(np.ascontiguousarray(group.tags[chosen].T)),
        torch.from_numpy(np.ascontiguousarray(group.heads[chosen].T)),
        torch.from_numpy(np.ascontiguousarray(group.relations[chosen].T)),
    )


@torch.no_grad()
def agreement(network: Network, data: dict[int, Examples], rows_of: NDArray[np.int32]) -> dict[str, float]:
    """Tags, heads and labelled heads right, with greedy heads: quick, and close to what the decoder gives."""
    network.eval()
    right: Counter[str] = Counter()
    for group in data.values():
        for start in range(0, len(group.heads), 256):
            rows, tags, heads, relations = tensors(group, np.arange(start, min(start + 256, len(group.heads))), rows_of)
            h = network.encode(rows)
            tag = network.tag(h).argmax(-1)
            arcs = network.arcs(h).transpose(0, 1).argmax(-1)
            label = network.labels(h, arcs).argmax(-1)
            right["tag"] += int((tag == tags).sum())
            right["uas"] += int((arcs == heads).sum())
            right["las"] += int(((arcs == heads) & (label == relations)).sum())
            right["words"] += tags.numel()
    network.train()
    return {name: right[name] / right["words"] for name in ("tag", "uas", "las")}


class Average:
    """An exponential moving average of the weights, which is what gets shipped."""

    def __init__(self, network: Network, decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.parameters = list(network.parameters())
        self.shadow = [p.detach().clone() for p in self.parameters]

    @torch.no_grad()
    def update(self) -> None:
        self.steps += 1
        weight = 1 - min(self.decay, self.steps / (self.steps + 10))
        torch._foreach_lerp_(self.shadow, [p.detach() for p in self.parameters], weight)

    @torch.no_grad()
    def swap(self) -> None:
        """Exchange the network's weights with the average."""
        for p, s in zip(self.parameters, self.shadow):
            kept = p.detach().clone()
            p.copy_(s)
            s.copy_(kept)


def losses(network: Network, batch: Sequence[torch.Tensor]) -> torch.Tensor:
    """The summed cross-entropies of tags, heads and relations, per word."""
    rows, tags, heads, relations = batch
    with torch.autocast("cpu", dtype=torch.bfloat16):
        tag_scores, arc_scores, label_scores = network(rows, heads)
    entropy = torch.nn.functional.cross_entropy
    return (
        entropy(tag_scores.flatten(0, 1), tags.flatten())
        + entropy(arc_scores.flatten(0, 1), heads.T.flatten())
        + entropy(label_scores.flatten(0, 1), relations.flatten())
    )


def rate(progress: float, warmup: float = 0.01) -> float:
    """The share of the peak learning rate at `progress` (0 … 1): a short rise, then a cosine to almost nothing."""
    if progress < warmup:
        return progress / warmup
    return 0.005 + 0.995 * 0.5 * (1 + math.cos(math.pi * (progress - warmup) / (1 - warmup)))


def train(
    network: Network,
    data: dict[int, Examples],
    held_out: dict[int, Examples],
    rows: NDArray[np.int32],
    exchange: Exchange,
    options: argparse.Namespace,
) -> Iterator[dict[str, Any]]:
    """Train, yielding a report at every evaluation with the averaged weights in place."""
    rng = random.Random(options.seed)
    optimiser = torch.optim.Adam(network.parameters(), lr=options.rate, betas=(0.9, 0.95), fused=True)
    average = Average(network, options.average)
    per_epoch = len(batches(data, options.batch_words, random.Random(0)))
    total = int(per_epoch * options.epochs)
    step, started, running = 0, time.monotonic(), 0.0
    interval = max(1, int(per_epoch * options.evaluate_every))
    while step < total:
        for length, chosen in batches(data, options.batch_words, rng):
            for group in optimiser.param_groups:
                group["lr"] = options.rate * rate(step / total)
            loss = losses(network, tensors(data[length], chosen, rows, exchange))
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            average.update()
            running = 0.98 * running + 0.02 * float(loss.detach()) if step else float(loss.detach())
            step += 1
            if step % interval == 0 or step == total:
                average.swap()
                report = {"step": step, "epoch": step / per_epoch, "loss": running, **agreement(network, held_out, rows)}
                report["seconds"] = time.monotonic() - started
                yield report
                average.swap()
            if step == total:
                break


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m captious.language.train", description=__doc__)
    parser.add_argument("--parses", required=True, type=Path, nargs="+", help="captions parsed by the reference parser (.jsonl.gz)")
    parser.add_argument("--output", type=Path, default=Path("model.npz"), help="where to write the model")
    parser.add_argument("--checkpoint", type=Path, help="also write the weights for torch here, for use as --teacher")
    parser.add_argument("--epochs", type=float, default=40)
    parser.add_argument("--batch-words", type=int, default=2500)
    parser.add_argument("--rate", type=float, default=3e-3, help="peak learning rate")
    parser.add_argument("--average", type=float, default=0.999, help="decay of the moving average of the weights")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--word-dropout", type=float, default=0.03)
    parser.add_argument("--exchange", type=float, default=0.2, help="share of the unambiguous words to exchange")
    parser.add_argument("--evaluate-every", type=float, default=0.5, help="epochs between evaluations")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    for width in fields(Size):
        parser.add_argument(f"--{width.name}", type=int, default=width.default)
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    options = arguments().parse_args(argv)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    parts: dict[str, list[ParsedCaption]] = {"train": [], "development": [], "test": []}
    for path in options.parses:
        for caption in read_parses(path):
            parts[caption.part].append(caption)
    print({name: len(captions) for name, captions in parts.items()}, flush=True)
    sentences = {name: [s for c in captions for s in c.sentences] for name, captions in parts.items()}
    inventory = Inventory.of(sentences["train"])
    exceptions = learn_exceptions(s for s in sentences["train"] if s.lemmas)
    data = examples(sentences["train"], inventory)
    held_out = examples(sentences["development"], inventory)
    size = Size(**{width.name: getattr(options, width.name) for width in fields(Size)})
    exchange = Exchange(sentences["train"], inventory, options.exchange, options.seed)
    print(f"{len(exchange.pool)} words to exchange", dict(zip(exchange.kinds, exchange.sizes.tolist())), flush=True)
    rows = np.array(inventory.rows, np.int32)
    network = Network(len(inventory.table) + 2, len(inventory.tags), len(inventory.relations), size, options.dropout, options.word_dropout)
    print(f"{len(inventory.table)} features, {sum(p.numel() for p in network.parameters()):,} weights", flush=True)
    for report in train(network, data, held_out, rows, exchange, options):
        print(" ".join(f"{k}={v:.4f}" if isinstance(v, float) else f"{k}={v}" for k, v in report.items()), flush=True)
        if options.checkpoint is not None:
            names = {"table": inventory.table, "tags": inventory.tags, "relations": inventory.relations}
            torch.save({"state": network.state_dict(), "size": size.as_dict(), **names}, options.checkpoint)
        export(network.state_dict(), inventory.table, inventory.tags, inventory.relations, exceptions, options.output)


if __name__ == "__main__":
    main()
