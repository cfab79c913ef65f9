"""Training of a critic: two classes, cross-entropy, half of each batch human (Cui et al. 2018, section 4.1).

An interrupted training continues from its last checkpoint to bitwise the same weights: examples depend only
on the seed and the step, and nothing else is random.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from captious.core.errors import InputError, check_positive
from captious.core.progress import track
from captious.critic.critic_examples import CriticExamples, Negatives, TrainingData
from captious.critic.critic_network import (
    Critic,
    CriticShape,
    TrainedCritic,
    build,
    load_unfinished,
    save_critic,
)
from captious.critic.critic_vocabulary import CriticVocabulary, EncodedTexts
from captious.generate.network_files import optimizer_state, restore_optimizer
from captious.vectors import WordVectors


@dataclass(frozen=True)
class CriticSettings:
    """Training settings."""

    epochs: int = 30
    batch: int = 100
    rate: float = 1e-3
    #: Factor of the learning rate after every epoch.
    decay: float = 0.9
    vocabulary: int = 10_000
    least: int = 5
    longest: int = 15
    negatives: Negatives = field(default_factory=Negatives)
    save_every: int = 200
    seed: int = 1

    def check(self) -> None:
        """Raise InputError for invalid settings."""
        check_positive(self, "epochs", "vocabulary", "least", "longest", "save_every")
        if self.batch < 2 or self.batch % 2:
            raise InputError(
                f"the batch size must be even (half of a batch is human captions), not {self.batch}"
            )
        if not (self.rate > 0 and math.isfinite(self.rate)) or not 0 < self.decay <= 1:
            raise InputError(
                f"the rate must be above 0 and its decay in (0, 1], not {self.rate} and {self.decay}"
            )
        self.negatives.check()

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        settings = asdict(self)
        settings["negatives"] = {name: list(value) for name, value in settings["negatives"].items()}
        return settings


#: The paper's settings, and settings that train in minutes on a CPU.
PRESETS: dict[str, tuple[CriticShape, CriticSettings]] = {
    "paper": (CriticShape(), CriticSettings()),
    "quick": (CriticShape(hidden=128, classifier=128, sketch=1024), CriticSettings(epochs=5, rate=3e-3)),
}


def check_images(data: TrainingData, shape: CriticShape, settings: CriticSettings) -> None:
    """Raise InputError for images and captions that a critic cannot learn from."""
    shape.check()
    settings.check()
    if len(data) < 2:
        raise InputError(f"a critic needs at least two images to learn from, not {len(data)}")
    if "image" in shape.context and data.features is None:
        raise InputError(
            "the context includes the image, but there are no image features; "
            "add features, or set the context to reference"
        )
    for kind, captions in (("system", data.system), ("samples", data.samples)):
        if kind in settings.negatives.kinds and captions is None:
            raise InputError(f"negatives of the kind '{kind}' are requested, but there are no such captions")
    if "reference" in shape.context:
        alone = np.flatnonzero(data.references.per_image < 2)
        if len(alone):
            raise InputError(
                f"{len(alone):,} of {len(data):,} images have only one reference, such as "
                f"{data.references.ids[int(alone[0])]}, but a human caption needs another one as context; "
                "add references, or set the context to image"
            )


def train(
    data: TrainingData,
    shape: CriticShape,
    settings: CriticSettings,
    vectors: WordVectors,
    *,
    output: str | Path | None = None,
    resume: bool = False,
    label: str = "training a critic",
) -> TrainedCritic:
    """Train a critic on images with their captions.

    The critic is saved to ``output``, if set. With ``resume``, an interrupted training continues.
    """
    check_images(data, shape, settings)
    provenance = {
        "settings": settings.to_json(),
        "shape": shape.to_json(),
        "captions": data.digest,
        "vectors": vectors.digest,
    }
    trained, first_step, state = _begin(data, shape, settings, vectors, provenance, output, resume)
    if first_step is None:
        return trained
    examples = CriticExamples(
        data,
        trained.words,
        settings.negatives,
        other_reference="reference" in shape.context,
        by_features="image" in shape.context,
        reads_fluency=shape.reads_fluency,
    )
    _learn(trained, examples, settings, output, first_step, state, label)
    return trained


def _begin(
    data: TrainingData,
    shape: CriticShape,
    settings: CriticSettings,
    vectors: WordVectors,
    provenance: dict[str, Any],
    output: str | Path | None,
    resume: bool,
) -> tuple[TrainedCritic, int | None, dict[str, Tensor]]:
    """Return the critic to train, the completed steps (None if all), and the optimizer's state."""
    if resume and output is not None and Path(output).exists():
        trained, step, state = load_unfinished(output)
        before = {name: trained.history.get(name) for name in provenance}
        if before != provenance:
            differing = ", ".join(name for name in provenance if before[name] != provenance[name])
            raise InputError(
                f"{output}: this critic was trained with other {differing}; use the same, or write to "
                "another path"
            )
        return trained, step, state
    words = CriticVocabulary.learn(
        data.references.sentences, settings.vocabulary, settings.least, settings.longest
    )
    width = 0 if data.features is None else data.features.shape[1]
    model = build(shape, len(words), vectors.dimension, width, settings.seed)
    with torch.no_grad():
        model.embed.weight.copy_(torch.from_numpy(words.embeddings(vectors, settings.seed)))
        if "image" in shape.context and data.features is not None:
            model.scale.fill_(float(np.sqrt(np.mean(data.features.astype(np.float64) ** 2))) or 1.0)
    classes = data.classes if "image" in shape.context else ()
    return TrainedCritic(model, words, data.references.tokenizer, classes, {**provenance, "loss": []}), 0, {}


