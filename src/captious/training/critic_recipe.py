"""Training of one critic from files, as ``captious train critic`` does. ``-m Critic=FILE`` scores with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.core.errors import InputError, some
from captious.core.threads import require_torch
from captious.critic.system_judging import CriticOptions, sampled_captions
from captious.io import read
from captious.training.network_recipes import excluded_ids

if TYPE_CHECKING:
    from captious.critic.critic_network import TrainedCritic
    from captious.generate.captioner.image_source import ImageSource


@dataclass(frozen=True)
class CriticTraining:
    """A critic, its file, and the number of images that it was trained on."""

    path: Path
    trained: TrainedCritic
    images: int

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        shape = self.trained.model.shape
        return {
            "model": str(self.path),
            "images": self.images,
            "context": list(shape.context),
            "combine": shape.combine,
            "loss": self.trained.history["loss"],
        }


def train_critic(
    references: str | Path,
    output: str | Path,
    systems: Sequence[str | Path] = (),
    options: CriticOptions | None = None,
    *,
    images: str | Path | ImageSource | None = None,
    exclude: str | Path | None = None,
    resume: bool = False,
    threads: int = 1,
    tokenizer: str | None = None,
) -> CriticTraining:
    """Train one critic to tell human captions from others, for use as a metric.

    Parameters
    ----------
    references
        Human captions.
    output
        File for the critic (safetensors).
    systems
        Captions of systems. A negative example of the kind "system" is drawn from all of them.
    options
        Architecture and training. Without systems, the negatives are wrong captions.
    images
        Objects or features of the images, or photographs with a backbone.
    exclude
        A file of captions whose images are not used.
    resume
        Continue from the last checkpoint in ``output``.
    threads, tokenizer
        Threads of PyTorch, and the tokenizer (default: ptb).
    """
    require_torch("training a critic", threads)
    from captious import vectors
    from captious.corpus import Captions
    from captious.critic.critic_examples import TrainingData
    from captious.critic.critic_training import train
    from captious.generate.captioner.image_source import ImageSource

    options = options or CriticOptions()
    if options.runs != 1:
        raise InputError("'captious train critic' trains one critic; run it again with another --seed")
    if Path(output).exists() and not resume:
        raise InputError(f"{output} already exists; continue it with --resume, or name another file")
    shape, settings = options.shape_and_settings(images is not None, has_systems=bool(systems))
    file = read(references, "references")
    unusable = excluded_ids(exclude)
    captions = {image: texts for image, texts in zip(file.ids, file.captions) if image not in unusable}
    if not captions:
        raise InputError(f"{references} has no images left to learn from; change --exclude")
    ids, tokenizer = list(captions), tokenizer or "ptb"

    def encoded(source: dict[str, list[str]], where: str) -> Captions:
        missing = [image for image in ids if image not in source]
        if missing:
            raise InputError(
                f"{where} has no captions for {len(missing):,} of {len(ids):,} images: {some(missing)}"
            )
        return Captions.of([source[image] for image in ids], tokenizer, ids=ids)

    by_system: dict[str, list[str]] = {}
    for path in systems:
        system = read(path, "predictions", several=True)
        own = dict(zip(system.ids, system.captions))
        encoded({image: list(texts) for image, texts in own.items()}, str(path))
        for image in ids:
            by_system.setdefault(image, []).extend(own[image])
    source = None if images is None else ImageSource.of(images)
    features = None
    if source is not None and "image" in shape.context:
        features = source.read(ids if source.backbone is not None else None).take(ids, str(source.path))
    samples = None
    if options.samples is not None:
        samples = encoded(
            sampled_captions(Path(options.samples), features, options.seed), str(options.samples)
        )
    data = TrainingData(
        Captions.of([captions[image] for image in ids], tokenizer, ids=ids),
        encoded(by_system, "the systems") if systems else None,
        samples,
        None if features is None else features.counted(),
        () if features is None else features.classes,
    )
    trained = train(
        data,
        shape,
        replace(settings, seed=options.seed),
        vectors.get(options.vectors),
        output=output,
        resume=resume,
    )
    return CriticTraining(Path(output), trained, len(ids))
