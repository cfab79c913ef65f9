"""Sets of captions from one model (Wang & Chan 2019, §4.1).

``rs`` samples units; ``gnc`` adds Gaussian noise to the features; ``crop`` shows the model a part of the
objects, or of the photograph; ``ss`` switches words of one caption for similar ones; ``drv`` draws random
vectors for a model with a latent vector. ``beam`` and ``diverse`` return the best captions of a search,
``greedy`` returns one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from captious.core.errors import InputError
from captious.core.progress import track
from captious.core.threads import one_blas_thread
from captious.generate.captioner import decoding
from captious.generate.captioner.captioner_checkpoint import TrainedCaptioner
from captious.generate.captioner.captioners import Seen, Views
from captious.generate.captioner.decoding import Sampling
from captious.generate.captioner.image_features import ImageFeatures
from captious.generate.captioner.image_source import Photographs
from captious.generate.captioner.subword_units import END, SPECIAL, sentences_of
from captious.generate.synonym_switch import NEIGHBOURS, SIMILARITY, synonym_sets

HOW = ("rs", "gnc", "crop", "ss", "drv", "beam", "diverse", "greedy")
#: Ways that use a setting, and the option that sets it.
_USED_BY = {
    "sampling": (("rs",), "--temperature, --top-k and --top-p"),
    "sigma": (("gnc", "drv"), "--sigma"),
    "keep": (("crop",), "--keep"),
    "switch": (("ss",), "--switch"),
    "vectors": (("ss",), "--vectors"),
    "training": (("ss",), "--training"),
    "vocabulary": (("ss",), "--vocabulary"),
    "neighbours": (("ss",), "--neighbours"),
    "similarity": (("ss",), "--similarity"),
    "same_tags": (("ss",), "--same-tags"),
    "groups": (("diverse",), "--groups"),
    "penalty": (("diverse",), "--penalty"),
}
#: Number of images per batch.
BATCH = 100


@dataclass(frozen=True)
class CaptionPlan:
    """Settings for generating captions."""

    how: str = "rs"
    #: Captions per image.
    m: int = 10
    sampling: Sampling = decoding.PLAIN
    #: Noise relative to the features' standard deviation (gnc), or standard deviation of random vectors
    #: (drv), from the first caption to the last.
    sigma: tuple[float, float] = (1.0, 10.0)
    #: Probability of keeping an object, or share of the photograph's area (crop).
    keep: float = 0.7
    #: Probability of switching a word (ss), from the second caption to the last.
    switch: tuple[float, float] = (0.1, 0.5)
    #: Word vectors (ss), or captions to train them on, whose words are then the replacements.
    vectors: Any = None
    training: Any = None
    #: Captions whose words can be replacements (ss; by default the words that the model knows).
    vocabulary: Any = None
    #: Number of nearest words, least cosine, and whether a replacement must be the same part of speech (ss).
    neighbours: int = NEIGHBOURS
    similarity: float = SIMILARITY
    same_tags: bool = False
    #: Beam width for the caption to vary (ss).
    beam: int = 3
    groups: int = 5
    penalty: float = 0.5
    seed: int = 1

    def check(self, trained: TrainedCaptioner) -> None:
        """Raise InputError for invalid settings."""
        if self.how not in HOW:
            raise InputError(f"unknown way to generate captions '{self.how}'; choose {', '.join(HOW)}")
        if self.m < 1:
            raise InputError(f"the number of captions per image must be at least 1, not {self.m}")
        if self.how == "greedy" and self.m != 1:
            raise InputError(
                f"greedy decoding writes one caption per image, not {self.m}; leave out --captions, or use "
                "--how beam or rs"
            )
        for name, (ways, options) in _USED_BY.items():
            if self.how not in ways and getattr(self, name) != getattr(CaptionPlan, name):
                raise InputError(
                    f"--how {self.how} does not use {options}; leave it out, or use --how {' or '.join(ways)}"
                )
        self.sampling.check()
        if self.how == "drv" and not trained.model.shape.latent:
            raise InputError(
                "different random vectors (drv) need a model with a latent vector; train one with --latent 32"
            )
        if self.how == "crop" and not 0 < self.keep <= 1:
            raise InputError(
                "the chance of an object (or the share of a photograph) to be seen is above 0 and at most "
                f"1, not {self.keep}"
            )
        if not all(np.isfinite(self.sigma)) or min(self.sigma) < 0:
            raise InputError(f"the noise must be 0 or more, not {self.sigma}")
        if self.how == "ss" and not 0 <= min(self.switch) <= max(self.switch) <= 1:
            raise InputError(
                f"the probability of switching a word must be between 0 and 1, not {self.switch}"
            )
        if self.how == "diverse" and self.m % self.groups:
            raise InputError(
                f"{self.m} captions do not divide into {self.groups} groups; change -m or --groups"
            )


@dataclass(frozen=True)
class GeneratedCaptions:
    """Captions of images, with their log-probabilities where all captions are the model's own."""

    captions: list[list[str]]
    logprobs: list[list[float]] | None


