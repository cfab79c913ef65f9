"""First pass over shards: in how many captions each n-gram (for CIDEr) or concept (for SPICE-U) occurs.

A row is a document. Counts are exact, in sorted files that are merged as a tree. With ``top``, only the most
frequent items are counted, with a stated bound on the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from captious.core import container
from captious.core.errors import InputError
from captious.core.progress import silenced
from captious.core.threads import one_blas_thread, working
from captious.corpus import Captions
from captious.corpus.frequencies import MAX_N, FrequencyTable
from captious.io.caption_files import Columns
from captious.io.frequency_files import save_frequencies
from captious.scale import counting
from captious.scale.counting import JOIN, Counter
from captious.scale.engines import Engine, Failure, outcomes
from captious.scale.shard_merging import merge_counts, merge_tree
from captious.scale.shard_rows import BATCH, batches, captions_only
from captious.scale.shards import Shard
from captious.scale.sketches import Frequent

Kind = Literal["n-grams", "concepts"]
_KIND, _VERSION = "frequent items", 1


@dataclass(frozen=True)
class Counting:
    """Settings of the first pass."""

    kind: Kind
    columns: Columns
    tokenizer: str
    #: Number of counters, or None for exact counts.
    top: int | None = None
    #: Options of the parser and the synonyms, for concepts.
    parser: str | None = None
    meteor_data: str | None = None
    batch: int = BATCH


@dataclass(frozen=True)
class Counted:
    """Items with the number of documents that have them."""

    documents: int
    #: Largest amount by which a count is too low.
    error: int
    counts: Iterable[tuple[str, int]]


def _items(settings: Counting, captions: Captions) -> Iterator[tuple[str, int]]:
    """Yield the items of a batch, each with the number of captions that have it."""
    if settings.kind == "concepts":
        from captious.parser.choice import get as get_parser
        from captious.scene import reference_graphs
        from captious.text.synonyms import Synonyms

        parser, synonyms = get_parser(settings.parser), Synonyms.load(settings.meteor_data)
        for graph in reference_graphs(captions, parser, synonyms):
            yield from ((JOIN.join(item), 1) for item in set(graph.tuples))
        return
    words, tokens = captions.encoding.words, captions.encoding.tokens
    for n in range(1, MAX_N + 1):
        # A caption has each of its n-grams once in the table, so rows are documents.
        numbers, positions = captions.encoding.first_positions(n)
        present, count = np.unique(captions.ngrams(n).number, return_counts=True)
        where = positions[np.searchsorted(numbers, present)]
        columns = [words[tokens[where + k]].tolist() for k in range(n)]
        yield from zip(map(JOIN.join, zip(*columns)), count.tolist())


def _count(settings: Counting, step: tuple[Shard, str]) -> int:
    """On a worker: count one shard into a file, and return the number of documents."""
    shard, target = step
    counter: Counter | Frequent = Counter(target) if settings.top is None else Frequent(settings.top)
    documents = 0
    with silenced(), working(1), one_blas_thread():
        for batch in batches(shard, settings.columns, settings.batch):
            texts = captions_only(batch)
            if texts:
                counter.add(_items(settings, Captions.of([[text] for text in texts], settings.tokenizer)))
                documents += len(texts)
    if isinstance(counter, Counter):
        counter.finish()
    else:
        _save(target, counter)
    return documents


def _save(path: str, frequent: Frequent) -> None:
    items = sorted(frequent.counts.items())
    arrays = {"counts": np.array([count for _, count in items], dtype=np.int64)}
    meta = {"size": frequent.size, "error": frequent.error, "total": frequent.total}
    container.write(
        path, _KIND, _VERSION, meta, arrays | container.text_arrays("items", [item for item, _ in items])
    )


def _load(path: str) -> Frequent:
    file = container.read(path, _KIND, _VERSION, "run the command again")
    counts = dict(zip(file.texts("items"), file.arrays["counts"].tolist()))
    return Frequent(int(file.meta["size"]), counts, int(file.meta["error"]), int(file.meta["total"]))


def _join(paths: Sequence[str]) -> Frequent:
    frequent = _load(paths[0])
    for path in paths[1:]:
        frequent.merge(_load(path))
    return frequent


def _merge_frequent(step: tuple[Sequence[str], str]) -> None:
    paths, target = step
    _save(target, _join(paths))


def count(
    engine: Engine, shards: Sequence[Shard], folder: Path, settings: Counting, on_error: str = "stop"
) -> Counted:
    """Count over all shards."""
    steps = [(shard, str(folder / f"count-{number}")) for number, shard in enumerate(shards)]
    documents = 0
    skipped: set[int] = set()
    for number, outcome in outcomes(engine, partial(_count, settings), steps):
        if not isinstance(outcome, Failure):
            documents += outcome
        elif outcome.skippable and on_error == "skip":
            skipped.add(number)
        else:
            raise InputError(
                outcome.message if outcome.skippable else f"{shards[number].path}: {outcome.message}"
            )
    if not documents:
        raise InputError("there are no captions to count")
    paths = [target for number, (_, target) in enumerate(steps) if number not in skipped]
    if settings.top is not None:
        frequent = _join(merge_tree(engine, _merge_frequent, paths, folder))
        return Counted(documents, frequent.error, sorted(frequent.counts.items()))
    merged = counting.merge(merge_tree(engine, merge_counts, paths, folder), str(folder / "counted"))
    return Counted(documents, 0, counting.items(merged))


def _save_frequencies(counted: Counted, settings: Counting, target: Path) -> None:
    table = FrequencyTable.from_counts(
        ((item.split(JOIN), number) for item, number in counted.counts), counted.documents, settings.tokenizer
    )
    save_frequencies(table, target)


def _save_concepts(counted: Counted, settings: Counting, target: Path) -> None:
    from captious.scene import ConceptTable

    counts = {tuple(item.split(JOIN)): number for item, number in counted.counts}
    ConceptTable(counted.documents, counts).save(target)


#: Options that can be "shards": the items to count, and the function that saves them.
FIRST_PASS: dict[str, tuple[Kind, Callable[[Counted, Counting, Path], None]]] = {
    "df": ("n-grams", _save_frequencies),
    "concepts": ("concepts", _save_concepts),
}
