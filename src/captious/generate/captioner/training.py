"""Training: cross-entropy, then cross-entropy and rewards together.

The loss is XE + λ · self-critical reward + β · retrieval reward. A sample's advantage is its reward less a baseline: the mean
of the other samples of its image (leave one out), or the reward of the greedy caption. Everything random comes from the
seed, and a training that was killed goes on from its last checkpoint to the same result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from captious.errors import InputError
from captious.generate.captioner import checkpoint, decoding
from captious.generate.captioner.checkpoint import Trained
from captious.generate.captioner.images import Images
from captious.generate.captioner.lessons import Lessons, batches, lessons, longest_caption
from captious.generate.captioner.matching import Matcher, train_matcher
from captious.generate.captioner.models import (
    Captioner,
    Seen,
    Shape,
    build,
    log_likelihood,
    without_gradients,
)
from captious.generate.captioner.units import BEGIN, Units
from captious.generate.model_files import optimizer_state, restore_optimizer
from captious.progress import track
from captious.references import References
from captious.rewards import Reward, reward
from captious.threads import one_blas_thread

Told = Callable[[dict[str, Any]], None]
BASELINES = ("leave-one-out", "greedy")


@dataclass(frozen=True)
class Settings:
    """How to train."""

    steps: int = 2000
    batch: int = 100
    rate: float = 2e-3
    #: Weights of metrics (λ) and of the retrieval reward (β); both empty for cross-entropy alone.
    rewards: Mapping[str, float] = field(default_factory=dict)
    retrieval: float = 0.0
    #: Samples of each image, for rewards; images of a batch.
    samples: int = 5
    images: int = 64
    baseline: str = "leave-one-out"
    #: Weight of the divergence of a latent vector, reached step by step over the first half.
    divergence: float = 0.1
    evaluate_every: int = 500
    #: Images that are validated on at each evaluation.
    validate: int = 200
    save_every: int = 500
    seed: int = 1

    def check(self) -> None:
        """Refuse before training starts what would fail, or mean nothing, later."""
        whole = {"steps": self.steps, "batch": self.batch, "samples": self.samples, "images": self.images, "evaluate-every": self.evaluate_every, "save-every": self.save_every}  # fmt: skip
        for name, value in whole.items():
            if value < 1:
                raise InputError(f"{name} is a positive whole number, not {value}")
        if not (self.rate > 0 and math.isfinite(self.rate)):
            raise InputError(f"the learning rate is above 0, not {self.rate}")
        if self.baseline not in BASELINES:
            raise InputError(f"baselines are {' and '.join(BASELINES)}, not '{self.baseline}'")
        if self.rewarded and self.baseline == "leave-one-out" and self.samples < 2:
            raise InputError("a baseline that leaves one out needs at least 2 samples of an image")
        for name, weight in {**self.rewards, "retrieval": self.retrieval}.items():
            if not math.isfinite(weight):
                raise InputError(f"the weight of {name} is {weight}, not a number")

    @property
    def rewarded(self) -> bool:
        return any(self.rewards.values()) or self.retrieval != 0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def train(
    images: Images,
    references: References,
    output: str | Path,
    *,
    ids: Sequence[str] | None = None,
    validation: Sequence[str] = (),
    shape: Shape | None = None,
    units: str = "words",
    vocabulary: int | None = None,
    least: int = 5,
    settings: Settings | None = None,
    start: Trained | None = None,
    matcher: Matcher | None = None,
    resume: bool = False,
    told: Told | None = None,
    where: str = "the images",
) -> Trained:  # fmt: skip
    """Train a captioner, or go on with ``start``, on the images ``ids`` (default: all that have references); it is kept in ``output``.

    ``validation`` are images that are not learned from: after every ``evaluate_every`` steps the loss and CIDEr-D of the greedy
    captions on them are told and kept. With ``resume`` a training that was killed goes on.
    """
    settings, shape = settings or Settings(), shape or Shape()
    settings.check()
    shape.check()
    held = set(validation)
    wanted = [image for image in (ids if ids is not None else references.captions.ids) if image not in held]
    if ids is None:
        known = set(images.ids)
        wanted = [image for image in wanted if image in known]
    if len(wanted) < 2:
        raise InputError(f"there are {len(wanted)} images to learn from: none, or one, has both objects and references")
    trained, done, state = _begin(images, references, wanted, output, shape, units, vocabulary, least, settings, start, resume)
    if done is None:
        return trained
    taught = lessons(images, references, wanted, trained.units, trained.longest, where)
    tested = lessons(images, references, list(validation)[: settings.validate], trained.units, trained.longest, where) if validation else None
    if start is None and not state:
        trained.model.spread.copy_(taught.views.spread)
    with torch.random.fork_rng(), one_blas_thread():
        run = _Run(trained, taught, tested, references, settings, matcher, told)
        run.go(output, done, state)
    trained.model.eval()
    return trained


def _begin(
    images: Images, references: References, ids: Sequence[str], output: str | Path, shape: Shape, units: str, vocabulary: int | None,
    least: int, settings: Settings, start: Trained | None, resume: bool,
) -> tuple[Trained, int | None, dict[str, Tensor]]:  # fmt: skip
    """The captioner to train, the steps that are done (nothing when all are), and the state they left."""
    if Path(output).exists() and resume:
        trained, progress, state = checkpoint.load_unfinished(output)
        last = trained.history[-1]["settings"] if trained.history else None
        if last != settings.to_json():
            differ = sorted(k for k, v in settings.to_json().items() if not isinstance(last, dict) or last.get(k) != v)
            raise InputError(f"{output}: was trained with other settings ({', '.join(differ)}); go on with the same, or write to another file")
        return trained, None if progress is None else int(progress["step"]), state
    if start is not None:
        if start.classes != images.classes or start.model.width != images.width:
            raise InputError("the captioner to start from was trained on other objects or features than these")
        begun = Trained(start.model, start.units, start.classes, start.longest, start.tokenizer, start.history)
    else:
        known = {image: i for i, image in enumerate(references.captions.ids)}
        texts = references.captions.take_images(np.array([known[image] for image in ids if image in known], np.int64)).sentences
        made = Units.learn(texts, units, vocabulary, least)
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            model = build(shape, len(made), images.width)
        begun = Trained(model, made, images.classes, longest_caption(made, texts), references.captions.tokenizer)
    begun.history = (*begun.history, {"settings": settings.to_json(), "images": len(ids), "curve": []})
    return begun, 0, {}


class _Run:
    """One training."""

    def __init__(
        self, trained: Trained, taught: Lessons, tested: Lessons | None, references: References, settings: Settings,
        matcher: Matcher | None, told: Told | None,
    ) -> None:  # fmt: skip
        self.trained, self.model, self.taught, self.tested = trained, trained.model, taught, tested
        self.settings, self.told = settings, told
        self.references = references
        self.rewards: list[tuple[float, Reward]] = [
            (weight, _reward(references, name, trained)) for name, weight in settings.rewards.items() if weight
        ]
        self.judge = _reward(references, "CIDEr-D", trained) if tested is not None and references.captions.n_images > 1 else None
        self.matcher = matcher
        if settings.retrieval and matcher is None:
            self.matcher = train_matcher(taught, len(trained.units), seed=settings.seed)
        self.optimizer = torch.optim.Adam(self.model.parameters(), settings.rate)
        self.draw = torch.Generator()

    def go(self, output: str | Path, done: int, state: dict[str, Tensor]) -> None:
        """All steps that are left."""
        settings = self.settings
        torch.manual_seed(settings.seed + 1)
        self.draw.manual_seed(settings.seed + 2)
        if state:
            restore_optimizer(self.optimizer, state)
            torch.set_rng_state(state["rng"])
            self.draw.set_state(state["draw"])
        size = settings.images if settings.rewarded else settings.batch
        steps = batches(self.taught, settings.seed, size, done, settings.steps, images=settings.rewarded)
        began, losses = time.monotonic(), []
        for step, rows in track(steps, "training the captioner", total=settings.steps - done):
            self.model.train()
            for group in self.optimizer.param_groups:
                # Down to a twentieth, along a cosine; fine-tuning keeps its pace.
                falling = 0.05 + 0.95 * (1 + math.cos(math.pi * step / settings.steps)) / 2
                group["lr"] = settings.rate * (1.0 if settings.rewarded or settings.steps < 300 else falling)
            loss, row = self._rewarded(rows) if settings.rewarded else self._taught(rows, step)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            losses.append({"loss": float(loss.detach()), **row})
            at = step + 1
            if at % settings.evaluate_every == 0 or at == settings.steps:
                self._evaluate(at, losses, time.monotonic() - began)
                losses = []
            if at % settings.save_every == 0 and at < settings.steps:
                kept = {**optimizer_state(self.optimizer), "rng": torch.get_rng_state(), "draw": self.draw.get_state()}
                checkpoint.save(output, self.trained, {"step": at}, kept)
        checkpoint.save(output, self.trained)

    # Cross-entropy.

    def _taught(self, rows: Any, step: int) -> tuple[Tensor, dict[str, float]]:
        image, units = self.taught.batch(rows)
        seen = self.taught.views.batch(image)
        if not self.model.shape.latent:
            return self._cross_entropy(seen, units), {}
        mean, log_variance = self.model.posterior(seen, units)
        noise = torch.randn(mean.shape, generator=self.draw)
        xe = self._cross_entropy(seen, units, mean + noise * (log_variance / 2).exp())
        divergence = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum(1).mean()
        weight = self.settings.divergence * min(1.0, 2 * step / self.settings.steps)
        return xe + weight * divergence, {"xe": float(xe.detach()), "divergence": float(divergence.detach())}

    def _cross_entropy(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        values, counted = log_likelihood(self._scores(seen, units, latent), units)
        return -(values * counted).sum() / counted.sum()

    def _scores(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        scores: Tensor = self.model(seen, torch.cat([torch.full((len(units), 1), BEGIN), units[:, :-1]], 1), latent)
        return scores

    # Rewards.

    def _rewarded(self, rows: Any) -> tuple[Tensor, dict[str, float]]:
        settings, k = self.settings, self.settings.samples
        ids = [self.taught.ids[i] for i in rows.tolist()]
        seen = self.taught.views.batch(rows)
        many = seen.rows(torch.arange(len(rows)).repeat_interleave(k))
        latent = torch.randn(len(many.vector), self.model.shape.latent, generator=self.draw) if self.model.shape.latent else None
        self.model.eval()
        units, _ = decoding.sample(self.model, many, self.trained.longest + 1, generator=self.draw, latent=latent)
        values = self._worth(ids, seen, units, k)
        if settings.baseline == "greedy":
            best, _ = decoding.greedy(self.model, seen, self.trained.longest + 1)
            baseline = self._worth(ids, seen, best, 1)
        else:
            baseline = (values.sum(1, keepdim=True) - values) / (k - 1)
        self.model.train()
        advantage = (values - baseline).flatten()
        log_p, counted = log_likelihood(self._scores(many, units, latent), units)
        policy = -(advantage[:, None] * log_p * counted).sum() / counted.sum()
        # Two of the captions of each image keep the language in shape.
        first, each = self.taught.first[rows], np.diff(self.taught.first)[rows]
        picks = torch.randint(0, 1 << 30, (2, len(rows)), generator=self.draw).numpy()
        xe, _ = self._taught(np.concatenate([first + pick % each for pick in picks]), settings.steps)
        return xe + policy, {"xe": float(xe.detach()), "reward": float(values.mean())}

    def _worth(self, ids: Sequence[str], seen: Seen, units: Tensor, k: int) -> Tensor:
        """λ times the metrics and β times the retrieval reward of each sample (images × samples)."""
        total = torch.zeros(len(ids), k)
        given = _for_rewards(self.trained, units, k)
        for weight, metric in self.rewards:
            total += weight * torch.as_tensor(np.asarray(metric(ids, given))).view(len(ids), k)
        if self.settings.retrieval and self.matcher is not None:
            owner = torch.arange(len(ids)).repeat_interleave(k)
            total += self.settings.retrieval * self.matcher.reward(seen.vector, units, owner).view(len(ids), k)
        return total

    # Validation.

    def _evaluate(self, step: int, losses: list[dict[str, float]], seconds: float) -> None:
        row: dict[str, Any] = {"step": step, "seconds": round(seconds, 1)}
        row |= {name: float(np.mean([one[name] for one in losses])) for name in losses[-1]}
        if self.tested is not None:
            row |= validate(self.trained, self.tested, self.judge)
        self.trained.history[-1]["curve"].append(row)
        if self.told is not None:
            self.told(row)


@without_gradients
def validate(trained: Trained, tested: Lessons, judge: Reward | None) -> dict[str, float]:
    """Loss and greedy CIDEr-D on images that were not learned from."""
    model: Captioner = trained.model
    model.eval()
    losses = counts = 0.0
    for at in range(0, len(tested), 256):
        image, units = tested.batch(np.arange(at, min(at + 256, len(tested))))
        begin = torch.full((len(units), 1), BEGIN)
        values, counted = log_likelihood(model(tested.views.batch(image), torch.cat([begin, units[:, :-1]], 1)), units)
        losses, counts = losses - float((values * counted).sum()), counts + float(counted.sum())
    found = {"validation loss": losses / max(counts, 1)}
    if judge is not None:
        units, _ = decoding.greedy(model, tested.views.batch(np.arange(len(tested.ids))), trained.longest + 1)
        found["validation CIDEr-D"] = float(np.mean(judge(tested.ids, _for_rewards(trained, units, 1))))
    return found


def _reward(references: References, name: str, trained: Trained) -> Reward:
    return reward(references, name, vocabulary=trained.units.words, end=0 if trained.units.words else ())


def _for_rewards(trained: Trained, units: Tensor, k: int) -> Any:
    """Captions as rewards take them: numbers where units are words, else text."""
    if trained.units.words is not None:
        return units.view(-1, k, units.shape[1]).numpy()
    texts = trained.units.decode(units.numpy())
    return [texts[at : at + k] for at in range(0, len(texts), k)]
