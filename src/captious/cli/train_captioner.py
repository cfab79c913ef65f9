"""``captious train captioner``: a small captioner from objects or features, by cross-entropy and by rewards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from captious.cli import options
from captious.cli.output import number, say, write_json
from captious.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from captious.generate.captioner.backbone import Photographs


def register(group: typer.Typer) -> None:
    group.command("captioner")(options.takes_columns(captioner))


def captioner(
    images: Annotated[Path, typer.Argument(metavar="IMAGES", help="Objects (JSON, JSONL, COCO instances), features (npy, npz, safetensors, h5), or a folder of photographs (--backbone).")],
    references: options.References,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the captioner (safetensors).")],
    model: Annotated[str, typer.Option("--model", help="fc, att or relation.")] = "fc",
    hidden: Annotated[int, typer.Option("--hidden", min=1, help="Width of the model.")] = 320,
    latent: Annotated[int, typer.Option("--latent", min=0, help="Numbers of a latent vector (a CVAE; fc alone).")] = 0,
    dropout: Annotated[float, typer.Option("--dropout", help="Share of numbers left out at random.")] = 0.2,
    units: Annotated[str, typer.Option("--units", help="words, characters, bpe or unigram.")] = "words",
    vocabulary: Annotated[int | None, typer.Option("--vocabulary", min=4, help="The most units (pieces: 1,000 unless told).")] = None,
    least: Annotated[int, typer.Option("--least", min=1, help="How often a word must occur to be a unit.")] = 5,
    steps: Annotated[int | None, typer.Option("--steps", min=1, help="Steps (default: 2,000; 100 with rewards).")] = None,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Captions of a step.")] = 100,
    rate: Annotated[float | None, typer.Option("--rate", help="Learning rate (default: 0.002; 0.0005 with rewards).")] = None,
    start: Annotated[Path | None, typer.Option("--from", metavar="MODEL", help="Go on with a captioner that was trained before.")] = None,
    rewards: Annotated[
        list[str] | None, typer.Option("--reward", metavar="METRIC=λ", help="Add a metric as reward, such as CIDEr-D=5; repeatable.")
    ] = None,
    retrieval: Annotated[float, typer.Option("--retrieval", metavar="β", help="Weight of the retrieval reward.")] = 0.0,
    samples: Annotated[int, typer.Option("--samples", min=1, help="Samples of an image, for rewards.")] = 5,
    at_once: Annotated[int, typer.Option("--images", min=1, help="Images of a step with rewards.")] = 64,
    baseline: Annotated[str, typer.Option("--baseline", help="leave-one-out or greedy.")] = "leave-one-out",
    validation: Annotated[int, typer.Option("--validation", min=0, help="Images to hold back for validation.")] = 200,
    exclude: Annotated[
        Path | None, typer.Option("--exclude", metavar="CAPTIONS", help="Images (any file of captions) that must not be learned from.")
    ] = None,
    evaluate_every: Annotated[int, typer.Option("--evaluate-every", min=1, help="Steps between rows of the validation curve.")] = 250,
    save_every: Annotated[int, typer.Option("--save-every", min=1, help="Steps between checkpoints.")] = 100,
    backbone: options.Backbone = None,
    backbone_output: options.BackboneOutput = None,
    ids: Annotated[Path | None, typer.Option("--ids", metavar="FILE", help="Ids of the images of a bare array, one per line.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint in MODEL.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same captioner.")] = 1,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of PyTorch.")] = 1,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
) -> None:
    """Train a captioner on the objects (or features) of images and their captions.

    With --reward or --retrieval the loss is XE + λ · reward + β · retrieval reward, and --from names the model to start from.
    """
    torch = needs_torch("training a captioner")
    from captious.generate.captioner import checkpoint
    from captious.generate.captioner.images import read_images
    from captious.generate.captioner.models import Shape
    from captious.generate.captioner.training import Settings, train
    from captious.io import read
    from captious.measures.making import make_measures
    from captious.references import References

    torch.set_num_threads(threads)
    weights = read_rewards(rewards or [])
    for name in weights:
        make_measures(name, {})
    rewarded = bool(weights) or retrieval != 0
    if output.exists() and not resume:
        raise InputError(f"{output} is there already; --resume goes on with it, or name another file")
    if rewarded and start is None:
        raise InputError("rewards improve a captioner that can write: train one by cross-entropy first, and name it with --from")
    settings = Settings(
        steps=steps or (100 if rewarded else 2000), batch=batch, rate=rate or (5e-4 if rewarded else 2e-3), rewards=weights,
        retrieval=retrieval, samples=samples, images=at_once, baseline=baseline, evaluate_every=evaluate_every, save_every=save_every, seed=seed,
    )  # fmt: skip
    settings.check()
    shape = Shape(model, hidden, dropout, latent)
    shape.check()
    first = checkpoint.load(start) if start is not None else None
    photographs = look(images, backbone, backbone_output, threads)
    if photographs is not None and first is not None and first.classes:
        raise InputError(f"{images}: the model was trained on objects (classes by name), and these are photographs; give objects")
    seen = photographs.images(photographs.ids) if photographs is not None else read_images(images, ids, first.classes if first is not None else ())
    prepared = References.read(references, tokenizer if tokenizer is not None or first is None else first.tokenizer)
    barred = set(read(exclude, "references").ids) if exclude is not None else set()
    known = set(seen.ids)
    usable = [image for image in prepared.captions.ids if image in known and image not in barred]
    if not usable:
        raise InputError(f"{images} and {references} have no image in common that may be learned from; look at their ids")
    held = hold_back(usable, validation, seed)
    rows: list[dict[str, Any]] = []

    def told(row: dict[str, Any]) -> None:
        rows.append(row)
        say("  ".join(f"{name} {number(value, '.4f') if isinstance(value, float) else value}" for name, value in row.items()), json)

    trained = train(
        seen, prepared, output, ids=usable, validation=held, shape=shape, units=units, vocabulary=vocabulary, least=least,
        settings=settings, start=first, resume=resume, told=told, where=str(images),
    )  # fmt: skip
    weighs = sum(parameter.numel() for parameter in trained.model.parameters())
    say(f"{output}: {trained.model.shape.kind}, {len(trained.units):,} {trained.units.kind}, {weighs:,} parameters, {len(usable) - len(held):,} images", json)
    if json is not None:
        write_json({"model": str(output), "parameters": weighs, "units": len(trained.units), "history": list(trained.history)}, json)


def look(images: Path, backbone: Path | None, output: str | None, threads: int) -> Photographs | None:
    """The photographs of a folder, with the network that looks at them; nothing where the images are a file."""
    if backbone is None:
        if images.is_dir():
            raise InputError(f"{images} is a folder of photographs; name a network that looks at them with --backbone")
        return None
    from captious.generate.captioner.backbone import Photographs

    return Photographs(images, backbone, output=output, threads=threads)


def hold_back(ids: list[str], count: int, seed: int) -> list[str]:
    """Images for validation, drawn by the seed."""
    import numpy as np

    if count >= len(ids):
        raise InputError(f"{count:,} images cannot be held back for validation: there are {len(ids):,}; lower --validation")
    picked = np.random.default_rng(seed).choice(len(ids), count, replace=False)
    return [ids[i] for i in sorted(picked.tolist())]


def read_rewards(given: list[str]) -> dict[str, float]:
    """``CIDEr-D=5`` as name and weight."""
    found: dict[str, float] = {}
    for part in given:
        name, _, weight = part.partition("=")
        try:
            found[name.strip()] = float(weight)
        except ValueError:
            raise InputError(f"a reward is written METRIC=WEIGHT, such as CIDEr-D=5, not '{part}'") from None
    return found


def needs_torch(purpose: str) -> Any:
    """PyTorch, or one line that says how to get it."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "train", purpose) from error
    return torch
