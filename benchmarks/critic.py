"""What the critic can do (Cui et al. 2018, section 4), on COCO and Flickr8k: the tables of docs/results/critic.md.

``python -m benchmarks.critic [--folder DIR] [--only PART] [--samples FILE]``. Parts: ``capability`` (people and machines by context
and combination), ``robustness`` (captions that are wrong on purpose), ``caption`` (Flickr8k), ``systems`` (nine systems and people),
``sizes`` (layers and hidden sizes), ``speed`` (not made unless asked for). Critics and results are kept in the folder, and what is
there is not made again: a run that was stopped goes on where it was.

``coco/objects.jsonl.gz``, the image context, unites instance labels with what the references name: it has partly read the references.
``--samples`` has captions drawn at random from a captioner (``captious generate … --how rs -m 1``).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import captious
from benchmarks.common import data_folder, read_jsonl
from captious import vectors
from captious.agreement import agreement, load_judgements
from captious.agreement.coefficients import COEFFICIENTS
from captious.corpus import Captions
from captious.critic.critic_examples import Negatives, TrainingData
from captious.critic.critic_network import TrainedCritic
from captious.critic.critic_scoring import CriticMeasure, chances
from captious.critic.critic_training import PRESETS, train
from captious.critic.protocol import CriticProtocol, hold_out, judge
from captious.generate.captioner.image_features import read_images
from captious.io import read
from captious.metrics.base import as_statistics
from captious.results.references import load_systems
from captious.results.scores import Score
from captious.robustness import robustness_curves

#: The systems of the studies (1), (2) and (5), and the metrics that the critic is put beside.
THREE = ("Vinyals-et-al-2017", "Liu-et-al-2017", "Mun-et-al-2017")
BESIDE = "BLEU-4,METEOR,ROUGE-L,CIDEr-D,SPICE,CaptiousScore-lite,CaptiousScore"
WIDE = ("image", "reference")
#: The sizes and the rate of the preset ``quick``: sized for a processor.
HIDDEN, RATE = 128, 3e-3
#: Trainings of the critics that the study of contexts is about, to measure differences by.
SEEDS = (1, 2)
#: Images whose captions are made wrong.
CHANGED = 600
#: Word vectors for Flickr8k: 50 numbers, against 256 elsewhere.
SMALL = "glove-6b-50d"
PARTS = ("robustness", "capability", "systems", "caption", "sizes")


class Variant(NamedTuple):
    """A critic of the studies."""

    context: tuple[str, ...]
    combine: str
    augmented: bool = True
    hidden: int = HIDDEN
    layers: int = 1
    seed: int = 1

    @property
    def name(self) -> str:
        kind = "augmented" if self.augmented else "plain"
        return f"{'+'.join(self.context) or 'none'}-{self.combine}-{kind}-{self.hidden}x{self.layers}{f'-seed{self.seed}' if self.seed != 1 else ''}"


#: By context, then by combination, then without augmentation.
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
#: Those that are shown captions which are wrong on purpose: all that see both, and what the image adds to nothing.
ROBUST = [*(variant for variant in CAPABLE if variant.context == WIDE), ALONE, Variant(("image",), "cbp")]
#: Small, for a smaller run (``--taught 4000 --epochs 3``), and one of them trained again.
SIZES = [
    Variant(WIDE, "mlp", True, hidden, layers) for hidden, layers in ((32, 1), (64, 1), (64, 2), (HIDDEN, 1))
]
SIZES.append(Variant(WIDE, "mlp", hidden=64, seed=2))


class Study:
    """Data, and a folder of what was made."""

    def __init__(self, folder: Path, samples: Path | None, taught: int, tested: int, epochs: int) -> None:
        data = data_folder()
        if data is None:
            raise SystemExit("the public data sets are needed (CAPTIOUS_DATA)")
        self.data, self.folder, self.epochs = data, folder, epochs
        folder.mkdir(parents=True, exist_ok=True)
        self.captions = {
            str(row["image_id"]): row["captions"] for row in read_jsonl(data / "coco" / "references.jsonl.gz")
        }
        self.images = read_images(data / "coco" / "objects.jsonl.gz")
        self.samples: dict[str, Any] | None = None
        if samples is not None:
            file = read(samples, "predictions", several=True)
            self.samples = {image: list(texts) for image, texts in zip(file.ids, file.captions)}
        order = np.random.default_rng(1).permutation(sorted(self.captions)).tolist()
        self.taught, self.tested = order[:taught], order[taught : taught + tested]
        self.vectors = vectors.get(None)

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """A result from its file, or made now."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            value = make()
            path.with_suffix(".part").write_text(json.dumps(value, indent=1))
            path.with_suffix(".part").replace(path)
        return json.loads(path.read_text())

    def system(self, name: str) -> dict[str, str]:
        rows = read_jsonl(self.data / "coco" / "systems" / f"{name}.jsonl.gz")
        return {str(row["image_id"]): row["caption"] for row in rows if str(row["image_id"]) in self.captions}

    def given(self, ids: Sequence[str], systems: Sequence[str]) -> TrainingData:
        every = [self.system(name) for name in systems]
        taken = self.images.take(ids)
        # Images that are only judged need no samples.
        sampled = (
            self.samples if self.samples is not None and all(image in self.samples for image in ids) else None
        )
        drawn = None if sampled is None else Captions.of([sampled[image] for image in ids], ids=ids)
        return TrainingData(
            Captions.of([self.captions[image] for image in ids], ids=ids), Captions.of([[one[image] for one in every] for image in ids], ids=ids),
            drawn, taken.counted(), taken.classes,
        )  # fmt: skip

    @property
    def kinds(self) -> tuple[str, ...]:
        return (
            ("system", "pathological", "samples") if self.samples is not None else ("system", "pathological")
        )

    def critic(self, variant: Variant) -> TrainedCritic:
        """A critic of three systems, trained now or read from its file."""
        shape = replace(
            PRESETS["quick"][0],
            context=variant.context,
            combine=variant.combine,
            hidden=variant.hidden,
            layers=variant.layers,
        )
        negatives = Negatives(self.kinds if variant.augmented else ("system",))
        settings = replace(
            PRESETS["quick"][1], epochs=self.epochs, rate=RATE, negatives=negatives, seed=variant.seed
        )
        began, used = time.monotonic(), time.process_time()
        found = train(
            self.lessons,
            shape,
            settings,
            self.vectors,
            output=self.folder / f"{variant.name}.safetensors",
            resume=True,
        )
        print(
            f"{variant.name}: {time.monotonic() - began:.0f} s, {time.process_time() - used:.0f} s of a processor",
            flush=True,
        )
        return found

    _lessons: TrainingData | None = None

    @property
    def lessons(self) -> TrainingData:
        if self._lessons is None:
            self._lessons = self.given(self.taught, THREE)
        return self._lessons


