"""The public face: load, score, compare."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from captious import significance
from captious.corpus import Corpus
from captious.errors import InputError, MissingExtraError, did_you_mean
from captious.io import CaptionFile, CaptionWarning, align, read
from captious.metrics import registry
from captious.metrics.base import Metric
from captious.scores import Score, Scores, json_number

#: A path, a mapping from image id to captions, rows, or a data frame.
Source = Any


def load(
    references: Source,
    predictions: Source,
    *,
    tokenizer: str = "ptb",
    subset: bool = False,
    several: bool | None = None,
    name: str | None = None,
) -> Corpus:
    """Read references and predictions into a corpus.

    ``subset`` scores the images that both have, where predictions are missing for some; ``several`` states that an
    image may have several predictions where the file leaves that in doubt.
    """
    return load_systems(references, [predictions], tokenizer=tokenizer, subset=subset, several=several, names=[name])[0]


def load_systems(
    references: Source,
    predictions: Iterable[Source],
    *,
    tokenizer: str = "ptb",
    subset: bool = False,
    several: bool | None = None,
    names: Iterable[str | None] | None = None,
) -> list[Corpus]:
    """Several systems on the same references, which are read and encoded once."""
    reference_file = references if isinstance(references, CaptionFile) else read(references, "references")
    sources = list(predictions)
    corpora: list[Corpus] = []
    for source, name in zip(sources, list(names) if names is not None else [None] * len(sources)):
        file = source if isinstance(source, CaptionFile) else read(source, "predictions", several=several)
        aligned = align(reference_file, file, subset=subset)
        called = name or system_name(file)
        shared = next((c for c in corpora if c.ids == tuple(aligned.ids)), None)
        if shared is not None:
            corpus = shared.with_candidates(aligned.candidates, name=called)
        else:
            corpus = Corpus.build(
                aligned.ids, aligned.candidates, aligned.references,
                tokenizer=tokenizer, name=called, left_out=aligned.left_out,
            )  # fmt: skip
        _warn_of_empty(corpus)
        corpora.append(corpus)
    return corpora


def system_name(file: CaptionFile) -> str:
    """What tables call a system: the file's name without its endings."""
    name = Path(file.name).name
    for ending in (".gz", ".json", ".jsonl", ".csv", ".tsv", ".parquet"):
        name = name.removesuffix(ending)
    return name


def _warn_of_empty(corpus: Corpus) -> None:
    for side, captions in (("predictions", corpus.candidates), ("references", corpus.references)):
        empty = np.flatnonzero(captions.lengths == 0)
        if len(empty):
            images = corpus.ids[captions.image_of[empty[0]]]
            warnings.warn(
                CaptionWarning(
                    f"{corpus.name}: {len(empty):,} of {len(captions):,} captions of the {side} have no words "
                    f"(the first is of image {images}); they are scored as empty"
                ),
                stacklevel=3,
            )


def score(corpus: Corpus, metrics: str | Metric | Iterable[str | Metric] = "coco", **options: Any) -> Scores:
    """Score the candidates of a corpus.

    ``metrics`` are names ("CIDEr-D"), groups ("coco", "all") or metric objects. Options go to the metrics that take
    them: ``df`` (document frequencies for CIDEr, a path or a table), and those listed by ``captious metrics``.
    """
    return Scores(corpus.name, [Score.of(metric, corpus) for metric in make_metrics(metrics, options)])


def make_metrics(metrics: str | Metric | Iterable[str | Metric], options: dict[str, Any]) -> list[Metric]:
    """Metric objects from names, groups and options; an option that no metric knows is an error."""
    if options:
        known = registry.option_names()
        for option in options:
            if option not in known:
                raise InputError(f"unknown option '{option}'{did_you_mean(option, known)}")
    if isinstance(options.get("df"), str | Path):
        from captious.io.frequencies import read_frequencies

        options = {**options, "df": read_frequencies(options["df"])}
    named = set(registry.named(metrics))
    made: list[Metric] = []
    left_out: dict[str, list[str]] = {}
    for wanted in registry.resolve(metrics):
        try:
            metric = wanted if isinstance(wanted, Metric) else registry.create(wanted, options)
            metric.check()
        except MissingExtraError as error:
            # Asked for by name, a metric that cannot run is an error; as a member of a group it is left out, and said.
            if wanted in named:
                raise
            left_out.setdefault(str(error), []).append(str(wanted))
            continue
        made.append(metric)
    for reason, names in left_out.items():
        warnings.warn(CaptionWarning(f"left out {', '.join(names)}: {reason}"), stacklevel=3)
    return made


@dataclass(frozen=True)
class Comparison:
    """One metric on two systems over the same images."""

    metric: str
    a: float
    b: float
    #: B − A, with its confidence interval.
    difference: float
    interval: tuple[float, float]
    #: Two-sided p-values of the paired bootstrap and of approximate randomisation.
    p_bootstrap: float
    p_randomisation: float
    higher_is_better: bool
    signature: str

    @property
    def better(self) -> str:
        """Which system is ahead: "A", "B" or "neither"."""
        if self.difference == 0 or np.isnan(self.difference):
            return "neither"
        return "B" if (self.difference > 0) == self.higher_is_better else "A"

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "metric": self.metric,
            "a": json_number(self.a),
            "b": json_number(self.b),
            "difference": json_number(self.difference),
            "interval": [json_number(bound) for bound in self.interval],
            "p_bootstrap": json_number(self.p_bootstrap),
            "p_randomisation": json_number(self.p_randomisation),
            "better": self.better,
            "signature": self.signature,
        }


def compare(
    a: Corpus | Scores,
    b: Corpus | Scores,
    metrics: str | Metric | Iterable[str | Metric] = "coco",
    *,
    resamples: int = significance.RESAMPLES,
    trials: int = significance.TRIALS,
    seed: int = significance.SEED,
    **options: Any,
) -> list[Comparison]:
    """Compare two systems on the same images, metric by metric, with paired tests. Refuses unlike numbers."""
    scores_a = a if isinstance(a, Scores) else score(a, metrics, **options)
    scores_b = b if isinstance(b, Scores) else score(b, metrics, **options)
    return [
        compare_scores(scores_a[name], scores_b[name], resamples=resamples, trials=trials, seed=seed)
        for name in scores_a
        if name in scores_b
    ]


def compare_scores(
    a: Score,
    b: Score,
    *,
    resamples: int = significance.RESAMPLES,
    trials: int = significance.TRIALS,
    seed: int = significance.SEED,
) -> Comparison:
    """Compare two scores of one metric on the same images."""
    if a.signature != b.signature:
        raise InputError(
            f"these two numbers cannot be compared, they were made differently:\n  A {a.signature}\n  B {b.signature}"
        )
    if a.ids != b.ids:
        raise InputError(f"{a.name}: A was scored on {len(a.ids):,} images and B on {len(b.ids):,}; they must be the same")
    value = a.metric.value
    rows_a, rows_b = a.image_statistics, b.image_statistics
    low, high, p_bootstrap = significance.paired_bootstrap(rows_a, rows_b, value, resamples=resamples, seed=seed)
    return Comparison(
        metric=a.name,
        a=a.value,
        b=b.value,
        difference=b.value - a.value,
        interval=(low, high),
        p_bootstrap=p_bootstrap,
        p_randomisation=significance.randomisation(rows_a, rows_b, value, trials, seed),
        higher_is_better=a.metric.higher_is_better,
        signature=f"{a.signature}|paired-bootstrap:{resamples}|randomisation:{trials}|seed:{seed}",
    )
