"""``captious critic``: which system's captions pass for people's?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from captious.cli import compare, options
from captious.cli.look import interval, look, number, takes_look
from captious.cli.look import score as shown
from captious.cli.output import SUFFIX, check_target, is_taken, note, print_table, save_scores, write_json
from captious.cli.score import print_signatures
from captious.cli.train_captioner import needs_torch
from captious.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from captious.critic.learning import Settings
    from captious.critic.model import Shape
    from captious.generate.captioner.images import Images


def register(app: typer.Typer) -> None:
    app.command("critic")(options.takes_columns(takes_look(critic)))


def critic(
    references: options.References,
    systems: Annotated[list[Path], typer.Argument(metavar="SYSTEM", help="Captions, one file per system.")],
    features: Annotated[
        Path | None,
        typer.Option("--features", metavar="F", help="Images: features (npy, npz, safetensors, h5, parquet), objects (JSON, JSONL), or a folder of photographs."),
    ] = None,
    backbone: options.Backbone = None,
    backbone_output: options.BackboneOutput = None,
    save_features: Annotated[Path | None, typer.Option("--save-features", metavar="OUT.npz", help="Save what the network sees, for --features.")] = None,
    ids: Annotated[Path | None, typer.Option("--ids", metavar="FILE", help="Ids of the images of a bare array, one per line.")] = None,
    context: Annotated[
        str | None, typer.Option("--context", help="image, reference, both with a comma, or none (default: reference, with --features both).")
    ] = None,
    combine: Annotated[str, typer.Option("--combine", help="cbp (compact bilinear pooling), mlp or linear.")] = "cbp",
    preset: Annotated[str, typer.Option("--preset", help="Sizes: quick, or those of the paper.")] = "quick",
    samples: Annotated[
        Path | None, typer.Option("--samples", metavar="F", help="Captions drawn from a model at random; or a captioner (safetensors), which then draws them.")
    ] = None,
    augmentation: Annotated[bool, typer.Option("--augmentation/--no-augmentation", help="Learn from wrong and from sampled captions, too.")] = True,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Trainings to average.")] = 1,
    human: Annotated[bool, typer.Option("--human", help="Judge people, too: one reference of each image becomes a system, and is no reference.")] = False,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="How often each reference is learned from (default: by preset).")] = None,
    hidden: Annotated[int | None, typer.Option("--hidden", min=1, help="Width of the LSTM (default: by preset).")] = None,
    layers: Annotated[int | None, typer.Option("--layers", min=1, help="Layers of the LSTM (default: 1).")] = None,
    least: Annotated[int, typer.Option("--least", min=1, help="How often a word must occur to be known.")] = 5,
    vectors: Annotated[str | None, typer.Option("--vectors", help="Word vectors to begin with: a file, glove-6b-50d, or default.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same critics.")] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Use the critics that -o has already, and go on with one that was stopped.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="OUT", help="A folder for scores and critics; or NAME.scores for one system.")
    ] = None,
    name: options.Names = None,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Threads of PyTorch.")] = 1,
    signature: options.WithSignatures = False,
    json: options.JsonOut = None,
) -> None:
    """Train critics to tell a system's captions from people's, and score each caption by how well it passes (Cui et al. 2018).

    The images are divided in two; critics of either half judge the other. A score is the chance that a person wrote the caption.
    """
    torch = needs_torch("training a critic")
    from captious import vectors as word_vectors
    from captious.comparison import compare as compare_all
    from captious.critic.protocol import Protocol, hold_out, judge
    from captious.references import References, load_systems

    torch.set_num_threads(threads)
    check_target(output, len(systems) + human)
    quiet = is_taken(json)
    if resume and output is None:
        raise InputError("--resume goes on in the folder that -o names; give -o")
    shape, settings = _sizes(preset, _context(context, features is not None), combine, hidden, layers, epochs, least)
    kinds = ("system", *(("pathological",) if augmentation else ()), *(("samples",) if augmentation and samples is not None else ()))
    settings = replace(settings, negatives=replace(settings.negatives, kinds=kinds))
    settings.check()
    if samples is not None and not augmentation:
        raise InputError("--samples are a part of augmentation; leave out --no-augmentation, or --samples")
    table = word_vectors.get(vectors)
    source: Any = References.read(references, tokenizer)
    given: list[Any] = list(systems)
    names: list[str | None] = [*name] if name else [None] * len(given)
    if human:
        tokenizer = source.captions.tokenizer
        source, people = hold_out(dict(zip(source.file.ids, source.file.captions)), seed)
        given, names = [*given, people], [*names, "people"]
    corpora = load_systems(source, given, tokenizer=tokenizer, subset=subset, several=allow_several or None, names=names)
    images = _images(features, backbone, backbone_output, ids, list(dict.fromkeys(image for corpus in corpora for image in corpus.ids)), threads) if "image" in shape.context else None
    if images is not None and save_features is not None:
        _save(images, save_features)
    drawn = _samples(samples, images, seed) if "samples" in kinds else None
    kept = None if output is None else output.with_suffix(".critics") if output.name.endswith(SUFFIX) else output / "critics"
    if kept is not None and kept.exists() and not resume:
        raise InputError(f"{kept} has critics already; --resume goes on with them, or name another place")
    protocol = Protocol(shape, settings, table, runs, seed)
    found = judge(corpora, protocol, images=images, samples=drawn, output=kept, resume=resume, where=str(features))
    if output is not None:
        save_scores([one.scores for one in found], output)
    compared = compare_all(*(one.scores for one in found)) if len(found) > 1 else None
    if json is not None:
        how = {"ci": look().bootstrap}
        write_json({"references": str(references), "systems": [one.to_json(**how) for one in found], **({"comparison": compared.to_json()} if compared else {})}, json)
    if quiet:
        return
    _show(found, protocol)
    if compared is not None:
        compare.show(compared)
    if signature:
        print_signatures([one.scores for one in found])


def _context(text: str | None, features: bool) -> tuple[str, ...]:
    if text is None:
        return ("image", "reference") if features else ("reference",)
    parts = {part.strip().casefold() for part in text.replace("+", ",").split(",")}
    if parts == {"none"}:
        return ()
    known = ("image", "reference")
    for part in sorted(parts):
        if part not in known:
            raise InputError(f"a critic's context is image, reference, both, or none, not '{part}'{did_you_mean(part, known)}")
    if "image" in parts and not features:
        raise InputError("the image is part of the context; give what is seen of images with --features")
    return tuple(part for part in known if part in parts)


def _sizes(
    preset: str, context: tuple[str, ...], combine: str, hidden: int | None, layers: int | None, epochs: int | None, least: int
) -> tuple[Shape, Settings]:
    from captious.critic.learning import PRESETS

    if preset not in PRESETS:
        raise InputError(f"presets are {' and '.join(PRESETS)}, not '{preset}'{did_you_mean(preset, PRESETS)}")
    shape, settings = PRESETS[preset]
    shape = replace(shape, context=context, combine=combine, hidden=hidden or shape.hidden, layers=layers or shape.layers)
    shape.check()
    return shape, replace(settings, epochs=epochs or settings.epochs, least=least)


def _images(features: Path | None, backbone: Path | None, wanted: str | None, ids: Path | None, listed: list[str], threads: int) -> Images:
    from captious.generate.captioner.backbone import look_at
    from captious.generate.captioner.images import read_images

    if features is None:
        raise InputError("the image is part of the context; give what is seen of images with --features")
    if features.is_dir() and backbone is None:
        raise InputError(f"{features} is a folder of photographs; name a network that looks at them with --backbone")
    if backbone is not None:
        return look_at(features, backbone, listed, output=wanted, threads=threads)
    return read_images(features, ids)


def _save(images: Images, path: Path) -> None:
    import numpy as np

    from captious.writing import atomic_write

    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez(file, ids=np.array(images.ids), features=images.counted())


def _samples(path: Path | None, images: Images | None, seed: int) -> dict[str, list[str]]:
    from captious.io import read

    assert path is not None
    if path.suffix == ".safetensors":
        from captious.generate.captioner import checkpoint
        from captious.generate.captioner.sets import Plan, generate

        trained = checkpoint.load(path)
        if images is None:
            raise InputError(f"{path} is a captioner, which looks at images; give --features of the kind it was trained on, or a file of samples")
        return dict(zip(images.ids, generate(trained, images, Plan("rs", 1, seed=seed)).captions))
    file = read(path, "predictions", several=True)
    return {image: list(texts) for image, texts in zip(file.ids, file.captions)}


def _show(found: list[Any], protocol: Any) -> None:
    rows = []
    for one in found:
        score, people = one.score, one.human
        rows.append([
            one.scores.system, shown(score.value), interval(score.interval()), number(one.spread), shown(people.value), interval(people.interval()),
        ])  # fmt: skip
    images = len(found[0].score.ids)
    header = ["system", "Critic", "95 % interval", "spread of runs", "references", "95 % interval"]
    print_table(f"{images:,} images, two folds: the chance that a person wrote the caption", header, rows)
    kinds = {"system": "the system's", "pathological": "wrong on purpose", "samples": "drawn at random"}
    note(
        f"context: {' and '.join(protocol.shape.context) or 'none'}; learned against captions: {', '.join(kinds[kind] for kind in protocol.settings.negatives.kinds)}; "
        "references: by the same critics, each beside the others\n"
        "intervals and tests are over images, for these critics; how much another training changes is the spread of runs (--runs)"
    )
