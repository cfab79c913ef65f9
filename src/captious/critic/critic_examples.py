"""Training examples of a critic: human captions, and three kinds of other captions (Cui et al. 2018).

See section 3.3 and appendix A.3 of the paper.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.errors import InputError, did_you_mean
from captious.core.memo import cached_property
from captious.core.ragged import IntArray
from captious.corpus import Captions
from captious.critic.critic_vocabulary import CriticVocabulary, EncodedTexts
from captious.robustness.robustness_curves import TRANSFORMATIONS
from captious.robustness.transformations import Neighbours, permute_words, random_words
from captious.text import fluency

Floats = NDArray[np.float32]
#: Kinds of negatives: captions of the judged system, corrupted captions, and samples from a model.
NEGATIVES = ("system", "pathological", "samples")


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Images with their captions. All kinds of captions cover the same images in the same order."""

    references: Captions
    system: Captions | None = None
    samples: Captions | None = None
    #: One row per image.
    features: Floats | None = None
    #: Object classes of the columns of the features. Empty for other features.
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.references.n_images

    def take(self, images: IntArray) -> TrainingData:
        """Select images."""
        return TrainingData(
            self.references.take_images(images),
            None if self.system is None else self.system.take_images(images),
            None if self.samples is None else self.samples.take_images(images),
            None if self.features is None else self.features[images],
            self.classes,
        )

    @cached_property
    def digest(self) -> str:
        """Digest of the content."""
        parts = [digest.of_lines(self.references.ids)]
        for captions in (self.references, self.system, self.samples):
            parts.append(
                ""
                if captions is None
                else digest.of_lines([*map(str, captions.image_offsets.tolist()), *captions.sentences])
            )
        parts.append("" if self.features is None else digest.of_arrays(self.features))
        return digest.together(*parts)


@dataclass(frozen=True)
class Negatives:
    """Kinds of negative examples, drawn with equal probability."""

    kinds: tuple[str, ...] = NEGATIVES
    transformations: tuple[str, ...] = TRANSFORMATIONS
    #: Range of the random strength of transformations, in percent.
    strength: tuple[float, float] = (0.0, 100.0)

    @classmethod
    def of(cls, names: Sequence[str], strength: tuple[float, float] = (0.0, 100.0)) -> Negatives:
        """Return the negatives of a list of names.

        Names are "system", "samples", transformations such as "random caption" (also with a hyphen), or
        "pathological" for all transformations.
        """
        plain = [name.strip().casefold().replace("-", " ") for name in names]
        choices = (*NEGATIVES, *TRANSFORMATIONS)
        for name in plain:
            if name not in choices:
                listed = ", ".join(choice.replace(" ", "-") for choice in choices)
                raise InputError(
                    f"unknown negatives '{name}'{did_you_mean(name, choices)}; choose some of {listed}"
                )
        transformations = tuple(name for name in TRANSFORMATIONS if name in plain or "pathological" in plain)
        kinds = tuple(
            kind for kind in NEGATIVES if (transformations if kind == "pathological" else kind in plain)
        )
        negatives = cls(kinds, transformations or TRANSFORMATIONS, strength)
        negatives.check()
        return negatives

    def check(self) -> None:
        """Raise InputError for unknown kinds or an invalid strength."""
        for label, names, choices in (
            ("negatives", self.kinds, NEGATIVES),
            ("transformations", self.transformations, TRANSFORMATIONS),
        ):
            if not names:
                raise InputError(f"no {label} selected; choose some of {', '.join(choices)}")
            for name in names:
                if name not in choices:
                    raise InputError(
                        f"unknown {label} '{name}'{did_you_mean(name, choices)}; choose some of "
                        f"{', '.join(choices)}"
                    )
        low, high = self.strength
        if not 0 <= low <= high <= 100 or high == 0:
            raise InputError(
                f"the strength of transformations must be between 0 and 100 percent, not {low} to {high}"
            )


class CriticBatch(NamedTuple):
    """Candidates with the reference and the image of each. The first half is human."""

    candidates: EncodedTexts
    #: Rows of :attr:`CriticExamples.references`, and images.
    contexts: IntArray
    images: IntArray
    labels: IntArray
    #: Probability of a fluency error in each candidate, if the critic reads it.
    errors: Floats | None = None


class _Candidates(NamedTuple):
    """Captions as candidates, and their probabilities of a fluency error."""

    encoded: EncodedTexts
    errors: Floats


def error_probabilities(sentences: Sequence[str]) -> Floats:
    """Return the probability of a fluency error in each tokenized caption."""
    return fluency.load().error_probability(sentences).astype(np.float32)


