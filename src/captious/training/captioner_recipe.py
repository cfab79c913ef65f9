"""Training a captioner from files, as ``captious train captioner`` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.core.errors import InputError
from captious.core.torch_extra import require_torch
from captious.training.held_out import excluded_ids, hold_out_images

if TYPE_CHECKING:
    from captious.generate.captioner.captioner_checkpoint import Trained
    from captious.generate.captioner.image_source import ImageSource


@dataclass(frozen=True)
class CaptionerTraining:
    """A captioner, its file, and the number of images that it was trained on."""

    path: Path
    trained: Trained
    images: int

    @property
    def parameters(self) -> int:
        """Number of parameters of the network."""
        return sum(parameter.numel() for parameter in self.trained.model.parameters())

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "model": str(self.path),
            "parameters": self.parameters,
            "units": len(self.trained.units),
            "history": list(self.trained.history),
        }


def train_captioner(
    images: str | Path | ImageSource,
    references: Any,
    output: str | Path,
    *,
    model: str = "fc",
    hidden: int = 320,
    latent: int = 0,
    dropout: float = 0.2,
    units: str = "words",
    vocabulary: int | None = None,
    least: int = 5,
    steps: int | None = None,
    rate: float | None = None,
    start: str | Path | None = None,
    rewards: Mapping[str, float] | None = None,
    retrieval: float = 0.0,
    images_per_step: int = 64,
    validation: int = 200,
    exclude: str | Path | None = None,
    resume: bool = False,
    seed: int = 1,
    threads: int = 1,
    tokenizer: str | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    **settings: Any,
) -> CaptionerTraining:
    """Train a captioner on the objects (or features) of images and their captions.

    With rewards the loss is XE + λ · reward + β · retrieval reward, and ``start`` names the model to start
    from.

    Parameters
    ----------
    images
        A file of objects or features, or an :class:`~captious.generate.captioner.image_source.ImageSource`.
    references
        Captions of the images.
    output
        File for the captioner (safetensors).
    model, hidden, latent, dropout
        Architecture ("fc", "att" or "relation"), its width, the size of its latent vector, and the share of
        dropout.
    units, vocabulary, least
        "words", "characters", "bpe" or "unigram"; the most units; how often a word must occur to be a unit.
    steps, rate
        Steps (default: 2,000, and 100 with rewards) and learning rate (default: 0.002, and 0.0005 with
        rewards).
    start
        A captioner to continue with.
    rewards, retrieval
        Metrics with their weights, such as ``{"CIDEr-D": 5}``, and the weight of the retrieval reward.
    images_per_step
        Images of a step with rewards.
    validation
        Number of images held out for validation.
    exclude
        A file of captions whose images are not used.
    resume
        Continue from the last checkpoint in ``output``.
    seed, threads, tokenizer
        Seed of all random choices, threads of PyTorch, and the tokenizer (default: ptb, or that of
        ``start``).
    progress
        Callback for each row of the validation curve.
    settings
        Other fields of :class:`~captious.generate.captioner.captioner_training.Settings`: batch, samples,
        baseline,
        evaluate_every, save_every.
    """
    require_torch("training a captioner", threads)
    from captious.generate.captioner import captioner_checkpoint
    from captious.generate.captioner.captioner_training import Settings, train
    from captious.generate.captioner.captioners import Shape
    from captious.generate.captioner.image_source import ImageSource
    from captious.metrics.registry import make_measures
    from captious.results.references import References

    weights = dict(rewards or {})
    for name in weights:
        make_measures(name, {})
    rewarded = bool(weights) or retrieval != 0
    if Path(output).exists() and not resume:
        raise InputError(f"{output} is there already; --resume goes on with it, or name another file")
    if rewarded and start is None:
        raise InputError(
            "rewards improve a captioner that can write: train one by cross-entropy first, "
            "and name it with --from"
        )
    chosen = Settings(
        steps=steps or (100 if rewarded else 2000),
        rate=rate or (5e-4 if rewarded else 2e-3),
        rewards=weights,
        retrieval=retrieval,
        images=images_per_step,
        seed=seed,
        **settings,
    )
    chosen.check()
    shape = Shape(model, hidden, dropout, latent)
    shape.check()
    first = captioner_checkpoint.load(start) if start is not None else None
    source = ImageSource.of(images)
    features = source.read(classes=first.classes if first is not None else ())
    if tokenizer is None and first is not None:
        tokenizer = first.tokenizer
    prepared = References.read(references, tokenizer)
    unusable = excluded_ids(exclude)
    available = set(features.ids) - unusable
    usable = [image for image in prepared.captions.ids if image in available]
    if not usable:
        raise InputError(
            f"{source.path} and {references} have no image in common that may be learned from; "
            "look at their ids"
        )
    held_out = hold_out_images(usable, validation, seed)
    trained = train(
        features,
        prepared,
        output,
        ids=usable,
        validation=held_out,
        shape=shape,
        units=units,
        vocabulary=vocabulary,
        least=least,
        settings=chosen,
        start=first,
        resume=resume,
        told=progress,
        where=str(source.path),
    )
    return CaptionerTraining(Path(output), trained, len(usable) - len(held_out))
