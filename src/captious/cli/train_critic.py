"""``captious train critic``: one critic, to score captions with ``-m Critic=FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Option, command
from captious.cli.critic import Negatives, Strength, context_parts, negative_names, strength_range
from captious.cli.output import say, write_json


def critic(
    references: options.References,
    output: Annotated[
        Path,
        Option(
            "--output",
            "-o",
            metavar="CRITIC",
            help="Where to write the critic (safetensors).",
            writes="file",
        ),
    ],
    systems: Annotated[
        list[Path] | None,
        Argument(metavar="SYSTEM", help="Captions of systems, as negative examples; any number."),
    ] = None,
    features: Annotated[
        Path | None,
        Option("--features", metavar="F", help="Images: features, objects, or a folder of photographs."),
    ] = None,
    backbone: options.Backbone = None,
    backbone_output: options.BackboneOutput = None,
    ids: Annotated[
        Path | None, Option("--ids", metavar="FILE", help="Ids of the images of a bare array, one per line.")
    ] = None,
    context: Annotated[
        str | None,
        Option(
            "--context",
            help="image, reference, both with a comma, or none (default: reference, with --features both).",
        ),
    ] = None,
    combine: Annotated[
        str, Option("--combine", help="cbp (compact bilinear pooling), mlp or linear.")
    ] = "cbp",
    preset: Annotated[str, Option("--preset", help="Sizes: quick, or those of the paper.")] = "quick",
    samples: Annotated[
        Path | None,
        Option(
            "--samples", metavar="F", help="Captions sampled from a model, or a captioner to sample from."
        ),
    ] = None,
    negatives: Negatives = None,
    strength: Strength = "0:100",
    exclude: Annotated[
        Path | None,
        Option(
            "--exclude",
            metavar="CAPTIONS",
            help="Exclude the images of this file of captions from training.",
        ),
    ] = None,
    epochs: Annotated[
        int | None, Option("--epochs", min=1, help="Passes over the references (default: by preset).")
    ] = None,
    hidden: Annotated[
        int | None, Option("--hidden", min=1, help="Width of the LSTM (default: by preset).")
    ] = None,
    layers: Annotated[int | None, Option("--layers", min=1, help="Layers of the LSTM (default: 1).")] = None,
    least: Annotated[
        int, Option("--least", min=1, help="Occurrences that a word needs to be in the vocabulary.")
    ] = 5,
    vectors: Annotated[
        str | None, Option("--vectors", help="Word vectors to begin with: a file, glove-6b-50d, or default.")
    ] = None,
    seed: Annotated[
        int, Option("--seed", min=0, help="Random seed. The same seed gives the same critic.")
    ] = 1,
    resume: Annotated[bool, Option("--resume", help="Continue from the last checkpoint in CRITIC.")] = False,
    jobs: options.Threads = 1,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
) -> None:
    """Train one critic to tell human captions from others (Cui et al. 2018), and score with -m Critic=FILE.

    Without SYSTEM, the negative examples are wrong captions. 'captious critic' runs the protocol for judging
    systems.
    """
    from captious.critic.system_judging import CriticOptions
    from captious.generate.captioner.image_source import ImageSource
    from captious.training import train_critic

    chosen = CriticOptions(
        context=context_parts(context),
        combine=combine,
        preset=preset,
        samples=samples,
        negatives=negative_names(negatives),
        strength=strength_range(strength),
        epochs=epochs,
        hidden=hidden,
        layers=layers,
        least=least,
        vectors=vectors,
        seed=seed,
    )
    result = train_critic(
        references,
        output,
        systems or (),
        chosen,
        images=ImageSource(features, backbone, backbone_output, ids, jobs) if features else None,
        exclude=exclude,
        resume=resume,
        threads=jobs,
        tokenizer=tokenizer,
    )
    loss = result.trained.history["loss"][-1]
    say(f"{output}: {result.images:,} images, loss {loss:.4f}; score with -m Critic={output}", json)
    if json is not None:
        write_json(result.to_json(), json)


COMMAND = command("critic", critic, options.Columns)
