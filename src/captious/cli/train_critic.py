"""``captious train critic``: one critic, to score captions with ``-m Critic=FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.critic import CriticTrainingOptions
from captious.cli.output import say, write_json


def critic(
    references: options.References,
    output: Annotated[
        Path,
        options.to_file("CRITIC", "Where to write the critic (safetensors)."),
    ],
    systems: Annotated[
        list[Path] | None,
        Argument(metavar="SYSTEM", help="Captions of systems, as negative examples; any number."),
    ] = None,
    features: Annotated[
        Path | None,
        Flag("--features", metavar="F", help="Images: features, objects, or a folder of photographs."),
    ] = None,
    backbone: options.Backbone = None,
    backbone_output: options.BackboneOutput = None,
    ids: options.BareIds = None,
    exclude: options.Exclude = None,
    resume: Annotated[bool, Flag("--resume", help="Continue from the last checkpoint in CRITIC.")] = False,
    jobs: options.Threads = 1,
    tokenizer: options.Tokenizer = None,
    json: options.JsonOut = None,
    *,
    training: CriticTrainingOptions,
) -> None:
    """Train one critic to tell human captions from others (Cui et al. 2018), and score with -m Critic=FILE.

    Without SYSTEM, the negative examples are wrong captions. 'captious critic' runs the protocol for judging
    systems.
    """
    from captious.generate.captioner.image_source import ImageSource
    from captious.training import train_critic

    result = train_critic(
        references,
        output,
        systems or (),
        training.settings(),
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


COMMAND = command("critic", critic, options.ColumnOptions)
