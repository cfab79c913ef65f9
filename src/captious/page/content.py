"""The captions of all systems, image by image, with their scores: what the page's browser of images shows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from captious.corpus import Captions, Corpus
from captious.frequencies import DocumentFrequencies
from captious.metrics.cider import MAX_N
from captious.scores import Score, Scores

#: Significant digits of the scores of single captions; those of systems have all.
DIGITS = 6


@dataclass
class Entry:
    """One system: its scores, and its captions with their references where they are known."""

    scores: Scores
    corpus: Corpus | None

    @property
    def name(self) -> str:
        return self.scores.system


class Images:
    """The images of all systems, in the order of the references (or as they come), and where each system has them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        own = [_ids(entry) for entry in entries]
        known = next((entry.corpus.references.ids for entry in entries if entry.corpus is not None and entry.corpus.has_references), ())
        there = set(itertools.chain.from_iterable(own))
        self.ids: list[str] = list(dict.fromkeys([*(image for image in known if image in there), *itertools.chain.from_iterable(own)]))
        self.number = {image: i for i, image in enumerate(self.ids)}

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, ids: Sequence[str], values: Sequence[Any]) -> list[Any]:
        """One value per image of the page; nothing where the ids do not have it."""
        out: list[Any] = [None] * len(self.ids)
        for image, value in zip(ids, values):
            out[self.number[image]] = value
        return out


def _ids(entry: Entry) -> tuple[str, ...]:
    own = entry.corpus.ids if entry.corpus is not None else entry.scores.captions.ids if entry.scores.captions is not None else ()
    lists = {id(score.ids): score.ids for score in entry.scores.values() if score.ids != own}
    return tuple(dict.fromkeys(itertools.chain(own, *lists.values()))) if lists else own


def captions(images: Images) -> dict[str, Any]:
    """Ids, references and captions. A caption alone stands for itself, several are a list; words are listed where the page
    cannot tell them from the text by itself (:func:`plain_words`)."""
    references, reference_words = _references(images)
    systems: list[list[Any] | None] = []
    words: list[list[Any] | None] = []
    for entry in images.entries:
        if entry.corpus is not None:
            ours = entry.corpus.candidates
            systems.append(images.place(ours.ids, grouped(list(ours.texts), ours.image_offsets)))
            words.append(images.place(ours.ids, grouped(odd_words(ours), ours.image_offsets)))
        elif entry.scores.captions is not None and entry.scores.captions.texts is not None:
            kept = entry.scores.captions
            systems.append(images.place(kept.ids, grouped(list(kept.texts or ()), kept.image_offsets)))
            words.append(None)
        else:
            systems.append(None)
            words.append(None)
    return {"ids": images.ids, "refs": references, "ref_words": reference_words, "texts": systems, "words": words}


def _references(images: Images) -> tuple[list[Any] | None, list[Any] | None]:
    """The references of every image, and their words, from the systems that have them."""
    texts: list[Any] = [None] * len(images)
    words: list[Any] = [None] * len(images)
    read: set[int] = set()
    for entry in images.entries:
        if entry.corpus is None or not entry.corpus.has_references or id(entry.corpus.references) in read:
            continue
        theirs = entry.corpus.references
        read.add(id(theirs))
        odd, all_texts = odd_words(theirs), list(theirs.texts)
        for image, (a, b) in zip(theirs.ids, itertools.pairwise(theirs.image_offsets.tolist())):
            place = images.number.get(image)
            if place is not None and texts[place] is None:
                texts[place] = all_texts[a:b]
                words[place] = odd[a:b] if any(odd[a:b]) else None
    return (texts, words) if read else (None, None)


def grouped(values: Sequence[Any], offsets: Any) -> list[Any]:
    """By image: the value itself where there is one, a list where there are several."""
    bounds = offsets.tolist()
    return [values[a] if b == a + 1 else list(values[a:b]) for a, b in itertools.pairwise(bounds)]


def listed(values: Sequence[Any], offsets: Any) -> list[list[Any]]:
    """By image, always a list."""
    return [list(values[a:b]) for a, b in itertools.pairwise(offsets.tolist())]


_DROPPED = re.compile(r'[.,!?;:"]')


def plain_words(text: str) -> str | None:
    """The words that the page reads from a text by itself; ``plainWords`` in ``assets/store.js`` does the same."""
    return " ".join(_DROPPED.sub(" ", text).lower().split()) if text.isascii() else None


def odd_words(captions: Captions) -> list[str | None]:
    """The tokens of captions, where they are not the plain words of the text."""
    return [None if sentence == plain_words(text) else sentence for text, sentence in zip(captions.texts, captions.sentences)]


def scores(images: Images, metrics: Sequence[str]) -> list[list[Any]]:
    """System by system and metric by metric, a number per image, or a list where it has several captions."""
    return [
        [_values(images, entry.scores[name]) if name in entry.scores and entry.scores[name].measure.rows != "corpus" else None for name in metrics]
        for entry in images.entries
    ]


def _values(images: Images, score: Score) -> list[Any]:
    return images.place(score.ids, grouped(rounded(score.per_caption), score.image_offsets))


def rounded(values: Any, digits: int = DIGITS) -> list[float | None]:
    """Numbers as short as they may be; nothing for what is no number."""
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values, dtype=np.float64).tolist()]


def frequencies(images: Images, df: DocumentFrequencies) -> dict[str, Any]:
    """The n-grams of all captions that more than one image has, by n: lines of count and n-gram. Rarer ones all weigh as
    much as one that a single image has."""
    counted: list[dict[str, int]] = [{} for _ in range(MAX_N)]
    read: set[int] = set()
    for entry in images.entries:
        if entry.corpus is None:
            continue
        for side in (entry.corpus.references, entry.corpus.candidates):
            if id(side) in read or not len(side):
                continue
            read.add(id(side))
            for n in range(1, MAX_N + 1):
                _count(side, df, n, counted[n - 1])
    return {"images": df.images, "grams": ["\n".join(f"{count}\t{gram}" for gram, count in sorted(found.items())) for found in counted]}


def _count(side: Captions, df: DocumentFrequencies, n: int, out: dict[str, int]) -> None:
    counts = df.counts(side, n)
    number, row = np.unique(side.ngrams(n).number, return_index=True)
    often = counts[row] > 1
    number, count = number[often], counts[row][often]
    known, position = side.encoding.first_positions(n)
    at = position[np.searchsorted(known, number)]
    columns = [side.encoding.words[side.encoding.tokens[at + k]].tolist() for k in range(n)]
    out.update(zip(map(" ".join, zip(*columns)), count.tolist()))
