"""Training a critic: two classes, cross-entropy, half of each batch written by people (Cui et al. 2018, section 4.1).

A training that was killed goes on from its last checkpoint to the same weights, bit for bit: examples depend on the seed and the
step, and nothing else is random.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from captious.critic import checkpoint
from captious.critic.checkpoint import Trained
from captious.critic.lessons import Given, Lessons, Negatives
from captious.critic.model import Critic, Shape, build
from captious.critic.words import Encoded, Words
from captious.errors import InputError
from captious.generate.model_files import optimizer_state, restore_optimizer
from captious.progress import track
from captious.vectors import WordVectors


@dataclass(frozen=True)
class Settings:
    """How to train."""

    epochs: int = 10
    batch: int = 100
    rate: float = 1e-3
    #: What the rate is multiplied by after every epoch.
    decay: float = 0.9
    vocabulary: int = 10_000
    least: int = 5
    longest: int = 15
    negatives: Negatives = field(default_factory=Negatives)
    save_every: int = 200
    seed: int = 1

    def check(self) -> None:
        """Refuse before training starts what would fail, or mean nothing, later."""
        whole = {"epochs": self.epochs, "vocabulary": self.vocabulary, "least": self.least, "longest": self.longest, "save-every": self.save_every}
        for name, value in whole.items():
            if value < 1:
                raise InputError(f"{name} is a positive whole number, not {value}")
        if self.batch < 2 or self.batch % 2:
            raise InputError(f"half of a batch is captions of people, so its size is even, not {self.batch}")
        if not (self.rate > 0 and math.isfinite(self.rate)) or not 0 < self.decay <= 1:
            raise InputError(f"the rate is above 0 and its decay above 0 and at most 1, not {self.rate} and {self.decay}")
        self.negatives.check()

    def to_json(self) -> dict[str, Any]:
        """For files; lists, as JSON has them."""
        found = asdict(self)
        found["negatives"] = {name: list(value) for name, value in found["negatives"].items()}
        return found


#: Sizes of the paper, and sizes that train in minutes on a processor.
PRESETS: dict[str, tuple[Shape, Settings]] = {
    "paper": (Shape(), Settings()),
    "quick": (Shape(hidden=128, classifier=128, sketch=1024), Settings(epochs=5, rate=3e-3)),
}


def check_images(given: Given, shape: Shape, settings: Settings) -> None:
    """Refuse images and captions that a critic cannot learn from."""
    shape.check()
    settings.check()
    if len(given) < 2:
        raise InputError(f"a critic learns from at least two images, and there {'is' if len(given) else 'are'} {len(given)}")
    if "image" in shape.context and given.features is None:
        raise InputError("the image is part of the context, and there are no features of images; give some, or set the context to reference")
    for kind, captions in (("system", given.system), ("samples", given.samples)):
        if kind in settings.negatives.kinds and captions is None:
            raise InputError(f"negatives of the kind '{kind}' were asked for, and there are no such captions")
    if "reference" in shape.context:
        alone = np.flatnonzero(given.references.per_image < 2)
        if len(alone):
            raise InputError(
                f"a person's caption is judged beside another one, and {len(alone):,} of {len(given):,} images have only one, such as "
                f"{given.references.ids[int(alone[0])]}; give more references, or set the context to image"
            )


def train(
    given: Given, shape: Shape, settings: Settings, vectors: WordVectors, *, output: str | Path | None = None, resume: bool = False, label: str = "training a critic"
) -> Trained:  # fmt: skip
    """Train a critic on images with their captions. It is kept in ``output``, if there is one; with ``resume`` a training that was
    killed goes on."""
    check_images(given, shape, settings)
    learned = {"settings": settings.to_json(), "shape": shape.to_json(), "captions": given.digest, "vectors": vectors.digest}
    trained, done, state = _begin(given, shape, settings, vectors, learned, output, resume)
    if done is None:
        return trained
    lessons = Lessons(
        given, trained.words, settings.negatives, other_reference="reference" in shape.context, by_features="image" in shape.context
    )
    _learn(trained, lessons, settings, output, done, state, label)
    return trained


def _begin(
    given: Given, shape: Shape, settings: Settings, vectors: WordVectors, learned: dict[str, Any], output: str | Path | None, resume: bool
) -> tuple[Trained, int | None, dict[str, Tensor]]:
    """The critic to train, the steps that are done (nothing when all are), and the state they left."""
    if resume and output is not None and Path(output).exists():
        trained, step, state = checkpoint.load_unfinished(output)
        before = {name: trained.history.get(name) for name in learned}
        if before != learned:
            apart = ", ".join(name for name in learned if before[name] != learned[name])
            raise InputError(f"{output}: this critic was trained with other {apart}; go on with the same, or write elsewhere")
        return trained, step, state
    words = Words.learn(given.references.sentences, settings.vocabulary, settings.least, settings.longest)
    width = 0 if given.features is None else given.features.shape[1]
    model = build(shape, len(words), vectors.dimension, width, settings.seed)
    with torch.no_grad():
        model.embed.weight.copy_(torch.from_numpy(words.embeddings(vectors, settings.seed)))
        if "image" in shape.context and given.features is not None:
            model.scale.fill_(float(np.sqrt(np.mean(given.features.astype(np.float64) ** 2))) or 1.0)
    classes = given.classes if "image" in shape.context else ()
    return Trained(model, words, given.references.tokenizer, classes, {**learned, "loss": []}), 0, {}


def _learn(
    trained: Trained, lessons: Lessons, settings: Settings, output: str | Path | None, done: int, state: dict[str, Tensor], label: str
) -> None:
    model, each = trained.model, lessons.steps(settings.batch)
    total = settings.epochs * each
    optimizer = torch.optim.Adam(model.parameters(), settings.rate)
    if state:
        restore_optimizer(optimizer, state)
    features = None if lessons.given.features is None else torch.from_numpy(lessons.given.features)
    model.train()
    losses: list[float] = trained.history["loss"]
    for step in track(range(done, total), label, total=total - done):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * settings.decay ** (step // each)
        batch = lessons.batch(settings.seed, step, settings.batch)
        loss = torch.nn.functional.cross_entropy(_outputs(model, lessons, batch, features), torch.from_numpy(batch.labels))
        if not torch.isfinite(loss):
            raise InputError(f"the training went astray at step {step:,} (the loss is no number); lower the rate, or look at the features")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % each == 0:
            losses.append(0.0)
        losses[-1] += float(loss.detach()) / each
        if output is not None and (step + 1) % settings.save_every == 0 and step + 1 < total:
            checkpoint.save(output, trained, step + 1, optimizer_state(optimizer))
    model.eval()
    if output is not None:
        checkpoint.save(output, trained)


def _outputs(model: Critic, lessons: Lessons, batch: Any, features: Tensor | None) -> Tensor:
    """The scores of both classes for the examples of a batch; candidates and references are read together."""
    captions = [batch.candidates]
    if "reference" in model.shape.context:
        captions.append(Encoded(lessons.references.tokens[batch.contexts], lessons.references.lengths[batch.contexts]))
    tokens = torch.from_numpy(np.concatenate([part.tokens for part in captions]))
    lengths = torch.from_numpy(np.concatenate([part.lengths for part in captions]))
    candidate, *context = model.encode(tokens, lengths).split(len(batch.labels))
    if "image" in model.shape.context and features is not None:
        context.insert(0, model.see(features[torch.from_numpy(batch.images)]))
    found: Tensor = model(candidate, context)
    return found
