"""Captions of images by a trained captioner, and the likelihood of existing captions under it.

PyTorch is needed (``pip install 'captious[train]'``), and imported where it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from captious.core.threads import require_torch

if TYPE_CHECKING:
    from captious.generate.captioner.image_source import ImageSource


def generate_captions(
    model: str | Path,
    images: str | Path | ImageSource,
    how: str = "rs",
    m: int | None = None,
    *,
    only: str | Path | None = None,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    sigma: tuple[float, float] | None = None,
    threads: int = 1,
    **plan: Any,
) -> list[dict[str, Any]]:
    """Write captions of images with a captioner.

    Parameters
    ----------
    model
        A captioner, as :func:`captious.training.train_captioner` writes it.
    images
        A file of objects or features, or an :class:`~captious.generate.captioner.image_source.ImageSource`.
    how
        "rs" (random sampling), "gnc" (noise), "crop", "ss" (synonyms), "drv" (random vectors), "beam",
        "diverse", "greedy".
    m
        Captions per image (default: 10, and 1 for "greedy", which has only one).
    only
        A file of captions: only its images are captioned.
    temperature, top_k, top_p
        Settings of "rs": sharpness of the distribution, and the units to sample from.
    sigma
        Noise of the first and of the last caption, for "gnc" (default: (1, 10)) and "drv" (default: (1, 1)).
    threads
        Threads of PyTorch.
    plan
        Other fields of :class:`~captious.generate.captioner.caption_sets.CaptionPlan`: keep, switch, vectors,
        training, vocabulary, neighbours, similarity, same_tags, groups, penalty, seed. A setting that ``how``
        does not use raises InputError.

    Returns
    -------
    list of dict
        One row per image: ``image_id``, ``captions``, and ``logprobs`` unless captions were varied by
        synonyms.
    """
    require_torch("writing captions", threads)
    from captious.generate.captioner import captioner_checkpoint
    from captious.generate.captioner.caption_sets import CaptionPlan, generate, generate_from_crops
    from captious.generate.captioner.decoding import Sampling
    from captious.generate.captioner.image_source import ImageSource
    from captious.io import read

    trained = captioner_checkpoint.load(model)
    if m is None:
        m = 1 if how == "greedy" else CaptionPlan.m
    if sigma is None:
        sigma = (1.0, 1.0) if how == "drv" else CaptionPlan.sigma
    chosen = CaptionPlan(how=how, m=m, sampling=Sampling(temperature, top_k, top_p), sigma=sigma, **plan)
    chosen.check(trained)
    source = ImageSource.of(images)
    wanted = list(read(only, "predictions", several=True).ids) if only is not None else None
    photographs = source.photographs(trained.classes) if how == "crop" else None
    if photographs is not None:
        ids = photographs.ids if wanted is None else wanted
        captions = generate_from_crops(trained, photographs, ids, chosen)
    else:
        seen = source.read(wanted, trained.classes)
        ids, captions = list(seen.ids), generate(trained, seen, chosen)
    logprobs = captions.logprobs
    return [
        {"image_id": image, "captions": texts, **({"logprobs": logprobs[i]} if logprobs is not None else {})}
        for i, (image, texts) in enumerate(zip(ids, captions.captions))
    ]


def caption_likelihoods(
    model: str | Path,
    images: str | Path | ImageSource,
    captions: str | Path,
    *,
    tokens: bool = False,
    threads: int = 1,
) -> list[dict[str, Any]]:
    """Compute log P(caption | image) of existing captions under a captioner.

    Parameters
    ----------
    model, images, threads
        As for :func:`generate_captions`.
    captions
        A file with one caption or several for each image.
    tokens
        Add ``tokens`` and ``token_logprobs``: log P of each unit and of the end of the caption.

    Returns
    -------
    list of dict
        One row per image: ``image_id``, ``captions``, ``logprobs``.
    """
    require_torch("scoring captions by a captioner", threads)
    from captious.generate.captioner import captioner_checkpoint
    from captious.generate.captioner.caption_sets import unit_likelihoods
    from captious.generate.captioner.image_source import ImageSource
    from captious.io import read

    trained = captioner_checkpoint.load(model)
    source = ImageSource.of(images)
    file = read(captions, "predictions", several=True)
    seen = source.read(file.ids, trained.classes)
    rows = []
    for image, texts, likelihoods in zip(
        file.ids, file.captions, unit_likelihoods(trained, seen, file.captions)
    ):
        row: dict[str, Any] = {
            "image_id": image,
            "captions": list(texts),
            "logprobs": [sum(one.values) for one in likelihoods],
        }
        if tokens:
            row["tokens"] = [one.units for one in likelihoods]
            row["token_logprobs"] = [one.values for one in likelihoods]
        rows.append(row)
    return rows
