"""From measured systems to the figures of :mod:`captious.figures.diversity_plots`: what goes into which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from captious.errors import InputError
from captious.figures import diversity_plots as plots
from captious.figures import style
from captious.frequencies import DocumentFrequencies
from captious.variety.sets.accuracy import BETA_SQUARED
from captious.variety.sets.api import SetDiversity
from captious.variety.sets.best import SIZES, best
from captious.variety.sets.caption_kernels import KernelChoice, make_kernel
from captious.variety.sets.space import caption_map, captions_of, latent_space

#: Images on the map when none are named.
MAP_IMAGES = 3


def draw(
    systems: Sequence[SetDiversity],
    people: SetDiversity | None,
    folder: str | Path,
    *,
    df: DocumentFrequencies | None = None,
    kernel: KernelChoice = "cider",
    accuracy: str = "CIDEr-D",
    images: Sequence[str] | None = None,
    beta_squared: float = BETA_SQUARED,
    sizes: Sequence[int] = SIZES,
) -> list[Path]:
    """Draw everything that can be drawn into a folder; the files written.

    ``images`` are those of the radar charts (the first) and of the map; without it, the images whose sets the first
    system varies most.
    """
    everyone = [*systems, *([people] if people is not None else [])]
    chosen = list(images) if images else varied_images(systems[0], MAP_IMAGES)
    for image in chosen:
        captions_of(systems[0].corpus, image)
    looks = style.looks_of([found.system for found in systems])
    written: list[Path] = []

    def keep(figure: object, name: str) -> None:
        written.extend(style.save(figure, folder, name))

    mean = f"mean {accuracy}"
    placed = [d for d in everyone if mean in d and "Self-CIDEr" in d]
    if placed:
        keep(plots.plane([_point(d, mean, d is people) for d in placed], accuracy=accuracy, beta_squared=beta_squared, looks=looks), "plane")
    grown = _growth(systems, sizes, accuracy, df, kernel) if placed else []
    if grown:
        keep(plots.effect_of_m(grown, looks=looks), "best-m")
    keep(
        plots.word_frequencies(
            [plots.frequency_curve(d.system, d.corpus.candidates.tokens, human=d is people) for d in everyone],
            looks=looks,
        ),
        "word-frequencies",
    )
    for by in ("LSA", "Self-CIDEr") if "Self-CIDEr" in systems[0] else ("LSA",):
        space = latent_space(systems[0].corpus, chosen[0], by=by, df=df, kernel=kernel)
        index = captions_of(systems[0].corpus, chosen[0]).tolist()
        keep(
            plots.radar(
                space.positions,
                [systems[0].corpus.candidates.texts[i] for i in index],
                axes_names=[" ".join(words) for words in space.words] if by == "LSA" else None,
                title=f"{style.shorten(systems[0].system, 40)}, image {style.shorten(chosen[0], 20)}: latent space of {by}",
            ),
            f"latent-{by.lower()}",
        )
    if "Self-CIDEr" in systems[0]:
        placed_captions = caption_map(
            [d.corpus for d in systems], chosen, human=people is not None, df=df, kernel=kernel
        )
        groups = [plots.MapGroup(p.image, p.system, p.points, p.human) for p in placed_captions]
        keep(plots.mds_map(groups, similarity=make_kernel(kernel, df).name, looks=looks), "map")
    return written


def _point(found: SetDiversity, mean: str, human: bool) -> plots.Point:
    accuracy, diversity = found[mean], found["Self-CIDEr"]
    return plots.Point(
        found.system, accuracy.value, diversity.value, accuracy.interval(), diversity.interval(), human
    )


def _growth(
    systems: Sequence[SetDiversity], sizes: Sequence[int], accuracy: str, df: DocumentFrequencies | None, kernel: KernelChoice
) -> list[plots.Curve]:
    curves = []
    for found in systems:
        rows = best(found.corpus, sizes, metric=accuracy, df=df, kernel=kernel)
        if len(rows) > 1:
            curves.append(plots.Curve(found.system, [r.m for r in rows], [r.scores["Self-CIDEr"].value for r in rows]))
    return curves


def varied_images(found: SetDiversity, count: int) -> list[str]:
    """The images with the most diverse sets, the first among equals."""
    name = "Self-CIDEr" if "Self-CIDEr" in found else "LSA"
    values = found[name].per_image
    order = sorted(values, key=lambda image: -np.nan_to_num(values[image], nan=-1.0))
    if not order:
        raise InputError(f"{found.system} has no images to draw")
    return order[:count]
