"""Fit ALOHa's weights (``captious.metrics.captions.aloha``) on captions with marked wrong objects.

    python -m tools.fit_aloha FOIL.jsonl.gz HAT.jsonl.gz

FOIL has rows with ``references``, ``baseline``, ``foil`` and ``replacement`` (nocaps-FOIL). HAT has rows with
``caption``, ``references``, ``contains_hallucination`` and ``grounding``, pairs of a word and whether it is
wrong. An object is an example, and wrong if its word is marked. Prints average precision and localisation by
ten-fold cross-validation over images, then the weights of all examples.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Corpus
from captious.metrics.captions.aloha import Aloha

Floats = NDArray[np.float64]
FOLDS = 10


class Judged(NamedTuple):
    """A caption, its references, whether it is wrong, and its wrong words; captions of one group are one fold."""

    group: int
    caption: str
    references: list[str]
    is_wrong: bool
    wrong_words: frozenset[str]


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_foil(path: Path) -> list[Judged]:
    """Return both captions of each pair."""
    judged = []
    for group, row in enumerate(_rows(path)):
        judged.append(Judged(group, row["baseline"], row["references"], False, frozenset()))
        words = frozenset(row["replacement"][1].lower().split())
        judged.append(Judged(group, row["foil"], row["references"], True, words))
    return judged


def read_hat(path: Path) -> list[Judged]:
    """Return the captions with their marked words."""
    return [
        Judged(
            group,
            row["caption"],
            row["references"],
            row["contains_hallucination"],
            frozenset(word.lower().strip(".,!?\"'") for word, is_wrong in row["grounding"] if is_wrong),
        )
        for group, row in enumerate(_rows(path))
    ]


def fit(features: Floats, wrong: Floats, ridge: float = 1.0) -> Floats:
    """Return constant and weights of the log odds that an object is right, by Newton's method."""
    table = np.column_stack([np.ones(len(features)), features])
    weights = np.zeros(table.shape[1])
    penalty = np.diag([0.0] + [ridge] * features.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (1 - wrong - chance) - penalty @ weights
        weights += np.linalg.solve((table * (chance * (1 - chance))[:, None]).T @ table + penalty, slope)
    return weights


def average_precision(labels: NDArray[np.bool_], scores: Floats) -> float:
    """Return the average precision of positives by descending score, ties taken together."""
    order = np.argsort(-scores, kind="stable")
    hits, ranked = np.cumsum(labels[order]), scores[order]
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    recall = hits[last] / labels.sum()
    return float(np.sum(np.diff(np.append(0, recall)) * hits[last] / (last + 1)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("foil", type=Path)
    parser.add_argument("hat", type=Path)
    arguments = parser.parse_args()
    sets = {"FOIL": read_foil(arguments.foil), "HAT": read_hat(arguments.hat)}
    judged = [row for rows in sets.values() for row in rows]
    ids = [str(i) for i in range(len(judged))]
    corpus = Corpus.build(ids, [[row.caption] for row in judged], [row.references for row in judged])
    caption, wrong, features = [], [], []
    supports = Aloha().supports(corpus)
    for i, (row, objects) in enumerate(zip(judged, supports)):
        for item in objects:
            caption.append(-1 if item.is_ambiguous else i)
            wrong.append(item.word in row.wrong_words)
            features.append([item.cosine, item.share, item.is_modifier])
    owner, is_wrong = np.array(caption), np.array(wrong)
    table = np.array(features, np.float64)
    counted = owner >= 0
    names = np.concatenate([[name] * len(rows) for name, rows in sets.items()])
    labels = np.array([row.is_wrong for row in judged])
    groups = np.array([row.group for row in judged])
    figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in sets}
    for seed in range(5):
        fold = np.random.default_rng(seed).permutation(groups.max() + 1)[groups] % FOLDS
        support = np.zeros(len(table))
        for number in range(FOLDS):
            test = fold[owner] == number
            weights = fit(table[~test & counted], is_wrong[~test & counted].astype(float))
            support[test] = weights[0] + table[test] @ weights[1:]
        lowest, blamed = np.full(len(judged), np.inf), np.zeros(len(judged), bool)
        for k in np.flatnonzero(counted).tolist():
            if support[k] < lowest[owner[k]]:
                lowest[owner[k]], blamed[owner[k]] = support[k], is_wrong[k]
        for name, values in figures.items():
            own = names == name
            pair = lowest[own][: own.sum() // 2 * 2].reshape(-1, 2)
            better = np.mean((pair[:, 0] > pair[:, 1]) + 0.5 * (pair[:, 0] == pair[:, 1]))
            finite = np.where(np.isinf(lowest), 1e9, lowest)
            values.append(
                (
                    average_precision(labels[own], -finite[own]),
                    float(blamed[own & labels].mean()),
                    float(better),
                )
            )
    for name, values in figures.items():
        precision, named, better = 100 * np.mean(values, axis=0)
        pairs = f", original above foil {better:.1f}" if name == "FOIL" else ""
        print(f"{name}: average precision {precision:.2f}, wrong word named {named:.2f} %{pairs}")
    weights = fit(table[counted], is_wrong[counted].astype(float))
    print("WEIGHTS =", tuple(np.round(weights, 3).tolist()))
    odds = weights[0] + table[counted] @ weights[1:]
    right = ~is_wrong[counted]
    # The threshold at which both kinds of objects are right most often, on average.
    places = np.linspace(odds.min(), odds.max(), 400)
    balance = [((odds >= t)[right].mean() + (odds < t)[~right].mean()) / 2 for t in places]
    print(
        f"UNSUPPORTED = {1 / (1 + np.exp(-places[int(np.argmax(balance))])):.3f} ({max(balance):.3f} balanced)"
    )


if __name__ == "__main__":
    main()
