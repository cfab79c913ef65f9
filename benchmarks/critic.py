"""Experiments with the critic (Cui et al. 2018, section 4): the tables of docs/results/critic.md.

    python -m benchmarks.critic [--folder DIR] [--only PART] [--samples FILE]

| part | content |
|---|---|
| capability | human and machine captions, by context and combination |
| robustness | transformed captions |
| caption | agreement with the judgements of Flickr8k |
| systems | nine systems and human captions |
| sizes | layers and hidden sizes |
| speed | speed of a core (only with ``--only speed``) |

Critics and results are stored in the folder, and a stopped run continues.

The image context is ``coco/objects.jsonl.gz``, an oracle: it contains objects that the references name.
``--samples`` is a file of captions sampled from a captioner (``captious generate … --how rs -n 1``).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import captious
from benchmarks.captions import coco_system, coco_systems, read_jsonl
from benchmarks.study import Study, print_row
from benchmarks.timing import timed
from captious import vectors
from captious.agreement import agreement, load_judgements
from captious.agreement.coefficients import COEFFICIENTS
from captious.corpus import Captions
from captious.critic.critic_examples import Negatives, TrainingData
from captious.critic.critic_measure import CriticMeasure
from captious.critic.critic_network import TrainedCritic
from captious.critic.critic_scoring import chances
from captious.critic.critic_training import PRESETS, train
from captious.critic.protocol import CriticProtocol, hold_out, judge
from captious.generate.captioner.image_features import read_images
from captious.io import read
from captious.metrics.base import as_statistics
from captious.results.references import load_systems
from captious.results.scores import Score
from captious.robustness import robustness_curves

#: Systems of the parts capability, robustness and sizes, and metrics for comparison.
THREE = ("Vinyals-et-al-2017", "Liu-et-al-2017", "Mun-et-al-2017")
METRICS = "BLEU-4,METEOR,ROUGE-L,CIDEr-D,SPICE,CaptiousScore-lite,CaptiousScore"
WIDE = ("image", "reference")
#: Metrics for comparison in the part systems.
SYSTEM_METRICS = "CIDEr-D,SPICE,SPICE-U,Types,TTR1"
#: Size and rate of the preset ``quick``, which suits a processor.
HIDDEN, RATE = 128, 3e-3
#: Seeds of the critics without and with image context, to measure the variation between trainings.
SEEDS = (1, 2)
#: Images of the part robustness.
TRANSFORMED = 600
#: Word vectors for Flickr8k, with 50 dimensions. Other parts use 256.
SMALL = "glove-6b-50d"
PARTS = ("robustness", "capability", "systems", "caption", "sizes")


class Variant(NamedTuple):
    """Architecture and training of a critic."""

    context: tuple[str, ...]
    combine: str
    augmented: bool = True
    hidden: int = HIDDEN
    layers: int = 1
    seed: int = 1

    @property
    def name(self) -> str:
        kind = "augmented" if self.augmented else "plain"
        seed = f"-seed{self.seed}" if self.seed != 1 else ""
        context = "+".join(self.context) or "none"
        return f"{context}-{self.combine}-{kind}-{self.hidden}x{self.layers}{seed}"


#: Variants by context, then by combination, then without augmentation.
ALONE, SEES, READS, BOTH = (Variant(context, "mlp") for context in ((), ("image",), ("reference",), WIDE))
CAPABLE = [
    ALONE,
    SEES,
    READS,
    BOTH,
    Variant(("image",), "cbp"),
    Variant(WIDE, "cbp"),
    Variant(WIDE, "linear"),
    Variant(WIDE, "cbp", False),
]
#: Trained again with other seeds.
AGAIN = [variant._replace(seed=seed) for seed in SEEDS[1:] for variant in (ALONE, SEES)]
#: Variants of the part robustness: all with both contexts, one without context, and one with the image alone.
ROBUST = [*(variant for variant in CAPABLE if variant.context == WIDE), ALONE, Variant(("image",), "cbp")]
#: Small variants for a smaller run (``--taught 4000 --epochs 3``), and one of them with another seed.
SIZES = [
    Variant(WIDE, "mlp", True, hidden, layers) for hidden, layers in ((32, 1), (64, 1), (64, 2), (HIDDEN, 1))
]
SIZES.append(Variant(WIDE, "mlp", hidden=64, seed=2))


class CriticStudy(Study):
    """Training data of critics, and trained critics."""

    def __init__(
        self,
        folder: Path,
        samples: Path | None,
        taught: int,
        tested: int,
        epochs: int,
        *,
        preset: str = "quick",
        systems: Sequence[str] = THREE,
    ) -> None:
        super().__init__(folder)
        self.epochs, self.systems = epochs, tuple(systems)
        self.shape, self.settings = PRESETS[preset]
        if preset == "quick":
            self.settings = replace(self.settings, rate=RATE)
        self.images = read_images(self.objects)
        self.samples: dict[str, Any] | None = None
        if samples is not None:
            file = read(samples, "predictions", several=True)
            self.samples = {image: list(texts) for image, texts in zip(file.ids, file.captions)}
        order = np.random.default_rng(1).permutation(sorted(self.captions)).tolist()
        self.taught, self.tested = order[:taught], order[taught : taught + tested]
        self.vectors = vectors.get(None)

    def examples(self, ids: Sequence[str], systems: Sequence[str]) -> TrainingData:
        """Return the captions of images by people and systems, with the objects of the images."""
        by_system = [coco_system(self.data, name) for name in systems]
        images = self.images.take(ids)
        samples = None
        # Tested images need no samples.
        if self.samples is not None and all(image in self.samples for image in ids):
            samples = Captions.of([self.samples[image] for image in ids], ids=ids)
        return TrainingData(
            Captions.of([self.captions[image] for image in ids], ids=ids),
            Captions.of([[system[image] for system in by_system] for image in ids], ids=ids),
            samples,
            images.counted(),
            images.classes,
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        return (
            ("system", "pathological", "samples") if self.samples is not None else ("system", "pathological")
        )

    def critic(self, variant: Variant) -> TrainedCritic:
        """Load or train a critic of the systems."""
        shape = replace(
            self.shape,
            context=variant.context,
            combine=variant.combine,
            hidden=variant.hidden,
            layers=variant.layers,
        )
        negatives = Negatives(self.kinds if variant.augmented else ("system",))
        settings = replace(self.settings, epochs=self.epochs, negatives=negatives, seed=variant.seed)
        output = self.path(f"{variant.name}.safetensors")
        critic, seconds = timed(
            lambda: train(self.lessons, shape, settings, self.vectors, output=output, resume=True)
        )
        print(f"{variant.name}: {seconds}", flush=True)
        return critic

    @cached_property
    def lessons(self) -> TrainingData:
        return self.examples(self.taught, self.systems)


def mean(values: Any, ids: Sequence[str], offsets: Any) -> dict[str, Any]:
    """Return the mean over images with its interval."""
    score = Score(CriticMeasure(), as_statistics(values), tuple(ids), offsets, "mean")
    return {"value": score.value, "interval": list(score.interval())}


def capability(study: CriticStudy, variants: Sequence[Variant], part: str) -> None:
    """Print the mean scores of human and machine captions."""
    rows = [
        (
            variant,
            study.stored(f"capability-{variant.name}", partial(score_people_and_systems, study, variant)),
        )
        for variant in variants
    ]
    print(f"\n### {part}: mean score of {len(study.tested):,} images\n")
    print("| context | combination | negatives | LSTM | people |", " | ".join(THREE), "| performance |")
    print("|---|---|---|---:|" + "---:|" * (len(THREE) + 2))
    for variant in dict.fromkeys(variant._replace(seed=1) for variant, _ in rows):
        runs = [row for other, row in rows if other._replace(seed=1) == variant]
        values = [performance(row) for row in runs]
        spread = f" ({min(values):.3f}–{max(values):.3f}, {len(runs)} trainings)" if len(runs) > 1 else ""
        cells = [
            " + ".join(variant.context) or "none",
            variant.combine,
            "all kinds" if variant.augmented else "systems only",
            f"{variant.hidden}{f', {variant.layers} layers' if variant.layers > 1 else ''}",
            *(_format(_average([row[name] for row in runs])) for name in ("human", *THREE)),
            f"{np.mean(values):.3f}{spread}",
        ]
        print(f"| {' | '.join(cells)} |")


def score_people_and_systems(study: CriticStudy, variant: Variant) -> dict[str, Any]:
    """Score human captions and the study's systems with one critic."""
    critic = study.critic(variant)
    row: dict[str, Any] = {}
    for name in ("human", *study.systems):
        is_human = name == "human"
        data = study.examples(study.tested, [study.systems[0] if is_human else name])
        judged = data.references if is_human else data.system
        assert judged is not None
        values = chances(
            *(critic, judged.sentences, judged.image_of),
            *(data.references.sentences, data.references.image_offsets, data.features),
            own=is_human and "reference" in variant.context,
        )
        row[name] = mean(values, judged.ids, judged.image_offsets)
    return row | {"loss": critic.history["loss"]}