class CriticExamples:
    """Examples from one set of images. The examples of a step depend only on the seed and the step."""

    def __init__(
        self,
        data: TrainingData,
        words: CriticVocabulary,
        negatives: Negatives,
        *,
        other_reference: bool,
        by_features: bool,
        reads_fluency: bool = False,
    ) -> None:
        """Encode the captions.

        ``other_reference``: the context of a human caption is a different reference. ``by_features``: nearest
        images are found by features, else by captions. ``reads_fluency``: batches have the candidates'
        probabilities of a fluency error.
        """
        self.data, self.words, self.negatives = data, words, negatives
        self.other_reference, self.reads_fluency = other_reference, reads_fluency
        references = data.references
        self.references, self.human_errors = self._candidates(references)
        self.first, self.each, self.image_of = (
            references.image_offsets,
            references.per_image,
            references.image_of,
        )
        self.system = None if data.system is None else self._candidates(data.system)
        self.samples = None if data.samples is None else self._candidates(data.samples)
        # Truncate to the words the critic reads: it could not see a change after them.
        self.texts = [
            [word for word in sentence.split(" ") if word][: words.longest]
            for sentence in references.sentences
        ]
        self.neighbours: Neighbours | None = None
        draws_captions = "pathological" in negatives.kinds and "random caption" in negatives.transformations
        # Full strength means any other image, which needs no search.
        if draws_captions and negatives.strength[0] < 100:
            if by_features and data.features is not None:
                self.neighbours = Neighbours(data.features.astype(np.float64))
            else:
                bounds = references.image_offsets.tolist()
                self.neighbours = Neighbours.by_captions(
                    [self.texts[a:b] for a, b in itertools.pairwise(bounds)]
                )

    def _candidates(self, captions: Captions) -> _Candidates:
        return _Candidates(self.words.encode(captions.sentences), self._errors(captions.sentences))

    def _errors(self, sentences: Sequence[str]) -> Floats:
        """Return probabilities of fluency errors, or zeros for critics that do not read them."""
        if not self.reads_fluency:
            return np.zeros(len(sentences), np.float32)
        return error_probabilities(sentences)

    def __len__(self) -> int:
        """Return the number of human captions."""
        return len(self.texts)

    def steps(self, batch: int) -> int:
        """Return the steps of an epoch, in which each human caption is used once."""
        return -(-len(self) // (batch // 2))

    def batch(self, seed: int, step: int, size: int) -> CriticBatch:
        """Return the examples of a step."""
        half, each = size // 2, self.steps(size)
        epoch, place = divmod(step, each)
        human = (
            np.random.default_rng([seed, epoch, 1])
            .permutation(len(self))[place * half : (place + 1) * half]
            .astype(np.int64)
        )
        rng = np.random.default_rng([seed, step, 2])
        count = len(human)
        images = np.concatenate([self.image_of[human], rng.integers(0, len(self.data), count)])
        contexts = self._reference(images, rng)
        if self.other_reference:
            contexts[:count] = self._another(human, rng)
        negative, errors = self._negatives(images[count:], contexts[count:], rng)
        candidates = EncodedTexts(
            np.concatenate([self.references.tokens[human], negative.tokens]),
            np.concatenate([self.references.lengths[human], negative.lengths]),
        )
        labels = np.repeat(np.array([1, 0], np.int64), count)
        if not self.reads_fluency:
            return CriticBatch(candidates, contexts, images, labels)
        errors = np.concatenate([self.human_errors[human], errors])
        return CriticBatch(candidates, contexts, images, labels, errors)

    def _reference(self, images: IntArray, rng: np.random.Generator) -> IntArray:
        rows: IntArray = self.first[images] + rng.integers(0, self.each[images])
        return rows

    def _another(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a different reference of the same image."""
        image = self.image_of[rows]
        others = self.first[image] + rng.integers(0, self.each[image] - 1)
        others += others >= rows
        return others

    def _negatives(self, images: IntArray, contexts: IntArray, rng: np.random.Generator) -> _Candidates:
        kinds = self.negatives.kinds
        kind_of = rng.integers(0, len(kinds), len(images))
        tokens = np.zeros((len(images), self.words.longest), np.int64)
        lengths = np.ones(len(images), np.int64)
        errors = np.zeros(len(images), np.float32)
        for number, kind in enumerate(kinds):
            selected = np.flatnonzero(kind_of == number)
            if not len(selected):
                continue
            if kind == "pathological":
                wrong = [
                    self._wrong(int(i), int(c), rng) for i, c in zip(images[selected], contexts[selected])
                ]
                tokens[selected], lengths[selected] = self.words.encode(wrong)
                errors[selected] = self._errors([" ".join(words) for words in wrong])
                continue
            captions, pool = (
                (self.data.system, self.system) if kind == "system" else (self.data.samples, self.samples)
            )
            if captions is None or pool is None:
                raise InputError(
                    f"negatives of the kind '{kind}' are requested, but there are no such captions"
                )
            own_images = images[selected]
            rows = captions.image_offsets[own_images] + rng.integers(0, captions.per_image[own_images])
            tokens[selected], lengths[selected] = pool.encoded.tokens[rows], pool.encoded.lengths[rows]
            errors[selected] = pool.errors[rows]
        return _Candidates(EncodedTexts(tokens, lengths), errors)

    def _wrong(self, image: int, context: int, rng: np.random.Generator) -> Sequence[str]:
        """A caption that is wrong on purpose."""
        low, high = self.negatives.strength
        gamma = high - (high - low) * float(rng.random())
        name = self.negatives.transformations[int(rng.integers(0, len(self.negatives.transformations)))]
        source = int(self._another(np.array([context]), rng)[0]) if self.other_reference else context
        words = self.texts[source]
        if name == "word permutation" and len(set(words)) > 1:
            return permute_words(words, gamma, rng)
        draws_captions = "random caption" in self.negatives.transformations
        if not draws_captions or (name != "random caption" and words):
            return random_words(words, gamma, self.words.names, rng)
        # Also the fallback for captions without words to change.
        if self.neighbours is None:
            other = int(rng.integers(0, len(self.data) - 1))
            other += other >= image
        else:
            other = self.neighbours.draw(image, gamma, rng)
        return self.texts[int(self._reference(np.array([other]), rng)[0])]
