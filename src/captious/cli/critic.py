"""``captious critic``: scores by critics that were trained to tell a system's captions from human ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

from captious.cli import compare, options
from captious.cli.command import Argument, Flag, OptionGroup, command
from captious.cli.formatting import ScoreTables, interval, look, number
from captious.cli.formatting import score as shown
from captious.cli.output import is_taken, note, print_table, write_json
from captious.cli.score_tables import print_signatures
from captious.critic.system_judging import CriticOptions, CriticReport, judge_systems
from captious.generate.captioner.image_source import ImageSource


@dataclass
class CriticTrainingOptions(OptionGroup):
    """Architecture and training of critics."""

    heading: ClassVar[str] = "Training"

    context: Annotated[
        str | None,
        Flag(
            "--context",
            help="image, reference, fluency, several with commas, or none (default: reference; with "
            "--features also image).",
        ),
    ] = None
    combine: Annotated[str, Flag("--combine", help="cbp (compact bilinear pooling), mlp or linear.")] = "cbp"
    preset: Annotated[str, Flag("--preset", help="Sizes: quick, or those of the paper.")] = "quick"
    samples: Annotated[
        Path | None,
        Flag(
            "--samples",
            metavar="F",
            help="Captions sampled from a model, or a captioner (safetensors) to sample them from.",
        ),
    ] = None
    negatives: Annotated[
        str | None,
        Flag(
            "--negatives",
            metavar="KINDS",
            help="Negative examples, with commas: system, random-caption, word-permutation, random-word, "
            "samples (default: all there are).",
        ),
    ] = None
    strength: Annotated[
        str,
        Flag("--strength", metavar="FROM:TO", help="Strength of wrong captions in percent; 100 for full."),
    ] = "0:100"
    epochs: Annotated[
        int | None, Flag("--epochs", min=1, help="Passes over the references (default: by preset).")
    ] = None
    hidden: Annotated[int | None, Flag("--hidden", min=1, help="Width of the LSTM (default: by preset).")] = (
        None
    )
    layers: Annotated[int | None, Flag("--layers", min=1, help="Layers of the LSTM (default: 1).")] = None
    least: Annotated[
        int, Flag("--least", min=1, help="Occurrences that a word needs to be in the vocabulary.")
    ] = 5
    vectors: Annotated[
        str | None,
        Flag("--vectors", help="Word vectors to begin with: a file, glove-6b-50d, or default."),
    ] = None
    seed: Annotated[int, options.random_seed("critic")] = 1

    def settings(self) -> CriticOptions:
        """Return the options as the functions that train critics take them."""
        return CriticOptions(
            **vars(self)
            | {
                "context": context_parts(self.context),
                "negatives": None if self.negatives is None else self.negatives.split(","),
                "strength": options.number_range(self.strength, "--strength"),
            }
        )


def critic(
    references: options.References,
    systems: Annotated[list[Path], Argument(metavar="SYSTEM", help="Captions, one file per system.")],
    features: Annotated[
        Path | None,
        Flag(
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
        Flag(
            "--save-features",
            metavar="OUT.npz",
            help="Save the features of photographs, to reuse with --features.",
            writes="file",
        ),
    ] = None,
    ids: options.BareIds = None,
    augmentation: Annotated[
        bool,
        Flag("--augmentation/--no-augmentation", help="Also learn from corrupted and sampled captions."),
    ] = True,
    runs: Annotated[int, Flag("--runs", min=1, help="Trainings to average.")] = 1,
    human: Annotated[
        bool,
        Flag(
            "--human",
            help="Judge people, too: one reference per image becomes a system and is removed from the "
            "references.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        Flag("--resume", help="Reuse the critics stored under -o, and continue an interrupted training."),
    ] = False,
    output: Annotated[
        Path | None,
        Flag(
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
    *,
    training: CriticTrainingOptions,
) -> None:
    """Train critics to tell a system's captions from human ones, and score each caption by how well it passes
    (Cui et al. 2018).

    The images are divided into two halves. The critics of each half judge the other. A score is the
    probability that a person wrote the caption.
    """
    quiet = is_taken(json)
    report = judge_systems(
        references,
        systems,
        replace(training.settings(), augmentation=augmentation, runs=runs),
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


COMMAND = command("critic", critic, options.ColumnOptions, ScoreTables)
