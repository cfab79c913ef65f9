"""Training of captioners and language models from files, as ``captious train captioner|lm`` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from captious.core.errors import InputError
from captious.core.threads import require_torch
from captious.io import read
from captious.rerank.language_models import model_files
from captious.rerank.language_models.arpa import write_arpa
from captious.rerank.language_models.language_model import tokens_of
from captious.rerank.language_models.ngram import NGram, Unigram

if TYPE_CHECKING:
    from captious.generate.captioner.captioner_checkpoint import TrainedCaptioner
    from captious.generate.captioner.image_source import ImageSource


@dataclass(frozen=True)
class CaptionerTraining:
    """A captioner, its file, and the number of images that it was trained on."""

    path: Path
    trained: TrainedCaptioner
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
    layers: int = 2,
    heads: int = 4,
    width: int = 0,
    latent: int = 0,
    prior: str = "normal",
    dropout: float = 0.2,
    units: str = "words",
    vocabulary: int | None = None,
    least: int = 5,
    steps: int | None = None,
    rate: float | None = None,
    start: str | Path | None = None,
    rewards: Mapping[str, float] | None = None,
    retrieval: float = 0.0,
    adversary: float = 0.0,
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

    With rewards the loss is ``xe`` · XE + λ · reward + β · retrieval reward + γ · evaluator, which is trained
    against the captioner, and ``start`` names the model to start from.

    Parameters
    ----------
    images
        A file of objects or features, or an :class:`~captious.generate.captioner.image_source.ImageSource`.
    references
        Captions of the images.
    output
        File for the captioner (safetensors).
    model, hidden, latent, prior, dropout
        Architecture ("fc", "att" or "relation"), its width, the size of its latent vector, the prior of that
        vector ("normal" or "gmm"), and the share of dropout.
    layers, heads, width
        Layers of encoder and decoder, attention heads, and width of the feed-forward layers (0: twice
        ``hidden``) of "relation".
    units, vocabulary, least
        "words", "characters", "bpe" or "unigram"; the most units; how often a word must occur to be a unit.
    steps, rate
        Steps (default: 2,000, and 100 with rewards) and learning rate (default: 0.002, and 0.0005 with
        rewards).
    start
        A captioner to continue with.
    rewards, retrieval, adversary
        Metrics with their weights, such as ``{"CIDEr-D": 5}``, the weight of the retrieval reward, and that
        of a learned evaluator (conditional GAN).
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
        Other fields of :class:`~captious.training.captioner_trainer.CaptionerSettings`: xe, divergence,
        annealing, free_bits, batch, samples, baseline, warmup, evaluate_every, save_every.
    """
    require_torch("training a captioner", threads)
    from captious.generate.captioner import captioner_checkpoint
    from captious.generate.captioner.captioners import CaptionerShape
    from captious.generate.captioner.image_source import ImageSource
    from captious.metrics.registry import make_measures
    from captious.results.references import References
    from captious.training.captioner_trainer import CaptionerSettings, train

    weights = dict(rewards or {})
    for name in weights:
        make_measures(name, {})
    rewarded = bool(weights) or retrieval != 0 or adversary != 0
    if Path(output).exists() and not resume:
        raise InputError(f"{output} already exists; continue it with --resume, or name another file")
    if rewarded and start is None:
        raise InputError(
            "rewards need a trained captioner to start from; train one by cross-entropy first, "
            "and name it with --from"
        )
    chosen = CaptionerSettings(
        steps=steps or (100 if rewarded else 2000),
        rate=rate or (5e-4 if rewarded else 2e-3),
        rewards=weights,
        retrieval=retrieval,
        adversary=adversary,
        images=images_per_step,
        seed=seed,
        **settings,
    )
    chosen.check()
    shape = CaptionerShape(model, hidden, dropout, latent, layers, heads, width, prior)
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
            f"{source.path} and {references} have no image in common (--exclude removes images); "
            "compare their ids"
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
        progress=progress,
        where=str(source.path),
    )
    return CaptionerTraining(Path(output), trained, len(usable) - len(held_out))


def excluded_ids(captions: str | Path | None) -> set[str]:
    """Return the images of a file of captions that must not be learned from."""
    return set(read(captions, "references").ids) if captions is not None else set()


