"""Figures of set diversity: selects the data for each plot of :mod:`captious.figures.diversity_plots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious.core.errors import InputError
from captious.corpus.frequencies import DocumentFrequencies
from captious.diversity_analysis.sets.accuracy_diversity import BETA_SQUARED
from captious.diversity_analysis.sets.best_of_m import SIZES, BestOfM, best
from captious.diversity_analysis.sets.semantic_space import caption_map, captions_of, latent_space
from captious.diversity_analysis.sets.set_diversity import SetDiversity
from captious.figures import diversity_plots as plots
from captious.figures import diversity_relations as relations
from captious.figures import style
from captious.metrics.sets.similarity_kernels import KernelChoice, make_kernel

#: Default number of images on the map.
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
    human_scores: Mapping[str, Mapping[str, float]] | None = None,
) -> list[Path]:
    """Draw every possible figure into a folder, and return the written files.

    ``images`` are the images of the radar charts (the first one) and of the map. By default, they are the
    images with the most diverse sets of the first system. ``human_scores`` (system → image → score) are
    plotted against the measures.
    """
    everyone = [*systems, *([people] if people is not None else [])]
    chosen = list(images) if images else varied_images(systems[0], MAP_IMAGES)
    for image in chosen:
        captions_of(systems[0].corpus, image)
    looks = style.looks_of([measured.system for measured in systems])
    written: list[Path] = []

    def save(figure: object, name: str) -> None:
        written.extend(style.save(figure, folder, style.file_name("diversity", name)))

    mean = f"mean {accuracy}"
    with_accuracy = [d for d in everyone if mean in d and "Self-CIDEr" in d]
    if with_accuracy:
        save(
            plots.plane(
                [_point(d, mean, d is people) for d in with_accuracy],
                accuracy=accuracy,
                beta_squared=beta_squared,
                looks=looks,
            ),
            "plane",
        )
        save(
            plots.plane(
                [_point(d, mean, d is people, "LSA") for d in with_accuracy],
                accuracy=accuracy,
                diversity="LSA",
                beta_squared=None,
                looks=looks,
            ),
            "plane LSA",
        )
    growth_curves = _growth(systems, people, sizes, accuracy, df, kernel) if with_accuracy else []
    if growth_curves:
        save(plots.effect_of_m(growth_curves, looks=looks), "best_m")
        lsa_curves = _growth(systems, people, sizes, accuracy, df, kernel, "LSA")
        save(plots.effect_of_m(lsa_curves, diversity="LSA", looks=looks), "best_m LSA")
    for name, figure in _compared(everyone, people, looks).items():
        save(figure, name)
    if human_scores:
        save(_judged(everyone, people, human_scores, looks), "human scores")
    save(
        plots.word_frequencies(
            [
                plots.frequency_curve(d.system, d.corpus.candidates.tokens, human=d is people)
                for d in everyone
            ],
            looks=looks,
        ),
        "word_frequencies",
    )
    for by in ("LSA", "Self-CIDEr") if "Self-CIDEr" in systems[0] else ("LSA",):
        space = latent_space(systems[0].corpus, chosen[0], by=by, df=df, kernel=kernel)
        index = captions_of(systems[0].corpus, chosen[0]).tolist()
        save(
            plots.radar(
                space.positions,
                [systems[0].corpus.candidates.texts[i] for i in index],
                axes_names=[", ".join(words) for words in space.words] if by == "LSA" else None,
                title=f"{style.shorten(systems[0].system, 40)}, image {style.shorten(chosen[0], 20)}: "
                f"latent space of {by}",
            ),
            f"latent {by}",
        )
    if "Self-CIDEr" in systems[0]:
        placed_captions = caption_map(
            [d.corpus for d in systems], chosen, human=people is not None, df=df, kernel=kernel
        )
        groups = [plots.MapGroup(p.image, p.system, p.points, p.human, p.texts) for p in placed_captions]
        save(plots.mds_map(groups, similarity=make_kernel(kernel, df).name, looks=looks), "map")
    return written


def _compared(
    everyone: Sequence[SetDiversity], people: SetDiversity | None, looks: plots.Looks
) -> dict[str, object]:
    """Return figures that compare systems by several measures, where all of them have these."""

    def values(name: str) -> dict[str, float]:
        return {measured.system: measured[name].value for measured in everyone if name in measured}

    star = people.system if people is not None else None
    figures: dict[str, object] = {}
    if len(values("F-measure")) > 1:
        figures["f_measure"] = relations.bars(
            values("F-measure"), star, "Accuracy and diversity in one number", "F-measure", looks=looks
        )
    self_cider, vocabulary = values("Self-CIDEr"), values("Vocabulary")
    if len(everyone) > 1 and len(self_cider) == len(vocabulary) == len(everyone):
        figures["vocabulary"] = relations.relations(
            vocabulary, {"Self-CIDEr": self_cider}, star, "different words per image", looks=looks
        )
        names = ("1-mBLEU-1", "1-mBLEU-2", "1-mBLEU-3", "1-mBLEU-4", "1-mBLEU-mix", "LSA")
        others = {name: values(name) for name in names if len(values(name)) == len(everyone)}
        figures["measures"] = relations.relations(self_cider, others, star, "Self-CIDEr", looks=looks)
        ranked = {"Self-CIDEr": self_cider}
        ranked.update({name: others[name] for name in ("1-mBLEU-mix", "LSA") if name in others})
        figures["ranking"] = relations.ranking(ranked, star, looks=looks)
    return figures


def _judged(
    everyone: Sequence[SetDiversity],
    people: SetDiversity | None,
    human_scores: Mapping[str, Mapping[str, float]],
    looks: plots.Looks,
) -> object:
    """Return the figure of people's scores against the measures of the same sets."""
    panels: dict[str, list[tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]]] = {}
    for name in ("LSA", "Self-CIDEr", "1-mBLEU-mix"):
        for measured in everyone:
            if name in measured and measured.system in human_scores:
                own, scores = measured[name].per_image, human_scores[measured.system]
                images = [str(image) for image in scores]
                panels.setdefault(name, []).append(
                    (
                        measured.system,
                        np.array([own[image] for image in images]),
                        np.array(list(scores.values()), dtype=np.float64),
                    )
                )
    return relations.human_scores(panels, people.system if people is not None else None, looks=looks)