def mean(values: Any, ids: Sequence[str], offsets: Any) -> dict[str, Any]:
    """A mean over images with its interval."""
    score = Score(CriticMeasure(), as_statistics(values), tuple(ids), offsets, "mean")
    return {"value": score.value, "interval": list(score.interval())}


# (1) and (5): people and machines --------------------------------------------------------------------------------------


def capability(study: Study, variants: Sequence[Variant], part: str) -> None:
    rows = []
    for variant in variants:

        def make(variant: Variant = variant) -> Any:
            critic = study.critic(variant)
            found: dict[str, Any] = {}
            for name in ("human", *THREE):
                held = study.given(study.tested, [name if name != "human" else THREE[0]])
                own = name == "human"
                judged = held.references if own else held.system
                assert judged is not None
                values = chances(
                    critic, judged.sentences, judged.image_of, held.references.sentences, held.references.image_offsets, held.features,
                    own=own and "reference" in variant.context,
                )  # fmt: skip
                found[name] = mean(values, judged.ids, judged.image_offsets)
            found["loss"] = critic.history["loss"]
            return found

        rows.append((variant, study.kept(f"capability-{variant.name}", make)))
    print(f"\n### {part}: mean score of {len(study.tested):,} images\n")
    print(
        "| context | combination | negatives | LSTM | people | "
        + " | ".join(THREE)
        + " | performance |\n|---|---|---|---:|"
        + "---:|" * (len(THREE) + 2)
    )
    for variant in dict.fromkeys(variant._replace(seed=1) for variant, _ in rows):
        runs = [row for other, row in rows if other._replace(seed=1) == variant]
        cells = [_shown(_joined([row[name] for row in runs])) for name in ("human", *THREE)]
        reached = [performance(row) for row in runs]
        cells.append(
            f"{np.mean(reached):.3f}"
            + (f" ({min(reached):.3f}–{max(reached):.3f}, {len(runs)} trainings)" if len(runs) > 1 else "")
        )
        size = f"{variant.hidden}{f', {variant.layers} layers' if variant.layers > 1 else ''}"
        print(
            f"| {' + '.join(variant.context) or 'none'} | {variant.combine} | {'all kinds' if variant.augmented else 'systems only'} | {size} | "
            + " | ".join(cells)
            + " |"
        )


