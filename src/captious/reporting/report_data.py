"""Captions of all systems by image, with their scores, for the page's image browser."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.corpus import Captions, Corpus
from captious.corpus.frequencies import DocumentFrequencies
from captious.metrics.captions.cider import MAX_N, NgramTexts
from captious.results.scores import Score, Scores

#: Significant digits of caption scores. Scores of systems have all digits.
DIGITS = 6


@dataclass
class SystemEntry:
    """One system: its scores, and its corpus where it is known."""

    scores: Scores
    corpus: Corpus | None

    @property
    def name(self) -> str:
        return self.scores.system


class ReportImages:
    """Images of all systems, in the order of the references (or of the systems)."""

    def __init__(self, entries: Sequence[SystemEntry]) -> None:
        self.entries = entries
        ids_of_systems = [_ids(entry) for entry in entries]
        reference_ids = next(
            (
                entry.corpus.references.ids
                for entry in entries
                if entry.corpus is not None and entry.corpus.has_references
            ),
            (),
        )
        present = set(itertools.chain.from_iterable(ids_of_systems))
        self.ids: list[str] = list(
            dict.fromkeys(
                [
                    *(image for image in reference_ids if image in present),
                    *itertools.chain.from_iterable(ids_of_systems),
                ]
            )
        )
        self.number = {image: i for i, image in enumerate(self.ids)}

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, ids: Sequence[str], values: Sequence[Any]) -> list[Any]:
        """Arrange values by image of the page, with None for other images."""
        out: list[Any] = [None] * len(self.ids)
        for image, value in zip(ids, values):
            out[self.number[image]] = value
        return out


def _ids(entry: SystemEntry) -> tuple[str, ...]:
    own = (
        entry.corpus.ids
        if entry.corpus is not None
        else entry.scores.captions.ids
        if entry.scores.captions is not None
        else ()
    )
    lists = {id(score.ids): score.ids for score in entry.scores.values() if score.ids != own}
    return tuple(dict.fromkeys(itertools.chain(own, *lists.values()))) if lists else own


def captions(images: ReportImages) -> dict[str, Any]:
    """Return ids, references and captions.

    A single caption is a string, several are a list. Words are listed where the page cannot derive them from
    the text (:func:`plain_words`).
    """
    references, reference_words = _references(images)
    systems: list[list[Any] | None] = []
    words: list[list[Any] | None] = []
    for entry in images.entries:
        if entry.corpus is not None:
            candidates = entry.corpus.candidates
            systems.append(
                images.place(candidates.ids, grouped(list(candidates.texts), candidates.image_offsets))
            )
            words.append(
                images.place(candidates.ids, grouped(odd_words(candidates), candidates.image_offsets))
            )
        elif entry.scores.captions is not None and entry.scores.captions.texts is not None:
            saved = entry.scores.captions
            systems.append(images.place(saved.ids, grouped(list(saved.texts or ()), saved.image_offsets)))
            words.append(None)
        else:
            systems.append(None)
            words.append(None)
    return {
        "ids": images.ids,
        "refs": references,
        "ref_words": reference_words,
        "texts": systems,
        "words": words,
    }


def _references(images: ReportImages) -> tuple[list[Any] | None, list[Any] | None]:
    """Return the references of every image, and their words."""
    texts: list[Any] = [None] * len(images)
    words: list[Any] = [None] * len(images)
    seen: set[int] = set()
    for entry in images.entries:
        if entry.corpus is None or not entry.corpus.has_references or id(entry.corpus.references) in seen:
            continue
        reference_captions = entry.corpus.references
        seen.add(id(reference_captions))
        odd, all_texts = odd_words(reference_captions), list(reference_captions.texts)
        for image, (a, b) in zip(
            reference_captions.ids, itertools.pairwise(reference_captions.image_offsets.tolist())
        ):
            row = images.number.get(image)
            if row is not None and texts[row] is None:
                texts[row] = all_texts[a:b]
                words[row] = odd[a:b] if any(odd[a:b]) else None
    return (texts, words) if seen else (None, None)


def grouped(values: Sequence[Any], offsets: Any) -> list[Any]:
    """Group values by image: a single value as it is, several as a list."""
    bounds = offsets.tolist()
    return [values[a] if b == a + 1 else list(values[a:b]) for a, b in itertools.pairwise(bounds)]


def listed(values: Sequence[Any], offsets: Any) -> list[list[Any]]:
    """Group values by image, always as lists."""
    return [list(values[a:b]) for a, b in itertools.pairwise(offsets.tolist())]


_DROPPED = re.compile(r'[.,!?;:"]')


def plain_words(text: str) -> str | None:
    """Return the words that the page derives from a text (``plainWords`` in ``assets/store.js``)."""
    return " ".join(_DROPPED.sub(" ", text).lower().split()) if text.isascii() else None


def odd_words(captions: Captions) -> list[str | None]:
    """Return the tokens of captions where they differ from the plain words of the text."""
    return [
        None if sentence == plain_words(text) else sentence
        for text, sentence in zip(captions.texts, captions.sentences)
    ]


def scores(images: ReportImages, metrics: Sequence[str]) -> list[list[Any]]:
    """Return scores by system and metric: a number per image, or a list for several captions."""
    return [
        [
            _values(images, entry.scores[name])
            if name in entry.scores and entry.scores[name].measure.rows != "corpus"
            else None
            for name in metrics
        ]
        for entry in images.entries
    ]


def _values(images: ReportImages, score: Score) -> list[Any]:
    return images.place(score.ids, grouped(rounded(score.per_caption), score.image_offsets))


def rounded(values: Any, digits: int = DIGITS) -> list[float | None]:
    """Round numbers to few digits, with None for NaN and infinity."""
    return [
        float(f"{value:.{digits}g}") if np.isfinite(value) else None
        for value in np.asarray(values, dtype=np.float64).tolist()
    ]


def frequencies(images: ReportImages, df: DocumentFrequencies) -> dict[str, Any]:
    """Return the n-grams of all captions that more than one image has, by n, as lines of count and n-gram.

    Rarer n-grams have the weight of one that a single image has.
    """
    counted: list[dict[str, int]] = [{} for _ in range(MAX_N)]
    seen: set[int] = set()
    for entry in images.entries:
        if entry.corpus is None:
            continue
        for side in (entry.corpus.references, entry.corpus.candidates):
            if id(side) in seen or not len(side):
                continue
            seen.add(id(side))
            for n in range(1, MAX_N + 1):
                _count(side, df, n, counted[n - 1])
    return {
        "images": df.images,
        "grams": [
            "\n".join(f"{count}\t{gram}" for gram, count in sorted(counts.items())) for counts in counted
        ],
    }


def _count(side: Captions, df: DocumentFrequencies, n: int, out: dict[str, int]) -> None:
    counts = df.counts(side, n)
    number, row = np.unique(side.ngrams(n).number, return_index=True)
    is_frequent = counts[row] > 1
    number, count = number[is_frequent], counts[row][is_frequent]
    out.update(zip(NgramTexts(side, n).of(number), count.tolist()))
