"""N-gram novelty: the share of a caption's n-grams that training captions do not have.

Workers put the training n-grams, shard by shard, into a Bloom filter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from captious.core import digests as digest
from captious.core.errors import InputError, MissingInputError
from captious.core.threads import working
from captious.corpus import Captions, Corpus
from captious.io.caption_files import Columns
from captious.metrics.base import FloatArray, Measure, Need, Resource, as_statistics
from captious.metrics.corpus.corpus_measure import word_keys
from captious.scale.engines import Engine, results
from captious.scale.shard_rows import batches, captions_only
from captious.scale.shards import Shard, Sources, find
from captious.scale.sketches import Bloom, DistinctCount, Keys, mixed
from captious.text.ngrams import ngram_positions

#: Capacity of the filter over the estimated number of n-grams, whose standard error is 0.8 %.
_ROOM = 1.05


def _ngram_keys(captions: Captions, n: int) -> tuple[Keys, Any]:
    """Return a key for every n-gram, made from its words, and where those of each caption start."""
    positions, starts = ngram_positions(captions.token_offsets, n)
    words = word_keys(captions)[captions.tokens]
    keys = np.full(len(positions), n, dtype=np.uint64)
    for k in range(n):
        keys = mixed(keys ^ words[positions + k], k)
    return keys, starts


class SeenNgrams:
    """The n-grams of training captions, as a resource."""

    label = "training"

    def __init__(self, bloom: Bloom) -> None:
        self.bloom = bloom

    @property
    def digest(self) -> str:
        return str(self.bloom.meta.get("digest") or self.bloom.digest)


class NgramNovelty(Measure):
    """Share of a caption's n-grams that are not in the training captions.

    A false positive of the filter makes a new n-gram look old, so the share is too low by the factor 1 − rate
    and never too high. Captions of fewer than n words have no value.
    """

    needs: frozenset[Need] = frozenset()
    perfect_is_maximum = False

    def __init__(self, n: int, filter: str | Path | None) -> None:
        self.n = n
        self.name = f"Novel-{n}"
        self.summary = f"share of a caption's {n}-grams that the training captions do not have"
        self.seen = SeenNgrams(Bloom.load(filter)) if filter is not None else None

    def check(self, corpus: Corpus | None = None) -> None:
        if self.seen is None:
            raise MissingInputError(
                f"{self.name} compares captions with the training captions: give them "
                "(--training FILE, train=…)"
            )
        if corpus is not None and corpus.tokenizer != self.seen.bloom.meta.get("tokenizer"):
            raise InputError(
                f"the filter was made with the tokenizer '{self.seen.bloom.meta.get('tokenizer')}', and the "
                f"captions with '{corpus.tokenizer}'"
            )

    @property
    def fixed(self) -> Mapping[str, str]:  # type: ignore[override]
        return {"n": str(self.n), "false": f"{self.seen.bloom.rate:g}" if self.seen is not None else "–"}

    def resources(self) -> dict[str, Resource]:
        return {} if self.seen is None else {"train": self.seen}

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        assert self.seen is not None
        keys, starts = _ngram_keys(corpus.candidates, self.n)
        old = np.concatenate([[0], np.cumsum(self.seen.bloom.has(keys))])
        counts = np.diff(starts)
        new = counts - (old[starts[1:]] - old[starts[:-1]])
        return as_statistics(np.divide(new, counts, out=np.full(len(counts), np.nan), where=counts > 0))


# The filter -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _TrainingNgrams:
    """N-grams to read from training captions."""

    columns: Columns
    tokenizer: str
    orders: tuple[int, ...]

    def keys(self, shard: Shard) -> Iterator[Keys]:
        with working(1):
            for batch in batches(shard, self.columns):
                texts = captions_only(batch)
                if texts:
                    captions = Captions.of([texts], self.tokenizer)
                    yield np.concatenate([_ngram_keys(captions, n)[0] for n in self.orders])


def _count(ngrams: _TrainingNgrams, shard: Shard) -> bytes:
    """On a worker: a sketch of the number of different n-grams of a shard."""
    sketch = DistinctCount()
    for keys in ngrams.keys(shard):
        sketch.add(keys)
    return sketch.registers.tobytes()


def _fill(ngrams: _TrainingNgrams, capacity: int, rate: float, step: tuple[Shard, str]) -> None:
    """On a worker: write the filter of one shard."""
    shard, target = step
    bloom = Bloom(capacity, rate)
    for keys in ngrams.keys(shard):
        bloom.add(keys)
    bloom.save(target)


def seen_ngrams(
    engine: Engine,
    sources: Sources,
    folder: Path,
    *,
    tokenizer: str,
    rate: float,
    columns: Columns,
    orders: Sequence[int],
) -> str:
    """Write the filter of the n-grams of training captions, and return its path.

    The first pass estimates the number of n-grams, the second fills a filter of the right size.
    """
    if not 0 < rate < 0.5:
        raise InputError(f"the rate of false positives is a number between 0 and 0.5, not {rate:g}")
    shards = find(sources)
    ngrams = _TrainingNgrams(columns, tokenizer, tuple(orders))
    total = DistinctCount()
    for _, registers in results(engine, partial(_count, ngrams), shards, "training captions"):
        total.merge(DistinctCount(np.frombuffer(registers, dtype=np.uint8)))
    capacity = int(total.value * _ROOM) + 100
    bloom = Bloom(capacity, rate, meta={"tokenizer": tokenizer, "orders": list(orders)})
    steps = [(shard, str(folder / f"seen-{number}")) for number, shard in enumerate(shards)]
    for number, _ in results(engine, partial(_fill, ngrams, capacity, rate), steps, "training captions"):
        bloom.merge(Bloom.load(steps[number][1]))
        Path(steps[number][1]).unlink()
    bloom.meta["digest"] = digest.together(bloom.digest, tokenizer, str(rate))
    bloom.save(folder / "seen")
    return str((folder / "seen").resolve())
