"""Judged captions as tables of features: to choose the best epoch by, and for experiments."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from captious.corpus import Corpus
from captious.errors import InputError
from captious.human import RatedCaptions, load_judgements
from captious.io.judgements import own_key
from captious.learned.features import Features
from captious.learned.training.trainer import Judged

#: What validates by default; Flickr8k stays a clean test.
VALIDATE = ("thumb", "capeval1k")


def rated(name: str, data: Path | None) -> RatedCaptions:
    """A set of rated captions by name; pairs and systems have no score for a caption."""
    found = load_judgements(name, data)
    if not isinstance(found, RatedCaptions):
        raise InputError(f"{name} has no rating for single captions; validate by another set, such as {', '.join(VALIDATE)}")
    return found


def rated_corpus(judged: RatedCaptions) -> tuple[Corpus, list[int]]:
    """The judged captions, each an entry of its own, under the set's protocol, and which of the set's rows they are."""
    chosen: list[int] = []
    references: list[list[str]] = []
    for k, caption in enumerate(judged.captions):
        texts = list(judged.references[k])
        if judged.protocol.own != "keep":
            others = [text for text in texts if own_key(text) != own_key(caption)]
            if judged.protocol.own == "drop" and len(others) < len(texts):
                continue
            texts = others
        if texts:
            chosen.append(k)
            references.append(texts)
    captions = [[judged.captions[k]] for k in chosen]
    return Corpus.build([str(k) for k in chosen], captions, references, name=judged.name), chosen


def most_common(ratings: list[float]) -> float:
    """The mode of the judges, the lower of two."""
    values, counts = np.unique(ratings, return_counts=True)
    return float(values[np.argmax(counts)])


def judged_table(name: str, data: Path | None, features: Features) -> Judged:
    """Features and ratings of a set: the most common rating of several judges."""
    found = rated(name, data)
    corpus, chosen = rated_corpus(found)
    ratings = np.array([most_common(list(found.ratings[k])) for k in chosen])
    return Judged(found.name, features.table(corpus), ratings)
