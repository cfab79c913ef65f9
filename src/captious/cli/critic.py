"""``captious critic``: scores by critics that were trained to tell a system's captions from human ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from captious.cli import compare, options
from captious.cli.command import Argument, Option, command
from captious.cli.formatting import ScoreTables, interval, look, number
from captious.cli.formatting import score as shown
from captious.cli.output import is_taken, note, print_table, write_json
from captious.cli.score_tables import print_signatures
from captious.core.errors import InputError

if TYPE_CHECKING:
    from captious.critic.system_judging import CriticReport


BareIds = Annotated[
    Path | None, Option("--ids", metavar="FILE", help="Ids of the images of a bare array, one per line.")
]
Context = Annotated[
    str | None,
    Option(
        "--context",
        help="image, reference, both with a comma, or none (default: reference, with --features both).",
    ),
]
Combine = Annotated[str, Option("--combine", help="cbp (compact bilinear pooling), mlp or linear.")]
Preset = Annotated[str, Option("--preset", help="Sizes: quick, or those of the paper.")]
Epochs = Annotated[
    int | None,
    Option("--epochs", min=1, help="Passes over the references (default: by preset)."),
]
Hidden = Annotated[int | None, Option("--hidden", min=1, help="Width of the LSTM (default: by preset).")]
Layers = Annotated[int | None, Option("--layers", min=1, help="Layers of the LSTM (default: 1).")]
Least = Annotated[
    int, Option("--least", min=1, help="Occurrences that a word needs to be in the vocabulary.")
]
StartVectors = Annotated[
    str | None, Option("--vectors", help="Word vectors to begin with: a file, glove-6b-50d, or default.")
]
Negatives = Annotated[
    str | None,
    Option(
        "--negatives",
        metavar="KINDS",
        help="Negative examples, with commas: system, random-caption, word-permutation, random-word, samples "
        "(default: all there are).",
    ),
]
Strength = Annotated[
    str,
    Option("--strength", metavar="FROM:TO", help="Strength of wrong captions in percent; 100 for full."),
]


def critic(
    references: options.References,
    systems: Annotated[list[Path], Argument(metavar="SYSTEM", help="Captions, one file per system.")],
    features: Annotated[
        Path | None,
        Option(
            "--features",
            metavar="F",
            help="Images: features (npy, npz, safetensors, h5, parquet), objects (JSON, JSONL), or a folder "
            "of photographs.",
        ),
    ] = None,
    backbone: options.Backbone = None,
    backbone_output: options.BackboneOutput = None,
    save_features: Annotated[
        Path | None,
        Option(
            "--save-features",
            metavar="OUT.npz",
            help="Save the features of photographs, to reuse with --features.",
            writes="file",
        ),
    ] = None,
    ids: BareIds = None,
    context: Context = None,
    combine: Combine = "cbp",
    preset: Preset = "quick",
    samples: Annotated[
        Path | None,
        Option(
            "--samples",
            metavar="F",
            help="Captions sampled from a model, or a captioner (safetensors) to sample them from.",
        ),
    ] = None,
    augmentation: Annotated[
        bool,
        Option("--augmentation/--no-augmentation", help="Also learn from corrupted and sampled captions."),
    ] = True,
    negatives: Negatives = None,
    strength: Strength = "0:100",
    runs: Annotated[int, Option("--runs", min=1, help="Trainings to average.")] = 1,
    human: Annotated[
        bool,
        Option(
            "--human",
            help="Judge people, too: one reference per image becomes a system and is removed from the "
            "references.",
        ),
    ] = False,
    epochs: Epochs = None,
    hidden: Hidden = None,
    layers: Layers = None,
    least: Least = 5,
    vectors: StartVectors = None,
    seed: Annotated[
        int, Option("--seed", min=0, help="Random seed. The same seed gives the same critics.")
    ] = 1,
    resume: Annotated[
        bool,
        Option("--resume", help="Reuse the critics stored under -o, and continue an interrupted training."),
    ] = False,
    output: Annotated[
        Path | None,
        Option(
            "--output",
            "-o",
            metavar="OUT",
            help="A folder for scores and critics; or NAME.scores for one system.",
            writes="scores",
        ),
    ] = None,
    name: options.Names = None,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    jobs: options.Threads = 1,
    signature: options.WithSignatures = False,
    json: options.JsonOut = None,
) -> None:
    """Train critics to tell a system's captions from human ones, and score each caption by how well it passes
    (Cui et al. 2018).

    The images are divided into two halves. The critics of each half judge the other. A score is the
    probability that a person wrote the caption.
    """
    from captious.critic.system_judging import CriticOptions, judge_systems
    from captious.generate.captioner.image_source import ImageSource

    quiet = is_taken(json)
    chosen = CriticOptions(
        context=context_parts(context),
        combine=combine,
        preset=preset,
        samples=samples,
        augmentation=augmentation,
        negatives=negative_names(negatives),
        strength=strength_range(strength),
        runs=runs,
        epochs=epochs,
        hidden=hidden,
        layers=layers,
        least=least,
        vectors=vectors,
        seed=seed,
    )
    report = judge_systems(
        references,
        systems,
        chosen,
        images=ImageSource(features, backbone, backbone_output, ids, jobs) if features else None,
        save_features=save_features,
        human=human,
        names=name,
        tokenizer=tokenizer,
        subset=subset,
        several=allow_several or None,
        output=output,
        resume=resume,
        threads=jobs,
    )
    scores = [judged.scores for judged in report.systems]
    if json is not None:
        write_json(
            {"references": str(references), **report.to_json(ci=look().bootstrap, numbers=look().numbers)},
            json,
        )
    if quiet:
        return
    _show(report)
    if report.comparisons is not None:
        compare.show(report.comparisons)
    if signature:
        print_signatures(scores)


def negative_names(text: str | None) -> list[str] | None:
    """Split a list with commas."""
    return None if text is None else text.split(",")


def strength_range(text: str) -> tuple[float, float]:
    """Return the range of ``FROM:TO``, or of one number."""
    low, _, high = text.partition(":")
    try:
        return float(low), float(high or low)
    except ValueError:
        raise InputError(f"--strength is a number, or two as FROM:TO, not '{text}'") from None


def context_parts(text: str | None) -> list[str] | None:
    """Return the parts of a context; none for the word "none"."""
    if text is None:
        return None
    parts = {part.strip().casefold() for part in text.replace("+", ",").split(",")}
    return [] if parts == {"none"} else sorted(parts)


def _show(report: CriticReport) -> None:
    rows = []
    for judged in report.systems:
        score, people = judged.score, judged.human
        rows.append(
            [
                judged.scores.system,
                shown(score.value),
                interval(score.interval()),
                number(judged.spread),
                shown(people.value),
                interval(people.interval()),
            ]
        )
    images = len(report.systems[0].score.ids)
    header = ["system", "Critic", "95 % interval", "spread of runs", "references", "95 % interval"]
    print_table(f"{images:,} images, two folds: probability that a person wrote the caption", header, rows)
    kinds = {"system": "of the system", "pathological": "corrupted", "samples": "sampled"}
    protocol = report.protocol
    negatives = ", ".join(kinds[kind] for kind in protocol.settings.negatives.kinds)
    note(
        f"context: {' and '.join(protocol.shape.context) or 'none'}; negative captions: {negatives}; "
        "references are scored by the same critics, each with the others as context\n"
        "intervals and tests are over images, for these critics; "
        "the spread of runs (--runs) shows how much another training changes"
    )


COMMAND = command("critic", critic, options.Columns, ScoreTables)
