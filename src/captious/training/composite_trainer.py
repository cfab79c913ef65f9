"""Training of a learned metric's network as published: cross-entropy, Adam, Glorot, L2, early stopping.

A run is determined by its seed and its examples. It writes checkpoints; an interrupted run resumes from the
last one and ends with the same weights.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from captious.agreement.coefficients import COEFFICIENTS
from captious.core import digests as digest
from captious.core.errors import InputError, MissingExtraError
from captious.core.progress import track
from captious.core.writing import atomic_write
from captious.metrics.base import FloatArray
from captious.metrics.learned.composite_network import Network, pack, spread, unpack

#: Epochs between checkpoints.
KEEP_EVERY = 10


@dataclass(frozen=True)
class TrainingPlan:
    """Settings of a training run. The defaults are LCEval's."""

    hidden: tuple[int, ...] = (12,)
    rate: float = 5e-4
    batch: int = 75
    l2: float = 1e-4
    epochs: int = 800
    #: Epochs without better agreement before training ends.
    patience: int = 60
    seed: int = 1


#: LCEval's, as published.
PLAN = TrainingPlan()


@dataclass(frozen=True)
class Judged:
    """Judged captions to select the best epoch: their features, and one rating each."""

    name: str
    table: FloatArray
    ratings: FloatArray

    def tau(self, network: Network) -> float:
        """Return Kendall's tau-b of the network's scores with the ratings."""
        value = COEFFICIENTS["tau-b"](network.logits(network.standardised(self.table)), self.ratings)
        return float(np.nan_to_num(value))


@dataclass
class TrainingRun:
    """A trained network, its epoch, and the agreement after every epoch."""

    network: Network
    epoch: int
    agreement: list[float] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)


def train(
    name: str,
    features: Sequence[str],
    table: FloatArray,
    labels: FloatArray,
    plan: TrainingPlan = PLAN,
    *,
    validate: Sequence[Judged] = (),
    checkpoint: Path | None = None,
    made: dict[str, Any] | None = None,
    after_epoch: Callable[[int], None] | None = None,
) -> TrainingRun:
    """Train a network and return that of the best epoch; without validation sets, that of the last."""
    torch = _torch()
    before = torch.get_num_threads()
    torch.set_num_threads(
        1
    )  # a fixed order of sums, so that weights do not depend on the number of processors
    try:
        return _Training(
            torch, name, tuple(features), table, labels, plan, validate, checkpoint, made or {}
        ).run(after_epoch)
    finally:
        torch.set_num_threads(before)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "train", "training a learned metric") from error
    return torch


