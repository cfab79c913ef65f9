"""LCEval as in the thesis: groups of features on all tasks, epochs and weights, numbers of references.

    python -m benchmarks.lceval --work FOLDER [--only groups] [--images 1500] [--seeds 3]

LCEval is trained on COCO captions (human ones against captions of other images), without the images of the
sets it is tested on. ``groups`` measures every group of features on COMPOSITE, Flickr8k-Expert, PASCAL-50S
and distractions (Tables 7.5, 7.7, 7.9, B.2; Figure 7.8), ``layers`` the depth of the network (Table 7.2).
``epochs`` follows validation accuracy and
agreement by epoch (Figure 7.7) and prints the weights. ``references`` measures PASCAL-50S with 1 to 48
references (Figure 7.10), and ``over-references`` with n-gram precision, recall, HWCM and MOWE combined by
maximum, mean or minimum (Figure B.1). ``systems`` trains on captions of one system or of all (Tables 7.10,
7.11). ``test-images`` trains the networks that ship with and without the images of the sets whose captions
are never examples. Features are stored in the folder, and a stopped run continues. With several seeds, values
and intervals are means over trainings.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.captions import public_data
from captious.agreement import CaptionPairs, load_judgements
from captious.agreement.coefficients import COEFFICIENTS
from captious.agreement.resampling import resample_counts
from captious.agreement.study import draw_references
from captious.core.writing import atomic_write
from captious.corpus import Corpus
from captious.io import read
from captious.io.judgements import own_key
from captious.metrics.learned.composite import WEIGHTS_FOLDER, load
from captious.metrics.learned.composite_network import Network, spread
from captious.metrics.learned.feature_table import GROUPS
from captious.metrics.registry import create
from captious.results.significance import percentile_interval
from captious.robustness import make_distractions
from captious.training.composite_examples import Examples, build_examples, images_in_tests
from captious.training.composite_trainer import TrainingPlan, train
from captious.training.judged_captions import rated, rated_corpus
from tools.make_learned import WITHOUT, Maker, columns, kept

Floats = NDArray[np.float64]

#: Features whose overlap with references can be combined in three ways.
COMBINED = (
    "Precision-1",
    "Precision-2",
    "Precision-3",
    "Precision-4",
    "Recall-1",
    "HWCM-2",
    "HWCM-3",
    "MOWE",
)
WAYS = ("max", "mean", "min")
#: Sets whose captions and images are never examples.
TESTED = ("composite", "flickr8k-expert", "thumb", "capeval1k")
EPOCHS, RESAMPLES, SEED = 40, 500, 1
COUNTS = (1, 2, 4, 8, 12, 24, 48)
DISTRACTION_IMAGES, INSTANCES = 600, 100
#: Draws of images for the control of ``test-images``.
CONTROLS = (1, 2, 3)
PARTS = ("groups", "layers", "epochs", "references", "over-references", "systems", "test-images")
#: All feature groups and their combinations.
SETS = {
    "lexical": ("lexical",),
    "semantic": ("semantic",),
    "syntactic": ("syntactic",),
    "lexical + semantic": ("lexical", "semantic"),
    "lexical + syntactic": ("lexical", "syntactic"),
    "semantic + syntactic": ("semantic", "syntactic"),
    "all (LCEval)": ("lexical", "semantic", "syntactic"),
}


class Task(NamedTuple):
    """Features of a test set with its judgements."""

    name: str
    table: Floats
    #: Ratings of captions, or preferences of pairs (1: the first caption) with the captions interleaved.
    human: Floats
    unit: NDArray[np.int64]
    #: How many ratings each caption has, or None for pairs.
    repeats: list[int] | None
    category: NDArray[Any] | None = None

    def value(self, scores: Floats) -> tuple[float, float, float]:
        """Return tau-c or accuracy × 100 with its interval over images."""
        value, resampled = self._resampled(scores)
        low, high = percentile_interval(resampled)
        return value, low, high

    def difference(self, scores: Floats, others: Floats) -> tuple[float, float, float]:
        """Return the paired difference × 100 with its interval over images."""
        value, resampled = self._resampled(scores)
        other, other_resampled = self._resampled(others)
        low, high = percentile_interval(resampled - other_resampled)
        return value - other, low, high

    def _resampled(self, scores: Floats) -> tuple[float, Floats]:
        if self.repeats is not None:
            x = np.repeat(scores, self.repeats)
            coefficient = COEFFICIENTS["tau-c"]
        else:
            x = scores[0::2] - scores[1::2]
            coefficient = COEFFICIENTS["accuracy"]
        counts = resample_counts(int(self.unit.max()) + 1, RESAMPLES, SEED)
        resampled = np.concatenate([coefficient.resampled(x, self.human, self.unit, part) for part in counts])
        return 100 * coefficient(x, self.human), 100 * resampled


class Thesis:
    """Training examples and test sets with LCEval's features, for each way to combine references."""

    def __init__(self, work: Path, images: int, data: Path | None = None, seeds: int = 1) -> None:
        self.work, self.data = work, data or public_data()
        work.mkdir(parents=True, exist_ok=True)
        self.images, self.seeds = images, range(SEED, SEED + seeds)
        self._examples: dict[tuple[str, ...], Examples] = {}

    def examples(self, kinds: tuple[str, ...] = ("human", "other", "other-machine")) -> Examples:
        if kinds not in self._examples:
            file = read(self.data / "coco" / "references.jsonl.gz", "references")
            people = {image: list(group) for image, group in zip(file.ids, file.captions)}
            machines = {}
            for path in sorted((self.data / "coco" / "systems").glob("*.jsonl.gz")):
                found = read(path, "predictions")
                machines[path.name.partition(".")[0]] = {
                    image: group[0] for image, group in zip(found.ids, found.captions) if image in people
                }
            sets = [rated(name, self.data) for name in TESTED]
            self._examples[kinds] = build_examples(
                people, machines, images=self.images, seed=SEED, kinds=kinds,
                without=[caption for judged in sets for caption in judged.captions],
                without_references=[texts for judged in sets for texts in judged.references],
            )  # fmt: skip
        return self._examples[kinds]

    def table(self, name: str, corpus: Callable[[], Corpus], way: str = "max") -> Floats:
        """Return LCEval's features of a corpus, from the folder or computed."""
        path = self.work / f"{name}-{way}.npy"
        if not path.exists():
            base = self.work / f"{name}-max.npy"
            usual = np.load(base) if way != "max" and base.exists() else None
            columns, captions = [], corpus()
            for place, feature in enumerate(GROUPS["lceval"]):
                if usual is not None and feature not in COMBINED:
                    columns.append(usual[:, place])
                    continue
                options = {}
                if feature in COMBINED:
                    options = {"combine": way} if feature == "MOWE" else {"overlap": way}
                measure = create(feature, options)
                columns.append(
                    measure.per_row(measure.statistics(captions, measure.prepare(captions.references)))
                )
            with atomic_write(path) as temporary, temporary.open("wb") as out:
                np.save(out, np.nan_to_num(np.stack(columns, axis=1)))
        loaded: Floats = np.load(path)
        return loaded

    def training(self, way: str = "max") -> tuple[Floats, Floats]:
        examples = self.examples()
        table = self.table(f"train{self.images}", examples.corpus, way)
        rows = examples.chosen("others", SEED)
        return table[rows], examples.labels[rows]

    def rated(self, name: str, way: str = "max") -> Task:
        judged = rated(name, self.data)
        corpus, chosen = rated_corpus(judged)
        repeats = [len(judged.ratings[k]) for k in chosen]
        human = np.array([value for k in chosen for value in judged.ratings[k]], dtype=np.float64)
        unit = np.unique([judged.images[k] for k in chosen], return_inverse=True)[1].astype(np.int64)
        return Task(name, self.table(name, lambda: corpus, way), human, np.repeat(unit, repeats), repeats)

    def rated_as_shipped(self, name: str, features: list[str]) -> Task:
        """Return a test set with features as the shipped networks compute them."""
        judged = rated(name, self.data)
        corpus, chosen = rated_corpus(judged)
        table = columns(
            kept(self.work / f"{name}-published.npz", lambda: (corpus, {}), features), tuple(features)
        )
        repeats = [len(judged.ratings[k]) for k in chosen]
        human = np.array([value for k in chosen for value in judged.ratings[k]], dtype=np.float64)
        unit = np.unique([judged.images[k] for k in chosen], return_inverse=True)[1].astype(np.int64)
        return Task(name, table, human, np.repeat(unit, repeats), repeats)

    def pascal(self, count: int = 5, way: str = "max") -> Task:
        judged = load_judgements("pascal-50s", self.data)
        assert isinstance(judged, CaptionPairs)
        orders = draw_references(judged.images, judged.references, count, judged.protocol.seed, 0)
        references = []
        for k, texts in enumerate(judged.references):
            own = {own_key(judged.first[k]), own_key(judged.second[k])}
            references.append([texts[i] for i in orders[k] if own_key(texts[i]) not in own][:count])
        return self._pairs(f"pascal{count}", judged, references, way)

    def distractions(self, way: str = "max") -> Task:
        file = read(self.data / "coco" / "references.jsonl.gz", "references")
        seen = {text for texts in self.examples().references for text in texts}
        order = [
            k
            for k in np.random.default_rng(5).permutation(len(file.ids)).tolist()
            if seen.isdisjoint(file.captions[k])
        ]
        pairs = make_distractions(
            {file.ids[k]: list(file.captions[k]) for k in order[:DISTRACTION_IMAGES]}, limit=INSTANCES
        )
        return self._pairs("distractions", pairs, [list(texts) for texts in pairs.references], way)

    def _pairs(self, name: str, judged: CaptionPairs, references: list[list[str]], way: str) -> Task:
        def corpus() -> Corpus:
            groups = [list(both) for both in zip(judged.first, judged.second)]
            return Corpus.build([str(k) for k in range(len(groups))], groups, references)

        unit = np.unique(judged.images, return_inverse=True)[1].astype(np.int64)
        return Task(
            name, self.table(name, corpus, way), judged.margins, unit, None,
            np.array(judged.categories, dtype=object),
        )  # fmt: skip


