"""HWCM: head-word chains of dependency trees (Liu & Gildea 2005)."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import IntArray, offsets_of, runs
from captious.corpus import Captions, Corpus
from captious.corpus.corpus import distinct_runs
from captious.kernels import kernel
from captious.kernels.types import Float64, Int64, Out
from captious.metrics.base import FloatArray, Measure, Resource, as_statistics
from captious.metrics.captions.over_references import check_overlap, combined
from captious.metrics.options import CHAINS, OVERLAP, PARSER, Option
from captious.parser import ParsedBatch, Parser
from captious.parser.choice import batch_of
from captious.parser.choice import get as get_parser
from captious.text.vocabulary import Vocabulary

MAX_N = 4


class Chains(NamedTuple):
    """Chains of distinct captions: ``rows[offsets[d]:offsets[d + 1]]``, each n numbers of ``names``."""

    names: list[str]
    rows: NDArray[np.int32]
    offsets: IntArray


def head_word_chains(batch: ParsedBatch, n: int) -> Chains:
    """Return every caption's chains of n lower-case words, each the head of the one before it."""
    lengths = np.diff(batch.offsets)
    up = np.where(batch.heads > 0, np.repeat(batch.offsets[:-1], lengths) + batch.heads - 1, -1)
    places = [np.arange(len(up), dtype=np.int64)]
    for _ in range(n - 1):
        last = places[-1]
        # A chain that has ended does not continue.
        places.append(np.where(last < 0, -1, up[last]))
    whole = places[-1] >= 0
    rows = np.stack([batch.words[place[whole]] for place in places], axis=1)
    sentence_of = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    chosen, starts = runs(
        offsets_of(np.bincount(sentence_of[whole], minlength=len(lengths))), batch.sentence_of
    )
    return Chains([name.lower() for name in batch.word_names], rows[chosen], starts[batch.caption_offsets])


def chains_of(captions: Captions, n: int, parser: Parser) -> Chains:
    """Return the chains of the distinct captions."""

    def make() -> Chains:
        batch = batch_of(captions, parser)
        # A custom parser may return another form.
        return head_word_chains(batch if type(batch) is ParsedBatch else ParsedBatch.of(batch.parses()), n)

    return captions.cached(("head-word chains", n, parser.label, parser.digest), make)


@kernel
def best_overlaps(
    ours: Int64,
    bounds: Int64,
    own: Int64,
    theirs: Int64,
    their_bounds: Int64,
    pairs: Int64,
    partners: Int64,
    values: Out[Float64],
) -> None:
    """Compute, for each caption, the largest share of its chains that a partner has, too (0 without chains).

    Caption i is ``own[i]`` of ours. The chains of a caption are ascending numbers, with repeats.
    """
    for i in range(own.shape[0]):
        first, last = bounds[own[i]], bounds[own[i] + 1]
        best = np.nan
        for p in range(pairs[i], pairs[i + 1]):
            a, b, end = first, their_bounds[partners[p]], their_bounds[partners[p] + 1]
            shared = 0
            while a < last and b < end:
                if ours[a] == theirs[b]:
                    shared += 1
                    a += 1
                    b += 1
                elif ours[a] < theirs[b]:
                    a += 1
                else:
                    b += 1
            value = shared / (last - first) if last > first else 0.0
            if not value <= best:
                best = value
        values[i] = best


class HWCM(Measure):
    """Precision of head-word chains of n words, or mean over chains of 1 to n words.

    Over references it is the maximum, or (``overlap``) the mean or minimum.
    """

    options: ClassVar[tuple[Option, ...]] = (PARSER, CHAINS, OVERLAP)

    def __init__(
        self,
        n: int = 2,
        parser: Parser | str | None = None,
        chains: str | None = None,
        overlap: str | None = None,
    ) -> None:
        self.overlap = "max" if overlap is None else check_overlap(overlap)
        self.chains = chains or "single"
        if self.chains not in CHAINS.choices:
            raise InputError(f"chains of HWCM are single or cumulated, not '{self.chains}'")
        if not 1 <= n <= MAX_N:
            raise ValueError(f"HWCM takes chains of 1 to {MAX_N} words, not {n}")
        self.n = n
        self.parser = get_parser(parser)
        self.fixed = {"n": str(n)}
        self.name = f"HWCM-{n}"
        self.summary = (
            f"precision of head-word chains of {n} words, maximum over references (Liu & Gildea 2005)"
        )
        # A shallow tree has no long chains, so even a perfect caption may score 0.
        self.perfect_is_maximum = n == 1

    def resources(self) -> dict[str, Resource]:
        return {"parser": self.parser}

    def prepare(self, references: Captions) -> None:
        for n in self._lengths:
            chains_of(references, n, self.parser)

    @property
    def _lengths(self) -> range:
        return range(1 if self.chains == "cumulated" else self.n, self.n + 1)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        values = [self._precision(corpus, n) for n in self._lengths]
        return as_statistics(np.mean(values, axis=0))

    def _precision(self, corpus: Corpus, n: int) -> FloatArray:
        """Return each caption's precision of chains of n words, for its best reference."""
        ours, theirs = (chains_of(side, n, self.parser) for side in (corpus.candidates, corpus.references))
        # A training batch needs only some of many references.
        needed, partners = np.unique(corpus.references.unique[1][corpus.pairs[1]], return_inverse=True)
        chosen, their_offsets = runs(theirs.offsets, needed)
        names = Vocabulary()
        rows = np.concatenate(
            [names.encode(ours.names)[ours.rows], names.encode(theirs.names)[theirs.rows[chosen]]]
        )
        _, numbers = distinct_runs(rows.reshape(-1), np.arange(len(rows) + 1, dtype=np.int64) * n)
        cut = len(ours.rows)
        own, pairs = corpus.candidates.unique[1], corpus.pair_offsets
        if self.overlap != "max":
            # Each pair is a caption with one partner.
            own, pairs = own[corpus.pairs[0]], np.arange(len(corpus.pairs[0]) + 1, dtype=np.int64)
        values = np.empty(len(own))
        best_overlaps(
            _ascending(numbers[:cut], ours.offsets),
            ours.offsets,
            own,
            _ascending(numbers[cut:], their_offsets),
            their_offsets,
            pairs,
            partners.reshape(-1),
            values,
        )
        return values if self.overlap == "max" else combined(corpus, values, self.overlap)


def _ascending(numbers: IntArray, offsets: IntArray) -> IntArray:
    """Sort each run of numbers."""
    size = int(numbers.max(initial=0)) + 1
    run_of = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    ordered: IntArray = np.sort(run_of * size + numbers) - run_of * size
    return ordered
