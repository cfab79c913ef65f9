"""Critics of any number of systems, from files, as ``captious critic`` runs them (Cui et al. 2018).

PyTorch is needed (``pip install 'captious[train]'``), and imported where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.core.errors import InputError, did_you_mean
from captious.core.threads import require_torch
from captious.core.writing import atomic_write
from captious.generate.captioner.image_source import ImageSource
from captious.io import read
from captious.results.comparison import compare
from captious.results.comparison_result import Comparisons
from captious.results.references import References, load_systems
from captious.results.result_rows import EXACT, NumberStyle
from captious.results.saved_scores import SUFFIX, check_target
from captious.results.scores import Scores

if TYPE_CHECKING:
    from captious.critic.critic_network import CriticShape
    from captious.critic.critic_training import CriticSettings
    from captious.critic.protocol import CriticProtocol, CriticResult
    from captious.generate.captioner.image_features import ImageFeatures


@dataclass(frozen=True)
class CriticOptions:
    """Architecture and training of critics. None stands for the value of the preset."""

    #: Parts of the context: "image", "reference", "fluency" (the probability of a fluency error in the
    #: caption itself). The default is "reference", and "image" where there are images.
    context: Sequence[str] | None = None
    #: "cbp" (compact bilinear pooling), "mlp" or "linear".
    combine: str = "cbp"
    #: Sizes: "quick", or those of the "paper".
    preset: str = "quick"
    #: Captions drawn from a model at random, or a captioner that draws them (safetensors).
    samples: str | Path | None = None
    #: Learn from wrong and from sampled captions, too.
    augmentation: bool = True
    #: Kinds of negative examples: "system", "random caption", "word permutation", "random word" (or
    #: "pathological" for these three), "samples". The default is all that there are captions for.
    negatives: Sequence[str] | None = None
    #: Range of the random strength of wrong captions, in percent.
    strength: tuple[float, float] = (0.0, 100.0)
    #: Trainings to average.
    runs: int = 1
    epochs: int | None = None
    hidden: int | None = None
    layers: int | None = None
    #: Occurrences that a word needs to be in the vocabulary.
    least: int = 5
    #: Word vectors to start from: a file, "glove-6b-50d" or "default".
    vectors: str | None = None
    seed: int = 1

    def shape_and_settings(
        self, has_images: bool, *, has_systems: bool = True
    ) -> tuple[CriticShape, CriticSettings]:
        """Return the architecture and the training settings, checked."""
        from captious.critic.critic_examples import Negatives
        from captious.critic.critic_network import CONTEXTS
        from captious.critic.critic_training import PRESETS

        if self.preset not in PRESETS:
            hint = did_you_mean(self.preset, PRESETS)
            raise InputError(f"presets are {' and '.join(PRESETS)}, not '{self.preset}'{hint}")
        if self.samples is not None and not self.augmentation:
            raise InputError(
                "--samples are a part of augmentation; leave out --no-augmentation, or --samples"
            )
        default = CONTEXTS if has_images else ("reference",)
        context = default if self.context is None else tuple(sorted(self.context))
        shape, settings = PRESETS[self.preset]
        shape = replace(
            shape,
            context=context,
            combine=self.combine,
            hidden=self.hidden or shape.hidden,
            layers=self.layers or shape.layers,
        )
        shape.check()
        if "image" in context and not has_images:
            raise InputError(
                "the context includes the image, but there are no image features; "
                "add --features, or set --context reference"
            )
        kinds = ["system"] if has_systems else []
        if self.augmentation:
            kinds += ["pathological"] if self.samples is None else ["pathological", "samples"]
        if self.negatives is not None:
            if not self.augmentation:
                raise InputError(
                    "--no-augmentation stands for --negatives system; leave one of the two options out"
                )
            kinds = list(self.negatives)
        negatives = Negatives.of(kinds, self.strength)
        for kind, present, option in (
            ("samples", self.samples is not None, "--samples FILE"),
            ("system", has_systems, "a file of captions of a system"),
        ):
            if kind in negatives.kinds and not present:
                raise InputError(f"negatives of the kind '{kind}' need captions; add {option}")
        if self.samples is not None and "samples" not in negatives.kinds:
            raise InputError(
                "--samples are not used by these --negatives; add samples to them, or leave them out"
            )
        settings = replace(
            settings,
            epochs=self.epochs or settings.epochs,
            least=self.least,
            negatives=negatives,
        )
        settings.check()
        return shape, settings


@dataclass(frozen=True, eq=False)
class CriticReport:
    """Judgements of all systems, and paired tests of two or more."""

    systems: list[CriticResult]
    protocol: CriticProtocol
    comparisons: Comparisons | None

    def to_json(self, numbers: NumberStyle = EXACT, **how: Any) -> dict[str, Any]:
        """Return a JSON-ready description; ``how`` goes to the scores."""
        return {
            "systems": [system.to_json(numbers=numbers, **how) for system in self.systems],
            **({"comparison": self.comparisons.to_json(numbers)} if self.comparisons else {}),
        }


def judge_systems(
    references: str | Path,
    systems: Sequence[str | Path],
    options: CriticOptions | None = None,
    *,
    images: str | Path | ImageSource | None = None,
    save_features: str | Path | None = None,
    human: bool = False,
    names: Sequence[str] | None = None,
    tokenizer: str | None = None,
    subset: bool = False,
    several: bool | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    threads: int = 1,
) -> CriticReport:
    """Train critics to tell systems' captions from human ones, and score each caption by how well it passes.

    The images are divided into two folds. The critics of either fold judge the other. A score is the
    probability that a person wrote the caption.

    Parameters
    ----------
    references, systems
        Files of human captions, and of the captions of each system.
    options
        Architecture and training.
    images
        Objects or features of the images, or photographs with a backbone.
    save_features
        File for the features of the images (npz), which ``images`` reads.
    human
        Judge people, too: one reference of each image becomes a system and is removed from the references.
    names, tokenizer, subset, several
        As for :func:`captious.load_systems`.
    output
        Folder for scores and critics, or ``NAME.scores`` for one system. Critics are stored beside the
        scores.
    resume
        Use the critics that are stored already, and continue one that was interrupted.
    threads
        Threads of PyTorch.

    Returns
    -------
    CriticReport
        Scores of each system and of the references by the same critics.
    """
    require_torch("training a critic", threads)
    from captious import vectors
    from captious.critic.protocol import CriticProtocol, hold_out, judge

    check_target(None if output is None else Path(output), len(systems) + human)
    if resume and output is None:
        raise InputError("--resume continues in the folder of -o; add -o FOLDER")
    options = options or CriticOptions()
    shape, settings = options.shape_and_settings(images is not None)
    protocol = CriticProtocol(shape, settings, vectors.get(options.vectors), options.runs, options.seed)
    source: Any = References.read(references, tokenizer)
    captions: list[Any] = list(systems)
    labels: list[str | None] = [*names] if names else [None] * len(captions)
    if human:
        tokenizer = source.captions.tokenizer
        source, people = hold_out(dict(zip(source.file.ids, source.file.captions)), options.seed)
        captions, labels = [*captions, people], [*labels, "people"]
    corpora = load_systems(
        source, captions, tokenizer=tokenizer, subset=subset, several=several, names=labels
    )
    features = None
    if images is not None and "image" in shape.context:
        features = _features(
            ImageSource.of(images), list(dict.fromkeys(image for corpus in corpora for image in corpus.ids))
        )
        if save_features is not None:
            _save(features, save_features)
    samples = (
        sampled_captions(Path(options.samples), features, options.seed)
        if options.samples is not None
        else None
    )
    folder = _critics_folder(output, resume)
    judged = judge(
        corpora,
        protocol,
        images=features,
        samples=samples,
        output=folder,
        resume=resume,
        where=str(images.path if isinstance(images, ImageSource) else images),
    )
    if output is not None:
        Scores.save_all([one.scores for one in judged], output)
    compared = compare(*(one.scores for one in judged)) if len(judged) > 1 else None
    return CriticReport(judged, protocol, compared)


def _features(source: ImageSource, wanted: list[str]) -> ImageFeatures:
    # Which images a file lacks is reported system by system.
    return source.read(wanted if source.backbone is not None else None)


def _save(images: ImageFeatures, path: str | Path) -> None:
    import numpy as np

    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez(file, ids=np.array(images.ids), features=images.counted())


def sampled_captions(path: Path, images: ImageFeatures | None, seed: int) -> dict[str, list[str]]:
    """Read sampled captions, or let a captioner draw one for each image."""
    if path.suffix != ".safetensors":
        file = read(path, "predictions", several=True)
        return {image: list(texts) for image, texts in zip(file.ids, file.captions)}
    from captious.generate.captioner import captioner_checkpoint
    from captious.generate.captioner.caption_sets import CaptionPlan, generate

    trained = captioner_checkpoint.load(path)
    if images is None:
        raise InputError(
            f"{path} is a captioner and needs image features; "
            "add --features of the kind it was trained on, or pass a file of samples"
        )
    return dict(zip(images.ids, generate(trained, images, CaptionPlan("rs", 1, seed=seed)).captions))


def _critics_folder(output: str | Path | None, resume: bool) -> Path | None:
    if output is None:
        return None
    path = Path(output)
    folder = path.with_suffix(".critics") if path.name.endswith(SUFFIX) else path / "critics"
    if folder.exists() and not resume:
        raise InputError(f"{folder} already has critics; continue with --resume, or name another place")
    return folder