def fitted(
    table: Floats, labels: Floats, seeds: range, epochs: int = EPOCHS, hidden: tuple[int, ...] = (12,)
) -> list[Network]:
    """Train a network with each seed, as published with one hidden layer of 12."""
    names = tuple(f"f{k}" for k in range(table.shape[1]))
    return [
        train("LCEval", names, table, labels, TrainingPlan(hidden=hidden, epochs=epochs, seed=seed)).network
        for seed in seeds
    ]


def scores_of(network: Network, table: Floats) -> Floats:
    logits: Floats = network.logits(network.standardised(table))
    return logits


def accuracy(networks: Sequence[Network], table: Floats, labels: Floats) -> float:
    """Return the percentage of examples that networks tell apart, averaged over networks."""
    right = [((scores_of(network, table) > 0) == (labels > 0.5)).mean() for network in networks]
    return 100 * float(np.mean(right))


def agreed(task: Task, networks: Sequence[Network], table: Floats | None = None) -> list[tuple[float, ...]]:
    """Return the agreement of each network with its interval."""
    return [task.value(scores_of(network, task.table if table is None else table)) for network in networks]


def _cell(*values: tuple[float, ...]) -> str:
    """Return means over trainings, and the range of their values."""
    value, low, high = np.mean(values, axis=0)
    first = [row[0] for row in values]
    spread = f" ({min(first):.1f}–{max(first):.1f})" if len(values) > 1 else ""
    return f"{value:.1f} [{low:.1f}, {high:.1f}]{spread}"


