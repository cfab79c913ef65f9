"""Training of a captioner: cross-entropy, then cross-entropy together with rewards.

The loss is w · XE + λ · self-critical reward + β · retrieval reward + γ · reward of an adversary, where w can
be 0. The advantage of a sample is its reward minus a baseline: the mean of the other samples of its image
(leave one out), or the reward of the greedy caption. All randomness comes from the seed, and an interrupted
training continues from its last checkpoint to the same result.
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

from captious.core.errors import InputError, check_positive
from captious.core.progress import track
from captious.core.threads import one_blas_thread
from captious.generate.captioner import captioner_checkpoint as checkpoint
from captious.generate.captioner import decoding
from captious.generate.captioner.captioner_checkpoint import TrainedCaptioner
from captious.generate.captioner.captioners import (
    Captioner,
    CaptionerShape,
    Seen,
    build,
    log_likelihood,
    without_gradients,
)
from captious.generate.captioner.image_features import ImageFeatures
from captious.generate.captioner.subword_units import BEGIN, Units
from captious.generate.network_files import optimizer_state, restore_optimizer
from captious.results.references import References
from captious.rewards import Reward, reward
from captious.training.captioner_adversary import Adversary
from captious.training.captioner_examples import (
    CaptionerExamples,
    Matcher,
    batches,
    lessons,
    longest_caption,
    train_matcher,
)

ProgressCallback = Callable[[dict[str, Any]], None]
BASELINES = ("leave-one-out", "greedy")


@dataclass(frozen=True)
class CaptionerSettings:
    """Training settings."""

    steps: int = 2000
    batch: int = 100
    rate: float = 2e-3
    #: Steps over which the learning rate rises to ``rate``. Deep Transformers need them.
    warmup: int = 0
    #: Weights of metrics (λ) and of the retrieval reward (β). Without both, only cross-entropy is used.
    rewards: Mapping[str, float] = field(default_factory=dict)
    retrieval: float = 0.0
    #: Weight of cross-entropy beside rewards. With 0, only rewards are used.
    xe: float = 1.0
    #: For rewards: samples per image, and images per batch.
    samples: int = 5
    images: int = 64
    baseline: str = "leave-one-out"
    #: Weight of the latent vector's KL divergence (per caption; cross-entropy is per unit), and share of the
    #: training over which it rises from 0.
    divergence: float = 0.1
    annealing: float = 0.5
    #: Divergence of each component that costs nothing, in nats (free bits, Kingma et al. 2016).
    free_bits: float = 0.0
    #: Weight of the reward of a learned evaluator, which is trained against the captioner.
    adversary: float = 0.0
    #: Steps of the evaluator before the first step of the captioner, and after each.
    adversary_steps: tuple[int, int] = (100, 1)
    evaluate_every: int = 500
    #: Number of images per validation.
    validate: int = 200
    save_every: int = 500
    seed: int = 1

    def check(self) -> None:
        """Raise InputError for invalid settings."""
        check_positive(self, "steps", "batch", "samples", "images", "evaluate_every", "save_every")
        if self.warmup < 0:
            raise InputError(f"warmup must be 0 or a positive number of steps, not {self.warmup}")
        if not (self.rate > 0 and math.isfinite(self.rate)):
            raise InputError(f"the learning rate must be above 0, not {self.rate}")
        if self.baseline not in BASELINES:
            raise InputError(f"unknown baseline '{self.baseline}'; choose {' or '.join(BASELINES)}")
        if self.rewarded and self.baseline == "leave-one-out" and self.samples < 2:
            raise InputError("the baseline leave-one-out needs at least 2 samples per image")
        for name, weight in {
            **self.rewards,
            "retrieval": self.retrieval,
            "the adversary": self.adversary,
            "the divergence": self.divergence,
        }.items():
            if not math.isfinite(weight):
                raise InputError(f"the weight of {name} must be a finite number, not {weight}")
        if not (self.xe >= 0 and math.isfinite(self.xe)):
            raise InputError(f"the weight of cross-entropy must be 0 or more, not {self.xe}")
        if not self.rewarded and self.xe != 1:
            raise InputError(
                "the weight of cross-entropy counts beside a reward only; add --reward METRIC=λ, "
                "--retrieval β or --adversary γ, or leave out --xe"
            )
        if not 0 <= self.annealing <= 1:
            raise InputError(f"the share of annealing must be between 0 and 1, not {self.annealing}")
        if not (self.free_bits >= 0 and math.isfinite(self.free_bits)):
            raise InputError(f"free bits must be 0 or more, not {self.free_bits}")

    @property
    def rewarded(self) -> bool:
        return any(self.rewards.values()) or self.retrieval != 0 or self.adversary != 0

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "adversary_steps": list(self.adversary_steps)}


def train(
    images: ImageFeatures,
    references: References,
    output: str | Path,
    *,
    ids: Sequence[str] | None = None,
    validation: Sequence[str] = (),
    shape: CaptionerShape | None = None,
    units: str = "words",
    vocabulary: int | None = None,
    least: int = 5,
    settings: CaptionerSettings | None = None,
    start: TrainedCaptioner | None = None,
    matcher: Matcher | None = None,
    resume: bool = False,
    progress: ProgressCallback | None = None,
    where: str = "the images",
) -> TrainedCaptioner:  # fmt: skip
    """Train a captioner, or continue with ``start``, and save it to ``output``.

    ``ids`` are the images to train on (default: all with references). ``validation`` images are held out:
    after every ``evaluate_every`` steps, the loss and the CIDEr-D of greedy captions on them are recorded and
    passed to ``progress``. With ``resume``, an interrupted training continues.
    """
    settings, shape = settings or CaptionerSettings(), shape or CaptionerShape()
    settings.check()
    shape.check()
    held_out = set(validation)
    training_ids = [
        image for image in (ids if ids is not None else references.captions.ids) if image not in held_out
    ]
    if ids is None:
        image_ids = set(images.ids)
        training_ids = [image for image in training_ids if image in image_ids]
    if len(training_ids) < 2:
        raise InputError(
            f"{len(training_ids)} images have both objects and references; a captioner needs at least 2 to "
            "learn from"
        )
    trained, first_step, state = _begin(
        images, references, training_ids, output, shape, units, vocabulary, least, settings, start, resume
    )
    if first_step is None:
        return trained
    training = lessons(images, references, training_ids, trained.units, trained.longest, where)
    held_out_examples = (
        lessons(
            images, references, list(validation)[: settings.validate], trained.units, trained.longest, where
        )
        if validation
        else None
    )
    if start is None and not state:
        trained.model.spread.copy_(training.views.spread)
    with torch.random.fork_rng(), one_blas_thread():
        run = _CaptionerTraining(
            trained, training, held_out_examples, references, settings, matcher, progress
        )
        run.go(output, first_step, state)
    trained.model.eval()
    return trained


def _begin(
    images: ImageFeatures,
    references: References,
    ids: Sequence[str],
    output: str | Path,
    shape: CaptionerShape,
    units: str,
    vocabulary: int | None,
    least: int,
    settings: CaptionerSettings,
    start: TrainedCaptioner | None,
    resume: bool,
) -> tuple[TrainedCaptioner, int | None, dict[str, Tensor]]:
    """Return the captioner to train, the completed steps (None if all), and the training's state."""
    if Path(output).exists() and resume:
        trained, step, state = checkpoint.load_unfinished(output)
        last = trained.history[-1]["settings"] if trained.history else None
        if isinstance(last, dict):  # files of older versions lack newer settings
            last = {**CaptionerSettings().to_json(), **last}
        if last != settings.to_json():
            differing = sorted(
                k for k, v in settings.to_json().items() if not isinstance(last, dict) or last.get(k) != v
            )
            raise InputError(
                f"{output}: was trained with other settings ({', '.join(differing)}); go on with the same, "
                "or "
                "write to another file"
            )
        return trained, step, state
    if start is not None:
        if start.classes != images.classes or start.model.width != images.width:
            raise InputError(
                "the captioner to start from was trained on other objects or features; use the same kind"
            )
        begun = TrainedCaptioner(
            start.model, start.units, start.classes, start.longest, start.tokenizer, start.history
        )
    else:
        row_of = {image: i for i, image in enumerate(references.captions.ids)}
        texts = references.captions.take_images(
            np.array([row_of[image] for image in ids if image in row_of], np.int64)
        ).sentences
        vocabulary_units = Units.learn(texts, units, vocabulary, least)
        with torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            model = build(shape, len(vocabulary_units), images.width)
        begun = TrainedCaptioner(
            model,
            vocabulary_units,
            images.classes,
            longest_caption(vocabulary_units, texts),
            references.captions.tokenizer,
        )
    begun.history = (*begun.history, {"settings": settings.to_json(), "images": len(ids), "curve": []})
    return begun, 0, {}