def performance(row: dict[str, Any]) -> float:
    """Equation 10 of the paper: the mean of the score of people and of one minus that of machines."""
    return float((row["human"]["value"] + 1 - np.mean([row[name]["value"] for name in THREE])) / 2)


def _joined(cells: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The mean over trainings. Its interval is the mean of their intervals, since their images are the same."""
    return {
        "value": float(np.mean([cell["value"] for cell in cells])),
        "interval": np.mean([cell["interval"] for cell in cells], 0).tolist(),
    }


def _shown(cell: dict[str, Any], digits: int = 3) -> str:
    low, high = cell["interval"]
    return f"{cell['value']:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


# (2): robustness --------------------------------------------------------------------------------------------------------


def _called(variant: Variant) -> str:
    seen = "" if variant.context == WIDE else f", {' and '.join(variant.context) or 'nothing'} seen"
    return f"Critic, {variant.combine}{seen}, {'augmented' if variant.augmented else 'plain'}"


def robustness(study: Study) -> None:
    changed = study.tested[:CHANGED]
    captions = {image: study.captions[image] for image in changed}
    features = {str(k): row for k, row in enumerate(study.images.take(changed).counted())}
    curves = []
    for variant in ROBUST:

        def make(variant: Variant = variant) -> Any:
            measure = CriticMeasure([study.critic(variant)], features, name=_called(variant))
            return [curve.to_json() for curve in robustness_curves(captions, [measure], images=None)]

        curves += study.kept(f"robustness-{variant.name}", make)
    for name in BESIDE.split(","):
        curves += study.kept(
            f"robustness-{name}",
            lambda name=name: [c.to_json() for c in robustness_curves(captions, name, images=None)],
        )
    kinds = list(dict.fromkeys(curve["transformation"] for curve in curves))
    print(f"\n### robustness: area under the curve of {len(captions):,} captions (lower is better)\n")
    print("| metric | " + " | ".join(kinds) + " |\n|---|" + "---:|" * len(kinds))
    for metric in dict.fromkeys(curve["metric"] for curve in curves):
        own = {
            curve["transformation"]: {"value": curve["area"], "interval": curve["interval"]}
            for curve in curves
            if curve["metric"] == metric
        }
        print(f"| {metric} | " + " | ".join(_shown(own[kind]) for kind in kinds) + " |")
    for kind in kinds:
        print(
            f"\n**{kind}**\n\n| metric | "
            + " | ".join(map(str, curves[0]["strengths"]))
            + " |\n|---|"
            + "---:|" * len(curves[0]["strengths"])
        )
        for curve in curves:
            if curve["transformation"] == kind:
                print(
                    f"| {curve['metric']} | " + " | ".join(f"{value:.3f}" for value in curve["values"]) + " |"
                )


# (3): captions of Flickr8k --------------------------------------------------------------------------------------------------


def caption(study: Study, epochs: int = 5) -> None:
    rows = []
    for combine in ("cbp", "mlp"):

        def make(combine: str = combine) -> Any:
            taught = {
                row["image"]: row["captions"]
                for row in read_jsonl(study.data / "flickr8k" / "captions.jsonl.gz")
                if row["split"] == "train"
            }
            given = TrainingData(Captions.of(list(taught.values()), ids=list(taught)))
            shape = replace(PRESETS["quick"][0], context=("reference",), combine=combine, hidden=HIDDEN)
            negatives = Negatives(("pathological",), ("random caption",), (100.0, 100.0))
            critic = train(
                given, shape, replace(PRESETS["quick"][1], epochs=epochs, rate=RATE, negatives=negatives), vectors.get(SMALL),
                output=study.folder / f"flickr8k-{combine}.safetensors", resume=True,
            )  # fmt: skip
            measure = CriticMeasure([critic])
            sets = [load_judgements(name, study.data) for name in ("flickr8k-expert", "flickr8k-cf")]
            return [one.to_json() for judged in sets for one in agreement(judged, [measure], ci=True)]

        rows.append((combine, study.kept(f"flickr8k-{combine}", make)))
    print("\n### Flickr8k: Kendall's tau\n\n| | Expert (tau-c) | Crowd Flower (tau-b) |\n|---|---:|---:|")
    for combine, found in rows:
        print(f"| Critic, {combine} | " + " | ".join(_shown(one) for one in found) + " |")


# (4): systems --------------------------------------------------------------------------------------------------------------


def systems(study: Study, images: int, epochs: int) -> None:
    def make() -> Any:
        torch.set_num_threads(1)
        ids = study.taught[:images]
        rest, human = hold_out({image: study.captions[image] for image in ids}, 1)
        names = sorted(
            path.name.removesuffix(".jsonl.gz")
            for path in (study.data / "coco" / "systems").glob("*.jsonl.gz")
        )
        every = [study.system(name) for name in names]
        given = [{image: one[image] for image in rest} for one in every]
        corpora = load_systems(rest, [*given, human], names=[*names, "people"])
        shape, settings = PRESETS["quick"]
        settings = replace(settings, epochs=epochs, rate=RATE, negatives=Negatives(study.kinds))
        protocol = CriticProtocol(
            replace(shape, context=WIDE, combine="cbp", hidden=HIDDEN), settings, study.vectors
        )
        found = judge(
            corpora, protocol, images=study.images, samples=study.samples, output=study.folder / "systems", resume=True,
            progress=lambda row: print(row, flush=True),
        )  # fmt: skip
        rows = []
        for corpus, judged in zip(corpora, found):
            row = {
                "system": corpus.name,
                "Critic": {"value": judged.score.value, "interval": list(judged.score.interval())},
            }
            row["references"] = {"value": judged.human.value, "interval": list(judged.human.interval())}
            for name, score in captious.score(corpus, metrics=BROAD).items():
                row[name] = {"value": score.value, "interval": list(score.interval())}
            rows.append(row)
        return rows

    rows = study.kept("systems", make)
    names = [name for name in rows[0] if name not in ("system", "references")]
    print(
        f"\n### systems: {images:,} images\n\n| system | "
        + " | ".join(names)
        + " | references, by the same critics |\n|---|"
        + "---:|" * (len(names) + 1)
    )
    for row in sorted(rows, key=lambda row: -row["Critic"]["value"]):
        print(
            f"| {row['system']} | " + " | ".join(_shown(row[name]) for name in [*names, "references"]) + " |"
        )
    machines = [row for row in rows if row["system"] != "people"]
    print("\n| rank correlation with the critic (nine systems) | Spearman |\n|---|---:|")
    for name in names[1:]:
        pair = [np.array([row[one]["value"] for row in machines]) for one in ("Critic", name)]
        print(f"| {name} | {COEFFICIENTS['spearman'](*pair):+.2f} |")


BROAD = "CIDEr-D,SPICE,SPICE-U,Types,TTR1"


# Speed -----------------------------------------------------------------------------------------------------------------------


def speed(study: Study) -> None:
    """What a processor core does in a second; reading each caption once beside reading it for every pair."""
    given = study.given(study.taught[:400], THREE[:1])
    for preset, (shape, settings) in PRESETS.items():
        small = replace(settings, epochs=1, negatives=Negatives(("system", "pathological")))
        words = 2 * len(given.references)
        began = time.process_time()
        critic = train(given, shape, small, study.vectors)
        learned = time.process_time() - began
        held = study.given(study.taught[400:800], THREE[:1])
        assert held.system is not None
        theirs = (held.references.sentences, held.references.image_offsets, held.features)
        began = time.process_time()
        chances(critic, held.system.sentences, held.system.image_of, *theirs)
        once = time.process_time() - began
        began = time.process_time()
        for row, image in enumerate(held.system.image_of.tolist()):
            part = held.take(np.array([image]))
            chances(
                critic,
                held.system.sentences[row : row + 1],
                np.zeros(1, np.int64),
                part.references.sentences,
                part.references.image_offsets,
                part.features,
            )
        apart = time.process_time() - began
        print(
            f"{preset}: {words / learned:,.0f} examples learned and {len(held.system) / once:,.0f} captions judged per second of a core; "
            f"all captions at once is {apart / once:.1f} times as fast as one by one",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path, default=Path("critic-study"))
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--only", choices=[*PARTS, "speed"], action="append")
    parser.add_argument("--taught", type=int, default=10_000)
    parser.add_argument("--tested", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--judged", type=int, default=2000, help="images for the nine systems")
    parser.add_argument("--judged-epochs", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    study = Study(given.folder, given.samples, given.taught, given.tested, given.epochs)
    for part in given.only or PARTS:
        if part == "capability":
            capability(study, [*CAPABLE, *AGAIN], part)
        elif part == "robustness":
            robustness(study)
        elif part == "caption":
            caption(study)
        elif part == "systems":
            systems(study, given.judged, given.judged_epochs)
        elif part == "sizes":
            capability(study, SIZES, part)
        else:
            speed(study)


if __name__ == "__main__":
    main()
