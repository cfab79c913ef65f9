"""Public functions: load, prepare, score, compare, compute."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, overload

from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.io.describe import missing_side
from captious.metrics.registry import Wanted, make_measures
from captious.results.comparison import compare, compare_scores
from captious.results.comparison_result import Comparison, Comparisons
from captious.results.references import References, Source, load, load_systems, parallel
from captious.results.scores import Scores

__all__ = [
    "Comparison",
    "Comparisons",
    "compare",
    "compare_scores",
    "compute",
    "load",
    "load_scores",
    "load_systems",
    "prepare",
    "score",
    "score_systems",
]

load_scores = Scores.load


def prepare(
    references: Source,
    metrics: Wanted = "coco",
    *,
    tokenizer: str | None = None,
    split: str | Iterable[str] | None = None,
    **options: Any,
) -> References:
    """Read and encode references, and compute what measures derive from them, once for any number of systems.

    Parameters
    ----------
    references
        As for :func:`captious.load`.
    metrics
        Measures to prepare for: their n-gram tables, document frequencies, scene graphs.
    tokenizer
        Tokenizer (default: ptb).
    split
        Use only the references of these splits, as for :func:`captious.load`.
    options
        Options of metrics.

    Returns
    -------
    References
        Accepted wherever references are; ``save`` writes them to a file.

    Examples
    --------
    >>> prepare({1: ["a dog runs", "the dog is running"], 2: ["a cat"]}, "CIDEr-D").captions.n_images
    2
    """
    # Measures first: a misspelt name or a missing package is reported before files are read.
    measures = make_measures(metrics, options)
    return References.read(references, tokenizer, split, strict=True).prepare(measures)


@overload
def score(corpus: Corpus, metrics: Wanted = "coco", /, **options: Any) -> Scores: ...


@overload
def score(corpus: Corpus, *, metrics: Wanted = "coco", **options: Any) -> Scores: ...


@overload
def score(references: Source, predictions: Source, metrics: Wanted = "coco", **options: Any) -> Scores: ...


def score(*inputs: Any, **options: Any) -> Scores:
    """Score captions: ``score(references, predictions, metrics)``, or ``score(corpus, metrics)``.

    Parameters
    ----------
    references, predictions
        Paths, mappings from image id to captions, rows, data frames or prepared references, as for
        :func:`captious.load`. A file that holds both (the log of a harness) can be given alone. Its options
        work here, too: tokenizer, subset, part, several, name, split.
    corpus
        References and predictions that were loaded before, instead of these.
    metrics
        Names ("CIDEr-D"), groups ("coco", "all") or measure objects.
    options
        Options of metrics: ``df`` (document frequencies for CIDEr, a path or a table), and those that
        ``captious metrics`` lists.

    Returns
    -------
    Scores
        The scores of the system by metric name.

    Examples
    --------
    >>> scores = score({1: ["a dog runs", "the dog is running"]}, {1: "a dog is running"}, "ROUGE-L")
    >>> scores["ROUGE-L"].value > 0.5
    True
    """
    parts = list(inputs)
    parts += [options.pop(name) for name in ("corpus", "references", "predictions") if name in options]
    if not parts:
        raise InputError("there is nothing to score: give references and predictions, or a corpus")
    if isinstance(parts[0], Corpus):
        corpus, rest = parts[0], parts[1:]
    else:
        if len(parts) == 1:
            is_path = isinstance(parts[0], str | os.PathLike)
            reason = missing_side(parts[0]) if is_path else "only files can hold both sides"
            if reason is not None:
                raise InputError(
                    f"predictions are missing: score(references, predictions), or score(corpus) ({reason})"
                )
            parts.append(parts[0])  # a file with references and predictions
        loading = {
            name: options.pop(name)
            for name in ("tokenizer", "subset", "part", "several", "name", "split")
            if name in options
        }
        corpus, rest = load(parts[0], parts[1], **loading), parts[2:]
    if len(rest) > 1:
        raise InputError(
            f"score takes {len(parts) - len(rest) + 1} arguments without a name, not {len(parts)}"
        )
    metrics = options.pop("metrics", rest[0] if rest else "coco")
    return Scores.of(corpus, make_measures(metrics, options))


def score_systems(
    references: Source | None,
    predictions: Iterable[Source],
    metrics: Wanted = "coco",
    *,
    tokenizer: str | None = None,
    subset: bool = False,
    part: bool = False,
    several: bool | None = None,
    names: Iterable[str | None] | None = None,
    split: str | Iterable[str] | None = None,
    **options: Any,
) -> list[Scores]:
    """Score several systems on the same references, which are read and encoded once.

    Parameters
    ----------
    references, predictions
        References, and the predictions of each system, as :func:`captious.load` takes them.
    metrics
        Names ("CIDEr-D"), groups ("coco", "all") or measure objects.
    tokenizer, subset, part, several, names, split
        As for :func:`captious.load_systems`.
    options
        Options of metrics.

    Returns
    -------
    list of Scores
        The scores of each system, in the order of the predictions.

    Examples
    --------
    >>> from captious.data import demo_path
    >>> good, poor = score_systems(demo_path("references"), [demo_path("good"), demo_path("poor")], "BLEU-1")
    >>> good["BLEU-1"].value > poor["BLEU-1"].value
    True
    """
    # Measures first: a misspelt name or a missing package is reported before files are read.
    measures = make_measures(metrics, options)
    corpora = load_systems(
        references,
        predictions,
        tokenizer=tokenizer,
        subset=subset,
        part=part,
        several=several,
        names=names,
        split=split,
    )
    return Scores.of_corpora(corpora, measures)


def compute(
    *,
    predictions: Sequence[str | Sequence[str]],
    references: Sequence[str | Sequence[str]],
    metrics: Wanted = "coco",
    tokenizer: str | None = None,
    **options: Any,
) -> dict[str, float]:
    """Score two parallel lists and return values by metric, like the metrics of the package ``evaluate``.

    Parameters
    ----------
    predictions, references
        Element i of both belongs to image i, and is one caption or several.
    metrics, options
        As for :func:`score`, which returns more.
    tokenizer
        Tokenizer (default: ptb).

    Examples
    --------
    >>> compute(predictions=["a dog"], references=[["a dog", "one dog"]], metrics="BLEU-1")["BLEU-1"] > 0.99
    True
    """
    measures = make_measures(metrics, options)
    corpus = parallel(predictions, references, tokenizer)
    return {name: score.value for name, score in Scores.of(corpus, measures).items()}