def _point(measured: SetDiversity, mean: str, human: bool, by: str = "Self-CIDEr") -> plots.PlanePoint:
    accuracy, diversity = measured[mean], measured[by]
    return plots.PlanePoint(
        measured.system, accuracy.value, diversity.value, accuracy.interval(), diversity.interval(), human
    )


def _growth(
    systems: Sequence[SetDiversity],
    people: SetDiversity | None,
    sizes: Sequence[int],
    accuracy: str,
    df: DocumentFrequencies | None,
    kernel: KernelChoice,
    by: str = "Self-CIDEr",
) -> list[plots.PlotCurve]:
    """Return diversity by m: of the most accurate captions of systems, and of any captions of people."""
    curves = []
    for measured in systems:
        rows = best(measured.corpus, sizes, metric=accuracy, df=df, kernel=kernel)
        if len(rows) > 1:
            curves.append(_curve(measured.system, rows, by=by))
    if curves and people is not None:
        own_sizes = range(2, int(people.corpus.candidates.per_image.max(initial=0)) + 1)
        rows = best(people.corpus, own_sizes, order="random", df=df, kernel=kernel) if own_sizes else []
        if rows:
            curves.append(_curve(f"{people.system} (any m)", rows, human=True, by=by))
    return curves


def _curve(
    name: str, rows: Sequence[BestOfM], *, human: bool = False, by: str = "Self-CIDEr"
) -> plots.PlotCurve:
    scores = [row.scores[by] for row in rows]
    return plots.PlotCurve(
        name,
        [row.m for row in rows],
        [score.value for score in scores],
        human,
        [score.interval() for score in scores],
    )


def varied_images(measured: SetDiversity, count: int) -> list[str]:
    """Return the images with the most diverse sets."""
    name = "Self-CIDEr" if "Self-CIDEr" in measured else "LSA"
    values = measured[name].per_image
    order = sorted(values, key=lambda image: -np.nan_to_num(values[image], nan=-1.0))
    if not order:
        raise InputError(f"{measured.system} has no images to draw")
    return order[:count]
