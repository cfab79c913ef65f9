"""Judging systems (Cui et al. 2018, section 3.5): two folds of images, and for each a critic that has seen the other one.

Each system is judged by critics that were trained on its captions alone. Folds, seeds and the number of steps are the same for all
systems, so their scores can be compared.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from captious import digest
from captious.corpus import Captions, Corpus
from captious.critic.learning import Settings, check_images, train
from captious.critic.lessons import Given
from captious.critic.measure import CriticMeasure
from captious.critic.model import Shape
from captious.critic.scoring import chances
from captious.errors import InputError, some
from captious.generate.captioner.images import Images
from captious.io import CaptionWarning
from captious.measures.base import FloatArray, as_statistics
from captious.names import distinct
from captious.ragged import IntArray, runs
from captious.records import ScoredCaptions
from captious.scores import Score, Scores
from captious.signature import Signature, data_fields
from captious.vectors import WordVectors

FOLDS = 2
#: Images that both folds together need: a fold to learn from has two.
LEAST_IMAGES = 4
#: Critics whose loss in the last epoch is above this have learned nothing (guessing gives 0.693).
LEARNED = 0.685

Told = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, eq=False)
class Judged:
    """What critics say of one system."""

    #: The score of each of its captions, averaged over runs.
    scores: Scores
    #: What the same critics say of the references, each beside the others.
    human: Score
    #: The mean score of the system and of the references, in each run.
    runs: tuple[float, ...]
    human_runs: tuple[float, ...]

    @property
    def score(self) -> Score:
        return self.scores["Critic"]

    @property
    def spread(self) -> float:
        """The standard deviation over runs; not a number for one run."""
        return float(np.std(self.runs, ddof=1)) if len(self.runs) > 1 else float("nan")

    def to_json(self, **how: Any) -> dict[str, Any]:
        """A JSON-ready description."""
        runs = {"values": list(self.runs), "spread": None if len(self.runs) < 2 else self.spread, "human": list(self.human_runs)}
        return {"system": self.scores.system, "score": self.score.to_json(**how), "human": self.human.to_json(**how), "runs": runs}


@dataclass(frozen=True, eq=False)
class Protocol:
    """How systems are judged."""

    shape: Shape
    settings: Settings
    vectors: WordVectors
    runs: int = 1
    seed: int = 1

    def fields(self, features: str | None, samples: str | None) -> dict[str, str]:
        """For signatures: all that decides the numbers, beside the references and the captions."""
        shape, settings, negatives = self.shape, self.settings, self.settings.negatives
        found = {
            "context": "+".join(shape.context) or "none", "combine": shape.combine, "hidden": f"{shape.hidden}x{shape.layers}",
            **({"sketch": str(shape.sketch)} if shape.combine == "cbp" else {}),
            **({"classifier": str(shape.classifier)} if shape.combine == "mlp" else {}),
            "negatives": "+".join(negatives.kinds),
            "epochs": str(settings.epochs), "batch": str(settings.batch), "rate": f"{settings.rate:g}*{settings.decay:g}",
            "words": f"{settings.vocabulary}/{settings.least}/{settings.longest}", "vectors": f"{self.vectors.label}@{self.vectors.digest}",
        }  # fmt: skip
        if "pathological" in negatives.kinds:
            found["transformations"] = "+".join("".join(part[0] for part in name.split()) for name in negatives.transformations)
        if "image" in shape.context:
            found["features"] = features or "given"
        if "samples" in negatives.kinds:
            found["samples"] = samples or "given"
        return {**found, "folds": str(FOLDS), "runs": str(self.runs), "seed": str(self.seed)}


def folds(ids: Sequence[str], seed: int) -> tuple[IntArray, ...]:
    """The images in two halves, whatever their order in the file."""
    order = np.array(sorted(range(len(ids)), key=lambda i: ids[i]), np.int64)
    mixed = order[np.random.default_rng([seed, 3]).permutation(len(ids))]
    return tuple(np.sort(part) for part in np.array_split(mixed, FOLDS))


def judge(
    corpora: Sequence[Corpus],
    protocol: Protocol,
    *,
    images: Images | None = None,
    samples: Mapping[str, Sequence[str]] | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    told: Told | None = None,
    where: str = "the features",
) -> list[Judged]:
    """Judge systems on the same references. Critics are kept in the folder ``output``, if there is one; with ``resume`` those that
    are there are used, and one whose training was killed goes on."""
    givens = [_given(corpus, protocol, images, samples, where) for corpus in corpora]
    names = distinct([re.sub(r"[^\w.+() -]", "_", corpus.name).strip(". ") or "system" for corpus in corpora])
    found = []
    for number, (corpus, given, name) in enumerate(zip(corpora, givens, names), 1):
        label = f"{corpus.name} ({number} of {len(corpora)})"
        found.append(_judge(corpus, given, protocol, None if output is None else Path(output) / name, resume, told, label))
    return found


def _given(
    corpus: Corpus, protocol: Protocol, images: Images | None, samples: Mapping[str, Sequence[str]] | None, where: str
) -> Given:
    """What there is of a system, checked before any training starts."""
    ids = corpus.ids
    if len(ids) < LEAST_IMAGES:
        raise InputError(
            f"a critic learns from one half of the images and judges the other; {len(ids)} image{'s are' if len(ids) != 1 else ' is'} too few "
            f"(at least {LEAST_IMAGES}, and better thousands)"
        )
    features, classes = None, tuple[str, ...]()
    if "image" in protocol.shape.context:
        if images is None:
            raise InputError("the image is part of the context, and there are no features of images; give --features, or set --context reference")
        taken = images.take(ids, where)
        features, classes = taken.counted(), taken.classes
    drawn = None
    if "samples" in protocol.settings.negatives.kinds:
        if samples is None:
            raise InputError("negatives of the kind 'samples' were asked for, and there are none; give --samples")
        missing = [image for image in ids if not samples.get(image)]
        if missing:
            raise InputError(f"the samples have nothing for {len(missing):,} of {len(ids):,} images: {some(missing)}")
        drawn = Captions.of([list(samples[image]) for image in ids], corpus.tokenizer, ids=ids)
    references = corpus.references
    if references.ids != tuple(ids):
        references = references.take_images(corpus.images)
    given = Given(references, corpus.candidates, drawn, features, classes)
    check_images(given, protocol.shape, protocol.settings)
    return given


def _judge(
    corpus: Corpus, given: Given, protocol: Protocol, output: Path | None, resume: bool, told: Told | None, label: str
) -> Judged:
    halves = folds(given.references.ids, protocol.seed)
    captions, references = corpus.candidates, given.references
    losses: list[float] = []
    machine, human = np.zeros((protocol.runs, len(captions))), np.zeros((protocol.runs, len(references)))
    for run in range(protocol.runs):
        for fold, judged in enumerate(halves):
            taught = np.concatenate([half for other, half in enumerate(halves) if other != fold])
            seed = int(np.random.SeedSequence([protocol.seed, run, fold]).generate_state(1)[0])
            path = None if output is None else output / f"run{run + 1}-fold{fold + 1}.safetensors"
            part = f"{label}, run {run + 1} of {protocol.runs}, fold {fold + 1} of {FOLDS}"
            critic = train(
                given.take(taught), protocol.shape, replace(protocol.settings, seed=seed), protocol.vectors, output=path, resume=resume, label=part
            )
            held = given.take(judged)
            assert held.system is not None
            theirs = (held.references.sentences, held.references.image_offsets, held.features)
            machine[run, _rows(captions, judged)] = chances(critic, held.system.sentences, held.system.image_of, *theirs)
            own = "reference" in protocol.shape.context
            human[run, _rows(references, judged)] = chances(critic, held.references.sentences, held.references.image_of, *theirs, own=own)
            losses.append(critic.history["loss"][-1])
            if told is not None:
                told({"system": corpus.name, "run": run + 1, "fold": fold + 1, "loss": losses[-1]})
    if np.mean(losses) > LEARNED:
        warnings.warn(
            CaptionWarning(
                f"{corpus.name}: the critics learned next to nothing (their loss is {np.mean(losses):.3f}, and {np.log(2):.3f} by guessing), so the score "
                "says nothing; give more images, or more epochs (--epochs)"
            ),
            stacklevel=3,
        )
    fields = protocol.fields(_named(given.features), None if given.samples is None else given.samples.digest)
    measure = CriticMeasure(fixed=fields)
    signature = Signature.of("Critic", {**fields, **data_fields(measure, corpus)})
    score = Score(measure, as_statistics(machine.mean(axis=0)), corpus.ids, captions.image_offsets, signature)
    people = Score(measure, as_statistics(human.mean(axis=0)), references.ids, references.image_offsets, signature)
    return Judged(
        Scores(corpus.name, [score], ScoredCaptions.of(corpus)), people, _means(machine, captions), _means(human, references)
    )


def _named(features: Any) -> str | None:
    return None if features is None else f"{features.shape[1]}@{digest.of_arrays(features)}"


def _rows(captions: Captions, images: IntArray) -> IntArray:
    return runs(captions.image_offsets, images)[0]


def _means(values: FloatArray, captions: Captions) -> tuple[float, ...]:
    """The mean of each run, every image with the same weight."""
    weights = np.repeat(1 / captions.per_image, captions.per_image) / captions.n_images
    return tuple((values @ weights).tolist())


def hold_out(captions: Mapping[str, Sequence[str]], seed: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The references without one of each image, drawn by the seed, and those: people as a system."""
    rng = np.random.default_rng([seed, 4])
    rest: dict[str, list[str]] = {}
    human: dict[str, list[str]] = {}
    for image in sorted(captions):
        texts = list(captions[image])
        if len(texts) < 2:
            raise InputError(f"image {image} has one reference; people can be a system where each image has at least two")
        human[image] = [texts.pop(int(rng.integers(0, len(texts))))]
        rest[image] = texts
    return rest, human