class _Training:
    def __init__(
        self,
        torch: Any,
        name: str,
        features: tuple[str, ...],
        table: FloatArray,
        labels: FloatArray,
        plan: TrainingPlan,
        validate: Sequence[Judged],
        checkpoint: Path | None,
        made: dict[str, Any],
    ) -> None:
        self.torch, self.name, self.features, self.plan = torch, name, features, plan
        self.validate, self.checkpoint = validate, checkpoint
        if len(np.unique(labels)) < 2:
            raise InputError("all examples are of one kind; pass human captions and worse ones")
        self.means, self.scales = spread(table)
        empty = Network(name, features, self.means, self.scales, (), {})
        self.inputs = torch.from_numpy(empty.standardised(table).astype(np.float32))
        self.labels = torch.from_numpy(labels.astype(np.int64))
        judged = [array for judged in validate for array in (judged.table, judged.ratings)]
        #: Digest of everything that determines the result. Checkpoints of other runs are rejected.
        self.identity = digest.together(
            digest.of_lines([*features, repr(sorted(asdict(plan).items()))]),
            digest.of_arrays(table, labels, *judged),
        )
        self.made = {
            **made,
            "examples": len(labels),
            "plan": asdict(plan),
            "validation": [judged.name for judged in validate],
        }
        self.parameters = self._initial()
        self.moments = [[torch.zeros_like(p) for p in self.parameters] for _ in range(2)]
        self.best: list[Any] = [p.clone() for p in self.parameters]
        self.epoch, self.best_epoch = 0, 0
        self.agreement: list[float] = []
        self.loss: list[float] = []

    def _initial(self) -> list[Any]:
        """Return Glorot's uniform weights, and biases of 0."""
        generator = np.random.default_rng([self.plan.seed, 1])
        sizes = [len(self.features), *self.plan.hidden, 2]
        weights: list[Any] = []
        for before, after in itertools.pairwise(sizes):
            bound = float(np.sqrt(6.0 / (before + after)))
            weights.append(
                self.torch.from_numpy(generator.uniform(-bound, bound, (before, after)).astype(np.float32))
            )
            weights.append(self.torch.zeros(after))
        return weights

    def run(self, after_epoch: Callable[[int], None] | None) -> TrainingRun:
        self._resume()
        for _ in track(
            range(self.epoch, self.plan.epochs), f"training {self.name}", total=self.plan.epochs - self.epoch
        ):
            if self.validate and self.epoch - self.best_epoch >= self.plan.patience:
                break
            self._one_epoch()
            if self.validate:
                self._judge()
            else:
                self.best, self.best_epoch = [p.clone() for p in self.parameters], self.epoch
            if self.epoch % KEEP_EVERY == 0:
                self._keep()
            if after_epoch is not None:
                after_epoch(self.epoch)
        self._keep()
        return TrainingRun(self._network(self.best), self.best_epoch, self.agreement, self.loss)

    def _one_epoch(self) -> None:
        torch, plan = self.torch, self.plan
        # Drawn from the seed and the epoch, so that a resumed run draws the same order.
        order = torch.from_numpy(
            np.random.default_rng([plan.seed, 2, self.epoch]).permutation(len(self.labels))
        )
        total = 0.0
        step = self.epoch * -(-len(order) // plan.batch)
        parameters = [p.requires_grad_(True) for p in self.parameters]
        for part in torch.split(order, plan.batch):
            step += 1
            values = self.inputs[part]
            for number in range(0, len(parameters), 2):
                values = values @ parameters[number] + parameters[number + 1]
                if number < len(parameters) - 2:
                    values = torch.relu(values)
            loss = torch.nn.functional.cross_entropy(values, self.labels[part])
            total += float(loss.detach()) * len(part)
            penalty = sum((p * p).sum() for p in parameters[::2])
            gradients = torch.autograd.grad(loss + plan.l2 * penalty, parameters)
            with torch.no_grad():
                for place, (p, g) in enumerate(zip(parameters, gradients)):
                    first, second = self.moments[0][place], self.moments[1][place]
                    first.mul_(0.9).add_(g, alpha=0.1)
                    second.mul_(0.999).addcmul_(g, g, value=0.001)
                    size = plan.rate / (1 - 0.9**step)
                    p.addcdiv_(first, (second / (1 - 0.999**step)).sqrt_().add_(1e-8), value=-size)
        self.parameters = [p.detach() for p in parameters]
        self.loss.append(total / len(order))
        self.epoch += 1

    def _judge(self) -> None:
        network = self._network(self.parameters)
        value = float(np.mean([judged.tau(network) for judged in self.validate]))
        if not self.agreement or value > max(self.agreement):
            self.best, self.best_epoch = [p.clone() for p in self.parameters], self.epoch
        self.agreement.append(value)

    def _network(self, parameters: list[Any]) -> Network:
        arrays = [p.numpy().copy() for p in parameters]
        made = {**self.made, "epoch": self.best_epoch}
        return Network(
            self.name, self.features, self.means, self.scales, tuple(zip(arrays[::2], arrays[1::2])), made
        )

    def _keep(self) -> None:
        if self.checkpoint is None:
            return
        arrays = {}
        for kind, tensors in (
            ("now", self.parameters),
            ("best", self.best),
            ("first", self.moments[0]),
            ("second", self.moments[1]),
        ):
            arrays.update({f"{kind}.{number}": tensor.numpy() for number, tensor in enumerate(tensors)})
        meta = {
            "identity": self.identity,
            "epoch": self.epoch,
            "best_epoch": self.best_epoch,
            "agreement": self.agreement,
            "loss": self.loss,
        }
        with atomic_write(self.checkpoint) as temporary:
            temporary.write_bytes(pack(arrays, meta))

    def _resume(self) -> None:
        if self.checkpoint is None or not self.checkpoint.exists():
            return
        arrays, meta = unpack(self.checkpoint.read_bytes(), str(self.checkpoint))
        if meta.get("identity") != self.identity:
            raise InputError(
                f"{self.checkpoint} is the checkpoint of another run (other examples, features or settings); "
                "remove it, or name another file to write to"
            )

        def take(kind: str) -> list[Any]:
            return [
                self.torch.from_numpy(arrays[f"{kind}.{number}"].copy())
                for number in range(len(self.parameters))
            ]

        self.parameters, self.best, self.moments = take("now"), take("best"), [take("first"), take("second")]
        self.epoch, self.best_epoch = int(meta["epoch"]), int(meta["best_epoch"])
        self.agreement, self.loss = list(meta["agreement"]), list(meta["loss"])