def columns_of(parts: Sequence[str]) -> list[int]:
    """Return the columns of groups of features."""
    places = {name: k for k, name in enumerate(GROUPS["lceval"])}
    return [places[feature] for part in parts for feature in GROUPS[part]]


def groups(study: Thesis) -> None:
    """Measure every group of features on all tasks, and SPIDEr and others beside them."""
    table, labels = study.training()
    tasks = [
        study.rated("composite"),
        study.rated("flickr8k-expert"),
        study.pascal(),
        study.distractions(),
    ]
    held = np.random.default_rng(2).random(len(table)) < 0.2
    print(f"\nLCEval, groups of features ({len(table):,} examples, tau-c or accuracy × 100)\n")
    print("| features | validation accuracy | " + " | ".join(task.name for task in tasks) + " |")
    print("|---|" + "---:|" * (1 + len(tasks)), flush=True)
    points = []
    for name, parts in SETS.items():
        own = columns_of(parts)
        networks = fitted(table[~held][:, own], labels[~held], study.seeds)
        right = accuracy(networks, table[held][:, own], labels[held])
        values = [agreed(task, networks, task.table[:, own]) for task in tasks]
        points.append((right, float(np.mean(values[0], axis=0)[0])))
        print(f"| {name} | {right:.1f} | " + " | ".join(_cell(*rows) for rows in values) + " |", flush=True)
    x, y = np.array(points).T
    pearson = COEFFICIENTS["pearson"](x, y)
    print(f"\nPearson of validation accuracy and tau on COMPOSITE over the sets: {pearson:.2f}")


