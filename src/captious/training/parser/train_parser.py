"""Train the caption parser.

    python -m captious.training.parser.train_parser --parses captions.jsonl.gz --output model.npz

The input is captions parsed by the reference parser, one JSON object per line. Training needs torch
(``pip install 'captious[train]'``); the model it writes does not. The best weights so far are written at
every evaluation, so training can be stopped at any time.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, MissingExtraError, one_message
from captious.parser.exact.lexicon import Lexicon
from captious.parser.exact.pcfg import load_grammar
from captious.parser.network_model import WordClasses, read_model
from captious.parser.parsed_sentences import Sentence
from captious.training.parser.export_model import export, read_exported
from captious.training.parser.labels import read_excluded
from captious.training.parser.treebank import ParsedCaption, read_parses, words_of
from captious.training.parser.word_scores import learn_exceptions, observed_classes, read_scores, scores_of

try:
    import torch

    from captious.training.parser.parser_network import (
        IGNORED,
        Inventory,
        ParseBatch,
        ParseExamples,
        ParserNetwork,
        Size,
        batch_of,
        batches,
        examples,
        occurrences,
    )
except ImportError as error:  # pragma: no cover - depends on the installation
    raise MissingExtraError("torch", "train", "training the parser") from error


LOWEST = 16.0  # scores are cut off at this many natural logarithms below the best tag


@torch.no_grad()  # type: ignore[untyped-decorator]
def agreement(network: ParserNetwork, data: dict[int, ParseExamples]) -> dict[str, float]:
    """Return the shares of right tags, heads and labelled heads, with greedy heads instead of the decoder."""
    network.eval()
    right: Counter[str] = Counter()
    for group in data.values():
        for start in range(0, len(group.heads), 256):
            batch = batch_of(group, np.arange(start, min(start + 256, len(group.heads))))
            h = network.encode(batch.classes)
            tag = network.tag(h).argmax(-1)
            arcs = network.arcs(h).transpose(0, 1).argmax(-1)
            label = network.labels(h, arcs).argmax(-1)
            right["tag"] += int((tag == batch.tags).sum())
            right["uas"] += int((arcs == batch.heads).sum())
            right["las"] += int(((arcs == batch.heads) & (label == batch.relations)).sum())
            right["words"] += batch.tags.numel()
    network.train()
    return {name: right[name] / right["words"] for name in ("tag", "uas", "las")}


class Average:
    """An exponential moving average of the weights, which is exported."""

    def __init__(self, network: ParserNetwork, decay: float) -> None:
        self.decay = decay
        self.steps = 0
        self.parameters = list(network.parameters())
        self.shadow = [p.detach().clone() for p in self.parameters]

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def update(self) -> None:
        self.steps += 1
        weight = 1 - min(self.decay, self.steps / (self.steps + 10))
        torch._foreach_lerp_(self.shadow, [p.detach() for p in self.parameters], weight)

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def swap(self) -> None:
        """Exchange the network's weights with the average."""
        for p, s in zip(self.parameters, self.shadow):
            kept = p.detach().clone()
            p.copy_(s)
            s.copy_(kept)