class _CaptionerTraining:
    """A single training run."""

    def __init__(
        self,
        trained: TrainedCaptioner,
        taught: CaptionerExamples,
        tested: CaptionerExamples | None,
        references: References,
        settings: CaptionerSettings,
        matcher: Matcher | None,
        progress: ProgressCallback | None,
    ) -> None:
        self.trained, self.model, self.taught, self.tested = trained, trained.model, taught, tested
        self.settings, self.progress = settings, progress
        self.references = references
        self.rewards: list[tuple[float, Reward]] = [
            (weight, _reward(references, name, trained))
            for name, weight in settings.rewards.items()
            if weight
        ]
        self.judge = (
            _reward(references, "CIDEr-D", trained)
            if tested is not None and references.captions.n_images > 1
            else None
        )
        self.matcher = matcher
        if settings.retrieval and matcher is None:
            self.matcher = train_matcher(taught, len(trained.units), seed=settings.seed)
        self.adversary = Adversary(taught, len(trained.units), settings.seed) if settings.adversary else None
        self.optimizer = torch.optim.Adam(self.model.parameters(), settings.rate)
        self.draw = torch.Generator()

    def go(self, output: str | Path, first_step: int, state: dict[str, Tensor]) -> None:
        """Run the remaining steps."""
        settings = self.settings
        torch.manual_seed(settings.seed + 1)
        self.draw.manual_seed(settings.seed + 2)
        if state:
            restore_optimizer(self.optimizer, state)
            torch.set_rng_state(state["rng"])
            self.draw.set_state(state["draw"])
            if self.adversary is not None:
                self.adversary.restore(state)
        elif self.adversary is not None:
            self._teach_adversary(settings.adversary_steps[0])
        size = settings.images if settings.rewarded else settings.batch
        steps = batches(
            self.taught, settings.seed, size, first_step, settings.steps, images=settings.rewarded
        )
        started, losses = time.monotonic(), _restore_losses(state)
        for step, rows in track(steps, "training the captioner", total=settings.steps - first_step):
            self.model.train()
            for group in self.optimizer.param_groups:
                # Cosine decay to 5% of the rate. Short trainings and rewards use a constant rate.
                falling = 0.05 + 0.95 * (1 + math.cos(math.pi * step / settings.steps)) / 2
                rising = min(1.0, (step + 1) / (settings.warmup + 1))
                constant = settings.rewarded or settings.steps < 300
                group["lr"] = settings.rate * rising * (1.0 if constant else falling)
            loss, row = self._rewarded(rows) if settings.rewarded else self._taught(rows, step)
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            losses.append({"loss": float(loss.detach()), **row})
            at = step + 1
            if at % settings.evaluate_every == 0 or at == settings.steps:
                self._evaluate(at, losses, time.monotonic() - started)
                losses = []
            if at % settings.save_every == 0 and at < settings.steps:
                state_to_save = {
                    **optimizer_state(self.optimizer),
                    "rng": torch.get_rng_state(),
                    "draw": self.draw.get_state(),
                    **_losses_state(losses),
                    **({} if self.adversary is None else self.adversary.state()),
                }
                checkpoint.save(output, self.trained, at, state_to_save)
        checkpoint.save(output, self.trained)

    # Cross-entropy.

    def _taught(self, rows: Any, step: int) -> tuple[Tensor, dict[str, float]]:
        image, units = self.taught.batch(rows)
        seen = self.taught.views.batch(image)
        if not self.model.shape.latent:
            return self._cross_entropy(seen, units), {}
        settings = self.settings
        latent, _, each = self.model.posterior(seen, units, self.draw)
        xe = self._cross_entropy(seen, units, latent)
        # Free bits: a component costs nothing up to this divergence, in the mean of the batch.
        by_component = each.mean(0)
        cost = by_component.clamp(min=settings.free_bits).sum()
        rising = min(1.0, step / (settings.annealing * settings.steps)) if settings.annealing else 1.0
        row = {"xe": float(xe.detach()), "divergence": float(by_component.sum().detach())}
        return xe + settings.divergence * rising * cost, row

    def _cross_entropy(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        values, counted = log_likelihood(self._scores(seen, units, latent), units)
        return -(values * counted).sum() / counted.sum()

    def _scores(self, seen: Seen, units: Tensor, latent: Tensor | None = None) -> Tensor:
        scores: Tensor = self.model(
            seen, torch.cat([torch.full((len(units), 1), BEGIN), units[:, :-1]], 1), latent
        )
        return scores

    # Rewards.

    def _rewarded(self, rows: Any) -> tuple[Tensor, dict[str, float]]:
        settings, k = self.settings, self.settings.samples
        ids = [self.taught.ids[i] for i in rows.tolist()]
        seen = self.taught.views.batch(rows)
        many = seen.rows(torch.arange(len(rows)).repeat_interleave(k))
        latent = self._latent(many)
        self.model.eval()
        units, _ = decoding.sample(
            self.model, many, self.trained.longest + 1, generator=self.draw, latent=latent
        )
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
        row = {"reward": float(values.mean())}
        if self.adversary is not None:
            row["adversary loss"] = self._teach_adversary(settings.adversary_steps[1])
        if not settings.xe:
            return policy, row
        # Cross-entropy on two captions per image keeps the language fluent.
        first, each = self.taught.first[rows], np.diff(self.taught.first)[rows]
        picks = torch.randint(0, 1 << 30, (2, len(rows)), generator=self.draw).numpy()
        xe, _ = self._taught(np.concatenate([first + pick % each for pick in picks]), settings.steps)
        return settings.xe * xe + policy, {"xe": float(xe.detach()), **row}

    def _latent(self, seen: Seen) -> Tensor | None:
        """Draw latent vectors from the prior, for a model that has them."""
        return self.model.draw_latent(seen, 1.0, self.draw) if self.model.shape.latent else None

    def _teach_adversary(self, steps: int) -> float:
        """Show the evaluator human captions, samples and captions of other images. Return its last loss."""
        assert self.adversary is not None
        loss, size = 0.0, self.settings.images
        training = self.model.training
        self.model.eval()
        for _ in range(steps):
            rows = torch.randint(0, len(self.taught.ids), (size,), generator=self.draw).numpy()
            seen = self.taught.views.batch(rows)
            samples, _ = decoding.sample(
                self.model, seen, self.trained.longest + 1, generator=self.draw, latent=self._latent(seen)
            )
            loss = self.adversary.learn(rows, seen, samples, self.draw)
        self.model.train(training)
        return loss

    def _worth(self, ids: Sequence[str], seen: Seen, units: Tensor, k: int) -> Tensor:
        """Return the weighted sum of all rewards of each sample (images × samples)."""
        total = torch.zeros(len(ids), k)
        captions = _for_rewards(self.trained, units, k)
        for weight, metric in self.rewards:
            total += weight * torch.as_tensor(np.asarray(metric(ids, captions))).view(len(ids), k)
        if self.settings.retrieval and self.matcher is not None:
            owner = torch.arange(len(ids)).repeat_interleave(k)
            total += self.settings.retrieval * self.matcher.reward(seen.vector, units, owner).view(
                len(ids), k
            )
        if self.adversary is not None:
            many = seen.rows(torch.arange(len(ids)).repeat_interleave(k))
            total += self.settings.adversary * self.adversary.reward(many, units).view(len(ids), k)
        return total

    # Validation.

    def _evaluate(self, step: int, losses: list[dict[str, float]], seconds: float) -> None:
        row: dict[str, Any] = {"step": step}
        row |= {name: float(np.mean([one[name] for one in losses])) for name in losses[-1]}
        if self.tested is not None:
            row |= validate(self.trained, self.tested, self.judge)
        # The time is not stored, so that two runs write the same bytes.
        self.trained.history[-1]["curve"].append(row)
        if self.progress is not None:
            self.progress({"step": step, "seconds": round(seconds, 1), **row})


def _losses_state(losses: Sequence[Mapping[str, float]]) -> dict[str, Tensor]:
    """Return the losses since the last evaluation as tensors by name."""
    names = losses[-1] if losses else {}
    return {
        f"losses.{name}": torch.tensor([row[name] for row in losses], dtype=torch.float64) for name in names
    }


def _restore_losses(state: Mapping[str, Tensor]) -> list[dict[str, float]]:
    """Return the losses that :func:`_losses_state` stored."""
    columns = {name[7:]: tensor.tolist() for name, tensor in state.items() if name.startswith("losses.")}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


@without_gradients
def validate(
    trained: TrainedCaptioner, examples: CaptionerExamples, judge: Reward | None
) -> dict[str, float]:
    """Return the loss and the greedy CIDEr-D on held-out images."""
    model: Captioner = trained.model
    model.eval()
    losses = counts = 0.0
    for at in range(0, len(examples), 256):
        image, units = examples.batch(np.arange(at, min(at + 256, len(examples))))
        begin = torch.full((len(units), 1), BEGIN)
        values, counted = log_likelihood(
            model(examples.views.batch(image), torch.cat([begin, units[:, :-1]], 1)), units
        )
        losses, counts = losses - float((values * counted).sum()), counts + float(counted.sum())
    results = {"validation loss": losses / max(counts, 1)}
    if judge is not None:
        units, _ = decoding.greedy(
            model, examples.views.batch(np.arange(len(examples.ids))), trained.longest + 1
        )
        results["validation CIDEr-D"] = float(np.mean(judge(examples.ids, _for_rewards(trained, units, 1))))
    return results


def _reward(references: References, name: str, trained: TrainedCaptioner) -> Reward:
    return reward(references, name, vocabulary=trained.units.words, end=0 if trained.units.words else ())


def _for_rewards(trained: TrainedCaptioner, units: Tensor, k: int) -> Any:
    """Convert captions for rewards: word indices where units are words, else text."""
    if trained.units.words is not None:
        return units.view(-1, k, units.shape[1]).numpy()
    texts = trained.units.decode(units.numpy())
    return [texts[at : at + k] for at in range(0, len(texts), k)]
