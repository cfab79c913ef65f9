"""Protocol for judging systems (Cui et al. 2018, section 3.5): two folds, each judged by a critic trained on
the other.

Each system has its own critics, trained on its captions. Folds, seeds and the number of steps are the same
for all systems, so their scores are comparable.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from captious.core import digests as digest
from captious.core.errors import InputError, some
from captious.core.ragged import IntArray, runs
from captious.corpus import Captions, Corpus
from captious.critic.critic_examples import TrainingData
from captious.critic.critic_measure import CriticMeasure
from captious.critic.critic_network import CriticShape
from captious.critic.critic_scoring import chances
from captious.critic.critic_training import CriticSettings, check_images, train
from captious.generate.captioner.image_features import ImageFeatures
from captious.io import CaptionWarning
from captious.metrics.base import FloatArray, as_statistics
from captious.results.references import distinct
from captious.results.result_rows import EXACT, NumberStyle
from captious.results.saved_scores import ScoredCaptions
from captious.results.scores import Score, Scores
from captious.results.signatures import Signature, data_fields
from captious.text import fluency
from captious.vectors import WordVectors

FOLDS = 2
#: Minimum number of images: two per fold.
LEAST_IMAGES = 4
#: Loss of the last epoch above which critics count as untrained (guessing gives 0.693).
LEARNED = 0.685

ProgressCallback = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, eq=False)
class CriticResult:
    """Critic scores of one system."""

    #: Scores of the captions, averaged over runs.
    scores: Scores
    #: Scores of the references by the same critics, each with the others as context.
    human: Score
    #: Mean score of the system and of the references, per run.
    runs: tuple[float, ...]
    human_runs: tuple[float, ...]

    @property
    def score(self) -> Score:
        return self.scores["Critic"]

    @property
    def spread(self) -> float:
        """Standard deviation over runs. NaN for one run."""
        return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else float("nan")

    def to_json(self, numbers: NumberStyle = EXACT, **how: Any) -> dict[str, Any]:
        """Return a JSON-ready description; ``how`` goes to the scores."""
        runs = {
            "values": [numbers.number(value) for value in self.runs],
            "spread": None if len(self.runs) < 2 else numbers.number(self.spread),
            "human": [numbers.number(value) for value in self.human_runs],
        }
        return {
            "system": self.scores.system,
            "score": self.score.to_json(numbers=numbers, **how),
            "human": self.human.to_json(numbers=numbers, **how),
            "runs": runs,
        }


@dataclass(frozen=True, eq=False)
class CriticProtocol:
    """Settings for judging systems."""

    shape: CriticShape
    settings: CriticSettings
    vectors: WordVectors
    runs: int = 1
    seed: int = 1

    def fields(self, features: str = "", samples: str = "") -> dict[str, str]:
        """Return the signature fields that determine the scores, besides references and captions.

        ``features`` and ``samples`` are digests of the image features and of the sampled captions.
        """
        shape, settings, negatives = self.shape, self.settings, self.settings.negatives
        fields = {
            "context": "+".join(shape.context) or "none",
            "combine": shape.combine,
            "hidden": f"{shape.hidden}x{shape.layers}",
            **({"sketch": str(shape.sketch)} if shape.combine == "cbp" else {}),
            **({"classifier": str(shape.classifier)} if shape.combine == "mlp" else {}),
            "negatives": "+".join(negatives.kinds),
            "epochs": str(settings.epochs),
            "batch": str(settings.batch),
            "rate": f"{settings.rate:g}*{settings.decay:g}",
            "words": f"{settings.vocabulary}/{settings.least}/{settings.longest}",
            "vectors": f"{self.vectors.label}@{self.vectors.digest}",
        }
        if "pathological" in negatives.kinds:
            fields["transformations"] = "+".join(
                "".join(part[0] for part in name.split()) for name in negatives.transformations
            )
            if negatives.strength != (0.0, 100.0):
                fields["strength"] = "-".join(f"{part:g}" for part in negatives.strength)
        if "image" in shape.context:
            fields["features"] = features
        if shape.reads_fluency:
            detector = fluency.load()
            fields["detector"] = f"{detector.label}@{detector.digest}"
        if "samples" in negatives.kinds:
            fields["samples"] = samples
        return {**fields, "folds": str(FOLDS), "runs": str(self.runs), "seed": str(self.seed)}


def folds(ids: Sequence[str], seed: int) -> tuple[IntArray, ...]:
    """Split the images into two halves that do not depend on their order in the file."""
    order = np.array(sorted(range(len(ids)), key=lambda i: ids[i]), np.int64)
    mixed = order[np.random.default_rng([seed, 3]).permutation(len(ids))]
    return tuple(np.sort(part) for part in np.array_split(mixed, FOLDS))


def judge(
    corpora: Sequence[Corpus],
    protocol: CriticProtocol,
    *,
    images: ImageFeatures | None = None,
    samples: Mapping[str, Sequence[str]] | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    progress: ProgressCallback | None = None,
    where: str = "the features",
) -> list[CriticResult]:
    """Judge systems on the same references.

    Critics are saved to the folder ``output``, if set. With ``resume``, critics in the folder are reused, and
    interrupted trainings continue.
    """
    datasets = [_training_data(corpus, protocol, images, samples, where) for corpus in corpora]
    names = distinct([re.sub(r"[^\w.+() -]", "_", corpus.name).strip(". ") or "system" for corpus in corpora])
    results = []
    for number, (corpus, data, name) in enumerate(zip(corpora, datasets, names), 1):
        label = f"{corpus.name} ({number} of {len(corpora)})"
        results.append(
            _judge(
                corpus,
                data,
                protocol,
                None if output is None else Path(output) / name,
                resume,
                progress,
                label,
            )
        )
    return results


def _training_data(
    corpus: Corpus,
    protocol: CriticProtocol,
    images: ImageFeatures | None,
    samples: Mapping[str, Sequence[str]] | None,
    where: str,
) -> TrainingData:
    """Collect the training data of a system, checked before any training starts."""
    ids = corpus.ids
    if len(ids) < LEAST_IMAGES:
        raise InputError(
            f"{len(ids)} image{'s are' if len(ids) != 1 else ' is'} too few: a critic learns from one half "
            f"of the images and judges the other; use at least {LEAST_IMAGES}, better thousands"
        )
    features, classes = None, tuple[str, ...]()
    if images is not None and "image" in protocol.shape.context:
        taken = images.take(ids, where)
        features, classes = taken.counted(), taken.classes
    sample_captions = None
    if "samples" in protocol.settings.negatives.kinds:
        if samples is None:
            raise InputError(
                "negatives of the kind 'samples' are requested, but there are none; add --samples"
            )
        missing_ids = [image for image in ids if not samples.get(image)]
        if missing_ids:
            raise InputError(
                f"the samples have no captions for {len(missing_ids):,} of {len(ids):,} images: "
                f"{some(missing_ids)}"
            )
        sample_captions = Captions.of([list(samples[image]) for image in ids], corpus.tokenizer, ids=ids)
    references = corpus.references
    if references.ids != tuple(ids):
        references = references.take_images(corpus.images)
    data = TrainingData(references, corpus.candidates, sample_captions, features, classes)
    check_images(data, protocol.shape, protocol.settings)
    return data


def _judge(
    corpus: Corpus,
    data: TrainingData,
    protocol: CriticProtocol,
    output: Path | None,
    resume: bool,
    progress: ProgressCallback | None,
    label: str,
) -> CriticResult:
    halves = folds(data.references.ids, protocol.seed)
    captions, references = corpus.candidates, data.references
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
    losses: list[float] = []
    machine, human = np.zeros((protocol.runs, len(captions))), np.zeros((protocol.runs, len(references)))
    for run in range(protocol.runs):
        for fold, judged in enumerate(halves):
            training_images = np.concatenate([half for other, half in enumerate(halves) if other != fold])
            seed = int(np.random.SeedSequence([protocol.seed, run, fold]).generate_state(1)[0])
            path = None if output is None else output / f"run{run + 1}-fold{fold + 1}.safetensors"
            part = f"{label}, run {run + 1} of {protocol.runs}, fold {fold + 1} of {FOLDS}"
            critic = train(
                data.take(training_images),
                protocol.shape,
                replace(protocol.settings, seed=seed),
                protocol.vectors,
                output=path,
                resume=resume,
                label=part,
            )
            held_out = data.take(judged)
            assert held_out.system is not None
            context = (held_out.references.sentences, held_out.references.image_offsets, held_out.features)
            machine[run, _rows(captions, judged)] = chances(
                critic, held_out.system.sentences, held_out.system.image_of, *context
            )
            own = "reference" in protocol.shape.context
            human[run, _rows(references, judged)] = chances(
                critic, held_out.references.sentences, held_out.references.image_of, *context, own=own
            )
            losses.append(critic.history["loss"][-1])
            if progress is not None:
                progress({"system": corpus.name, "run": run + 1, "fold": fold + 1, "loss": losses[-1]})
    if np.mean(losses) > LEARNED:
        warnings.warn(
            CaptionWarning(
                f"{corpus.name}: the critics learned next to nothing (loss {np.mean(losses):.3f}; guessing "
                f"gives {np.log(2):.3f}), so the score is meaningless; use more images, or more "
                "epochs (--epochs)"
            ),
            stacklevel=3,
        )
    features = data.features
    fields = protocol.fields(
        "" if features is None else f"{features.shape[1]}@{digest.of_arrays(features)}",
        "" if data.samples is None else data.samples.digest,
    )
    measure = CriticMeasure(fixed=fields)
    signature = Signature.of("Critic", {**fields, **data_fields(measure, corpus)})
    score = Score(measure, as_statistics(machine.mean(axis=0)), corpus.ids, captions.image_offsets, signature)
    human_score = Score(
        measure, as_statistics(human.mean(axis=0)), references.ids, references.image_offsets, signature
    )
    return CriticResult(
        Scores(corpus.name, [score], ScoredCaptions.of(corpus)),
        human_score,
        _means(machine, captions),
        _means(human, references),
    )


def _rows(captions: Captions, images: IntArray) -> IntArray:
    return runs(captions.image_offsets, images)[0]


def _means(values: FloatArray, captions: Captions) -> tuple[float, ...]:
    """Return the mean of each run, with equal weight for every image."""
    weights = np.repeat(1 / captions.per_image, captions.per_image) / captions.n_images
    return tuple((values @ weights).tolist())


def hold_out(
    captions: Mapping[str, Sequence[str]], seed: int
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Hold out one random reference per image as a human system.

    Returns the other references, and the system.
    """
    rng = np.random.default_rng([seed, 4])
    rest: dict[str, list[str]] = {}
    human: dict[str, list[str]] = {}
    for image in sorted(captions):
        texts = list(captions[image])
        if len(texts) < 2:
            raise InputError(
                f"image {image} has only one reference; a human system needs at least two per image"
            )
        human[image] = [texts.pop(int(rng.integers(0, len(texts))))]
        rest[image] = texts
    return rest, human