def layers(study: Thesis) -> None:
    """Compare numbers of layers for LCEval and for a metric of SPICE and CIDEr-D, the parts of SPIDEr."""
    table, labels = study.training()
    tasks = [study.rated("composite"), study.rated("flickr8k-expert")]
    shapes = {"no learning": None, "1 layer": (), "2 layers": (12,), "3 layers": (12, 12)}
    print("\n| features | layers | " + " | ".join(task.name for task in tasks) + " |")
    print("|---|---|" + "---:|" * len(tasks), flush=True)
    for label, names in (("LCEval", GROUPS["lceval"]), ("SPIDEr", ("SPICE", "CIDEr-D"))):
        own = [GROUPS["lceval"].index(name) for name in names]
        for depth, hidden in shapes.items():
            if hidden is None:
                # Standardised features, with equal weights.
                means, scales = spread(table[:, own])
                layer = (np.ones((len(own), 1), np.float32), np.zeros(1, np.float32))
                networks = [Network("x", tuple(names), means, scales, (layer,), {})]
            else:
                networks = fitted(table[:, own], labels, study.seeds, hidden=hidden)
            cells = [_cell(*agreed(task, networks, task.table[:, own])) for task in tasks]
            print(f"| {label} | {depth} | " + " | ".join(cells) + " |", flush=True)


def epochs(study: Thesis) -> None:
    """Follow validation accuracy and agreement by epoch, and print the weights of the last network."""
    table, labels = study.training()
    held = np.random.default_rng(2).random(len(table)) < 0.2
    task = study.rated("composite")
    print("\n| epoch | validation accuracy | COMPOSITE, tau-c × 100 |\n|---:|---:|---:|", flush=True)
    networks: list[Network] = []
    for count in (1, 2, 3, 5, 10, 20, 40, 80, 160):
        networks = fitted(table[~held], labels[~held], study.seeds, count)
        right = accuracy(networks, table[held], labels[held])
        print(f"| {count} | {right:.1f} | {_cell(*agreed(task, networks))} |", flush=True)
    firsts = [np.abs(np.asarray(network.layers[0][0], dtype=np.float64)) for network in networks]
    shares = np.mean([first.sum(axis=1) / first.sum() for first in firsts], axis=0)
    print("\n| feature | share of the weights of the first layer |\n|---|---:|")
    for place in np.argsort(-shares).tolist():
        print(f"| {GROUPS['lceval'][place]} | {100 * shares[place]:.1f} % |")


def references(study: Thesis, ways: tuple[str, ...] = ("max",), counts: tuple[int, ...] = COUNTS) -> None:
    """Measure PASCAL-50S by number of references."""
    print("\n| over references | " + " | ".join(map(str, counts)) + " |")
    print("|---|" + "---:|" * len(counts), flush=True)
    for way in ways:
        networks = fitted(*study.training(way), study.seeds)
        cells = [_cell(*agreed(study.pascal(count, way), networks)) for count in counts]
        print(f"| {way} | " + " | ".join(cells) + " |", flush=True)


