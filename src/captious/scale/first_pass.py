"""The first pass, for metrics that need to know the whole before they score a part of it: in how many
captions each n-gram (for CIDEr) or each concept (for SPICE-U) occurs.

A row is a document. Counts are exact, in sorted runs on disk that are merged as a tree; or those of the most
frequent, with a stated bound on how much too low they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from captious.core.errors import CaptiousError, InputError
from captious.core.progress import silenced
from captious.core.threads import one_blas_thread, working
from captious.corpus import Captions
from captious.corpus.frequencies import MAX_N, FrequencyTable
from captious.io import saved_files as container
from captious.io.columns import Columns
from captious.io.frequency_files import save_frequencies
from captious.scale import counting
from captious.scale.counting import JOIN, Counter
from captious.scale.engines import Engine
from captious.scale.shard_checks import Images, checked
from captious.scale.shard_merging import tree
from captious.scale.shard_reading import BATCH, batches
from captious.scale.shards import Shard, ShardError
from captious.scale.sketches import Frequent

Kind = Literal["n-grams", "concepts"]
_KIND, _VERSION = "frequent items", 1


@dataclass(frozen=True)
class Counting:
    """Settings of the first pass: the counts to make."""

    kind: Kind
    columns: Columns
    tokenizer: str
    #: Keep so many counters; exact without.
    top: int | None = None
    #: Options of the parser and the synonyms, for concepts.
    parser: str | None = None
    meteor_data: str | None = None
    batch: int = BATCH


@dataclass(frozen=True)
class Counted:
    """Items with the number of documents that have them."""

    documents: int
    #: By how much a count may be too low.
    error: int
    counts: Iterable[tuple[str, int]]
    left_out: dict[str, str]


def _items(how: Counting, captions: Captions) -> Iterator[tuple[str, int]]:
    """Each item of a batch with the number of captions that have it."""
    if how.kind == "concepts":
        from captious.parser.choice import get as get_parser
        from captious.scene import reference_graphs
        from captious.text.synonyms import Synonyms

        for graph in reference_graphs(captions, get_parser(how.parser), Synonyms.load(how.meteor_data)):
            yield from ((JOIN.join(item), 1) for item in set(graph.tuples))
        return
    words, tokens = captions.encoding.words, captions.encoding.tokens
    for n in range(1, MAX_N + 1):
        # Each caption has an n-gram once in the table, so that rows are documents.
        known, position = captions.encoding.first_positions(n)
        present, count = np.unique(captions.ngrams(n).number, return_counts=True)
        where = position[np.searchsorted(known, present)]
        columns = [words[tokens[where + k]].tolist() for k in range(n)]
        yield from zip(map(JOIN.join, zip(*columns)), count.tolist())


def _count(how: Counting, step: tuple[Shard, str]) -> int | str | tuple[str]:
    """On a worker: count one shard into a file; the number of documents, or what is wrong with the shard (or
    the run).
    """
    shard, target = step
    try:
        counter: Counter | Frequent = Counter(target) if how.top is None else Frequent(how.top)
        documents = 0
        with silenced(), working(1), one_blas_thread():
            for batch in batches(shard, how.columns, how.batch):
                good = checked(batch._replace(ids=None), Images(None)).captions
                if good:
                    counter.add(_items(how, Captions.of([[text] for text in good], how.tokenizer)))
                    documents += len(good)
        if isinstance(counter, Counter):
            counter.finish()
        else:
            _save(target, counter)
        return documents
    except ShardError as error:
        return (str(error),)
    except (CaptiousError, OSError) as error:
        return str(error)


def _save(path: str, kept: Frequent) -> None:
    items = sorted(kept.counts.items())
    arrays = {"counts": np.array([count for _, count in items], dtype=np.int64)}
    meta = {"size": kept.size, "error": kept.error, "total": kept.total}
    container.write(
        path, _KIND, _VERSION, meta, arrays | container.text_arrays("items", [item for item, _ in items])
    )


def _load(path: str) -> Frequent:
    file = container.read(path, _KIND, _VERSION, "run again: it is made anew")
    counts = dict(zip(file.texts("items"), file.arrays["counts"].tolist()))
    return Frequent(int(file.meta["size"]), counts, int(file.meta["error"]), int(file.meta["total"]))


def _join(paths: Sequence[str]) -> Frequent:
    kept = _load(paths[0])
    for path in paths[1:]:
        kept.merge(_load(path))
    return kept


def _merge(exact: bool, step: tuple[Sequence[str], str]) -> str | None:
    paths, target = step
    try:
        if exact:
            counting.merge(paths, target)
        else:
            _save(target, _join(paths))
    except (CaptiousError, OSError) as error:
        return str(error)
    return None


def count(
    run: Engine, shards: Sequence[Shard], folder: Path, how: Counting, on_error: str = "stop"
) -> Counted:
    """Count over all shards."""
    steps = [(shard, str(folder / f"count-{number}")) for number, shard in enumerate(shards)]
    documents = 0
    left_out: dict[int, str] = {}
    for number, found in run.run(partial(_count, how), steps):
        if isinstance(found, int):
            documents += found
        elif isinstance(found, tuple) and on_error == "skip":
            left_out[number] = found[0]
        else:
            raise InputError(found[0] if isinstance(found, tuple) else f"{shards[number].path}: {found}")
    if not documents:
        raise InputError("there are no captions to count")
    paths = [target for number, (_, target) in enumerate(steps) if number not in left_out]
    last = tree(run, partial(_merge, how.top is None), paths, folder)
    skipped = {shards[number].name: why for number, why in left_out.items()}
    if how.top is not None:
        kept = _join(last)
        return Counted(documents, kept.error, sorted(kept.counts.items()), skipped)
    target = counting.merge(last, str(folder / "counted"))
    return Counted(documents, 0, counting.items(target), skipped)


def frequencies(
    run: Engine, shards: Sequence[Shard], folder: Path, how: Counting, target: Path, on_error: str = "stop"
) -> int:
    """Document frequencies of n-grams into a file for CIDEr; by how much a count may be too low."""
    found = count(run, shards, folder, how, on_error)
    table = FrequencyTable.from_counts(
        ((item.split(JOIN), number) for item, number in found.counts), found.documents, how.tokenizer
    )
    save_frequencies(table, target)
    return found.error


def concepts(
    run: Engine, shards: Sequence[Shard], folder: Path, how: Counting, target: Path, on_error: str = "stop"
) -> int:
    """Concept frequencies into a file for SPICE-U; by how much a count may be too low."""
    from captious.scene import ConceptTable

    found = count(run, shards, folder, how, on_error)
    ConceptTable(found.documents, {tuple(item.split(JOIN)): number for item, number in found.counts}).save(
        target
    )
    return found.error


#: Options that may say "shards", how they are then counted, and what.
FIRST_PASS: tuple[tuple[str, Callable[..., int], Kind], ...] = (
    ("df", frequencies, "n-grams"),
    ("concepts", concepts, "concepts"),
)
