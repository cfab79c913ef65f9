"""Measures of all captions together: statistics of each shard, and how they merge.

Words are counted in sorted runs, type-token ratios are sums over segments, different captions are counted by
64-bit hashes, and type-token curves come from a sample. Memory does not grow with the number of captions.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions
from captious.metrics.corpus.corpus_measure import word_keys
from captious.metrics.corpus.novel_captions import caption_hashes
from captious.metrics.corpus.vocabulary_measures import SEGMENT
from captious.scale.counting import Counter
from captious.scale.sketches import DistinctCount, Frequent, Keys, mixed

Arrays = dict[str, NDArray[Any]]
#: Number of groups of images, by a hash of their ids. Sums by group merge exactly, and the bootstrap
#: resamples groups in place of images.
GROUPS = 4096


class Segments:
    """Sums for mean segmented type-token ratios: by group, the share of different n-grams in complete
    segments of a stream of words, and the number of segments. Segments go to the groups one after another.
    """

    def __init__(self, width: int, first: int = 0) -> None:
        self.width = width
        self._last = np.zeros(0, dtype=np.uint64)
        self._rest = np.zeros(0, dtype=np.uint64)
        self._group = first % GROUPS
        self.sums = np.zeros((GROUPS, 2))

    def add(self, words: Keys) -> None:
        """Add the next words of the stream, as keys."""
        grams = words
        if self.width == 2:
            stream = np.concatenate([self._last, words])
            grams = mixed(mixed(stream[:-1]) ^ stream[1:])
            self._last = stream[-1:]
        stream = np.concatenate([self._rest, grams])
        complete = len(stream) // SEGMENT
        table = np.sort(stream[: complete * SEGMENT].reshape(complete, SEGMENT), axis=1)
        different = (table[:, 1:] != table[:, :-1]).sum(axis=1) + 1
        groups = (self._group + np.arange(complete)) % GROUPS
        self.sums[:, 0] += np.bincount(groups, weights=different / SEGMENT, minlength=GROUPS)
        self.sums[:, 1] += np.bincount(groups, minlength=GROUPS)
        self._group = (self._group + complete) % GROUPS
        self._rest = stream[complete * SEGMENT :].copy()


class Sample:
    """Random sample: the captions with the smallest keys.

    Keys depend on shard and row alone, so the order and the number of workers do not matter.
    """

    def __init__(self, size: int, keys: Keys | None = None, texts: Sequence[str] = ()) -> None:
        self.size = size
        self.keys = keys if keys is not None else np.zeros(0, dtype=np.uint64)
        self.texts = list(texts)

    def add(self, keys: Keys, texts: Sequence[str]) -> None:
        """Add captions with their keys."""
        if len(self.keys) >= self.size:
            small = np.flatnonzero(keys < self.keys[-1])
            keys, texts = keys[small], [texts[i] for i in small.tolist()]
        both = np.concatenate([self.keys, keys])
        order = np.argsort(both, kind="stable")[: self.size]
        listed = self.texts + list(texts)
        self.keys, self.texts = both[order], [listed[i] for i in order.tolist()]


class Whole:
    """Statistics of the captions of one shard."""

    def __init__(
        self, names: Sequence[str], shard: str, words: str | Path, *, top: int | None, sample: int, seed: int
    ) -> None:
        self.names = frozenset(names)
        self.top = top
        counts = self.names & {"Types", "Hapax"}
        self.words: Counter | Frequent | None = None
        if counts:
            self.words = Frequent(top) if top is not None else Counter(words)
        #: Number of different words, if there are too few counters to know it.
        self.types = DistinctCount() if counts and top is not None else None
        self._salt = zlib.crc32(shard.encode("utf-8", "surrogatepass"))
        self.segments = {n: Segments(n, self._salt) for n in (1, 2) if f"TTR{n}" in self.names}
        self.sample = Sample(sample) if counts else None
        self.hashes: list[Keys] = []
        self.distinct = DistinctCount() if "Distinct" in self.names and top is not None else None
        self.tokens = 0
        self._seed = self._salt << 16 ^ seed

    def add(self, captions: Captions, rows: NDArray[np.int64]) -> None:
        """Add a batch of captions in the order of the shard. ``rows`` are their numbers in it."""
        keys = word_keys(captions)
        self.tokens += len(captions.tokens)
        if self.words is not None and self.sample is not None:
            number, count = np.unique(captions.tokens, return_counts=True)
            self.words.add(zip(captions.encoding.words[number].tolist(), count.tolist()))
            if self.types is not None:
                self.types.add(keys[number])
            self.sample.add(mixed(mixed(rows.astype(np.uint64)), self._seed & 0xFFFFFFFFFFFF), captions.texts)
        for segments in self.segments.values():
            segments.add(keys[captions.tokens])
        if "Distinct" in self.names:
            hashed = caption_hashes(captions)
            if self.distinct is not None:
                self.distinct.add(hashed)
            else:
                self.hashes.append(hashed)

    def finish(self) -> tuple[dict[str, Any], Arrays, list[str]]:
        """Return the content of a part: numbers, arrays, and the texts of the sample."""
        meta: dict[str, Any] = {"tokens": self.tokens}
        arrays: Arrays = {}
        if isinstance(self.words, Counter):
            meta["words"] = self.words.finish()
        elif self.words is not None:
            meta["frequent"] = _frequent_meta(self.words)
        for name, sketch in (("types", self.types), ("distinct", self.distinct)):
            if sketch is not None:
                arrays[name] = sketch.registers
        for n, segments in self.segments.items():
            present = np.flatnonzero(segments.sums[:, 1])
            arrays[f"segments{n}"], arrays[f"segments{n}/groups"] = (
                segments.sums[present],
                present.astype(np.int32),
            )
        if self.sample is not None:
            arrays["sample"] = self.sample.keys
        if self.hashes or ("Distinct" in self.names and self.distinct is None):
            arrays["captions"] = np.sort(np.concatenate([*self.hashes, np.zeros(0, dtype=np.uint64)]))
        return meta, arrays, self.sample.texts if self.sample is not None else []


def merge(
    into: dict[str, Any],
    arrays: Arrays,
    texts: list[str],
    meta: Mapping[str, Any],
    more: Mapping[str, NDArray[Any]],
    more_texts: Sequence[str],
    sample: int,
) -> list[str]:
    """Add another part to ``into`` and ``arrays``, and return the texts of the sample.

    Runs of words and hashes of captions are merged separately.
    """
    into["tokens"] = into.get("tokens", 0) + meta["tokens"]
    for n in (1, 2):
        if f"segments{n}" in more:
            sums = arrays.setdefault(f"segments{n}", np.zeros((GROUPS, 2)))
            sums[more[f"segments{n}/groups"]] += more[f"segments{n}"]
    if "frequent" in meta:
        words = frequent(into["frequent"]) if "frequent" in into else Frequent(int(meta["frequent"]["size"]))
        words.merge(frequent(meta["frequent"]))
        into["frequent"] = _frequent_meta(words)
    for name in ("types", "distinct"):
        if name in more:
            arrays[name] = np.maximum(arrays[name], more[name]) if name in arrays else np.array(more[name])
    if "sample" not in more:
        return texts
    drawn = Sample(sample, arrays.get("sample"), texts)
    drawn.add(np.asarray(more["sample"]), list(more_texts))
    arrays["sample"] = drawn.keys
    return drawn.texts


def _frequent_meta(words: Frequent) -> dict[str, Any]:
    return {"counts": words.counts, "error": words.error, "total": words.total, "size": words.size}


def frequent(meta: Mapping[str, Any]) -> Frequent:
    """Return counters from the description in a part."""
    return Frequent(int(meta["size"]), meta["counts"], int(meta["error"]), int(meta["total"]))
