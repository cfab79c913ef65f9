"""Make the weights of LCEval, NNEval, CaptiousScore and CaptiousScore-lite that ship.

    python -m tools.make_learned ../shared/data --work FOLDER [--only NAME,…]

Examples are drawn from COCO's references and nine systems; no judgement is learned from. THumB and CapEval1k chose the epochs of LCEval and
NNEval (``captious train`` chooses them anew). The weights of CaptiousScore and CaptiousScore-lite were chosen by THumB, CapEval1k and the samples of
COMPOSITE, PASCAL-50S and nocaps-FOIL (docs/results/learned.md), and stand here; the examples decide its bounds and make it a probability. Features are kept in the work folder, since they take minutes; those that are there already are used again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.writing import atomic_write
from captious.corpus import Corpus
from captious.io import read
from captious.metrics.learned.composite import WEIGHTS_FOLDER
from captious.metrics.learned.composite_network import Network, to_bytes
from captious.metrics.learned.feature_table import GROUPS, Features
from captious.metrics.learned.own_features import OWN
from captious.training.composite_examples import KINDS, Examples, build_examples
from captious.training.composite_trainer import TrainingPlan, train
from captious.training.judged_captions import VALIDATE, rated
from captious.training.linear_fit import Part, weigh

#: Images of COCO that examples are drawn from.
IMAGES, SEED = 1500, 1
#: Where THumB and CapEval1k stopped the published metrics. Epochs near the best differ by less than the sets can tell, and the last digit of a
#: feature moves the choice, so it stands here.
EPOCHS = {"LCEval": 63, "NNEval": 2}
#: Sets whose captions are never examples.
WITHOUT = ("thumb", "capeval1k", "composite")
#: What CaptiousScore weighs. What the references do not support counts only below what three of four people's captions reach, recall only
#: above what nearly all reach, and word order only where it is broken.
FULL_PARTS = {
    "mapped-sentence-centroid": Part(1.2), "mapped-sentence-agreement": Part(-0.1), "mapped-token-recall-idf": Part(0.6, low=1),
    "mapped-token-union": Part(0.2, high=25), "mapped-token-agreement-recall-idf": Part(-0.1),
    "mapped-tuple-precision": Part(0.3, high=25), "spice-f": Part(0.3, high=25), "word-order": Part(0.3, high=2),
}  # fmt: skip
LITE_PARTS = {
    "mapped-caption-centroid": Part(1.0), "mapped-caption-max": Part(0.4), "mapped-caption-agreement": Part(-0.2), "caption-word-recall-idf": Part(0.4, low=1),
    "caption-word-union-idf": Part(0.3, high=25), "spice-f": Part(0.3, high=50), "word-order": Part(0.4, high=2),
}  # fmt: skip
#: Log odds of both are lowered by this, then multiplied with this. Otherwise good captions are all so near to 1 that their scores hardly
#: differ.
LOWERED, SOFTENED = 1.0, 0.75

#: The worse captions that people's are told from, each kind as often; people's as often as both.
AGAINST = ("other", "neighbour")

Table = dict[str, NDArray[Any]]


def kept(path: Path, make: Callable[[], tuple[Corpus, dict[str, Any]]], names: list[str]) -> Table:
    """A table of features with what belongs to its rows, from the work folder or made."""
    if path.exists():
        with np.load(path) as found:
            table = {key: found[key] for key in found.files}
        if set(names) <= set(table["names"].tolist()):
            return table
    corpus, beside = make()
    features = Features(names)
    table = {"X": features.table(corpus), "names": np.array(features.names), **beside}
    with atomic_write(path) as temporary, temporary.open("wb") as out:
        np.savez(out, **table)
    return table


def columns(table: Table, names: tuple[str, ...]) -> NDArray[np.float64]:
    place = {name: k for k, name in enumerate(table["names"].tolist())}
    found: NDArray[np.float64] = table["X"][:, [place[name] for name in names]]
    return found


class Maker:
    def __init__(self, data: Path, work: Path) -> None:
        self.data, self.work = data, work
        work.mkdir(parents=True, exist_ok=True)
        self.names = [*OWN, *GROUPS["lceval"], *GROUPS["nneval"]]
        self._drawn: Examples | None = None

    def drawn(self) -> Examples:
        if self._drawn is None:
            file = read(self.data / "coco" / "references.jsonl.gz", "references")
            people = {image: list(group) for image, group in zip(file.ids, file.captions)}
            machines = {}
            for path in sorted((self.data / "coco" / "systems").glob("*.jsonl.gz")):
                found = read(path, "predictions")
                machines[path.name.partition(".")[0]] = {
                    i: group[0] for i, group in zip(found.ids, found.captions) if i in people
                }
            without = [caption for name in WITHOUT for caption in rated(name, self.data).captions]
            self._drawn = build_examples(people, machines, images=IMAGES, without=without, seed=SEED)
        return self._drawn

    def examples(self, names: Sequence[str] | None = None, file: str = "train.npz") -> Table:
        return kept(self.work / file, lambda: self._of(self.drawn()), list(names or self.names))

    def _of(self, examples: Examples) -> tuple[Corpus, dict[str, Any]]:
        return examples.corpus(), {
            "kind": examples.kind,
            "image": examples.image,
            "system": np.array(examples.system),
        }

    def published(
        self,
        name: str,
        hidden: tuple[int, ...],
        training_set: str = "others",
        table: Table | None = None,
    ) -> Network:
        """LCEval or NNEval on a training set; their features suffice as ``table``."""
        table, features = table or self.examples(), GROUPS[name.casefold()]
        bare = Examples(
            [""] * len(table["kind"]), [], table["kind"], table["image"], table["system"].tolist()
        )
        rows = bare.chosen(training_set, SEED)
        made = {
            "set": training_set,
            "images": IMAGES,
            "references": "COCO val2014",
            "machines": sorted(set(table["system"].tolist()) - {""}),
        }
        made["epoch chosen by"] = list(VALIDATE)
        plan = TrainingPlan(hidden=hidden, epochs=EPOCHS[name], seed=SEED)
        return train(
            name, features, columns(table, features)[rows], bare.labels[rows], plan, made=made
        ).network

    def own(self, name: str, parts: dict[str, Part]) -> Network:
        """A sum of features whose weights are given; people's captions against worse ones make it a probability."""
        # CaptiousScore-lite needs no encoder, which takes most of the time.
        table = self.examples(tuple(parts), f"train-{name.casefold()}.npz")
        inputs, kind = columns(table, tuple(parts)), table["kind"]
        weights = np.zeros(len(kind))
        weights[kind == 0] = len(AGAINST) / (kind == 0).sum()
        for one in AGAINST:
            chosen = kind == KINDS.index(one)
            weights[chosen] = 1 / chosen.sum()
        made = {
            "against": AGAINST,
            "images": IMAGES,
            "examples": int((weights > 0).sum()),
            "references": "COCO val2014",
            "seed": SEED,
        }
        network = weigh(
            name, parts, inputs, inputs[kind == 0], (kind == 0).astype(np.float64), weights, made=made
        )
        ((layer, offset),) = network.layers
        factor = np.float32(SOFTENED)
        return replace(network, layers=((layer * factor, (offset - np.float32(LOWERED)) * factor),))


def main() -> None:
    parser = argparse.ArgumentParser(description="make the weights that ship")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", default="lceval,nneval,captious_score,captious_score_lite")
    given = parser.parse_args()
    maker = Maker(given.data, given.work)
    makes: dict[str, Callable[[], Network]] = {
        "lceval": lambda: maker.published("LCEval", (12,)),
        "nneval": lambda: maker.published("NNEval", (72, 72)),
        "captious_score": lambda: maker.own("CaptiousScore", FULL_PARTS),
        "captious_score_lite": lambda: maker.own("CaptiousScore-lite", LITE_PARTS),
    }
    WEIGHTS_FOLDER.mkdir(exist_ok=True)
    for name in given.only.split(","):
        network = makes[name]()
        path = WEIGHTS_FOLDER / f"{name}.safetensors"
        with atomic_write(path) as temporary:
            temporary.write_bytes(to_bytes(network))
        print(f"{path}: {network.name}@{network.digest}, {path.stat().st_size:,} bytes, {network.made}")


if __name__ == "__main__":
    main()
