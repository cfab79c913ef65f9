"""The public face: load, score, compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

from captious.comparison import Comparison, Comparisons, compare, compare_scores
from captious.corpus import Corpus
from captious.errors import InputError
from captious.measures.making import make_measures
from captious.measures.registry import Wanted
from captious.references import References, Source, load, load_systems, parallel
from captious.scores import Scores

__all__ = [
    "Comparison", "Comparisons", "compare", "compare_scores", "compute", "load", "load_scores", "load_systems", "prepare", "score",
]  # fmt: skip

load_scores = Scores.load


def prepare(references: Source, metrics: Wanted = "coco", *, tokenizer: str | None = None, **options: Any) -> References:
    """Do the work on references once: read and encode them, and make the n-gram tables, document frequencies, scene graphs and
    whatever else the measures need. Use the result wherever references are expected; ``save`` writes it to a file.
    """
    return References.read(references, tokenizer).prepare(make_measures(metrics, options))


@overload
def score(corpus: Corpus, metrics: Wanted = "coco", /, **options: Any) -> Scores: ...


@overload
def score(corpus: Corpus, *, metrics: Wanted = "coco", **options: Any) -> Scores: ...


@overload
def score(references: Source, predictions: Source, metrics: Wanted = "coco", **options: Any) -> Scores: ...


def score(*given: Any, **options: Any) -> Scores:
    """Score captions: ``score(references, predictions, metrics)``, or ``score(corpus, metrics)``.

    References and predictions are what :func:`captious.load` takes: paths, mappings from image id to captions, rows, data
    frames or prepared references. The options of ``load`` work here, too (``tokenizer``, ``subset``, ``part``, ``several``, ``name``).

    ``metrics`` are names ("CIDEr-D"), groups ("coco", "all") or measure objects. Other options go to the measures that
    accept them: ``df`` (document frequencies for CIDEr, a path or a table), and those listed by ``captious metrics``.
    """
    parts = list(given)
    parts += [options.pop(name) for name in ("corpus", "references", "predictions") if name in options]
    if not parts:
        raise InputError("there is nothing to score: give references and predictions, or a corpus")
    if isinstance(parts[0], Corpus):
        corpus, rest = parts[0], parts[1:]
    else:
        if len(parts) < 2:
            raise InputError("predictions are missing: score(references, predictions), or score(corpus)")
        loading = {name: options.pop(name) for name in ("tokenizer", "subset", "part", "several", "name") if name in options}
        corpus, rest = load(parts[0], parts[1], **loading), parts[2:]
    if len(rest) > 1:
        raise InputError(f"score takes {len(parts) - len(rest) + 1} arguments without a name, and {len(parts)} were given")
    metrics = options.pop("metrics", rest[0] if rest else "coco")
    return Scores.of(corpus, make_measures(metrics, options))


def compute(
    *,
    predictions: Sequence[str | Sequence[str]],
    references: Sequence[str | Sequence[str]],
    metrics: Wanted = "coco",
    tokenizer: str | None = None,
    **options: Any,
) -> dict[str, float]:
    """Score two parallel lists and return values by metric, like the metrics of the package ``evaluate``: ``references[i]`` (one
    caption or several) belongs to ``predictions[i]``. :func:`score` returns more.
    """
    made = make_measures(metrics, options)
    corpus = parallel(predictions, references, tokenizer)
    return {name: found.value for name, found in Scores.of(corpus, made).items()}
