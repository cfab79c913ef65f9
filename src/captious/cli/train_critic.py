"""``captious train critic``: one critic, to score captions with ``-m Critic=FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Option, command
from captious.cli.critic import (
    BareIds,
    Combine,
    Context,
    Epochs,
    Hidden,
    Layers,
    Least,
    Negatives,
    Preset,
    StartVectors,
    Strength,
    context_parts,
    negative_names,
    strength_range,
)
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
    ids: BareIds = None,
    context: Context = None,
    combine: Combine = "cbp",
    preset: Preset = "quick",
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
    epochs: Epochs = None,
    hidden: Hidden = None,
    layers: Layers = None,
    least: Least = 5,
    vectors: StartVectors = None,
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
