"""Merging of shard results as a tree. Its memory does not depend on the number of shards."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core import container
from captious.core import digests as digest
from captious.core.errors import InputError
from captious.corpus import Corpus
from captious.metrics.base import FloatArray, Measure
from captious.metrics.corpus.vocabulary_measures import SEGMENT
from captious.results.scores import Score, Scores
from captious.scale import counting
from captious.scale import whole_corpus as whole
from captious.scale.engines import Engine, results
from captious.scale.shard_job import PreparedJob
from captious.scale.shard_task import KIND, VERSION, ShardTask
from captious.scale.whole_corpus import GROUPS

#: Files merged at a time.
FAN = 16
#: Hashes of captions compared at a time: 32 MB.
_HASHES = 4_000_000
_AGAIN = "run the command again"

#: Paths to merge, and the path of the result.
Step = tuple[Sequence[str], str]


class Merged(NamedTuple):
    """Sum of several parts."""

    rows: int
    bad: int
    tables: list[int]
    whole: dict[str, Any]
    counts: NDArray[np.int64]
    sums: list[FloatArray]
    arrays: dict[str, NDArray[Any]]
    texts: list[str]
    #: Packed bits of the images that have captions, in the order of the references.
    covered: NDArray[np.uint8]


def _empty() -> Merged:
    counts, covered = np.zeros(GROUPS, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    return Merged(0, 0, [], {}, counts, [], {}, [], covered)


def _add_part(total: Merged, path: str, sample: int) -> Merged:
    """Add the part of a shard, or of several, to others."""
    part = container.read(path, KIND, VERSION, _AGAIN)
    meta, arrays = part.meta, part.arrays
    groups = arrays["groups"]
    total.counts[groups] += arrays["counts"]
    for number in range(max(meta["tables"], default=-1) + 1):
        table = arrays[f"sums/{number}"]
        if number == len(total.sums):
            total.sums.append(np.zeros((GROUPS, table.shape[1])))
        total.sums[number][groups] += table
    more = {
        name.removeprefix("whole/"): values for name, values in arrays.items() if name.startswith("whole/")
    }
    texts = whole.merge(
        total.whole, total.arrays, total.texts, meta["whole"], more, part.texts("texts"), sample
    )
    # A shard without a good row has no tables.
    return total._replace(
        rows=total.rows + meta["rows"],
        bad=total.bad + meta["bad"],
        tables=total.tables or list(meta["tables"]),
        texts=texts,
        covered=arrays["covered"] | total.covered if len(total.covered) else np.array(arrays["covered"]),
    )


def _merge_parts(sample: int, paths: Sequence[str]) -> Merged:
    total = _empty()
    for path in paths:
        total = _add_part(total, path, sample)
    return total


def _merge_step(sample: int, step: Step) -> None:
    """On a worker: merge some parts into one file."""
    paths, target = step
    total = _merge_parts(sample, paths)
    meta = {"rows": total.rows, "bad": total.bad, "tables": total.tables, "whole": total.whole}
    arrays: dict[str, NDArray[Any]] = {"groups": np.arange(GROUPS, dtype=np.int32), "counts": total.counts}
    arrays |= {f"sums/{number}": table for number, table in enumerate(total.sums)}
    arrays["covered"] = total.covered
    for name, values in total.arrays.items():
        arrays[f"whole/{name}"] = values
        if name.startswith("segments"):
            arrays[f"whole/{name}/groups"] = np.arange(GROUPS, dtype=np.int32)
    container.write(target, KIND, VERSION, meta, arrays | container.text_arrays("texts", total.texts))


def merge_counts(step: Step) -> None:
    """On a worker: merge some files of counts into one."""
    counting.merge(*step)


def merge_tree(
    engine: Engine, merge: Callable[[Step], None], paths: Sequence[str], folder: Path
) -> list[str]:
    """Merge files in groups of :data:`FAN` until at most :data:`FAN` remain. Their order does not change."""
    level, current = 0, list(paths)
    while len(current) > FAN:
        groups = [current[start : start + FAN] for start in range(0, len(current), FAN)]
        steps = [(group, str(folder / f"{level}-{number}")) for number, group in enumerate(groups)]
        for _ in results(engine, merge, steps, "the results of the shards cannot be merged"):
            pass
        if level:
            for path in current:
                Path(path).unlink(missing_ok=True)
        current = [target for _, target in steps]
        level += 1
    return current


def merge_all(engine: Engine, tasks: Sequence[ShardTask], folder: Path, sample: int) -> Merged:
    """Merge the parts of all shards."""
    paths = [task.part for task in tasks]
    return _merge_parts(sample, merge_tree(engine, partial(_merge_step, sample), paths, folder))


# Words and captions -----------------------------------------------------------------------------------------


def merge_words(engine: Engine, tasks: Sequence[ShardTask], folder: Path) -> tuple[int, int, str]:
    """Return the number of different words, the number of those that occur once, and the file of counts."""
    target = str(folder / "words")
    counting.merge(merge_tree(engine, merge_counts, [task.words for task in tasks], folder), target)
    types = once = 0
    for _, count in counting.read(target):
        types += 1
        once += count == 1
    return types, once, target


def most_frequent(path: str) -> list[tuple[str, int]]:
    """Return the 100 most frequent items of a file of counts."""
    return heapq.nsmallest(100, counting.items(path), key=lambda pair: (-pair[1], pair[0]))


def _distinct_in_range(paths: Sequence[str], bounds: tuple[int, int]) -> int:
    """On a worker: the number of different captions whose hashes are in a range."""
    low, high = bounds
    pieces = []
    for path in paths:
        part = container.read(path, KIND, VERSION, _AGAIN)
        # Scoring verified the file. Verifying it for every range would take quadratic time.
        part.arrays.trust()
        hashes = part.arrays["whole/captions"]
        start = np.searchsorted(hashes, np.uint64(low))
        end = np.searchsorted(hashes, np.uint64(high)) if high < 1 << 64 else len(hashes)
        pieces.append(hashes[start:end])
    return len(np.unique(np.concatenate(pieces)))


def count_distinct(engine: Engine, tasks: Sequence[ShardTask], rows: int) -> int:
    """Return the number of different captions, counted range by range of hashes to limit memory."""
    pieces = max(1, -(-rows // _HASHES))
    edges = [(1 << 64) * k // pieces for k in range(pieces + 1)]
    count = partial(_distinct_in_range, [task.part for task in tasks])
    ranges = list(itertools.pairwise(edges))
    return sum(number for _, number in results(engine, count, ranges, "different captions cannot be counted"))


# Scores -----------------------------------------------------------------------------------------------------


class GroupedMean(Measure):
    """Mean over groups of segments: a type-token ratio that was counted shard by shard."""

    needs = frozenset()

    def __init__(self, name: str, summary: str) -> None:
        self.name, self.summary, self.format = name, summary, ".2f"

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        raise InputError(f"{self.name} is counted shard by shard here")


def merged_scores(prepared: PreparedJob, total: Merged, name: str) -> Scores:
    """Return scores with one row per group of images, for intervals and comparisons."""
    scores = []
    fields = f"|groups:{GROUPS}"
    covered = int(np.unpackbits(total.covered).sum())
    if covered < prepared.n_images:
        fields += f"|part:{covered}of{prepared.n_images}@{digest.of_arrays(total.covered)}"
    present = np.flatnonzero(total.counts)
    for measure, signature, table in zip(prepared.measures, prepared.signatures, total.tables):
        scores.append(
            Score.of_images(measure, total.sums[table][present], _group_names(present), signature + fields)
        )
    for n, unit in ((1, "words"), (2, "bigrams")):
        sums = total.arrays.get(f"segments{n}")
        if sums is None or not sums[:, 1].any():
            continue
        groups = np.flatnonzero(sums[:, 1])
        ratio = GroupedMean(f"TTR{n}", f"mean type-token ratio of segments of 1,000 {unit}, shard by shard")
        signature = f"TTR{n}|segment:{SEGMENT}|tok:{prepared.references.tokenizer}{fields}"
        scores.append(Score.of_images(ratio, sums[groups], _group_names(groups), signature))
    return Scores(name, scores)


def _group_names(groups: NDArray[np.int64]) -> tuple[str, ...]:
    return tuple(f"group {number}" for number in groups.tolist())
