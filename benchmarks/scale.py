"""Shards by the million: throughput, memory, two workers against one, merging, Dask against processes.

    python -m benchmarks.scale make FOLDER [--captions 10000000]  # synthetic captions as Parquet
    python -m benchmarks.scale whole FOLDER                       # all captions: throughput, memory, time
    python -m benchmarks.scale workers FOLDER [--shards 8]        # one worker, two workers, two of Dask
    python -m benchmarks.scale merge FOLDER                       # time to merge, by number of shards

Captions join the beginning of one COCO reference and the end of another (random captions without the public
data). Run this on an idle machine. Processor time of the workers is printed, too, because other programs
disturb it less.
"""

from __future__ import annotations

import argparse
import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.captions import coco
from benchmarks.timing import timed

METRICS = "lexical,ASL,Types,Hapax,TTR1,TTR2,Distinct"
ROWS = 100_000


def make(folder: Path, captions: int, seed: int = 1) -> None:
    """Write shards of 100,000 captions, and prepared references."""
    import pyarrow
    import pyarrow.parquet

    import captious

    folder.mkdir(parents=True, exist_ok=True)
    prepared = captious.prepare(coco()[0], "lexical")
    prepared.save(folder / "references.prepared")
    words = [text.split() for text in prepared.captions.texts]
    ids = np.array(prepared.captions.ids)
    for number in range(-(-captions // ROWS)):
        generator = np.random.default_rng([seed, number])
        rows = min(ROWS, captions - number * ROWS)
        a, b = generator.integers(0, len(words), size=(2, rows))
        cut = generator.random((2, rows))
        texts = []
        for first, second, here, there in zip(a.tolist(), b.tolist(), *cut.tolist()):
            head, tail = words[first], words[second]
            texts.append(" ".join(head[: 1 + int(here * len(head))] + tail[int(there * len(tail)) :]))
        # Each caption belongs to the image of its beginning.
        images = ids[prepared.captions.image_of[a]]
        table = pyarrow.table({"image_id": images, "caption": texts})
        pyarrow.parquet.write_table(table, folder / f"shard-{number:05d}.parquet", row_group_size=50_000)
    total = sum(path.stat().st_size for path in folder.glob("shard-*.parquet"))
    references = (folder / "references.prepared").stat().st_size
    print(f"{captions:,} captions in {len(shards(folder)):,} shards, {total / 1e6:,.0f} MB; ", end="")
    print(f"references {references / 1e6:,.0f} MB")


def shards(folder: Path, number: int | None = None) -> list[Path]:
    paths = sorted(folder.glob("shard-*.parquet"))
    return [path for path in paths if not path.name.endswith(".scores.parquet")][:number]


def run(folder: Path, number: int | None, **settings: Any) -> tuple[Any, float]:
    """Score shards without earlier output. Return the result and the seconds."""
    from captious import scale

    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    files = shards(folder, number), folder / "references.prepared"
    result, seconds = timed(lambda: scale.score(*files, METRICS, output=out, **settings))
    return result, seconds.wall


def whole(folder: Path, workers: int) -> None:
    """Score all shards. Print the memory of workers after 10 % of the run and at its end."""
    shard_times: list[float] = []
    result, seconds = run(folder, None, workers=workers, show=lambda meter: shard_times.append(meter.seconds))
    processor = sum(shard.seconds for shard in result.shards)
    peaks = [shard.peak / 1e6 for shard in result.shards]
    tenth = max(1, len(peaks) // 10)
    output = sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file())
    summary = {
        "captions": result.rows,
        "workers": workers,
        "seconds": round(seconds, 1),
        "captions per second": round(result.rows / seconds),
        "processor seconds in workers": round(processor, 1),
        "captions per processor second": round(result.rows / processor),
        "seconds until the last shard": round(shard_times[-1], 1),
        "peak MB of a worker after 10 %": round(max(peaks[:tenth])),
        "peak MB at the end": round(max(peaks)),
        "output MB": round(output / 1e6),
        "scores": {name: round(score.value, 6) for name, score in result.scores.items()},
        "values": result.values,
    }
    print(json.dumps(summary, indent=1))


def workers(folder: Path, number: int, rounds: int = 2) -> None:
    """Score the same shards with one worker, two workers and two Dask workers in turn, merging included.

    Workers have started, loaded their code and mapped the references before. The best run of each counts.
    """
    from captious import scale

    best: dict[str, float] = {}
    with scale.Local(1) as one, scale.Local(2) as two, scale.Dask(workers=2) as dask:
        engines = {"one": one, "two": two, "dask": dask}
        for engine in engines.values():
            run(folder, 2, executor=engine)
        for _ in range(rounds):
            for name, engine in engines.items():
                result, seconds = run(folder, number, executor=engine)
                processor = sum(shard.seconds for shard in result.shards)
                best[name] = min(seconds, best.get(name, seconds))
                rate = f"{seconds:6.2f} s, {result.rows / seconds:,.0f}/s"
                print(f"{name:5s} {result.rows:,} captions, {rate}; processor {processor:6.2f} s", flush=True)
    print(f"efficiency of two workers: {best['one'] / best['two'] / 2:.1%}")
    print(f"Dask beside processes: {best['dask'] / best['two'] - 1:+.1%}")


def merge(folder: Path) -> None:
    """Merge the parts of an earlier run, repeated if there are too few."""
    from captious.scale import find
    from captious.scale import shard_merging as merging
    from captious.scale.engines import Local
    from captious.scale.shard_task import ShardTask

    tasks = [
        task
        for shard in find(shards(folder))
        if Path((task := ShardTask(shard, str(folder / "out" / shard.name))).part).exists()
    ]
    with Local(2) as engine:
        for count in (10, 100, 1000):
            repeated = (tasks * (count // len(tasks) + 1))[:count]
            work = folder / "merge"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            merged, parts = timed(partial(merging.merge_all, engine, repeated, work, 10_000))
            _, words = timed(partial(merging.merge_words, engine, repeated, work))
            _, captions = timed(partial(merging.count_distinct, engine, repeated, merged.rows))
            print(
                f"{count:5d} shards: sums {parts.wall:6.2f} s, words {words.wall:6.2f} s, "
                f"distinct captions {captions.wall:6.2f} s"
            )


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("part", choices=("make", "whole", "workers", "merge"))
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--captions", type=int, default=10_000_000)
    arguments.add_argument("--shards", type=int, default=8)
    arguments.add_argument("--workers", type=int, default=2)
    options = arguments.parse_args()
    if options.part == "make":
        make(options.folder, options.captions)
    elif options.part == "whole":
        whole(options.folder, options.workers)
    elif options.part == "workers":
        workers(options.folder, options.shards)
    else:
        merge(options.folder)


if __name__ == "__main__":
    main()
