"""``captious generate``: captions from a captioner, one or many for each image, and the likelihood of given ones."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.output import say
from captious.cli.train_captioner import look, needs_torch
from captious.errors import InputError
from captious.writing import atomic_write


def register(app: typer.Typer) -> None:
    app.command("generate")(options.takes_columns(generate))


def generate(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A captioner ('captious train captioner' makes one).")],
    images: Annotated[Path, typer.Argument(metavar="IMAGES", help="Objects, features or a folder of photographs (--backbone), of the kind it was trained on.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="JSONL: image_id, captions, logprobs; '-' for stdout.")],
    how: Annotated[
        str, typer.Option("--how", help="rs (random), gnc (noise), crop, ss (synonyms), drv (random vectors), beam, diverse, greedy.")
    ] = "rs",
    m: Annotated[int, typer.Option("--captions", "-m", "-n", min=1, help="Captions of each image.")] = 10,
    temperature: Annotated[float, typer.Option("--temperature", help="Below 1: likelier units (rs).")] = 1.0,
    top_k: Annotated[int, typer.Option("--top-k", min=0, help="Draw among so many of the likeliest units (rs).")] = 0,
    top_p: Annotated[float, typer.Option("--top-p", help="Draw among the likeliest units that make up this share (rs).")] = 1.0,
    sigma: Annotated[str | None, typer.Option("--sigma", metavar="FROM:TO", help="Noise of the first and of the last caption (gnc: 1:10, drv: 1:1).")] = None,
    keep: Annotated[float, typer.Option("--keep", help="The chance of an object, or the share of a photograph, to be seen (crop).")] = 0.7,
    switch: Annotated[str, typer.Option("--switch", metavar="FROM:TO", help="The chance of a word to be switched (ss).")] = "0.1:0.5",
    vectors: Annotated[str | None, typer.Option("--vectors", help="Word vectors (ss): a file, glove-6b-50d, or default.")] = None,
    groups: Annotated[int, typer.Option("--groups", min=1, help="Groups of a diverse beam.")] = 5,
    penalty: Annotated[float, typer.Option("--penalty", help="What a group pays for a unit of an earlier group (diverse).")] = 0.5,
    score: Annotated[Path | None, typer.Option("--score", metavar="CAPTIONS", help="Make nothing: give log P of these captions.")] = None,
    tokens: Annotated[bool, typer.Option("--tokens", help="With --score: also log P of each unit (token_logprobs; the last is the end).")] = False,
    only: Annotated[Path | None, typer.Option("--only", metavar="CAPTIONS", help="Only the images of this file of captions.")] = None,
    backbone: options.Backbone = None,
    backbone_output: options.BackboneOutput = None,
    ids: Annotated[Path | None, typer.Option("--ids", metavar="FILE", help="Ids of the images of a bare array, one per line.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same captions.")] = 1,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of PyTorch.")] = 1,
) -> None:
    """Write captions of images with a captioner. 'captious diversity' reads what comes out."""
    torch = needs_torch("writing captions")
    from captious.generate.captioner import checkpoint
    from captious.generate.captioner.decoding import Sampling
    from captious.generate.captioner.images import read_images
    from captious.generate.captioner.sets import Plan, generate_from_crops, unit_likelihoods
    from captious.generate.captioner.sets import generate as make
    from captious.io import read

    if tokens and score is None:
        raise InputError("--tokens gives log P of the units of given captions; name them with --score")
    torch.set_num_threads(threads)
    trained = checkpoint.load(model)
    noise = _range(sigma, "--sigma") if sigma is not None else (1.0, 1.0) if how == "drv" else (1.0, 10.0)
    plan = Plan(
        how=how, m=m, sampling=Sampling(temperature, top_k, top_p), sigma=noise, keep=keep, switch=_range(switch, "--switch"),
        vectors=vectors, groups=groups, penalty=penalty, seed=seed,
    )  # fmt: skip
    plan.check(trained)
    photographs = look(images, backbone, backbone_output, threads)
    if photographs is not None and trained.classes:
        raise InputError(f"{images}: the model was trained on objects (classes by name), and these are photographs; give objects")
    if score is not None:
        given = read(score, "predictions", several=True)
        seen = photographs.images(given.ids) if photographs is not None else read_images(images, ids, trained.classes).take(given.ids, str(images))
        found = unit_likelihoods(trained, seen, given.captions)
        rows = [_row(image, list(texts), [sum(one.values) for one in own]) for image, texts, own in zip(given.ids, given.captions, found)]
        if tokens:
            for row, own in zip(rows, found):
                row |= {"tokens": [one.units for one in own], "token_logprobs": [one.values for one in own]}
    else:
        listed = list(read(only, "predictions", several=True).ids) if only is not None else None
        if photographs is None:
            seen = read_images(images, ids, trained.classes)
            wanted = seen if listed is None else seen.take(listed, str(images))
            listed, made = list(wanted.ids), make(trained, wanted, plan)
        else:
            listed = photographs.ids if listed is None else listed
            crops = plan.how == "crop"
            made = generate_from_crops(trained, photographs, listed, plan) if crops else make(trained, photographs.images(listed), plan)
        rows = [
            _row(image, texts, made.logprobs[i] if made.logprobs is not None else None)
            for i, (image, texts) in enumerate(zip(listed, made.captions))
        ]
    with atomic_write(output) as temporary:
        temporary.write_text("".join(json_format.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    say(f"{output}: {len(rows):,} images, {sum(len(row['captions']) for row in rows):,} captions", output)


def _row(image: str, captions: list[str], logprobs: list[float] | None) -> dict[str, Any]:
    return {"image_id": image, "captions": captions, **({"logprobs": logprobs} if logprobs is not None else {})}


def _range(text: str, flag: str) -> tuple[float, float]:
    first, _, last = text.partition(":")
    try:
        return float(first), float(last or first)
    except ValueError:
        raise InputError(f"{flag} is a number, or two as FROM:TO, not '{text}'") from None