def hold_out_images(ids: Sequence[str], count: int, seed: int) -> list[str]:
    """Draw images for validation, in the order of ``ids``."""
    if count >= len(ids):
        raise InputError(
            f"{count:,} of {len(ids):,} images cannot be held out; lower --validation or --held-out"
        )
    picked = np.random.default_rng(seed).choice(len(ids), count, replace=False)
    return [ids[i] for i in sorted(picked.tolist())]


KINDS = ("unigram", "ngram", "lstm")


@dataclass(frozen=True)
class TrainedLanguageModel:
    """A language model, its file, and its perplexity on captions that were held out."""

    path: Path
    kind: str
    model: Any
    #: Numbers of captions and words; with held-out captions also perplexity and the share of unknown tokens.
    facts: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {"model": str(self.path), "kind": self.kind, **self.facts}


def train_language_model(
    captions: str | Path,
    output: str | Path,
    kind: str = "ngram",
    *,
    order: int = 3,
    least: int | None = None,
    held_out: int = 100,
    exclude: str | Path | None = None,
    resume: bool = False,
    seed: int = 1,
    threads: int = 1,
    tokenizer: str | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    **settings: Any,
) -> TrainedLanguageModel:
    """Train a language model of captions.

    Parameters
    ----------
    captions
        File of captions to learn from.
    output
        File for the model: npz, safetensors for an LSTM, or .arpa for n-grams.
    kind
        "unigram", "ngram" (modified Kneser–Ney) or "lstm".
    order
        Length of n-grams.
    least
        How often a word must occur to be known (default: 1, and 5 for an LSTM).
    held_out
        Number of images held out for the perplexity, which counts words and ends.
    exclude
        A file of captions whose images are not used.
    resume
        Continue an LSTM from the last checkpoint in ``output``.
    seed, threads, tokenizer
        Seed of all random choices, threads of PyTorch, and the tokenizer (default: ptb).
    progress
        Callback for each row of an LSTM's training.
    settings
        Other fields of an LSTM's :class:`~captious.training.lstm_trainer.Settings`: hidden,
        embedding,
        dropout, epochs, batch, rate, save_every.

    Examples
    --------
    >>> import tempfile
    >>> from captious.data import demo_path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trained = train_language_model(demo_path("references"), f"{folder}/lm.npz", held_out=10)
    >>> trained.facts["captions"]
    250
    """
    path = Path(output)
    if kind not in KINDS:
        raise InputError(f"unknown kind of language model '{kind}'; choose {', '.join(KINDS)}")
    if path.suffix == ".arpa" and kind != "ngram":
        raise InputError(f"an ARPA file holds n-grams, not {kind}; name the file .npz or .safetensors")
    if path.exists() and not resume:
        hint = "continue it with --resume, or " if kind == "lstm" else ""
        raise InputError(f"{output} already exists; {hint}name another file")
    if kind == "lstm":
        require_torch("training an LSTM", threads)
    file = read(captions, "references")
    unusable = excluded_ids(exclude)
    usable = [image for image in file.ids if image not in unusable]
    if not usable:
        raise InputError(f"{captions} has no images left to learn from; change --exclude")
    tested_images = set(hold_out_images(usable, held_out, seed)) if held_out else set()
    tokenizer = tokenizer or "ptb"
    by_image = dict(zip(file.ids, file.captions))
    training = [text for image in usable if image not in tested_images for text in by_image[image]]
    testing = [text for image in usable if image in tested_images for text in by_image[image]]
    taught, tested = tokens_of(training, tokenizer), tokens_of(testing, tokenizer)
    model: Any
    if kind == "unigram":
        model = Unigram.learn(taught, least or 1, tokenizer)
    elif kind == "ngram":
        model = NGram.learn(taught, order, least or 1, tokenizer)
    else:
        from captious.training.lstm_trainer import Settings, train

        chosen = Settings(least=least or 5, seed=seed, **settings)
        model = train(
            taught,
            output,
            held_out=tested,
            tokenizer=tokenizer,
            settings=chosen,
            resume=resume,
            progress=progress,
        )
    facts: dict[str, Any] = {"captions": len(taught), "words": len(model.vocabulary)}
    if tested:
        scored = model.score(tested)
        facts |= {
            "perplexity": scored.perplexity,
            "unknown": scored.unknown_share,
            "held out": len(tested),
        }
    model.provenance = {**model.provenance, **facts}
    (write_arpa if path.suffix == ".arpa" else model_files.save)(model, path)
    return TrainedLanguageModel(path, kind, model, facts)
