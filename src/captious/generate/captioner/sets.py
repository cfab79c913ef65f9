"""Sets of captions from one model: how several captions of an image are made (Wang & Chan 2019, §4.1).

``rs`` draws units at random; ``gnc`` adds Gaussian noise to what the model sees; ``crop`` lets it see a part of the objects, or
of the photograph; ``ss``
switches words of one caption for near ones; ``drv`` draws random vectors for a model with a latent one. ``beam`` and ``diverse`` are
the best captions of a search, ``greedy`` is one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from captious.errors import InputError
from captious.generate.captioner import decoding
from captious.generate.captioner.backbone import Photographs
from captious.generate.captioner.checkpoint import Trained
from captious.generate.captioner.decoding import Sampling
from captious.generate.captioner.images import Images
from captious.generate.captioner.models import Seen, Views
from captious.generate.captioner.units import END, sentences_of
from captious.generate.synonyms import synonym_switch
from captious.progress import track
from captious.threads import one_blas_thread

HOW = ("rs", "gnc", "crop", "ss", "drv", "beam", "diverse", "greedy")
#: Images that are worked on at a time.
BATCH = 100


@dataclass(frozen=True)
class Plan:
    """What to make of each image."""

    how: str = "rs"
    #: Captions of each image.
    m: int = 10
    sampling: Sampling = decoding.PLAIN
    #: Noise (gnc) in parts of the features' spread, or spread of random vectors (drv): from the first caption to the last.
    sigma: tuple[float, float] = (1.0, 10.0)
    #: The chance of an object to be seen, or the share of a photograph (crop).
    keep: float = 0.7
    #: The chance of a word to be switched (ss), from the second caption to the last.
    switch: tuple[float, float] = (0.1, 0.5)
    vectors: Any = None
    #: Width of the beam for the caption that is varied (ss).
    beam: int = 3
    groups: int = 5
    penalty: float = 0.5
    seed: int = 1

    def check(self, trained: Trained) -> None:
        """Refuse what cannot be made, before anything is."""
        if self.how not in HOW:
            raise InputError(f"captions are made by {', '.join(HOW)}, not by '{self.how}'")
        if self.m < 1:
            raise InputError(f"an image gets at least one caption, not {self.m}")
        self.sampling.check()
        if self.how == "drv" and not trained.model.shape.latent:
            raise InputError("different random vectors (drv) need a model with a latent vector; train one with --latent 32")
        if self.how == "crop" and not 0 < self.keep <= 1:
            raise InputError(f"the chance of an object (or the share of a photograph) to be seen is above 0 and at most 1, not {self.keep}")
        if not all(np.isfinite(self.sigma)) or min(self.sigma) < 0:
            raise InputError(f"noise is 0 or more, not {self.sigma}")
        if self.how == "ss" and not 0 <= min(self.switch) <= max(self.switch) <= 1:
            raise InputError(f"the chance of a word to be switched lies between 0 and 1, not {self.switch}")
        if self.how == "diverse" and self.m % self.groups:
            raise InputError(f"{self.m} captions do not divide into {self.groups} groups; change -m or --groups")


@dataclass(frozen=True)
class Made:
    """Captions of images, and their log-probabilities under the model (none where a caption is not the model's own)."""

    captions: list[list[str]]
    logprobs: list[list[float]] | None


def generate(trained: Trained, images: Images, plan: Plan) -> Made:
    """Captions of all images. The same model, images and seed give the same captions."""
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
    return Made(captions, logprobs)


def generate_from_crops(trained: Trained, photographs: Photographs, ids: Sequence[str], plan: Plan) -> Made:
    """Captions of photographs, each of another part of it: the random crops of Wang & Chan."""
    plan.check(trained)
    made = generate(trained, photographs.crops(ids, plan.m, plan.keep, plan.seed), Plan("greedy", 1, seed=plan.seed))
    assert made.logprobs is not None
    bounds = range(0, len(ids) * plan.m, plan.m)
    return Made(
        [[texts[0] for texts in made.captions[at : at + plan.m]] for at in bounds],
        [[values[0] for values in made.logprobs[at : at + plan.m]] for at in bounds],
    )


def _check(trained: Trained, images: Images) -> None:
    if images.width != trained.model.width or images.classes != trained.classes:
        raise InputError(
            f"the captioner was trained on vectors of {trained.model.width} numbers"
            f"{' for classes of objects' if trained.classes else ''}, and these images have {images.width}; give the same kind of images"
        )


def _batches(views: Views) -> Iterator[Seen]:
    for at in range(0, len(views), BATCH):
        yield views.batch(np.arange(at, min(at + BATCH, len(views)), dtype=np.int64))


def _make(trained: Trained, seen: Seen, plan: Plan, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """Units (images × captions × places) and log-probabilities (images × captions)."""
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
        latent = sigma * torch.randn(n * m, model.shape.latent, generator=random)
    if plan.how == "rs":
        if model.shape.latent:
            latent = torch.randn(n * m, model.shape.latent, generator=random)
        units, log_p = decoding.sample(model, many, longest, plan.sampling, generator=random, latent=latent)
    else:
        units, log_p = decoding.greedy(model, many, longest, latent)
    return units.view(n, m, -1), log_p.view(n, m)


def _noisy(seen: Seen, deviation: Tensor, random: torch.Generator) -> Seen:
    vector = seen.vector + deviation * torch.randn(seen.vector.shape, generator=random)
    regions = seen.regions + deviation[:, None] * torch.randn(seen.regions.shape, generator=random)
    return seen._replace(vector=vector, regions=regions * seen.mask[..., None])


def _cropped(seen: Seen, keep: float, random: torch.Generator, *, classes: bool) -> Seen:
    """Each region seen with the same chance; one of them always."""
    chance = torch.rand(seen.mask.shape, generator=random)
    best = torch.where(seen.mask, chance, 2.0).argmin(1)
    mask = seen.mask & (chance < keep)
    mask[torch.arange(len(mask)), best] = True
    regions = seen.regions * mask[..., None]
    vector = regions.amax(1) if classes else regions.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
    return Seen(vector, regions, mask, seen.boxes)


def _switched(trained: Trained, images: Images, plan: Plan) -> Made:
    """The best caption of a beam search, and variations of it with more and more words switched."""
    best = generate(trained, images, Plan("beam", plan.beam, seed=plan.seed)).captions
    first = {image: group[0] for image, group in zip(images.ids, best)}
    captions = [[text] for text in first.values()]
    # What a word can be switched for are words that the model writes.
    written = [text for group in best for text in group]
    for k, chance in enumerate(np.linspace(*plan.switch, plan.m - 1)):
        varied = synonym_switch(
            first, float(chance), samples=1, vectors=plan.vectors, vocabulary=written, tokenizer=trained.tokenizer, seed=plan.seed + k
        )
        for own, texts in zip(captions, varied.values()):
            own.extend(texts)
    return Made(captions, None)


def likelihoods(trained: Trained, images: Images, captions: Sequence[Sequence[str]]) -> list[list[float]]:
    """log P(caption | image) of given captions, one list per image."""
    return [[sum(one.values) for one in group] for group in unit_likelihoods(trained, images, captions)]


class UnitScores(NamedTuple):
    """The units of a caption with their log P given the image and those before; the last value is that of the end."""

    units: list[str]
    values: list[float]


def unit_likelihoods(trained: Trained, images: Images, captions: Sequence[Sequence[str]]) -> list[list[UnitScores]]:
    """The same unit by unit. A word that the model does not know is shown as it is, with the probability of any unknown word."""
    _check(trained, images)
    views = Views(images)
    flat = [text for group in captions for text in group]
    owner = np.repeat(np.arange(len(images)), [len(group) for group in captions])
    sentences = sentences_of(flat, trained.tokenizer)
    rows = trained.units.encode(sentences)
    longest = max([1, *(len(row) for row in rows)])
    units = np.full((len(rows), longest + 1), END, np.int64)
    for i, row in enumerate(rows):
        units[i, : len(row)] = row
    found: list[UnitScores] = []
    with one_blas_thread():
        for at in track(range(0, len(rows), 5 * BATCH), "likelihoods"):
            part = slice(at, at + 5 * BATCH)
            values = decoding.unit_likelihoods(trained.model, views.batch(owner[part]), torch.from_numpy(units[part])).double()
            for row, sentence, own in zip(rows[part], sentences[part], values.tolist()):
                names = sentence.split(" ") if trained.units.kind == "words" and row else [trained.units.names[unit] for unit in row]
                found.append(UnitScores(names, own[: len(row) + 1]))
    bounds = np.cumsum([0, *(len(group) for group in captions)]).tolist()
    return [found[a:b] for a, b in itertools.pairwise(bounds)]