def generate(trained: TrainedCaptioner, images: ImageFeatures, plan: CaptionPlan) -> GeneratedCaptions:
    """Generate captions for all images. The same model, images and seed give the same captions."""
    plan.check(trained)
    _check(trained, images)
    if plan.how == "ss":
        return _switched(trained, images, plan)
    views = Views(images)
    random = torch.Generator().manual_seed(plan.seed)
    captions: list[list[str]] = []
    logprobs: list[list[float]] = []
    with one_blas_thread(), torch.no_grad():
        for seen in track(_batches(views), "writing captions", total=-(-len(views) // BATCH)):
            units, log_p = _make(trained, seen, plan, random)
            n, m = log_p.shape
            texts = trained.units.decode(units.reshape(n * m, -1).numpy())
            captions += [texts[at : at + m] for at in range(0, n * m, m)]
            logprobs += log_p.tolist()
    return GeneratedCaptions(captions, logprobs)


def generate_from_crops(
    trained: TrainedCaptioner, photographs: Photographs, ids: Sequence[str], plan: CaptionPlan
) -> GeneratedCaptions:
    """Generate captions of photographs, each from another random crop (Wang & Chan 2019)."""
    plan.check(trained)
    generated = generate(
        trained,
        photographs.crops(ids, plan.m, plan.keep, plan.seed),
        CaptionPlan("greedy", 1, seed=plan.seed),
    )
    assert generated.logprobs is not None
    bounds = range(0, len(ids) * plan.m, plan.m)
    return GeneratedCaptions(
        [[texts[0] for texts in generated.captions[at : at + plan.m]] for at in bounds],
        [[values[0] for values in generated.logprobs[at : at + plan.m]] for at in bounds],
    )


def _check(trained: TrainedCaptioner, images: ImageFeatures) -> None:
    if images.width != trained.model.width or images.classes != trained.classes:
        raise InputError(
            f"the captioner was trained on vectors of {trained.model.width} numbers"
            f"{' for classes of objects' if trained.classes else ''}, and these images have {images.width}; "
            "give the same kind of images"
        )


def _batches(views: Views) -> Iterator[Seen]:
    for at in range(0, len(views), BATCH):
        yield views.batch(np.arange(at, min(at + BATCH, len(views)), dtype=np.int64))


def _make(
    trained: TrainedCaptioner, seen: Seen, plan: CaptionPlan, random: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Return units (images × captions × positions) and log-probabilities (images × captions)."""
    model, longest, n, m = trained.model, trained.longest + 1, len(seen.vector), plan.m
    if plan.how == "greedy":
        units, log_p = decoding.greedy(model, seen, longest)
        return units[:, None], log_p[:, None]
    if plan.how in ("beam", "diverse"):
        groups = plan.groups if plan.how == "diverse" else 1
        return decoding.beam(model, seen, longest, m, groups=groups, penalty=plan.penalty)
    many = seen.rows(torch.arange(n).repeat_interleave(m))
    sigma = torch.linspace(*plan.sigma, m).repeat(n)[:, None] if m > 1 else torch.full((n, 1), plan.sigma[0])
    latent = None
    if plan.how == "gnc":
        many = _noisy(many, sigma * model.spread, random)
    elif plan.how == "crop":
        many = _cropped(many, plan.keep, random, classes=bool(trained.classes))
    elif plan.how == "drv":
        latent = model.draw_latent(many, sigma, random)
    if plan.how == "rs":
        if model.shape.latent:
            latent = model.draw_latent(many, 1.0, random)
        units, log_p = decoding.sample(model, many, longest, plan.sampling, generator=random, latent=latent)
    else:
        units, log_p = decoding.greedy(model, many, longest, latent)
    return units.view(n, m, -1), log_p.view(n, m)


def _noisy(seen: Seen, deviation: Tensor, random: torch.Generator) -> Seen:
    vector = seen.vector + deviation * torch.randn(seen.vector.shape, generator=random)
    regions = seen.regions + deviation[:, None] * torch.randn(seen.regions.shape, generator=random)
    return seen._replace(vector=vector, regions=regions * seen.mask[..., None])


def _cropped(seen: Seen, keep: float, random: torch.Generator, *, classes: bool) -> Seen:
    """Keep each region with probability ``keep``, and at least one."""
    chance = torch.rand(seen.mask.shape, generator=random)
    best = torch.where(seen.mask, chance, 2.0).argmin(1)
    mask = seen.mask & (chance < keep)
    mask[torch.arange(len(mask)), best] = True
    regions = seen.regions * mask[..., None]
    vector = regions.amax(1) if classes else regions.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
    return Seen(vector, regions, mask, seen.boxes)


def _switched(trained: TrainedCaptioner, images: ImageFeatures, plan: CaptionPlan) -> GeneratedCaptions:
    """Return the best caption of a beam search, and variations with more and more words switched."""
    best = generate(trained, images, CaptionPlan("beam", plan.beam, seed=plan.seed)).captions
    first = {image: group[0] for image, group in zip(images.ids, best)}
    vocabulary = plan.vocabulary
    if vocabulary is None and plan.training is None:
        # Words of the model's vocabulary. Subwords have none: words that the model writes.
        by_word = trained.units.kind == "words"
        vocabulary = (
            trained.units.names[len(SPECIAL) :] if by_word else [text for group in best for text in group]
        )
    varied = synonym_sets(
        first,
        m=plan.m,
        switch=plan.switch,
        training=plan.training,
        vectors=plan.vectors,
        vocabulary=vocabulary,
        neighbours=plan.neighbours,
        similarity=plan.similarity,
        same_tags=plan.same_tags,
        tokenizer=trained.tokenizer,
        seed=plan.seed,
    )
    return GeneratedCaptions([[first[image], *texts[1:]] for image, texts in varied.items()], None)


class UnitScores(NamedTuple):
    """Units of a caption with their log P given the image and the previous units.

    The last value is that of the end.
    """

    units: list[str]
    values: list[float]


def unit_likelihoods(
    trained: TrainedCaptioner, images: ImageFeatures, captions: Sequence[Sequence[str]]
) -> list[list[UnitScores]]:
    """Return the units of captions with their log-probabilities.

    An unknown word is shown as it is, with the probability of the unknown unit.
    """
    _check(trained, images)
    views = Views(images)
    flat = [text for group in captions for text in group]
    image_of = np.repeat(np.arange(len(images)), [len(group) for group in captions])
    sentences = sentences_of(flat, trained.tokenizer)
    rows = trained.units.encode(sentences)
    longest = max([1, *(len(row) for row in rows)])
    units = np.full((len(rows), longest + 1), END, np.int64)
    for i, row in enumerate(rows):
        units[i, : len(row)] = row
    unit_scores: list[UnitScores] = []
    with one_blas_thread():
        for at in track(range(0, len(rows), 5 * BATCH), "likelihoods"):
            part = slice(at, at + 5 * BATCH)
            values = decoding.unit_likelihoods(
                trained.model, views.batch(image_of[part]), torch.from_numpy(units[part])
            ).double()
            for row, sentence, log_p in zip(rows[part], sentences[part], values.tolist()):
                names = (
                    sentence.split(" ")
                    if trained.units.kind == "words" and row
                    else [trained.units.names[unit] for unit in row]
                )
                unit_scores.append(UnitScores(names, log_p[: len(row) + 1]))
    bounds = np.cumsum([0, *(len(group) for group in captions)]).tolist()
    return [unit_scores[a:b] for a, b in itertools.pairwise(bounds)]