def systems(study: Thesis) -> None:
    """Train on human captions and those of one system, or of all, and test on PASCAL-50S and COMPOSITE."""
    examples = study.examples(("human", "machine"))
    table = study.table(f"systems{study.images}", examples.corpus)
    tasks = [study.pascal(), study.rated("composite")]
    system, human = np.array(examples.system), np.flatnonzero(examples.kind == 0)
    names = sorted(set(examples.system) - {""})
    print("\n| trained on | examples | PASCAL-50S | COMPOSITE |\n|---|---:|---:|---:|", flush=True)
    for label, chosen in [*((name, [name]) for name in names), ("all", names)]:
        machine = np.flatnonzero(np.isin(system, chosen))
        count = min(len(machine), len(human))
        order = np.random.default_rng(SEED)
        rows = np.concatenate([order.permutation(part)[:count] for part in (human, machine)])
        # The number of steps is constant: epochs refer to all systems.
        networks = fitted(table[rows], examples.labels[rows], study.seeds, round(EPOCHS * len(human) / count))
        cells = [_cell(*agreed(task, networks)) for task in tasks]
        print(f"| {label} | {len(rows):,} | " + " | ".join(cells) + " |", flush=True)
    print("\n| features, trained on all systems | PASCAL-50S | COMPOSITE |\n|---|---:|---:|", flush=True)
    for label, parts in SETS.items():
        own = columns_of(parts)
        networks = fitted(table[rows][:, own], examples.labels[rows], study.seeds)
        cells = [_cell(*agreed(task, networks, task.table[:, own])) for task in tasks]
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def test_images(study: Thesis) -> None:
    """Train the networks that ship with and without the images of the validation and test sets.

    The images are taken out of the same examples. As a control, as many other images are taken out.
    """
    names = list(dict.fromkeys([*GROUPS["lceval"], *GROUPS["nneval"]]))
    maker = Maker(study.data, study.work)
    table, drawn = maker.examples(names, "published-with.npz"), maker.drawn()
    places: dict[str, list[str]] = {}
    for place, texts in zip(drawn.image.tolist(), drawn.references, strict=True):
        places.setdefault(str(place), []).extend(texts)
    groups = [texts for name in WITHOUT for texts in rated(name, study.data).references]
    tested = np.array(sorted(map(int, images_in_tests(places, groups))))
    others = np.setdiff1d(np.unique(drawn.image), tested)
    removed = {"all images": tested[:0], "without test images": tested}
    for seed in CONTROLS:
        chosen = np.random.default_rng(seed).permutation(others)[: len(tested)]
        removed[f"without as many others ({seed})"] = chosen
    tasks = [study.rated_as_shipped(name, names) for name in ("flickr8k-expert", "composite", "thumb")]
    print(
        f"\n{len(tested)} of {len(places):,} images belong to validation and test sets. Differences are paired.\n"
    )
    print("| metric | examples of | " + " | ".join(task.name for task in tasks) + " |")
    print("|---|---|" + "---:|" * len(tasks), flush=True)
    for name, hidden in (("LCEval", (12,)), ("NNEval", (72, 72))):
        own = [names.index(feature) for feature in GROUPS[name.casefold()]]
        shipped = load(WEIGHTS_FOLDER / f"{name.casefold()}.safetensors")
        before = [scores_of(shipped, task.table[:, own]) for task in tasks]
        cells = [_cell(task.value(scores)) for task, scores in zip(tasks, before, strict=True)]
        print(f"| {name} | shipped weights | " + " | ".join(cells) + " |", flush=True)
        for label, images in removed.items():
            kept_rows = ~np.isin(table["image"], images)
            part = {key: array[kept_rows] for key, array in table.items() if key != "names"}
            network = maker.published(name, hidden, table={**part, "names": table["names"]})
            now = [scores_of(network, task.table[:, own]) for task in tasks]
            cells = [
                _cell(task.difference(after, earlier))
                for task, after, earlier in zip(tasks, now, before, strict=True)
            ]
            print(f"| {name} | {label}, difference | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--images", type=int, default=500, help="training images")
    parser.add_argument("--seeds", type=int, default=1, help="trainings of each network")
    parser.add_argument("--only", choices=PARTS, action="append", help="run this part; repeatable")
    given = parser.parse_args()
    study = Thesis(given.work, given.images, seeds=given.seeds)
    parts: dict[str, Callable[[Thesis], None]] = {
        "groups": groups,
        "layers": layers,
        "epochs": epochs,
        "references": references,
        "over-references": partial(references, ways=WAYS, counts=(1, 5, 20, 48)),
        "systems": systems,
        "test-images": test_images,
    }
    for part in given.only or PARTS:
        parts[part](study)


if __name__ == "__main__":
    main()
