"""What a critic learns from: captions of people, and of three kinds that are not (Cui et al. 2018, section 3.3 and appendix A.3)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious import digest
from captious.corpus import Captions
from captious.critic.words import Encoded, Words
from captious.errors import InputError, did_you_mean
from captious.ragged import IntArray
from captious.robustness.curves import TRANSFORMATIONS
from captious.robustness.transformations import Neighbours, permute_words, random_words

Floats = NDArray[np.float32]
#: Captions of the system that is judged, wrong on purpose, and drawn at random from a model.
NEGATIVES = ("system", "pathological", "samples")


@dataclass(frozen=True, eq=False)
class Given:
    """Images with their captions. All three kinds of captions are of the same images, in the same order."""

    references: Captions
    system: Captions | None = None
    samples: Captions | None = None
    #: A row for each image.
    features: Floats | None = None
    #: The classes behind the columns of the features, where they stand for objects.
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.references.n_images

    def take(self, images: IntArray) -> Given:
        """Some of the images."""
        return Given(
            self.references.take_images(images),
            None if self.system is None else self.system.take_images(images),
            None if self.samples is None else self.samples.take_images(images),
            None if self.features is None else self.features[images],
            self.classes,
        )

    @cached_property
    def digest(self) -> str:
        """Names the content."""
        parts = [digest.of_lines(self.references.ids)]
        for captions in (self.references, self.system, self.samples):
            parts.append("" if captions is None else digest.of_lines([*map(str, captions.image_offsets.tolist()), *captions.sentences]))
        parts.append("" if self.features is None else digest.of_arrays(self.features))
        return digest.together(*parts)


@dataclass(frozen=True)
class Negatives:
    """What captions that no person wrote for the image are made of; the kinds are drawn with equal chances."""

    kinds: tuple[str, ...] = NEGATIVES
    transformations: tuple[str, ...] = TRANSFORMATIONS
    #: Transformations get a strength from this range (per cent), at random.
    strength: tuple[float, float] = (0.0, 100.0)

    def check(self) -> None:
        """Refuse what is unknown."""
        for what, names, known in (("negatives", self.kinds, NEGATIVES), ("transformations", self.transformations, TRANSFORMATIONS)):
            if not names:
                raise InputError(f"{what} are some of {', '.join(known)}, and none were given")
            for name in names:
                if name not in known:
                    raise InputError(f"{what} are some of {', '.join(known)}, not '{name}'{did_you_mean(name, known)}")
        low, high = self.strength
        if not 0 <= low <= high <= 100 or high == 0:
            raise InputError(f"the strength of transformations lies between 0 and 100 per cent, not {low} to {high}")


class Batch(NamedTuple):
    """Candidates with the reference and the image of each; the first half was written by people."""

    candidates: Encoded
    #: Rows of :attr:`Lessons.references`, and images.
    contexts: IntArray
    images: IntArray
    labels: IntArray


class Lessons:
    """Examples of one set of images. The examples of a step depend on the seed and on the step alone."""

    def __init__(self, given: Given, words: Words, negatives: Negatives, *, other_reference: bool, by_features: bool) -> None:
        """``other_reference``: the context of a person's caption is another one. ``by_features``: images are near if their
        features are, else if their captions are."""
        self.given, self.words, self.negatives = given, words, negatives
        self.other_reference = other_reference
        references = given.references
        self.references = words.encode(references.sentences)
        self.first, self.each, self.image_of = references.image_offsets, references.per_image, references.image_of
        self.system = None if given.system is None else words.encode(given.system.sentences)
        self.samples = None if given.samples is None else words.encode(given.samples.sentences)
        # Only the words that the critic reads are changed: it could not see a change beyond them.
        self.texts = [[word for word in sentence.split(" ") if word][: words.longest] for sentence in references.sentences]
        self.neighbours: Neighbours | None = None
        if "pathological" in negatives.kinds and "random caption" in negatives.transformations:
            if by_features and given.features is not None:
                self.neighbours = Neighbours(given.features.astype(np.float64))
            else:
                bounds = references.image_offsets.tolist()
                self.neighbours = Neighbours.by_captions([self.texts[a:b] for a, b in itertools.pairwise(bounds)])

    def __len__(self) -> int:
        """Captions of people."""
        return len(self.texts)

    def steps(self, batch: int) -> int:
        """Steps of an epoch: each caption of a person is an example once."""
        return -(-len(self) // (batch // 2))

    def batch(self, seed: int, step: int, size: int) -> Batch:
        """The examples of a step."""
        half, each = size // 2, self.steps(size)
        epoch, place = divmod(step, each)
        human = np.random.default_rng([seed, epoch, 1]).permutation(len(self))[place * half : (place + 1) * half].astype(np.int64)
        rng = np.random.default_rng([seed, step, 2])
        count = len(human)
        images = np.concatenate([self.image_of[human], rng.integers(0, len(self.given), count)])
        contexts = self._reference(images, rng)
        if self.other_reference:
            contexts[:count] = self._another(human, rng)
        negative = self._negatives(images[count:], contexts[count:], rng)
        candidates = Encoded(
            np.concatenate([self.references.tokens[human], negative.tokens]), np.concatenate([self.references.lengths[human], negative.lengths])
        )
        return Batch(candidates, contexts, images, np.repeat(np.array([1, 0], np.int64), count))

    def _reference(self, images: IntArray, rng: np.random.Generator) -> IntArray:
        found: IntArray = self.first[images] + rng.integers(0, self.each[images])
        return found

    def _another(self, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Another reference of the same image."""
        image = self.image_of[rows]
        found = self.first[image] + rng.integers(0, self.each[image] - 1)
        found += found >= rows
        return found

    def _negatives(self, images: IntArray, contexts: IntArray, rng: np.random.Generator) -> Encoded:
        kinds = self.negatives.kinds
        drawn = rng.integers(0, len(kinds), len(images))
        tokens = np.zeros((len(images), self.words.longest), np.int64)
        lengths = np.ones(len(images), np.int64)
        for number, kind in enumerate(kinds):
            mine = np.flatnonzero(drawn == number)
            if not len(mine):
                continue
            if kind == "pathological":
                made = self.words.encode([self._wrong(int(i), int(c), rng) for i, c in zip(images[mine], contexts[mine])])
                tokens[mine], lengths[mine] = made
                continue
            captions, encoded = (self.given.system, self.system) if kind == "system" else (self.given.samples, self.samples)
            if captions is None or encoded is None:
                raise InputError(f"negatives of the kind '{kind}' were asked for, and there are no such captions")
            own = images[mine]
            rows = captions.image_offsets[own] + rng.integers(0, captions.per_image[own])
            tokens[mine], lengths[mine] = encoded.tokens[rows], encoded.lengths[rows]
        return Encoded(tokens, lengths)

    def _wrong(self, image: int, context: int, rng: np.random.Generator) -> Sequence[str]:
        """A caption that is wrong on purpose."""
        low, high = self.negatives.strength
        gamma = high - (high - low) * float(rng.random())
        name = self.negatives.transformations[int(rng.integers(0, len(self.negatives.transformations)))]
        source = int(self._another(np.array([context]), rng)[0]) if self.other_reference else context
        words = self.texts[source]
        if name == "word permutation" and len(set(words)) > 1:
            return permute_words(words, gamma, rng)
        if self.neighbours is None or (name != "random caption" and words):
            return random_words(words, gamma, self.words.names, rng)
        # Also where there is nothing to change.
        other = self.neighbours.draw(image, gamma, rng)
        return self.texts[int(self._reference(np.array([other]), rng)[0])]
