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

#: ``ap``: average precision of finding the captions with the lower of two ratings, lowest score first.
#: ``auc``: share of pairs (right, wrong) that a metric orders correctly. ``word named``: share of wrong
#: captions whose wrong word a metric names.
COEFFICIENTS = ("tau-b", "tau-c", "pearson", "spearman", "accuracy", "ap", "auc", "word named")
JUDGES = ("each", "mean", "mode")
OWN = ("drop", "remove", "keep")
LEVELS = ("caption", "image", "system")
VOTES = ("pairs", "triplets")
TIES = ("half", "first", "drop")


@dataclass(frozen=True)
class Protocol:
    """Rules that turn judgements and scores into one number. Each set has those of its literature."""

    coefficient: str = "tau-b"
    #: One row per caption and judge, or one per caption with the mean or the most common rating (the lowest
    #: of equally common ones).
    judges: str = "each"
    #: Treatment of a rated caption that is a reference of its image: leave it out, remove it from the
    #: references, or keep both.
    own: str = "remove"
    #: Unit of the coefficient: all captions; each image, then the mean over images; or systems.
    level: str = "caption"
    #: Number of references that are drawn for each image (``None``: all), and number of draws.
    references: int | None = None
    draws: int = 1
    #: Votes on the pairs, or on triplets (reference, first, second).
    votes: str = "pairs"
    #: Accuracy of a metric that scores both captions of a pair equally: half right, as if it preferred the
    #: first, or left out.
    ties: str = "half"
    seed: int = 1

    def __post_init__(self) -> None:
        for value, known, what in (
            (self.coefficient, COEFFICIENTS, "coefficient"),
            (self.judges, JUDGES, "way to combine judges"),
            (self.own, OWN, "way to treat own references"),
            (self.level, LEVELS, "level"),
            (self.votes, VOTES, "kind of votes"),
            (self.ties, TIES, "way to treat equal scores"),
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
        fields = {"coef": self.coefficient, "judges": self.judges, "own": self.own, "level": self.level}
        if self.coefficient == "accuracy":
            fields["ties"] = self.ties
        if self.references is not None:
            fields["refs"] = f"{self.references} drawn {self.draws}x (seed {self.seed})"
        return fields


def own_key(caption: str) -> str:
    """Return a key that ignores case, punctuation and spacing.

    Sets are tokenized in different ways. "the dog's toy", "the dog 's toy" and "the dogs toy" are one
    caption.
    """
    return "".join(plain_words(caption))


def plain_words(caption: str) -> list[str]:
    """Return the runs of letters and digits of a caption, without case."""
    return "".join(c if c.isalnum() else " " for c in caption.casefold()).split()


@dataclass(frozen=True)
class RatedCaptions:
    """Captions with references and with one or more ratings each."""

    name: str
    images: Sequence[str]
    captions: Sequence[str]
    references: Sequence[Sequence[str]]
    #: Ratings of each caption. Higher is better.
    ratings: Sequence[Sequence[float]]
    protocol: Protocol
    #: Author of each caption, if the set has it.
    systems: Sequence[str] | None = None
    #: Whether each caption is a reference of its image, if the set has it. Otherwise texts are compared.
    own: Sequence[bool] | None = None
    #: Scores of metrics in the user's table, and those that were published with a set.
    scores: dict[str, FloatArray] = field(default_factory=dict)
    published: dict[str, FloatArray] = field(default_factory=dict)
    #: Number of rated captions without references, which were left out.
    left_out: int = 0
    #: Part of the set that each caption belongs to, such as a domain. "" for none.
    categories: Sequence[str] | None = None
    #: Wrong words of each caption as people marked them. Empty where nothing is wrong.
    wrong_words: Sequence[Sequence[str]] | None = None

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
            *(listed for listed in (self.categories, self.wrong_words) if listed is not None),
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
    #: +1 for a vote for the first caption, −1 for the second, ±0.5 for a slight preference, 0 for a tie.
    votes: Sequence[Sequence[float]]
    #: HC, HI, HM, MM, or "" if the set has no categories.
    categories: Sequence[str]
    protocol: Protocol
    #: Votes, or the one majority label, on triplets (reference, first, second).
    triplet_votes: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        if not self.first:
            raise InputError(f"{self.name}: there are no pairs")
        if self.protocol.votes == "triplets" and self.triplet_votes is None:
            raise InputError(f"{self.name} has no votes on triplets, only on pairs")
        if self.protocol.level != "caption":
            raise InputError(
                f"pairs are judged one by one; there is no agreement on them by {self.protocol.level}"
            )
        if self.protocol.coefficient not in ("accuracy", "pearson", "spearman"):
            raise InputError(
                f"agreement on pairs is accuracy, pearson or spearman, not {self.protocol.coefficient}"
            )

    @property
    def margins(self) -> FloatArray:
        """Mean vote on each pair, from 1 (all for the first caption) to −1 (all for the second)."""
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
    """Systems with human judgements, and with published values of metrics."""

    name: str
    systems: Sequence[str]
    #: Criterion → one value per system.
    human: dict[str, FloatArray]
    #: Metric → one value per system, NaN if unknown.
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
    """Return the same judgements with changes to their protocol."""
    return replace(judged, protocol=replace(judged.protocol, **changes))  # type: ignore[arg-type]


def _judged(name: str, size: int, parts: Iterable[object]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(repr(part).encode("utf-8", "surrogatepass"))
    return f"{name}({size})@{digest.hexdigest()[:8]}"