def _learn(
    trained: TrainedCritic,
    examples: CriticExamples,
    settings: CriticSettings,
    output: str | Path | None,
    first_step: int,
    state: dict[str, Tensor],
    label: str,
) -> None:
    model, steps_per_epoch = trained.model, examples.steps(settings.batch)
    total = settings.epochs * steps_per_epoch
    optimizer = torch.optim.Adam(model.parameters(), settings.rate)
    if state:
        restore_optimizer(optimizer, state)
    features = None if examples.data.features is None else torch.from_numpy(examples.data.features)
    model.train()
    losses: list[float] = trained.history["loss"]
    for step in track(range(first_step, total), label, total=total - first_step):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * settings.decay ** (step // steps_per_epoch)
        batch = examples.batch(settings.seed, step, settings.batch)
        loss = torch.nn.functional.cross_entropy(
            _outputs(model, examples, batch, features), torch.from_numpy(batch.labels)
        )
        if not torch.isfinite(loss):
            raise InputError(
                f"training diverged at step {step:,} (the loss is not finite); lower the rate, or check the "
                "features"
            )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % steps_per_epoch == 0:
            losses.append(0.0)
        losses[-1] += float(loss.detach()) / steps_per_epoch
        if output is not None and (step + 1) % settings.save_every == 0 and step + 1 < total:
            save_critic(output, trained, step + 1, optimizer_state(optimizer))
    model.eval()
    if output is not None:
        save_critic(output, trained)


def _outputs(model: Critic, examples: CriticExamples, batch: Any, features: Tensor | None) -> Tensor:
    """Return the logits of a batch. Candidates and references are encoded together."""
    captions = [batch.candidates]
    if "reference" in model.shape.context:
        captions.append(
            EncodedTexts(
                examples.references.tokens[batch.contexts], examples.references.lengths[batch.contexts]
            )
        )
    tokens = torch.from_numpy(np.concatenate([part.tokens for part in captions]))
    lengths = torch.from_numpy(np.concatenate([part.lengths for part in captions]))
    candidate, *context = model.encode(tokens, lengths).split(len(batch.labels))
    if "image" in model.shape.context and features is not None:
        context.insert(0, model.see(features[torch.from_numpy(batch.images)]))
    logits: Tensor = model(
        candidate, context, None if batch.errors is None else torch.from_numpy(batch.errors)
    )
    return logits
