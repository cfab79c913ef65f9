"""``captious generate``: captions by a captioner, and the likelihood of existing captions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from captious.cli import options
from captious.cli.command import Argument, Flag, OptionGroup, command
from captious.cli.output import say, write_json_lines
from captious.cli.synonyms import SynonymOptions
from captious.core.errors import InputError


@dataclass
class DecodingOptions(OptionGroup):
    """Settings of the ways to write captions, as `generate_captions` takes them."""

    temperature: Annotated[float, Flag("--temperature", help="Below 1, likelier units are sampled (rs).")] = (
        1.0
    )
    top_k: Annotated[
        int, Flag("--top-k", min=0, help="Sample from this many of the likeliest units, 0 for all (rs).")
    ] = 0
    top_p: Annotated[
        float, Flag("--top-p", help="Sample from the likeliest units with this total probability (rs).")
    ] = 1.0
    sigma: Annotated[
        str | None,
        Flag(
            "--sigma",
            metavar="FROM:TO",
            help="Noise of the first and of the last caption (gnc: 1:10, drv: 1:1).",
        ),
    ] = None
    keep: Annotated[
        float,
        Flag("--keep", help="Probability of keeping an object, or share of a photograph's area (crop)."),
    ] = 0.7
    groups: Annotated[int, Flag("--groups", min=1, help="Groups of a diverse beam.")] = 5
    penalty: Annotated[
        float, Flag("--penalty", help="Penalty for a unit that an earlier group used (diverse).")
    ] = 0.5

    def settings(self) -> dict[str, Any]:
        """Return the arguments of `generate_captions`."""
        sigma = None if self.sigma is None else options.number_range(self.sigma, "--sigma")
        return vars(self) | {"sigma": sigma}


def generate(
    model: Annotated[Path, Argument(metavar="MODEL", help="Captioner, from 'captious train captioner'.")],
    images: Annotated[
        Path,
        Argument(
            metavar="IMAGES",
            help="Objects, features or a folder of photographs (--backbone), as in training.",
        ),
    ],
    output: Annotated[
        Path,
        options.to_file("OUT", "JSONL: image_id, captions, logprobs; '-' for stdout."),
    ],
    how: Annotated[
        str,
        Flag(
            "--how",
            help="rs (random), gnc (noise), crop, ss (synonyms), drv (random vectors), beam, diverse, "
            "greedy.",
        ),
    ] = "rs",
    m: Annotated[
        int | None,
        Flag("--captions", "-n", min=1, help="Captions per image (default: 10; greedy: 1).", old=("-m",)),
    ] = None,
    *,
    decoding: DecodingOptions,
    score: Annotated[
        Path | None,
        Flag("--score", metavar="CAPTIONS", help="Write log P of these captions instead of new ones."),
    ] = None,
    tokens: Annotated[
        bool,
        Flag(
            "--tokens",
            help="With --score: also log P of each unit (token_logprobs; the last one is the end).",
        ),
    ] = False,
    only: Annotated[
        Path | None, Flag("--only", metavar="CAPTIONS", help="Only the images of this file of captions.")
    ] = None,
    backbone: options.Backbone = None,
    backbone_output: options.BackboneOutput = None,
    ids: options.BareIds = None,
    seed: Annotated[int, options.random_seed("captions")] = 1,
    jobs: options.Threads = 1,
    switching: SynonymOptions,
) -> None:
    """Write captions of images with a captioner. 'captious diversity' reads the output."""
    from captious.generate import caption_likelihoods, generate_captions
    from captious.generate.captioner.image_source import ImageSource

    if tokens and score is None:
        raise InputError(
            "--tokens adds log P of the units of existing captions; name their file with --score"
        )
    if score is not None and (how != "rs" or m is not None or only is not None):
        raise InputError("--score writes no captions; leave out --how, --captions and --only")
    source = ImageSource(images, backbone, backbone_output, ids, jobs)
    if score is not None:
        rows = caption_likelihoods(model, source, score, tokens=tokens, threads=jobs)
    else:
        rows = generate_captions(
            model,
            source,
            how,
            m,
            only=only,
            **decoding.settings(),
            seed=seed,
            threads=jobs,
            **switching.settings(),
        )
    write_json_lines(rows, output)
    say(f"{output}: {len(rows):,} images, {sum(len(row['captions']) for row in rows):,} captions", output)


COMMAND = command("generate", generate, options.ColumnOptions)
