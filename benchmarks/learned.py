"""Experiments with learned metrics: training sets, word vectors, references and other tasks.

    python -m benchmarks.learned --work FOLDER [--only sets,pairs,…] [--plots docs/figures]

Results are Kendall's tau-c × 100 on Flickr8k-Expert (each expert) and on the sample of COMPOSITE, after a
fixed number of epochs without early stopping, or accuracy in per cent, with 95 % intervals over images.
Features are those of ``tools.make_learned``. They are stored in the same folder and used again.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.captions import public_data
from benchmarks.timing import timed
from captious.agreement import CaptionPairs, load_judgements
from captious.agreement.coefficients import COEFFICIENTS
from captious.agreement.resampling import perfect_interval, resample_counts
from captious.agreement.result_tables import TextTable, as_markdown
from captious.agreement.study import draw_references
from captious.corpus import Corpus
from captious.figures import style
from captious.io import read
from captious.io.judgements import own_key, with_protocol
from captious.metrics.learned.composite import WEIGHTS_FOLDER, load
from captious.metrics.learned.composite_network import Network
from captious.metrics.learned.feature_table import GROUPS, Features
from captious.results.significance import percentile_interval
from captious.robustness import make_distractions
from captious.training.composite_examples import Examples
from captious.training.composite_trainer import TrainingPlan, train
from captious.training.judged_captions import rated, rated_corpus
from tools.make_learned import Maker, Table, columns, kept

EPOCHS = 40
TESTS = {"flickr8k-expert": "Flickr8k-Expert", "composite": "COMPOSITE"}
SHIPPED = {
    "LCEval": "lceval",
    "NNEval": "nneval",
    "CaptiousScore": "captious_score",
    "CaptiousScore-lite": "captious_score_lite",
}
#: Features that are metrics, for comparison.
SINGLES = {"METEOR": "METEOR", "SPICE": "SPICE", "SentenceSim, centroid": "sentence-centroid"}
#: References of a pair of PASCAL-50S; images and instances of distractions; captions timed and before.
PAIR_REFERENCES, DISTRACTION_IMAGES, INSTANCES, TIMED, WARM = 5, 1200, 100, 300, 20
#: Resamples of images for an interval.
RESAMPLES = 500

#: An interval (NaN if there is none), and a number with its interval.
Span = tuple[float, float]
Cell = tuple[float, Span]
NO_SPAN = (float("nan"), float("nan"))


class Result(NamedTuple):
    """Table of an experiment. A row has a name and numbers."""

    title: str
    first: str
    header: list[str]
    rows: list[tuple[str, list[float]]]
    #: 95 % interval over images of each number.
    spans: list[list[Span]] | None = None
    digits: int = 1

    @classmethod
    def of(cls, title: str, first: str, header: list[str], rows: list[tuple[str, list[Cell]]]) -> Result:
        """Build a table from rows of numbers with intervals."""
        return cls(
            title,
            first,
            header,
            [(label, [value for value, _ in cells]) for label, cells in rows],
            [[span for _, span in cells] for _, cells in rows],
        )

    def cells(self) -> list[list[str]]:
        cells = []
        for row, (label, values) in enumerate(self.rows):
            texts = ["–" if value != value else f"{value:.{self.digits}f}" for value in values]
            if self.spans is not None:
                texts = [
                    text if low != low else f"{text} [{low:.1f}, {high:.1f}]"
                    for text, (low, high) in zip(texts, self.spans[row])
                ]
            cells.append([label, *texts])
        return cells


class Experiments:
    """Training examples, test sets and their features."""

    def __init__(self, data: Path, work: Path, epochs: int, vectors: str) -> None:
        self.data, self.work, self.epochs, self.vectors = data, work, epochs, vectors
        self.maker = Maker(data, work)
        self.table = table = self.maker.examples()
        self.examples = Examples(
            [""] * len(table["kind"]), [], table["kind"], table["image"], table["system"].tolist()
        )
        self.tests: dict[str, tuple[Table, list[Any]]] = {}
        self.images: dict[str, list[str]] = {}
        for name in TESTS:
            judged = rated(name, data)
            corpus, chosen = rated_corpus(judged)
            features = kept(work / f"{name}.npz", lambda corpus=corpus: (corpus, {}), self.maker.names)  # type: ignore[misc]
            assert len(features["X"]) == len(chosen)
            self.tests[name] = (features, [judged.ratings[k] for k in chosen])
            self.images[name] = [judged.images[k] for k in chosen]

    def agreement(self, network: Network) -> list[Cell]:
        """Return tau-c on the test sets, with intervals over images."""
        tau = COEFFICIENTS["tau-c"]
        return [
            (100 * tau(scores, ratings), _span(unit, partial(tau.resampled, scores, ratings, unit)))
            for scores, ratings, unit in self.rows(network)
        ]

    def rows(
        self, network: Network, tables: dict[str, NDArray[np.float64]] | None = None
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]]:
        """Return scores, ratings and images of each test set, one row per judge.

        ``tables`` replaces the stored features.
        """
        rows = []
        for name, (features, ratings) in self.tests.items():
            own = columns(features, network.features) if tables is None else tables[name]
            scores, judges = network.logits(network.standardised(own)), [len(r) for r in ratings]
            images = np.unique(self.images[name], return_inverse=True)[1]
            rows.append(
                (
                    np.repeat(scores, judges),
                    np.concatenate([np.asarray(r, float) for r in ratings]),
                    np.repeat(images, judges),
                )
            )
        return rows

    def fitted(
        self,
        features: tuple[str, ...],
        hidden: tuple[int, ...],
        rows: NDArray[Any],
        inputs: NDArray[np.float64] | None = None,
    ) -> Network:
        own = columns(self.table, features)[rows] if inputs is None else inputs
        # The number of steps is constant: epochs refer to the usual training set.
        epochs = max(1, round(self.epochs * len(self.examples.chosen("others")) / len(rows)))
        return train(
            "x", features, own, self.examples.labels[rows], TrainingPlan(hidden=hidden, epochs=epochs)
        ).network

    def trained(
        self, features: tuple[str, ...], hidden: tuple[int, ...] = (12,), training_set: str = "others"
    ) -> list[Cell]:
        return self.agreement(self.fitted(features, hidden, self.examples.chosen(training_set)))

    def sets(self) -> Result:
        metrics = {"LCEval": (12,), "NNEval": (72, 72)}
        sets = ("systems", "mixed", "others", "neighbours")
        rows = [
            (f"{name}, {one}", self.trained(GROUPS[name.casefold()], hidden, one))
            for name, hidden in metrics.items()
            for one in sets
        ]
        return Result.of("Trained on", "metric, training set", list(TESTS.values()), rows)

    def word_vectors(self) -> Result:
        """Compute LCEval's two features of word vectors with other vectors."""
        exchanged = ("WMD", "MOWE")
        features = GROUPS["lceval"]
        rows = self.examples.chosen("others")
        other = Features(exchanged, {"vectors": self.vectors})

        def with_others(
            table: Table, name: str, corpus: Callable[[], Corpus], rows: NDArray[Any] | None = None
        ) -> NDArray[np.float64]:
            path = self.work / f"{name}-{Path(self.vectors).stem}.npy"
            if not path.exists():
                np.save(path, other.table(corpus()))
            new = np.load(path)
            values: NDArray[np.float64] = columns(table, features)[
                slice(None) if rows is None else rows
            ].copy()
            for k, feature in enumerate(exchanged):
                values[:, features.index(feature)] = new[:, k]
            return values

        def examples() -> Corpus:
            drawn = self.maker.drawn()
            for name in ("kind", "image"):
                if not (getattr(drawn, name) == self.table[name]).all():
                    raise SystemExit(
                        "the stored features belong to other examples: use another --work folder"
                    )
            return _part(drawn, rows).corpus()

        inputs = with_others(self.table, "others", examples, rows)
        tables = {
            name: with_others(table, name, lambda name=name: rated_corpus(rated(name, self.data))[0])
            for name, (table, _) in self.tests.items()
        }  # type: ignore[misc]
        usual = self.rows(self.fitted(features, (12,), rows))
        exchanged_rows = self.rows(self.fitted(features, (12,), rows, inputs), tables)
        values, spans = [], []
        tau = COEFFICIENTS["tau-c"]
        for label, tests in (("default", usual), (self.vectors, exchanged_rows)):
            values.append((label, [100 * tau(scores, ratings) for scores, ratings, _ in tests]))
            spans.append(
                [
                    _span(unit, partial(tau.resampled, scores, ratings, unit))
                    for scores, ratings, unit in tests
                ]
            )
        # Differences use the same resamples for both.
        values.append(("difference", [b - a for a, b in zip(values[0][1], values[1][1])]))
        spans.append([])
        for (one, ratings, unit), (other_scores, _, _) in zip(usual, exchanged_rows):
            spans[-1].append(
                _span(
                    unit,
                    lambda c, a=one, b=other_scores, r=ratings, u=unit: (
                        tau.resampled(b, r, u, c) - tau.resampled(a, r, u, c)
                    ),
                )
            )  # type: ignore[misc]
        return Result("LCEval, word vectors", "vectors", list(TESTS.values()), values, spans)

    def shipped(self) -> dict[str, Network]:
        return {name: load(WEIGHTS_FOLDER / f"{file}.safetensors") for name, file in SHIPPED.items()}

    def needed(self) -> list[str]:
        """Return the features of all shipped metrics."""
        return list(dict.fromkeys(name for network in self.shipped().values() for name in network.features))

    def scores(self, table: Table) -> dict[str, NDArray[np.float64]]:
        """Return the scores of shipped metrics and of single features."""
        singles = {name: columns(table, (feature,))[:, 0] for name, feature in SINGLES.items()}
        return {
            **singles,
            **{
                name: network.score(columns(table, network.features))
                for name, network in self.shipped().items()
            },
        }

    def references(self) -> Result:
        """Measure COMPOSITE with fewer references per caption."""
        judged = rated("composite", self.data)
        corpus, chosen = rated_corpus(judged)
        ratings = np.array([judged.ratings[k][0] for k in chosen])
        unit = np.unique([judged.images[k] for k in chosen], return_inverse=True)[1]
        taus: dict[str, list[float]] = {name: [] for name in (*SINGLES, *SHIPPED)}
        spans: dict[str, list[tuple[float, float]]] = {name: [] for name in (*SINGLES, *SHIPPED)}
        counts = (1, 2, 3, 4, None)
        for count in counts:

            def fewer(count: int | None = count) -> tuple[Corpus, dict[str, Any]]:
                starts = corpus.references.image_offsets
                texts = [
                    corpus.references.texts[a:b][:count]
                    for a, b in zip(starts[:-1].tolist(), starts[1:].tolist())
                ]
                return Corpus.build(list(corpus.ids), [[text] for text in corpus.candidates.texts], texts), {}

            file = "composite.npz" if count is None else f"composite-{count}.npz"
            for name, values in self.scores(kept(self.work / file, fewer, self.needed())).items():
                taus[name].append(100 * COEFFICIENTS["tau-c"](values, ratings))
                spans[name].append(
                    _span(unit, partial(COEFFICIENTS["tau-c"].resampled, values, ratings, unit))
                )
        return Result(
            "COMPOSITE by number of references",
            "metric",
            [str(count or "all") for count in counts],
            list(taus.items()),
            list(spans.values()),
        )

    def _accuracy(
        self, pairs: CaptionPairs, references: list[list[str]], file: str
    ) -> dict[str, NDArray[np.float64]]:
        """Return 1 for each pair with the preference of people, 0.5 for equal scores, else 0."""

        def make() -> tuple[Corpus, dict[str, Any]]:
            groups = [list(both) for both in zip(pairs.first, pairs.second)]
            return Corpus.build([str(k) for k in range(len(groups))], groups, references), {}

        table = kept(self.work / file, make, self.needed())
        sign = np.sign(pairs.margins)
        return {
            name: (1 + np.sign(values[0::2] - values[1::2]) * sign) / 2
            for name, values in self.scores(table).items()
        }

    def pairs(self) -> Result:
        """Measure PASCAL-50S with five references drawn once, and votes on triplets."""
        judged = load_judgements("pascal-50s", self.data)
        assert isinstance(judged, CaptionPairs)
        judged = with_protocol(judged, votes="triplets")
        assert isinstance(judged, CaptionPairs)
        orders = draw_references(judged.images, judged.references, PAIR_REFERENCES, judged.protocol.seed, 0)
        references = []
        for k, texts in enumerate(judged.references):
            own = {own_key(judged.first[k]), own_key(judged.second[k])}
            references.append([texts[i] for i in orders[k] if own_key(texts[i]) not in own][:PAIR_REFERENCES])
        return self._by_category(
            "PASCAL-50S, correct pairs", judged, self._accuracy(judged, references, "pairs.npz")
        )

    def distractions(self) -> Result:
        """Compare correct captions with distractions, on images that were not trained on."""
        file = read(self.data / "coco" / "references.jsonl.gz", "references")
        seen = {text for texts in self.maker.drawn().references for text in texts}
        order = [
            k
            for k in np.random.default_rng(5).permutation(len(file.ids)).tolist()
            if seen.isdisjoint(file.captions[k])
        ]
        pairs = make_distractions(
            {file.ids[k]: list(file.captions[k]) for k in order[:DISTRACTION_IMAGES]}, limit=INSTANCES
        )
        return self._by_category(
            "Distractions, correct pairs",
            pairs,
            self._accuracy(pairs, [list(texts) for texts in pairs.references], "distractions.npz"),
        )

    def _by_category(self, title: str, judged: CaptionPairs, right: dict[str, NDArray[np.float64]]) -> Result:
        kinds = list(dict.fromkeys(judged.categories))
        own, images = np.array(judged.categories), np.array(judged.images)
        rows, spans = [], []
        for name, values in right.items():
            parts = [
                (values[rows_of], images[rows_of])
                for rows_of in (np.full(len(own), True), *(own == kind for kind in kinds))
            ]
            rows.append((name, [100 * float(part.mean()) for part, _ in parts]))
            spans.append([_accuracy_span(part, theirs) for part, theirs in parts])
        return Result(title, "metric", ["all", *kinds], rows, spans)

    def times(self) -> Result:
        """Time the features of each metric and its network, in milliseconds of processor time per caption.

        Each metric has its own examples, so that no cache helps.
        """
        drawn = self.maker.drawn()
        order = np.random.default_rng(3).permutation(len(drawn))
        rows = []
        for k, (name, network) in enumerate(self.shipped().items()):
            own = order[k * (TIMED + WARM) : (k + 1) * (TIMED + WARM)]
            Features(network.features).table(_part(drawn, own[:WARM]).corpus())  # loads models
            features, few = Features(network.features), _part(drawn, own[WARM:])
            table, computing = timed(lambda features=features, few=few: features.table(few.corpus()))
            _, scoring = timed(
                lambda network=network, table=table: [network.score(table) for _ in range(1000)]
            )
            rows.append((name, [1e3 * computing.processor / TIMED, scoring.processor / TIMED]))
        return Result(
            f"Time, {TIMED} captions with 4 references",
            "metric",
            ["features, ms", "network, ms"],
            rows,
            digits=4,
        )


