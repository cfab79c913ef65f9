"""Judged captions as tables of features, to select the best epoch of a training."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from captious.agreement import RatedCaptions, load_judgements
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.io.judgements import own_key
from captious.metrics.learned.feature_table import Features
from captious.training.composite_trainer import Judged

#: Default validation sets. Flickr8k is reserved as a test set.
VALIDATE = ("thumb", "capeval1k")


def rated(name: str, data: Path | None) -> RatedCaptions:
    """Load a set of rated captions by name. Sets of pairs or systems are rejected."""
    judged = load_judgements(name, data)
    if not isinstance(judged, RatedCaptions):
        raise InputError(
            f"{name} has no rating for single captions; "
            f"validate by another set, such as {', '.join(VALIDATE)}"
        )
    return judged


def rated_corpus(judged: RatedCaptions) -> tuple[Corpus, list[int]]:
    """Return a corpus with an entry per judged caption under the set's protocol, and the rows of the set."""
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
    """Return the most common rating, the lower one of two."""
    values, counts = np.unique(ratings, return_counts=True)
    return float(values[np.argmax(counts)])


def judged_table(name: str, data: Path | None, features: Features) -> Judged:
    """Return features and ratings of a set; of several judges, the most common rating."""
    judged = rated(name, data)
    corpus, chosen = rated_corpus(judged)
    ratings = np.array([most_common(list(judged.ratings[k])) for k in chosen])
    return Judged(judged.name, features.table(corpus), ratings)
