"""Sets of human judgements: rated captions, pairs with votes, or whole systems with ratings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, did_you_mean

FloatArray = NDArray[np.float64]

COEFFICIENTS = ("tau-b", "tau-c", "pearson", "spearman", "accuracy")
JUDGES = ("each", "mean", "mode")
OWN = ("drop", "remove", "keep")
LEVELS = ("caption", "image", "system")
VOTES = ("pairs", "triplets")


@dataclass(frozen=True)
class Protocol:
    """How judgements and scores become one number.

    Every set has the one its literature uses; any part can be changed.
    """

    coefficient: str = "tau-b"
    #: One row for each caption and judge, or one for each caption with the judges' mean or most common
    #: rating (of several that are equally common, the lowest).
    judges: str = "each"
    #: A rated caption that is one of its image's references: leave it out, take it out of the references,
    #: or neither.
    own: str = "remove"
    #: Over all captions; within each image, then the mean over images; or over systems.
    level: str = "caption"
    #: How many references to draw for each image (``None``: all of them), and how many times.
    references: int | None = None
    draws: int = 1
    #: For pairs: the votes on the pair itself, or those on triplets (reference, first, second).
    votes: str = "pairs"
    seed: int = 1

    def __post_init__(self) -> None:
        for value, known, what in (
            (self.coefficient, COEFFICIENTS, "coefficient"),
            (self.judges, JUDGES, "way to combine judges"),
            (self.own, OWN, "way to treat own references"),
            (self.level, LEVELS, "level"),
            (self.votes, VOTES, "kind of votes"),
        ):
            if value not in known:
                raise InputError(
                    f"unknown {what} '{value}'{did_you_mean(value, known)} (known: {', '.join(known)})"
                )
        if self.references is not None and self.references < 1:
            raise InputError(f"at least one reference is needed, not {self.references}")
        if self.draws < 1:
            raise InputError(f"references are drawn at least once, not {self.draws} times")

    @property
    def fields(self) -> dict[str, str]:
        """Settings that change the number, for a signature."""
        found = {"coef": self.coefficient, "judges": self.judges, "own": self.own, "level": self.level}
        if self.references is not None:
            found["refs"] = f"{self.references} drawn {self.draws}x (seed {self.seed})"
        return found


def own_key(caption: str) -> str:
    """Captions with the same key are the same sentence: case, punctuation and spacing do not count.

    Sets were typed off and tokenized in different ways: "the dog's toy", "the dog 's toy" and "the dogs
    toy" are one caption.
    """
    return "".join(plain_words(caption))


def plain_words(caption: str) -> list[str]:
    """The runs of letters and digits in a caption, without case."""
    return "".join(c if c.isalnum() else " " for c in caption.casefold()).split()


@dataclass(frozen=True)
class RatedCaptions:
    """Captions with references and with one or more ratings each."""

    name: str
    images: Sequence[str]
    captions: Sequence[str]
    references: Sequence[Sequence[str]]
    #: The judges' ratings of each caption; a higher one is better.
    ratings: Sequence[Sequence[float]]
    protocol: Protocol
    #: Who wrote each caption, where the set says.
    systems: Sequence[str] | None = None
    #: Whether a caption is one of its image's references, where the set knows better than a comparison of
    #: texts.
    own: Sequence[bool] | None = None
    #: Scores of metrics that stand in one's own table, and those that others published with a set.
    scores: dict[str, FloatArray] = field(default_factory=dict)
    published: dict[str, FloatArray] = field(default_factory=dict)
    #: Rated captions that could not be used, for want of references.
    left_out: int = 0

    def __post_init__(self) -> None:
        if not self.captions:
            raise InputError(
                f"{self.name}: no rated caption has references; check that images have the same names in both"
            )
        lists: tuple[Sized, ...] = (
            self.images,
            self.references,
            self.ratings,
            *self.scores.values(),
            *self.published.values(),
        )
        for listed in lists:
            if len(listed) != len(self.captions):
                raise ValueError("one image, list of references, list of ratings and score for each caption")

    def __len__(self) -> int:
        return len(self.captions)

    @property
    def judged(self) -> str:
        """Name, size and a digest of captions, references and ratings."""
        return _judged(self.name, len(self), (self.captions, self.references, self.ratings))


@dataclass(frozen=True)
class CaptionPairs:
    """Pairs of captions of one image, with votes on which is better."""

    name: str
    images: Sequence[str]
    first: Sequence[str]
    second: Sequence[str]
    references: Sequence[Sequence[str]]
    #: +1 for each vote for the first caption, −1 for each for the second.
    votes: Sequence[Sequence[int]]
    #: HC, HI, HM, MM, or "" where the set has no kinds.
    categories: Sequence[str]
    protocol: Protocol
    #: Votes, or the one majority label, on triplets (reference, first, second).
    triplet_votes: Sequence[Sequence[int]] | None = None

    def __post_init__(self) -> None:
        if not self.first:
            raise InputError(f"{self.name}: there are no pairs")
        if self.protocol.votes == "triplets" and self.triplet_votes is None:
            raise InputError(f"{self.name} has no votes on triplets, only on pairs")
        if self.protocol.level != "caption":
            raise InputError(
                f"pairs are judged one by one; there is no agreement on them by {self.protocol.level}"
            )
        if self.protocol.coefficient.startswith("tau"):
            raise InputError(
                f"agreement on pairs is accuracy, pearson or spearman, not {self.protocol.coefficient}"
            )

    @property
    def margins(self) -> FloatArray:
        """The mean vote on each pair: 1 where all prefer the first caption, −1 where all prefer the
        second."""
        votes = self.votes if self.protocol.votes == "pairs" else self.triplet_votes
        return np.array([np.mean(v) for v in votes or ()], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def judged(self) -> str:
        """Name, size and a digest of pairs, references and votes."""
        return _judged(self.name, len(self), (self.first, self.second, self.references, self.votes))


@dataclass(frozen=True)
class RatedSystems:
    """Whole systems with people's judgements of them, and metrics' values where known."""

    name: str
    systems: Sequence[str]
    #: Criterion → one value for each system.
    human: dict[str, FloatArray]
    #: Metric → one value for each system; not-a-number where it is not known.
    scores: dict[str, FloatArray]
    protocol: Protocol

    def __len__(self) -> int:
        return len(self.systems)

    @property
    def judged(self) -> str:
        """Name, number of systems and a digest of the judgements."""
        return _judged(self.name, len(self), (self.systems, [v.tolist() for v in self.human.values()]))


JudgementSet = RatedCaptions | CaptionPairs | RatedSystems
Kind = Literal["captions", "pairs", "systems"]


def with_protocol(judged: RatedCaptions | CaptionPairs, **changes: object) -> RatedCaptions | CaptionPairs:
    """The same judgements under a protocol changed in some parts."""
    return replace(judged, protocol=replace(judged.protocol, **changes))  # type: ignore[arg-type]


def _judged(name: str, size: int, parts: Iterable[object]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr(part).encode("utf-8", "surrogatepass"))
    return f"{name}({size})@{digest.hexdigest()[:8]}"
