"""Experiments with LCEval and NNEval: what they are trained on, how many layers they have, which features they see.

    python -m benchmarks.learned ../shared/data --work FOLDER

Kendall's tau-c × 100 on Flickr8k-Expert (each expert) and on the sample of COMPOSITE, after a fixed number of epochs, without early stop. Features
are those of ``tools.make_learned`` and are kept in the same folder.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from captious.human.coefficients import COEFFICIENTS
from captious.human.tables import TextTable, as_markdown
from captious.learned.features import GROUPS
from captious.learned.network import Network, spread
from captious.learned.training.examples import Examples
from captious.learned.training.judged import rated, rated_corpus
from captious.learned.training.trainer import Plan, train
from tools.make_learned import Maker, columns, kept

EPOCHS = 40
TESTS = ("flickr8k-expert", "composite")


class Experiments:
    def __init__(self, data: Path, work: Path, epochs: int) -> None:
        self.maker, self.epochs = Maker(data, work), epochs
        table = self.maker.examples()
        self.table = table
        self.examples = Examples([""] * len(table["kind"]), [], table["kind"], table["image"], table["system"].tolist())
        self.tests = {}
        for name in TESTS:
            judged = rated(name, data)
            corpus, chosen = rated_corpus(judged)
            features = kept(work / f"{name}.npz", lambda corpus=corpus: (corpus, {}), self.maker.names)  # type: ignore[misc]
            assert len(features["X"]) == len(chosen)
            self.tests[name] = (features, [judged.ratings[k] for k in chosen])

    def agreement(self, network: Network) -> list[str]:
        found = []
        for features, ratings in self.tests.values():
            scores = network.logits(network.standardised(columns(features, network.features)))
            repeats = [len(own) for own in ratings]
            value = COEFFICIENTS["tau-c"](np.repeat(scores, repeats), np.concatenate([np.asarray(own, float) for own in ratings]))
            found.append(f"{100 * value:.1f}")
        return found

    def trained(self, features: tuple[str, ...], hidden: tuple[int, ...], training_set: str) -> list[str]:
        rows = self.examples.chosen(training_set)
        inputs = columns(self.table, features)[rows]
        plan = Plan(hidden=hidden, epochs=self.epochs)
        return self.agreement(train("x", features, inputs, self.examples.labels[rows], plan).network)

    def equal(self, features: tuple[str, ...]) -> list[str]:
        """No learning: standardised features, added up."""
        means, scales = spread(columns(self.table, features))
        layer = (np.ones((len(features), 1), np.float32), np.zeros(1, np.float32))
        return self.agreement(Network("x", features, means, scales, (layer,), {}))


def main() -> None:
    parser = argparse.ArgumentParser(description="experiments with LCEval and NNEval")
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    given = parser.parse_args()
    run = Experiments(given.data, given.work, given.epochs)
    lceval, nneval = GROUPS["lceval"], GROUPS["nneval"]
    header = ["Flickr8k-Expert", "COMPOSITE"]

    def show(title: str, first: str, rows: list[list[str]]) -> None:
        print(as_markdown([TextTable(title, [first, *header], rows)]), flush=True)

    sets = ("systems", "mixed", "others", "neighbours")
    show("Trained on", "metric, training set", [[f"{name}, {one}", *run.trained(f, h, one)] for name, f, h in (("LCEval", lceval, (12,)), ("NNEval", nneval, (72, 72))) for one in sets])
    layers = {"no learning": None, "1 layer": (), "2 layers": (12,), "3 layers": (12, 12)}
    show("LCEval, layers", "network", [[name, *(run.equal(lceval) if h is None else run.trained(lceval, h, "others"))] for name, h in layers.items()])
    groups = {
        "lexical": ("lexical",), "semantic": ("semantic",), "syntactic": ("syntactic",), "lexical + semantic": ("lexical", "semantic"),
        "lexical + syntactic": ("lexical", "syntactic"), "semantic + syntactic": ("semantic", "syntactic"),
    }  # fmt: skip
    rows = [[name, *run.trained(tuple(f for part in parts for f in GROUPS[part]), (12,), "others")] for name, parts in groups.items()]
    show("LCEval, groups of features", "features", rows)


if __name__ == "__main__":
    main()