def losses(network: ParserNetwork, batch: ParseBatch, keep: torch.Tensor, tag_weight: float) -> torch.Tensor:
    """Return the sum of the cross-entropies per word of tags, heads and relations."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        tags, heads, relations = network(batch.classes, batch.heads, keep)

    def entropy(scores: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(scores.flatten(0, 1), right.flatten(), ignore_index=IGNORED)

    return (
        tag_weight * entropy(tags, batch.tags)
        + entropy(heads, batch.heads.T)
        + entropy(relations, batch.relations)
    )


def rate(progress: float, warmup: float = 0.01) -> float:
    """Return the share of the peak learning rate at `progress` (0 … 1): linear warm-up, then cosine decay."""
    if progress < warmup:
        return progress / warmup
    return 0.005 + 0.995 * 0.5 * (1 + math.cos(math.pi * (progress - warmup) / (1 - warmup)))


def train(
    network: ParserNetwork,
    data: dict[int, ParseExamples],
    held_out: dict[int, ParseExamples],
    options: argparse.Namespace,
) -> Iterator[dict[str, Any]]:
    """Train, yielding a report at every evaluation with the averaged weights in place."""
    rng = random.Random(options.seed)
    # Rare classes are often reduced to their scores, like classes that do not occur in training.
    seen = torch.from_numpy(occurrences(data, len(network.scores))).float()
    forget = (options.rare / (options.rare + seen)).clamp(min=options.word_dropout)
    # The layers over the scores have dense input and learn better at a lower rate.
    small = [*network.score_in.parameters(), *network.score_out.parameters()]
    large = [p for p in network.parameters() if all(p is not other for other in small)]
    groups = [{"params": large, "share": 1.0}, {"params": small, "share": 0.3}]
    optimiser = torch.optim.Adam(groups, lr=options.rate, betas=(0.9, 0.95), fused=True)
    average = Average(network, options.average)
    per_epoch = len(batches(data, options.batch_words, random.Random(0)))
    total = int(per_epoch * options.epochs)
    step, started, running = 0, time.monotonic(), 0.0
    interval = max(1, int(per_epoch * options.evaluate_every))
    progress = 0.0
    while progress < 1:
        for length, chosen in batches(data, options.batch_words, rng):
            for group in optimiser.param_groups:
                group["lr"] = options.rate * rate(progress) * group["share"]
            batch = batch_of(data[length], chosen)
            keep = (torch.rand(batch.classes.shape) >= forget[batch.classes]).float()
            loss = losses(network, batch, keep, options.tag_weight)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            average.update()
            running = 0.98 * running + 0.02 * float(loss.detach()) if step else float(loss.detach())
            step += 1
            seconds = time.monotonic() - started
            # With a limit in minutes, the learning rate follows the clock, so that the schedule is always
            # completed.
            progress = max(step / total, seconds / 60 / options.minutes if options.minutes else 0.0)
            if step % interval == 0 or progress >= 1:
                average.swap()
                report = {
                    "step": step,
                    "epoch": step / per_epoch,
                    "loss": running,
                    **agreement(network, held_out),
                }
                yield {**report, "seconds": seconds}
                average.swap()
            if progress >= 1:
                break


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.parser.train_parser", description=__doc__
    )
    parser.add_argument(
        "--parses",
        required=True,
        type=Path,
        nargs="+",
        help="captions parsed by the reference parser (.jsonl.gz)",
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--scores", type=Path, help="the reference parser's word scores, from tools/WordScores.java"
    )
    source.add_argument(
        "--grammar",
        type=Path,
        help="the reference parser's grammar, to continue with the classes of a model (--initial)",
    )
    source.add_argument("--observed", action="store_true", help="classes of words from the parses alone")
    parser.add_argument("--exclude", type=Path, help="captions that must not be trained on, one per line")
    parser.add_argument("--output", type=Path, default=Path("model.npz"), help="where to write the model")
    parser.add_argument(
        "--initial", type=Path, help="a checkpoint or a model of the same widths to start from"
    )
    parser.add_argument(
        "--checkpoint", type=Path, help="also write the weights for torch here, for use as --initial"
    )
    parser.add_argument("--epochs", type=float, default=40)
    parser.add_argument("--minutes", type=float, help="end after this time, if that is sooner than --epochs")
    parser.add_argument("--batch-words", type=int, default=2500)
    parser.add_argument("--rate", type=float, default=3.5e-3, help="peak learning rate")
    parser.add_argument(
        "--average", type=float, default=0.999, help="decay of the moving average of the weights"
    )
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument(
        "--word-dropout", type=float, default=0.02, help="probability that a word is reduced to its scores"
    )
    parser.add_argument(
        "--tag-weight", type=float, default=1.0, help="weight of tags relative to heads and relations"
    )
    parser.add_argument(
        "--rare",
        type=float,
        default=5,
        help="this probability is at least rare / (rare + n) for a class with n occurrences",
    )
    parser.add_argument(
        "--directions", type=int, default=96, help="principal directions of the word scores to use"
    )
    parser.add_argument("--evaluate-every", type=float, default=0.5, help="epochs between evaluations")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the training captions to use, for learning curves"
    )
    parser.add_argument("--seed", type=int, default=1)
    for width in fields(Size):
        parser.add_argument(f"--{width.name}", type=int, default=width.default)
    return parser


def whitened(scores: NDArray[np.float32], dimensions: int) -> NDArray[np.float32]:
    """Return the principal directions of the scores with equal variance, the input of the network.

    Without whitening, 90 % of the variance lies in eight directions, and the network hardly uses the others.
    """
    cut = np.nan_to_num(np.maximum(scores, -LOWEST), nan=-LOWEST).astype(np.float64)
    cut -= cut.mean(0)
    left, _, _ = np.linalg.svd(cut, full_matrices=False)
    directions: NDArray[np.float32] = (left[:, :dimensions] * len(scores) ** 0.5).astype(np.float32)
    return np.clip(directions, -5, 5)


def warm_start(network: ParserNetwork, inventory: Inventory, path: Path) -> None:
    """Load a checkpoint or a model. The parses need all of its tags and relations, and may have more."""
    stored = read_exported(path) if path.suffix == ".npz" else torch.load(path, weights_only=True)
    state = dict(stored["state"])
    vectors = state.pop("vectors", None)
    if vectors is not None:  # a model has one vector per class instead of the layers that compute it
        state = {
            **{
                name: value
                for name, value in network.state_dict().items()
                if name.startswith(("score_", "embedding."))
            },
            **state,
        }
    for layer, ours, theirs in (
        ("tag", inventory.tags, stored["tags"]),
        ("label_out", inventory.relations, stored["relations"]),
    ):
        if not set(theirs) <= set(ours):
            raise InputError(f"{path}: has tags or relations that these parses lack; add parses with them")
        places = [ours.index(name) for name in theirs]
        for name in (f"{layer}.weight", f"{layer}.bias"):
            rows = network.state_dict()[name].clone()
            rows[places] = state[name]
            state[name] = rows
    try:
        network.load_state_dict(state)
    except RuntimeError as error:
        raise InputError(
            f"{path}: trained with other widths or word scores; "
            "pass the same --scores, --hidden1, --hidden2, …"
        ) from error
    if vectors is not None:
        divide_vectors(network, vectors)


def divide_vectors(network: ParserNetwork, vectors: torch.Tensor, steps: int = 1500) -> None:
    """Fit the layers over the scores to a model's vectors. Residuals become the classes' own embeddings.

    Most classes had no embedding of their own, so their vectors are a function of the scores, which a fit by
    absolute differences recovers.
    """
    layers = [*network.score_in.parameters(), *network.score_out.parameters()]
    optimiser = torch.optim.Adam(layers, lr=1e-2)
    everything = torch.arange(len(vectors))
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = 1e-2 * rate(step / steps)
        loss = (network.vectors(everything) - vectors).abs().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        own = vectors - network.vectors(everything)
        network.embedding.weight.copy_(own)
    print(
        f"vectors by scores: median difference {float(own.abs().median()):.4f}, spread of the vectors "
        f"{float(vectors.std()):.4f}",
        flush=True,
    )


def word_classes(
    options: argparse.Namespace, sentences: Sequence[Sentence]
) -> tuple[WordClasses, NDArray[np.float32]]:
    """Return classes of words, and their scores."""
    if options.observed:
        return observed_classes(sentences)
    if options.scores is not None:
        return read_scores(options.scores)
    if options.initial is None or options.initial.suffix != ".npz":
        raise InputError(
            "--grammar goes on with the word classes of a model: give one with --initial model.npz, or "
            "--scores"
        )
    classes = read_model(options.initial).classes
    return classes, scores_of(classes, Lexicon(load_grammar(options.grammar)[0]))


def main(argv: Sequence[str] | None = None) -> None:
    options = arguments().parse_args(argv)
    torch.manual_seed(options.seed)
    torch.set_num_threads(options.threads)
    parts: dict[str, list[ParsedCaption]] = {"train": [], "development": [], "test": []}
    excluded = read_excluded(options.exclude)
    for path in options.parses:
        for caption in read_parses(path):
            if caption.part != "train" or words_of(caption.text) not in excluded:
                parts[caption.part].append(caption)
    print({name: len(captions) for name, captions in parts.items()}, flush=True)
    if options.share < 1:
        random.Random(options.seed).shuffle(parts["train"])
        del parts["train"][int(options.share * len(parts["train"])) :]
    sentences = {name: [s for c in captions for s in c.sentences] for name, captions in parts.items()}
    classes, scores = word_classes(options, sentences["train"])
    inventory = Inventory.of(sentences["train"], classes)
    if (
        options.initial is not None and options.initial.suffix == ".npz"
    ):  # these parses may lack something rare
        model = read_model(options.initial)
        inventory = Inventory(
            classes, sorted({*inventory.tags, *model.tags}), sorted({*inventory.relations, *model.relations})
        )
    exceptions = learn_exceptions(s for s in sentences["train"] if s.lemmas)
    data = examples(sentences["train"], inventory)
    held_out = examples(sentences["development"], inventory)
    size = Size(**{width.name: getattr(options, width.name) for width in fields(Size)})
    network = ParserNetwork(
        torch.from_numpy(whitened(scores, options.directions)),
        len(inventory.tags),
        len(inventory.relations),
        size,
        options.dropout,
    )
    # Classes that do not occur in training have no embedding of their own.
    known = torch.from_numpy(occurrences(data, len(scores)) > 0)[:, None]
    if options.initial is not None:
        warm_start(network, inventory, options.initial)
        if options.initial.suffix == ".npz":  # the model may know classes that these parses lack
            known = torch.ones_like(known)
    print(
        f"{len(scores)} classes of words, {sum(p.numel() for p in network.parameters()):,} weights",
        flush=True,
    )
    for report in train(network, data, held_out, options):
        print(
            " ".join(f"{k}={v:.4f}" if isinstance(v, float) else f"{k}={v}" for k, v in report.items()),
            flush=True,
        )
        if options.checkpoint is not None:
            names = {"tags": inventory.tags, "relations": inventory.relations}
            torch.save({"state": network.state_dict(), "size": size.as_dict(), **names}, options.checkpoint)
        with torch.no_grad():
            vectors = network.vectors(torch.arange(len(scores))) + network.embedding.weight * known
        export(
            network.state_dict(),
            vectors.numpy(),
            inventory.classes,
            inventory.tags,
            inventory.relations,
            exceptions,
            options.output,
        )


if __name__ == "__main__":
    with one_message():
        main()
