"""``captious train captioner``: a captioner from objects or features, by cross-entropy or rewards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import Argument, Flag, OptionGroup, command
from captious.cli.formatting import number
from captious.cli.output import say, write_json
from captious.core.errors import InputError


@dataclass
class CaptionerOptions(OptionGroup):
    """Architecture, loss and schedule, as `train_captioner` takes them (rewards as texts)."""

    model: Annotated[str, Flag("--model", help="fc, att or relation.")] = "fc"
    hidden: Annotated[int, Flag("--hidden", min=1, help="Width of the model.")] = 320
    layers: Annotated[
        int, Flag("--layers", min=1, help="Layers of the encoder and of the decoder (relation).")
    ] = 2
    heads: Annotated[int, Flag("--heads", min=1, help="Attention heads (relation).")] = 4
    width: Annotated[
        int, Flag("--width", min=0, help="Width of the feed-forward layers (relation); 0: twice --hidden.")
    ] = 0
    latent: Annotated[
        int, Flag("--latent", min=0, help="Size of the latent vector, 0 for none (a CVAE; only fc).")
    ] = 0
    prior: Annotated[
        str,
        Flag("--prior", help="Prior of the latent vector: normal, or gmm (one Gaussian for each class)."),
    ] = "normal"
    divergence: Annotated[
        float, Flag("--divergence", help="Weight of the latent vector's KL divergence.")
    ] = 0.1
    annealing: Annotated[
        float, Flag("--annealing", help="Share of the training over which this weight rises from 0.")
    ] = 0.5
    free_bits: Annotated[
        float, Flag("--free-bits", help="Nats of each component of the latent vector that cost nothing.")
    ] = 0.0
    dropout: Annotated[float, Flag("--dropout", help="Share of dropout.")] = 0.2
    units: Annotated[str, Flag("--units", help="words, characters, bpe or unigram.")] = "words"
    vocabulary: Annotated[
        int | None, Flag("--vocabulary", min=4, help="Maximum of units (bpe, unigram: 1,000 by default).")
    ] = None
    least: Annotated[int, Flag("--least", min=1, help="Occurrences that a word needs to be a unit.")] = 5
    steps: Annotated[int | None, Flag("--steps", min=1, help="Steps (default: 2,000; 100 with rewards).")] = (
        None
    )
    batch: Annotated[int, Flag("--batch", min=1, help="Captions per step.")] = 100
    rate: Annotated[
        float | None, Flag("--rate", help="Learning rate (default: 0.002; 0.0005 with rewards).")
    ] = None
    warmup: Annotated[
        int, Flag("--warmup", min=0, help="Steps over which the learning rate rises to --rate.")
    ] = 0
    start: Annotated[
        Path | None, Flag("--from", metavar="MODEL", help="Continue with a trained captioner.")
    ] = None
    rewards: Annotated[
        list[str] | None,
        Flag("--reward", metavar="METRIC=λ", help="Add a metric as reward, such as CIDEr-D=5; repeatable."),
    ] = None
    retrieval: Annotated[float, Flag("--retrieval", metavar="β", help="Weight of the retrieval reward.")] = (
        0.0
    )
    adversary: Annotated[
        float,
        Flag("--adversary", metavar="γ", help="Weight of a learned evaluator as reward (conditional GAN)."),
    ] = 0.0
    xe: Annotated[
        float, Flag("--xe", metavar="WEIGHT", help="Weight of cross-entropy beside rewards; 0 for none.")
    ] = 1.0
    samples: Annotated[int, Flag("--samples", min=1, help="Samples per image, for rewards.")] = 5
    images_per_step: Annotated[int, Flag("--images", min=1, help="Images per step with rewards.")] = 64
    baseline: Annotated[str, Flag("--baseline", help="leave-one-out or greedy.")] = "leave-one-out"
    validation: Annotated[int, Flag("--validation", min=0, help="Images to hold out for validation.")] = 200
    exclude: options.Exclude = None
    evaluate_every: Annotated[
        int, Flag("--evaluate-every", min=1, help="Steps between rows of the validation curve.")
    ] = 250
    save_every: Annotated[int, Flag("--save-every", min=1, help="Steps between checkpoints.")] = 100


def captioner(
    images: Annotated[
        Path,
        Argument(
            metavar="IMAGES",
            help="Objects (JSON, JSONL, COCO instances), features (npy, npz, safetensors, h5), or a folder "
            "of photographs (--backbone).",
        ),
    ],
    references: options.References,
    output: Annotated[
        Path,
        options.to_file("MODEL", "Where to write the captioner (safetensors)."),
    ],
    *,
    training: CaptionerOptions,
    backbone: options.Backbone = None,
    backbone_output: options.BackboneOutput = None,
    ids: options.BareIds = None,
    resume: Annotated[bool, Flag("--resume", help="Continue from the last checkpoint in MODEL.")] = False,
    seed: Annotated[int, options.random_seed("captioner")] = 1,
    jobs: options.Threads = 1,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
) -> None:
    """Train a captioner on the objects (or features) of images and their captions.

    With --reward, --retrieval or --adversary the loss is w · XE + λ · reward + β · retrieval reward + γ ·
    evaluator, with w from --xe, and --from names the model to start from.
    """
    from captious.generate.captioner.image_source import ImageSource
    from captious.training import train_captioner

    result = train_captioner(
        ImageSource(images, backbone, backbone_output, ids, jobs),
        references,
        output,
        **vars(training) | {"rewards": dict(map(_reward, training.rewards or []))},
        resume=resume,
        seed=seed,
        threads=jobs,
        tokenizer=tokenizer,
        progress=partial(say_row, json=json),
    )
    trained = result.trained
    say(
        f"{output}: {trained.model.shape.kind}, {len(trained.units):,} {trained.units.kind}, "
        f"{result.parameters:,} parameters, {result.images:,} images",
        json,
    )
    if json is not None:
        write_json(result.to_json(), json)


def _reward(text: str) -> tuple[str, float]:
    """Split ``CIDEr-D=5`` into name and weight."""
    name, _, weight = text.partition("=")
    try:
        return name.strip(), float(weight)
    except ValueError:
        raise InputError(f"a reward is written METRIC=WEIGHT, such as CIDEr-D=5, not '{text}'") from None


def say_row(row: dict[str, Any], json: str | None) -> None:
    """Print a row of a training's progress."""
    cells = (f"{name} {number(v, '.4f') if isinstance(v, float) else v}" for name, v in row.items())
    say("  ".join(cells), json)


COMMAND = command("captioner", captioner, options.ColumnOptions)