def performance(row: dict[str, Any]) -> float:
    """Return the mean of the human score and of 1 minus the machines' score (equation 10 of the paper)."""
    machines = [cell["value"] for name, cell in row.items() if name != "human" and isinstance(cell, dict)]
    return float((row["human"]["value"] + 1 - np.mean(machines)) / 2)


def _average(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean over trainings. Its interval is the mean of theirs, because they share the images."""
    return {
        "value": float(np.mean([cell["value"] for cell in cells])),
        "interval": np.mean([cell["interval"] for cell in cells], 0).tolist(),
    }


def _format(cell: dict[str, Any], digits: int = 3) -> str:
    low, high = cell["interval"]
    return f"{cell['value']:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _label(variant: Variant) -> str:
    seen = "" if variant.context == WIDE else f", {' and '.join(variant.context) or 'nothing'} seen"
    return f"Critic, {variant.combine}{seen}, {'augmented' if variant.augmented else 'plain'}"


def robustness(study: CriticStudy) -> None:
    """Print the robustness curves of critics and metrics, and the areas under them."""
    ids = study.tested[:TRANSFORMED]
    captions = {image: study.captions[image] for image in ids}
    features = {str(k): row for k, row in enumerate(study.images.take(ids).counted())}

    def curves_of(item: Variant | str) -> list[dict[str, Any]]:
        metrics: Any = item
        if isinstance(item, Variant):
            metrics = [CriticMeasure([study.critic(item)], features, name=_label(item))]
        return [curve.to_json() for curve in robustness_curves(captions, metrics, images=None)]

    curves = []
    for item in (*ROBUST, *METRICS.split(",")):
        name = item.name if isinstance(item, Variant) else item
        curves += study.stored(f"robustness-{name}", partial(curves_of, item))
    kinds = list(dict.fromkeys(curve["transformation"] for curve in curves))
    print(f"\n### robustness: area under the curve of {len(captions):,} captions (lower is better)\n")
    _print_head("metric", kinds)
    for metric in dict.fromkeys(curve["metric"] for curve in curves):
        areas = {
            curve["transformation"]: {"value": curve["area"], "interval": curve["interval"]}
            for curve in curves
            if curve["metric"] == metric
        }
        print(f"| {metric} | " + " | ".join(_format(areas[kind]) for kind in kinds) + " |")
    for kind in kinds:
        print(f"\n**{kind}**\n")
        _print_head("metric", curves[0]["strengths"])
        for curve in (curve for curve in curves if curve["transformation"] == kind):
            print(f"| {curve['metric']} | " + " | ".join(f"{value:.3f}" for value in curve["values"]) + " |")


def _print_head(first: str, columns: Sequence[Any]) -> None:
    print(f"| {first} | " + " | ".join(map(str, columns)) + " |\n|---|" + "---:|" * len(columns))


def caption(study: CriticStudy, epochs: int) -> None:
    """Print the agreement of critics of single captions with the judgements of Flickr8k."""

    def agreement_of(combine: str) -> list[dict[str, Any]]:
        captions = {
            row["image"]: row["captions"]
            for row in read_jsonl(study.data / "flickr8k" / "captions.jsonl.gz")
            if row["split"] == "train"
        }
        data = TrainingData(Captions.of(list(captions.values()), ids=list(captions)))
        shape, settings = PRESETS["quick"]
        shape = replace(shape, context=("reference",), combine=combine, hidden=HIDDEN)
        negatives = Negatives(("pathological",), ("random caption",), (100.0, 100.0))
        settings = replace(settings, epochs=epochs, rate=RATE, negatives=negatives)
        output = study.path(f"flickr8k-{combine}.safetensors")
        critic = train(data, shape, settings, vectors.get(SMALL), output=output, resume=True)
        sets = [load_judgements(name, study.data) for name in ("flickr8k-expert", "flickr8k-cf")]
        measure = CriticMeasure([critic])
        return [item.to_json() for judged in sets for item in agreement(judged, [measure], ci=True)]

    print("\n### Flickr8k: Kendall's tau\n\n| | Expert (tau-c) | Crowd Flower (tau-b) |\n|---|---:|---:|")
    for combine in ("cbp", "mlp"):
        cells = study.stored(f"flickr8k-{combine}", partial(agreement_of, combine))
        print(f"| Critic, {combine} | " + " | ".join(map(_format, cells)) + " |")


def systems(study: CriticStudy, images: int, epochs: int) -> None:
    """Print scores of nine systems and of human captions by the critic and by metrics."""

    def cell(score: Score) -> dict[str, Any]:
        return {"value": score.value, "interval": list(score.interval())}

    def compute() -> list[dict[str, Any]]:
        ids = study.taught[:images]
        references, human = hold_out({image: study.captions[image] for image in ids}, 1)
        names = coco_systems(study.data)
        by_system = [coco_system(study.data, name) for name in names]
        captions = [{image: system[image] for image in references} for system in by_system]
        corpora = load_systems(references, [*captions, human], names=[*names, "people"])
        shape, settings = PRESETS["quick"]
        settings = replace(settings, epochs=epochs, rate=RATE, negatives=Negatives(study.kinds))
        shape = replace(shape, context=WIDE, combine="cbp", hidden=HIDDEN)
        judged = judge(
            corpora,
            CriticProtocol(shape, settings, study.vectors),
            images=study.images,
            samples=study.samples,
            output=study.path("systems"),
            resume=True,
            progress=print_row,
        )
        return [
            {
                "system": corpus.name,
                "Critic": cell(result.score),
                "references": cell(result.human),
                **{
                    name: cell(score)
                    for name, score in captious.score(corpus, metrics=SYSTEM_METRICS).items()
                },
            }
            for corpus, result in zip(corpora, judged)
        ]

    rows = study.stored("systems", compute)
    names = [name for name in rows[0] if name not in ("system", "references")]
    print(f"\n### systems: {images:,} images\n")
    _print_head("system", [*names, "references, by the same critics"])
    for row in sorted(rows, key=lambda row: -row["Critic"]["value"]):
        print(
            f"| {row['system']} | " + " | ".join(_format(row[name]) for name in [*names, "references"]) + " |"
        )
    machines = [row for row in rows if row["system"] != "people"]
    print("\n| rank correlation with the critic (nine systems) | Spearman |\n|---|---:|")
    for name in names[1:]:
        pair = [np.array([row[column]["value"] for row in machines]) for column in ("Critic", name)]
        print(f"| {name} | {COEFFICIENTS['spearman'](*pair):+.2f} |")


def speed(study: CriticStudy) -> None:
    """Print the speed of a core, and scoring all captions together beside one by one."""
    data, tested = (study.examples(study.taught[k : k + 400], THREE[:1]) for k in (0, 400))
    captions = tested.system
    assert captions is not None

    def score_one_by_one(critic: TrainedCritic) -> None:
        for row, image in enumerate(captions.image_of.tolist()):
            part = tested.take(np.array([image]))
            context = part.references.sentences, part.references.image_offsets, part.features
            chances(critic, captions.sentences[row : row + 1], np.zeros(1, np.int64), *context)

    for preset, (shape, settings) in PRESETS.items():
        settings = replace(settings, epochs=1, negatives=Negatives(("system", "pathological")))
        critic, training = timed(partial(train, data, shape, settings, study.vectors))
        context = tested.references.sentences, tested.references.image_offsets, tested.features
        _, together = timed(partial(chances, critic, captions.sentences, captions.image_of, *context))
        _, apart = timed(partial(score_one_by_one, critic))
        print(
            f"{preset}, per processor second: {2 * len(data.references) / training.processor:,.0f} training "
            f"examples, {len(captions) / together.processor:,.0f} scored captions; all captions together are "
            f"{apart.processor / together.processor:.1f} times as fast as one by one",
            flush=True,
        )


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--folder", type=Path, default=Path("critic-study"))
    arguments.add_argument("--samples", type=Path, help="captions sampled from a captioner")
    arguments.add_argument(
        "--only", choices=[*PARTS, "speed"], action="append", help="run this part; repeatable"
    )
    arguments.add_argument("--taught", type=int, default=10_000, help="training images")
    arguments.add_argument("--tested", type=int, default=2000, help="test images")
    arguments.add_argument("--epochs", type=int, default=10)
    arguments.add_argument("--caption-epochs", type=int, default=5, help="epochs of the part caption")
    arguments.add_argument("--judged", type=int, default=2000, help="images of the part systems")
    arguments.add_argument("--judged-epochs", type=int, default=5, help="epochs of the part systems")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    study = CriticStudy(
        options.folder,
        options.samples,
        options.taught,
        options.tested,
        options.epochs,
    )
    for part in options.only or PARTS:
        if part == "capability":
            capability(study, [*CAPABLE, *AGAIN], part)
        elif part == "robustness":
            robustness(study)
        elif part == "caption":
            caption(study, options.caption_epochs)
        elif part == "systems":
            systems(study, options.judged, options.judged_epochs)
        elif part == "sizes":
            capability(study, SIZES, part)
        else:
            speed(study)


if __name__ == "__main__":
    main()
