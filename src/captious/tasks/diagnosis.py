"""Diagnosis of a number that does not match a published one: score variants of the evaluation and compare."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from captious.core.errors import InputError
from captious.io import read
from captious.io.image_columns import image_values
from captious.metrics import registry
from captious.metrics.registry import make_measures
from captious.results.references import load
from captious.results.scores import Scores

Texts = dict[str, list[str]]

#: Names in print that mean another measure here: the COCO tools call CIDEr-D CIDEr.
_PRINTED = {
    "cider": "CIDEr-D",
    "b@1": "BLEU-1",
    "b@2": "BLEU-2",
    "b@3": "BLEU-3",
    "b@4": "BLEU-4",
    "rouge": "ROUGE-L",
}
_PAIR = re.compile(r"([A-Za-z][\w@-]*)\s*[:=]?\s*(\d+(?:\.\d+)?)")
#: Openings by which vision-language models introduce a description.
BOILERPLATE = re.compile(
    r"^\W*(?:in (?:this|the) (?:image|picture|photo)(?:graph)?,?\s*|(?:sure|here is|here's)[^:]*:\s*|"
    r"(?:the|this|an|a)?\s*(?:image|picture|photo(?:graph)?)\s+(?:\w+ )?(?:shows?|features?|depicts?|of|"
    r"captures?|displays?|showcases?|contains?)\s+)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"^(.*?[.!?])\s+\S.*$", re.DOTALL)


@dataclass(frozen=True)
class Variant:
    """A way to evaluate, its values in percent, and their largest distance from the published ones."""

    name: str
    values: dict[str, float]
    distance: float


def parse_published(text: str) -> dict[str, float]:
    """Return published scores in percent, from a text such as ``CIDEr 131.2 BLEU-4 39.1``.

    Numbers that can only be fractions are multiplied by 100.
    """
    pairs = _PAIR.findall(text)
    if not pairs:
        raise InputError(f"published scores are written 'CIDEr 131.2 BLEU-4 39.1', not {text!r}")
    values: dict[str, float] = {}
    for name, number in pairs:
        (resolved,) = registry.resolve([_PRINTED.get(name.lower(), name)])
        value = float(number)
        values[str(resolved)] = value * 100 if value <= (3 if "CIDEr" in str(resolved) else 1) else value
    return values


def diagnose(
    references: Any, predictions: Any, published: Mapping[str, float], split: str | None = None
) -> list[Variant]:
    """Score a system in the ways in which evaluations differ, nearest to the published values first.

    Parameters
    ----------
    references, predictions
        As for :func:`captious.score`.
    published
        Values in percent by metric (see :func:`parse_published`).
    split
        Split that the published values are said to be of.
    """
    refs, said = _texts(references, "references"), _texts(predictions, "predictions")
    splits: dict[str, tuple[str, ...]] = {}
    with suppress(InputError):
        splits = image_values(references, "split")
    if split is not None and splits:
        chosen = {image: texts for image, texts in refs.items() if split in splits.get(image, ())}
    else:
        chosen = refs
    variants = [
        Variant(name, values, max(abs(values[metric] - value) for metric, value in published.items()))
        for name, score in _variants(refs, chosen, said, splits, split)
        if (values := score(list(published))) is not None
    ]
    if not variants:
        raise InputError(
            "references and predictions have no image in common; compare their ids with 'captious formats'"
        )
    return sorted(variants, key=lambda variant: variant.distance)


def _texts(source: Any, role: Any) -> Texts:
    file = read(source, role)
    return {image: list(texts) for image, texts in zip(file.ids, file.captions)}


#: Last characters of a finished sentence.
_ENDS = (".", "!", "?", '"', "\u201d", ")", "\u3002")


def cut_off_share(predictions: Any) -> float:
    """Return the share of captions that end without punctuation, or 0 if most captions have none at all.

    Classic captioners write no punctuation. In descriptions, a missing end is a sign of a limit of tokens.
    """
    texts = [text.strip() for texts in _texts(predictions, "predictions").values() for text in texts]
    written = [text for text in texts if any(mark in text for mark in ".!?,;")]
    if 2 * len(written) < len(texts) or not texts:
        return 0.0
    return sum(not text.endswith(_ENDS) for text in texts) / len(texts)


Score = Callable[[list[str]], "dict[str, float] | None"]


def _variants(
    everything: Texts, refs: Texts, said: Texts, splits: dict[str, tuple[str, ...]], split: str | None
) -> Iterator[tuple[str, Score]]:
    def scored(references: Texts, captions: Texts, *, plain: bool = False, **options: Any) -> Score:
        def score(metrics: list[str]) -> dict[str, float] | None:
            names = {metric: "CIDEr" if plain and metric == "CIDEr-D" else metric for metric in metrics}
            try:
                with warnings.catch_warnings():
                    # Such as empty captions, which a variant has on purpose.
                    warnings.simplefilter("ignore")
                    corpus = load(references, captions, subset="part" not in options, several=True, **options)
                    scores = Scores.of(corpus, make_measures(list(names.values()), {}))
            except InputError:
                return None
            return {metric: 100 * scores[name].value for metric, name in names.items()}

        return score

    def changed(change: Callable[[str], str]) -> Texts:
        return {image: [change(text) for text in texts] for image, texts in said.items()}

    yield "as given", scored(refs, said)
    yield "captions not tokenized", scored(refs, said, tokenizer="raw")
    yield "CIDEr without clipping and length penalty, not CIDEr-D", scored(refs, said, plain=True)
    missing = [image for image in refs if image not in said]
    if missing and len(missing) < len(refs):
        empty = {image: said.get(image, [""]) for image in refs}
        yield f"{len(missing):,} missing images as empty captions", scored(refs, empty)
        yield (
            "document frequencies of all references, not of the scored images",
            scored(refs, said, part=True),
        )
    most = max(map(len, refs.values()))
    for count in sorted({1, most - 1} - {0, most}):
        few = {image: texts[:count] for image, texts in refs.items()}
        yield f"only {count} reference{'s' if count > 1 else ''} per image", scored(few, said)
    if any(BOILERPLATE.match(text) for texts in said.values() for text in texts):
        yield (
            "openings such as 'The image shows' removed",
            scored(refs, changed(lambda t: BOILERPLATE.sub("", t))),
        )
    if any(_SENTENCE.match(text) for texts in said.values() for text in texts):
        yield "first sentence only", scored(refs, changed(lambda text: _SENTENCE.sub(r"\1", text)))
    for other in sorted({name for names in splits.values() for name in names} - {split}):
        part = {image: texts for image, texts in everything.items() if other in splits.get(image, ())}
        if any(image in said for image in part):
            yield f"split '{other}'", scored(part, said)
    if splits and split is not None:
        yield "all splits", scored(everything, said)
