"""The n-grams of training captions in a filter: made by workers, shard by shard, and put together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from captious.core import digests as digest
from captious.core.errors import CaptiousError, InputError
from captious.core.threads import working
from captious.corpus import Captions
from captious.io.columns import Columns
from captious.scale.engines import Engine
from captious.scale.shard_checks import Images, checked
from captious.scale.shard_novelty import gram_keys
from captious.scale.shard_reading import batches
from captious.scale.shards import Shard, find
from captious.scale.sketches import Bloom, DistinctCount, Keys

#: Room for more different n-grams than were estimated: the estimate has a standard error of 0.8 %.
_ROOM = 1.05


@dataclass(frozen=True)
class _Source:
    columns: Columns
    tokenizer: str
    orders: tuple[int, ...]


def _keys(source: _Source, shard: Shard) -> Iterable[Keys]:
    with working(1):
        for batch in batches(shard, source.columns):
            good = checked(batch._replace(ids=None), Images(None))
            if good.captions:
                captions = Captions.of([good.captions], source.tokenizer)
                yield np.concatenate([gram_keys(captions, n)[0] for n in source.orders])


def _count(source: _Source, shard: Shard) -> bytes | str:
    """On a worker: a sketch of how many different n-grams a shard has."""
    try:
        sketch = DistinctCount()
        for keys in _keys(source, shard):
            sketch.add(keys)
        return sketch.registers.tobytes()
    except CaptiousError as error:
        return str(error)


def _fill(source: _Source, capacity: int, rate: float, step: tuple[Shard, str]) -> str | None:
    """On a worker: the filter of one shard."""
    shard, target = step
    try:
        bloom = Bloom(capacity, rate)
        for keys in _keys(source, shard):
            bloom.add(keys)
        bloom.save(target)
    except (CaptiousError, OSError) as error:
        return str(error)
    return None


def seen(
    run: Engine,
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    folder: Path,
    *,
    tokenizer: str,
    rate: float,
    columns: Columns,
    orders: Sequence[int],
) -> str:
    """A file with the n-grams of training captions.

    Two passes: how many there are, then the filter of the size that takes.
    """
    if not 0 < rate < 0.5:
        raise InputError(f"the rate of false finds is a number between 0 and 0.5, not {rate:g}")
    shards = find(sources)
    source = _Source(columns, tokenizer, tuple(orders))
    total = DistinctCount()
    for _, found in run.run(partial(_count, source), shards):
        if not isinstance(found, bytes):
            raise InputError(f"training captions: {found}")
        total.merge(DistinctCount(np.frombuffer(found, dtype=np.uint8)))
    capacity = int(total.value * _ROOM) + 100
    bloom = Bloom(capacity, rate, meta={"tokenizer": tokenizer, "orders": list(orders)})
    steps = [(shard, str(folder / f"seen-{number}")) for number, shard in enumerate(shards)]
    for number, problem in run.run(partial(_fill, source, capacity, rate), steps):
        if problem is not None:
            raise InputError(f"training captions: {problem}")
        bloom.merge(Bloom.load(steps[number][1]))
        Path(steps[number][1]).unlink()
    bloom.meta["digest"] = digest.together(bloom.digest, tokenizer, str(rate))
    bloom.save(folder / "seen")
    return str((folder / "seen").resolve())
