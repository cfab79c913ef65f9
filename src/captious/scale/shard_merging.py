"""Merging of shard results as a tree. Its memory does not depend on the number of shards."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import CaptiousError, InputError
from captious.corpus import Corpus
from captious.io import saved_files as container
from captious.metrics.base import FloatArray, Measure
from captious.metrics.corpus.vocabulary_measures import SEGMENT
from captious.results.scores import Score, Scores
from captious.scale import counting
from captious.scale import whole_corpus as whole
from captious.scale.engines import Engine
from captious.scale.shard_job import Ready
from captious.scale.shard_task import KIND, VERSION, Task
from captious.scale.sketches import DistinctCount
from captious.scale.whole_corpus import GROUPS

#: Parts merged at once.
FAN = 16
#: Hashes of captions looked at together: 32 MB of them.
_HASHES = 4_000_000


class Merged(NamedTuple):
    """Parts put together."""

    rows: int
    bad: int
    tables: list[int]
    whole: dict[str, Any]
    counts: NDArray[np.int64]
    sums: list[FloatArray]
    arrays: dict[str, NDArray[Any]]
    texts: list[str]


def read_part(path: str, sample: int, into: Merged | None = None) -> Merged:
    """The part of a shard, or of several, added to another."""
    part = container.read(path, KIND, VERSION, "run again: it is made anew")
    meta, arrays = part.meta, part.arrays
    groups = arrays["groups"]
    own = into if into is not None else Merged(0, 0, [], {}, np.zeros(GROUPS, dtype=np.int64), [], {}, [])
    own.counts[groups] += arrays["counts"]
    for number in range(max(meta["tables"], default=-1) + 1):
        table = arrays[f"sums/{number}"]
        if number == len(own.sums):
            own.sums.append(np.zeros((GROUPS, table.shape[1])))
        own.sums[number][groups] += table
    kept = {
        name.removeprefix("whole/"): values for name, values in arrays.items() if name.startswith("whole/")
    }
    texts = whole.merge(own.whole, own.arrays, own.texts, meta["whole"], kept, part.texts("texts"), sample)
    # A shard without a row that could be scored knows of no tables.
    return own._replace(
        rows=own.rows + meta["rows"],
        bad=own.bad + meta["bad"],
        tables=own.tables or list(meta["tables"]),
        texts=texts,
    )


def _write(path: str, found: Merged) -> None:
    meta = {"rows": found.rows, "bad": found.bad, "tables": found.tables, "whole": found.whole}
    arrays: dict[str, NDArray[Any]] = {"groups": np.arange(GROUPS, dtype=np.int32), "counts": found.counts}
    arrays |= {f"sums/{number}": table for number, table in enumerate(found.sums)}
    for name, values in found.arrays.items():
        arrays[f"whole/{name}"] = values
        if name.startswith("segments"):
            arrays[f"whole/{name}/groups"] = np.arange(GROUPS, dtype=np.int32)
    container.write(path, KIND, VERSION, meta, arrays | container.text_arrays("texts", found.texts))


def merge_parts(sample: int, paths: Sequence[str]) -> Merged:
    """Parts one after another, in the order given."""
    found = None
    for path in paths:
        found = read_part(path, sample, found)
    assert found is not None
    return found


def _merge_some(sample: int, step: tuple[Sequence[str], str]) -> str | None:
    """On a worker: some parts into one file; what went wrong, if something did."""
    paths, target = step
    try:
        _write(target, merge_parts(sample, paths))
    except (CaptiousError, OSError) as error:
        return str(error)
    return None


def _merge_words(step: tuple[Sequence[str], str]) -> str | None:
    paths, target = step
    try:
        counting.merge(paths, target)
    except (CaptiousError, OSError) as error:
        return str(error)
    return None


def tree(
    engine: Engine,
    merge: Callable[[tuple[Sequence[str], str]], str | None],
    paths: Sequence[str],
    folder: Path,
) -> list[str]:
    """Merge files by :data:`FAN` until there are no more than that; their order is kept."""
    level, now = 0, list(paths)
    while len(now) > FAN:
        groups = [now[start : start + FAN] for start in range(0, len(now), FAN)]
        steps = [(group, str(folder / f"{level}-{number}")) for number, group in enumerate(groups)]
        for _, problem in engine.run(merge, steps):
            if problem is not None:
                raise InputError(f"the results of the shards cannot be merged: {problem}")
        if level:
            for path in now:
                Path(path).unlink(missing_ok=True)
        now = [target for _, target in steps]
        level += 1
    return now


def merge_all(engine: Engine, tasks: Sequence[Task], folder: Path, sample: int) -> Merged:
    """The parts of all shards."""
    return merge_parts(
        sample, tree(engine, partial(_merge_some, sample), [task.part for task in tasks], folder)
    )


# Words and captions -----------------------------------------------------------------------------------------


def vocabulary(engine: Engine, tasks: Sequence[Task], folder: Path) -> tuple[int, int, str]:
    """Different words, those that occur once, and the file that counts them."""
    target = str(folder / "words")
    counting.merge(tree(engine, _merge_words, [task.words for task in tasks], folder), target)
    types = once = 0
    for _, count in counting.read(target):
        types += 1
        once += count == 1
    return types, once, target


def _distinct(paths: Sequence[str], bounds: tuple[int, int]) -> tuple[int, int] | str:
    """On a worker: different captions among those whose hashes lie in a range, and those that occur once."""
    low, high = bounds
    try:
        found = []
        for path in paths:
            part = container.read(path, KIND, VERSION, "run again: it is made anew")
            # It was checked when it was taken for finished; to check all of it for each range would take the
            # square of the time.
            part.arrays.trust()
            hashes = part.arrays["whole/captions"]
            ends = (
                np.searchsorted(hashes, np.array([low, high], dtype=np.uint64))
                if high < 1 << 64
                else [np.searchsorted(hashes, np.uint64(low)), len(hashes)]
            )
            found.append(hashes[ends[0] : ends[1]])
        counts = np.unique(np.concatenate(found), return_counts=True)[1]
        return len(counts), int((counts == 1).sum())
    except (CaptiousError, OSError) as error:
        return str(error)


def distinct(engine: Engine, tasks: Sequence[Task], rows: int) -> tuple[int, int]:
    """Different captions of all shards: a range of hashes at a time, so that only a part of them is ever in
    memory.
    """
    pieces = max(1, -(-rows // _HASHES))
    edges = [(1 << 64) * k // pieces for k in range(pieces + 1)]
    found = [0, 0]
    for _, outcome in engine.run(
        partial(_distinct, [task.part for task in tasks]), list(itertools.pairwise(edges))
    ):
        if not isinstance(outcome, tuple):
            raise InputError(f"different captions cannot be counted: {outcome}")
        found = [a + b for a, b in zip(found, outcome)]
    return found[0], found[1]


# Scores -----------------------------------------------------------------------------------------------------


class GroupedMean(Measure):
    """A mean over groups: what type-token ratios are, once segments are counted."""

    needs = frozenset()

    def __init__(self, name: str, summary: str) -> None:
        self.name, self.summary, self.format = name, summary, ".2f"

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        raise InputError(f"{self.name} is counted shard by shard here")


def scores(job: Ready, found: Merged, name: str) -> Scores:
    """Scores with a row for each group of images, from which intervals and comparisons follow as they do from
    images.
    """
    made = []
    present = np.flatnonzero(found.counts)
    ids = tuple(f"group {number}" for number in present.tolist())
    for place, (measure, signature) in enumerate(zip(job.measures, job.signatures)):
        if found.tables:
            made.append(
                Score.of_images(
                    measure, found.sums[found.tables[place]][present], ids, f"{signature}|groups:{GROUPS}"
                )
            )
    tokenizer = job.references.tokenizer
    for n in (1, 2):
        if f"segments{n}" in found.arrays:
            sums = found.arrays[f"segments{n}"]
            groups = np.flatnonzero(sums[:, 1])
            names = tuple(f"group {number}" for number in groups.tolist())
            mean = GroupedMean(
                f"TTR{n}",
                f"mean type-token ratio of segments of 1,000 {'words' if n == 1 else 'bigrams'}, shard by "
                "shard",
            )
            if len(groups):
                made.append(
                    Score.of_images(
                        mean, sums[groups], names, f"TTR{n}|segment:{SEGMENT}|tok:{tokenizer}|groups:{GROUPS}"
                    )
                )
    return Scores(name, made)


def sketched(arrays: Mapping[str, NDArray[Any]], name: str) -> DistinctCount | None:
    """A count of different things, where it was asked to be approximate."""
    return DistinctCount(np.array(arrays[name])) if name in arrays else None


def most(path: str, number: int = 100) -> list[tuple[str, int]]:
    """The most frequent items of a file of counts."""
    import heapq

    return heapq.nsmallest(number, counting.items(path), key=lambda pair: (-pair[1], pair[0]))
