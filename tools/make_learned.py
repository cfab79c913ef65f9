"""Make the weights of LCEval, NNEval, CaptiousScore and CaptiousScore-lite that ship.

    python -m tools.make_learned ../shared/data --work FOLDER [--only NAME,…]

Examples are drawn from COCO's references and nine systems; no judgement is learned from. THumB and CapEval1k choose the epoch of LCEval and
NNEval. Features are kept in the work folder, since they take minutes; those that are there already are used again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.io import read
from captious.learned.captious_score import FULL, LITE
from captious.learned.composite import WEIGHTS_FOLDER
from captious.learned.features import GROUPS, Features
from captious.learned.network import Network, to_bytes
from captious.learned.own import OWN
from captious.learned.training.examples import KINDS, Examples, build_examples, transformed
from captious.learned.training.judged import VALIDATE, most_common, rated, rated_corpus
from captious.learned.training.linear import fit
from captious.learned.training.trainer import Judged, Plan, train
from captious.writing import atomic_write

#: Images of COCO that examples are drawn from, and how many of them have transformed captions.
IMAGES, TRANSFORMED, SEED = 1500, 300, 1
#: Sets whose captions are never examples.
WITHOUT = ("thumb", "capeval1k", "composite")
#: How much each kind of worse caption weighs for CaptiousScore; people's captions weigh as much as all of them.
SHARES = {"neighbour": 1.0, "other": 1.0, "permuted": 0.1, "random-words": 0.05}
L2 = 1e-4

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
                machines[path.name.partition(".")[0]] = {i: group[0] for i, group in zip(found.ids, found.captions) if i in people}
            without = [caption for name in WITHOUT for caption in rated(name, self.data).captions]
            self._drawn = build_examples(people, machines, images=IMAGES, without=without, seed=SEED)
        return self._drawn

    def examples(self) -> Table:
        return kept(self.work / "train.npz", lambda: self._of(self.drawn()), self.names)

    def transformed(self) -> Table:
        return kept(self.work / "train2.npz", lambda: self._of(transformed(self.drawn(), limit=TRANSFORMED, seed=SEED)), self.names)

    def _of(self, examples: Examples) -> tuple[Corpus, dict[str, Any]]:
        return examples.corpus(), {"kind": examples.kind, "image": examples.image, "system": np.array(examples.system)}

    def judged(self, name: str, features: tuple[str, ...]) -> Judged:
        found = rated(name, self.data)
        corpus, chosen = rated_corpus(found)
        ratings = np.array([most_common(list(found.ratings[k])) for k in chosen])
        table = kept(self.work / f"{name}.npz", lambda: (corpus, {}), self.names)
        return Judged(found.name, columns(table, features), ratings)

    def published(self, name: str, hidden: tuple[int, ...], training_set: str = "others") -> Network:
        """LCEval or NNEval on a training set."""
        table, features = self.examples(), GROUPS[name.casefold()]
        bare = Examples([""] * len(table["kind"]), [], table["kind"], table["image"], table["system"].tolist())
        rows = bare.chosen(training_set, SEED)
        made = {"set": training_set, "images": IMAGES, "references": "COCO val2014", "machines": sorted(set(table["system"].tolist()) - {""})}
        judged = [self.judged(one, features) for one in VALIDATE]
        plan = Plan(hidden=hidden, seed=SEED)
        return train(name, features, columns(table, features)[rows], bare.labels[rows], plan, validate=judged, made=made).network

    def own(self, name: str, features: tuple[str, ...], shares: dict[str, float] = SHARES, l2: float = L2) -> Network:
        """A monotone model on people's captions against worse ones of several kinds."""
        parts = [self.examples(), self.transformed()]
        inputs = np.concatenate([columns(part, features) for part in parts])
        kind = np.concatenate([part["kind"] for part in parts])
        weights = np.zeros(len(kind))
        weights[kind == 0] = sum(shares.values()) / (kind == 0).sum()
        for one, share in shares.items():
            chosen = kind == KINDS.index(one)
            weights[chosen] = share / chosen.sum()
        used = weights > 0
        made = {"set": shares, "images": IMAGES, "examples": int(used.sum()), "references": "COCO val2014", "l2": l2, "seed": SEED}
        labels = (kind[used] == 0).astype(np.float64)
        return fit(name, features, Features(features).rises(), inputs[used], labels, weights=weights[used], l2=l2, made=made)


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
        "captious_score": lambda: maker.own("CaptiousScore", FULL),
        "captious_score_lite": lambda: maker.own("CaptiousScore-lite", LITE),
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