def _part(examples: Examples, rows: NDArray[Any]) -> Examples:
    candidates, references, system = (
        [texts[k] for k in rows.tolist()]
        for texts in (examples.candidates, examples.references, examples.system)
    )
    return Examples(candidates, references, examples.kind[rows], examples.image[rows], system)  # type: ignore[arg-type]


def _span(
    unit: NDArray[np.int64], resampled: Callable[[NDArray[np.int32]], NDArray[np.float64]]
) -> tuple[float, float]:
    """Return the interval, × 100, of a statistic of resampled units."""
    drawn = [resampled(counts) for counts in resample_counts(int(unit.max()) + 1, RESAMPLES)]
    low, high = percentile_interval(np.concatenate(drawn))
    return 100 * low, 100 * high


def _accuracy_span(right: NDArray[np.float64], images: NDArray[Any]) -> tuple[float, float]:
    unit = np.unique(images, return_inverse=True)[1]
    if right.mean() in (0, 1):
        low, high = perfect_interval(float(right.mean()), int(unit.max()) + 1)
        return 100 * low, 100 * high
    total, size = np.bincount(unit, right), np.bincount(unit)
    return _span(unit, lambda counts: (counts @ total) / (counts @ size))


def draw(result: Result, folder: Path, name: str) -> Path:
    """Draw a table: a group of bars for each row."""
    with style.drawing("drawing figures of experiments") as plt:
        figure, axes = plt.subplots(figsize=(6.4, 1.2 + 0.2 * len(result.rows) * (len(result.header) + 1)))
        step = len(result.header) + 1
        for k, label in enumerate(result.header):
            places = [step * row + k for row in range(len(result.rows))]
            widths = [values[k] for _, values in result.rows]
            axes.barh(places, widths, height=0.9, color=style.COLOURS[k % len(style.COLOURS)], label=label)
            if result.spans is not None:
                ends = np.array([row[k] for row in result.spans])
                axes.errorbar(
                    widths, places, xerr=np.abs(ends.T - widths), fmt="none", ecolor="0.3", elinewidth=0.8
                )
        axes.set_yticks(
            [step * row + (step - 2) / 2 for row in range(len(result.rows))],
            [label for label, _ in result.rows],
        )
        axes.invert_yaxis()
        axes.set_title(result.title)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        path = folder / f"learned-{name}.png"
        figure.savefig(path, dpi=100)
        plt.close(figure)
    return path


#: Experiments by name.
ALL: dict[str, Callable[[Experiments], Result]] = {
    "sets": Experiments.sets,
    "word-vectors": Experiments.word_vectors,
    "references": Experiments.references,
    "pairs": Experiments.pairs,
    "distractions": Experiments.distractions,
    "times": Experiments.times,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--work", type=Path, required=True, help="folder of features")
    arguments.add_argument("--epochs", type=int, default=EPOCHS)
    arguments.add_argument("--only", default=",".join(ALL), help=f"some of {', '.join(ALL)}")
    arguments.add_argument(
        "--vectors", default="glove-6b-50d", help="word vectors to compare with the default"
    )
    arguments.add_argument("--plots", type=Path, help="folder for figures")
    options = arguments.parse_args()
    experiments = Experiments(public_data(), options.work, options.epochs, options.vectors)
    for name in options.only.split(","):
        result = ALL[name](experiments)
        table = TextTable(result.title, [result.first, *result.header], result.cells())
        print(as_markdown([table]), flush=True)
        if options.plots is not None:
            print(draw(result, options.plots, name), flush=True)


if __name__ == "__main__":
    main()
