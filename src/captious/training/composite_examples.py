"""Training examples of learned metrics: human captions of an image and worse captions, each with references.

No judgements are needed: human captions of the image count as good; captions of other images and machine
captions count as worse. The choice of worse captions determines what is learned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, did_you_mean
from captious.core.ragged import IntArray
from captious.corpus import Captions, Corpus
from captious.io.judgements import own_key
from captious.metrics.captions.wembsim import mean_vectors
from captious.vectors import get

#: Candidates of each kind per image, and references per candidate.
PER_IMAGE, REFERENCES = 3, 4
#: Ranks of similar images that captions are drawn from: near enough to be hard, far enough to be wrong.
NEAREST = (30, 300)
#: Training sets: the kinds of worse captions and their shares.
SETS: dict[str, dict[str, float]] = {
    "systems": {"machine": 1.0},
    "mixed": {"machine": 1 / 3, "other": 1 / 3, "other-machine": 1 / 3},
    "others": {"other": 1 / 2, "other-machine": 1 / 2},
    "neighbours": {"other": 1 / 2, "neighbour": 1 / 2},
}
KINDS = ("human", "machine", "other", "other-machine", "neighbour", "neighbour-machine")


@dataclass(frozen=True)
class Examples:
    """Candidates with references.

    ``kind`` is an index of ``KINDS``, ``image`` the image of the references.
    """

    candidates: list[str]
    references: list[list[str]]
    kind: NDArray[np.int64]
    image: IntArray
    #: The system of machine captions, otherwise "".
    system: list[str]

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def labels(self) -> NDArray[np.float64]:
        """1 for human captions of the image, otherwise 0."""
        labels: NDArray[np.float64] = (self.kind == 0).astype(np.float64)
        return labels

    def corpus(self) -> Corpus:
        """Return a corpus in which each candidate is an entry of its own."""
        ids = [str(i) for i in range(len(self))]
        return Corpus.build(ids, [[text] for text in self.candidates], self.references, name="examples")

    def chosen(self, training_set: str, seed: int = 1) -> IntArray:
        """Return the rows of a training set (a key of ``SETS``): all human captions, as many worse ones."""
        if training_set not in SETS:
            raise InputError(
                f"unknown training set '{training_set}'{did_you_mean(training_set, SETS)} (known: "
                f"{', '.join(SETS)})"
            )
        generator = np.random.default_rng([seed, 7])
        good = np.flatnonzero(self.kind == 0)
        parts = [good]
        for kind, share in SETS[training_set].items():
            rows = np.flatnonzero(self.kind == KINDS.index(kind))
            count = min(len(rows), round(share * len(good)))
            parts.append(np.sort(generator.permutation(rows)[:count]))
        return np.concatenate(parts)


def build_examples(
    references: Mapping[str, Sequence[str]],
    machines: Mapping[str, Mapping[str, str]],
    *,
    images: int | None = None,
    without: Sequence[str] = (),
    without_references: Sequence[Sequence[str]] = (),
    seed: int = 1,
    references_each: int = REFERENCES,
    kinds: Sequence[str] = KINDS,
) -> Examples:
    """Draw examples: per image three human captions and three captions of each other kind.

    References are drawn at random from the image's other captions. Captions of ``without`` (validation and
    test sets) are never candidates. Images that share two captions with one of ``without_references``, the
    references of such sets, are left out.
    """
    generator = np.random.default_rng(seed)
    tested = images_in_tests(references, without_references)
    references = {image: texts for image, texts in references.items() if image not in tested}
    names = [image for image, texts in references.items() if len(texts) > references_each]
    if len(names) < 2:
        raise InputError(
            f"{len(names)} images have more than {references_each} references; "
            "two or more are needed to learn from"
        )
    generator.shuffle(names)
    names = names[:images]
    banned = set(without)
    systems = sorted(machines)
    near = (
        _neighbours([references[name] for name in names])
        if any(kind.startswith("neighbour") for kind in kinds)
        else None
    )
    rows: list[tuple[str, list[str], int, int, str]] = []

    def refs(place: int, leave: str | None = None) -> list[str]:
        texts = [text for text in references[names[place]] if text != leave]
        return [texts[k] for k in sorted(generator.permutation(len(texts))[:references_each].tolist())]

    def add(text: str, others: list[str], kind: str, place: int, system: str = "") -> None:
        if text not in banned and others:
            rows.append((text, others, KINDS.index(kind), place, system))

    for place, name in enumerate(names):
        texts = references[name]
        for k in generator.permutation(len(texts))[:PER_IMAGE].tolist():
            add(texts[k], refs(place, texts[k]), "human", place)
        for kind in kinds[1:] if kinds[0] == "human" else kinds:
            if kind == "machine":
                able = [system for system in systems if name in machines[system]]
                for s in generator.permutation(len(able))[:PER_IMAGE].tolist():
                    add(machines[able[s]][name], refs(place), kind, place, able[s])
                continue
            for _ in range(PER_IMAGE):
                if kind.startswith("other"):
                    other = (place + 1 + int(generator.integers(len(names) - 1))) % len(names)
                else:
                    assert near is not None
                    other = int(near[place, int(generator.integers(near.shape[1]))])
                if kind.endswith("machine"):
                    able = [system for system in systems if names[other] in machines[system]]
                    if able:
                        system = able[int(generator.integers(len(able)))]
                        add(machines[system][names[other]], refs(place), kind, place, system)
                else:
                    theirs = references[names[other]]
                    add(theirs[int(generator.integers(len(theirs)))], refs(place), kind, place)
    return Examples(
        [row[0] for row in rows],
        [row[1] for row in rows],
        np.array([row[2] for row in rows]),
        np.array([row[3] for row in rows]),
        [row[4] for row in rows],
    )


def images_in_tests(
    references: Mapping[str, Sequence[str]], test_references: Sequence[Sequence[str]]
) -> set[str]:
    """Return the images of which a test set has two captions or more (or all, if it has fewer).

    Sets name images in different ways, so captions tell which are the same. One caption in common may be a
    generic one.
    """
    owners: dict[str, set[int]] = {}
    for number, group in enumerate({tuple(sorted(set(texts))) for texts in test_references}):
        for text in group:
            owners.setdefault(own_key(text), set()).add(number)
    tested = set()
    for image, texts in references.items():
        keys = {own_key(text) for text in texts}
        common = Counter(number for key in keys for number in owners.get(key, ()))
        if max(common.values(), default=0) >= min(2, len(keys)) > 0:
            tested.add(image)
    return tested


def _neighbours(groups: Sequence[Sequence[str]]) -> IntArray:
    """Return for each image the similar ones with ranks ``NEAREST``, by mean word vectors of their captions.

    The ranks refer to 12,454 images and are scaled to the actual number.
    """
    captions = Captions.of(groups)
    vectors = mean_vectors(captions, get(), True)
    sums = np.zeros((captions.n_images, vectors.shape[1]), np.float32)
    np.add.at(sums, captions.image_of, vectors)
    sums /= np.maximum(np.sqrt(np.einsum("ij,ij->i", sums, sums)), np.float32(1e-12))[:, None]
    scale = len(groups) / 12_454
    low = max(1, round(NEAREST[0] * scale))
    high = min(max(low + 10, round(NEAREST[1] * scale)), len(groups) - 1)
    low = min(low, high - 1) if high > 1 else 0
    indices = np.empty((len(groups), max(high - low, 1)), np.int64)
    for start in range(0, len(groups), 1024):
        near = sums[start : start + 1024] @ sums.T
        near[np.arange(len(near)), np.arange(start, start + len(near))] = -np.inf
        order = np.argsort(-near, axis=1, kind="stable")
        indices[start : start + 1024] = order[:, low : low + indices.shape[1]]
    return indices
