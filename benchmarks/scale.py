"""Shards by the million: throughput, memory, two workers against one, merging, Dask against processes.

    python -m benchmarks.scale make FOLDER [--captions 10000000]      synthetic captions, made from real ones (seeded), as Parquet
    python -m benchmarks.scale whole FOLDER                           all of them on all processors: throughput, memory, time
    python -m benchmarks.scale workers FOLDER [--shards 8]            one worker, two workers, two of Dask: efficiency, overhead
    python -m benchmarks.scale merge FOLDER                           time to merge against the number of shards

The captions come from the COCO references (made up where they are not there): the beginning of one caption and the end of another. The machine
should do nothing else meanwhile; the processor time of the workers is printed too, which other work disturbs less.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import coco

METRICS = "lexical,ASL,Types,Hapax,TTR1,TTR2,Distinct"
ROWS = 100_000


def make(folder: Path, captions: int, seed: int = 1) -> None:
    """Shards of 100,000 captions, and the references, prepared."""
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
        # Each caption is of the image that its beginning describes.
        images = ids[prepared.captions.image_of[a]]
        table = pyarrow.table({"image_id": images, "caption": texts})
        pyarrow.parquet.write_table(table, folder / f"shard-{number:05d}.parquet", row_group_size=50_000)
    total = sum(path.stat().st_size for path in folder.glob("shard-*.parquet"))
    print(
        f"{captions:,} captions in {-(-captions // ROWS):,} shards, {total / 1e6:,.0f} MB; references {(folder / 'references.prepared').stat().st_size / 1e6:,.0f} MB"
    )


def shards(folder: Path, number: int | None = None) -> list[Path]:
    found = sorted(folder.glob("shard-*.parquet"))
    return [path for path in found if not path.name.endswith(".scores.parquet")][:number]


def run(folder: Path, number: int | None, **settings: Any) -> tuple[Any, float]:
    """One run from nothing; its result and the seconds it took."""
    from captious import scale

    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    start = time.perf_counter()
    found = scale.score(
        shards(folder, number), folder / "references.prepared", METRICS, output=out, **settings
    )
    return found, time.perf_counter() - start


def whole(folder: Path, workers: int) -> None:
    """All shards; the memory of workers after a tenth of the run and at its end."""
    seen: list[tuple[int, float]] = []
    found, seconds = run(
        folder, None, workers=workers, show=lambda meter: seen.append((meter.rows, meter.seconds))
    )
    cpu = sum(done.seconds for done in found.shards)
    peaks = [done.peak / 1e6 for done in found.shards]
    tenth = max(1, len(peaks) // 10)
    print(
        json.dumps(
            {
                "captions": found.rows, "workers": workers, "seconds": round(seconds, 1), "captions per second": round(found.rows / seconds),
                "processor seconds in workers": round(cpu, 1), "captions per processor second": round(found.rows / cpu),
                "seconds until the last shard": round(seen[-1][1], 1),
                "peak MB of a worker after a tenth": round(max(peaks[:tenth])), "peak MB at the end": round(max(peaks)),
                "output MB": round(sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file()) / 1e6),
                "scores": {name: round(score.value, 6) for name, score in found.scores.items()}, "values": found.values,
            },
            indent=1,
        )
    )  # fmt: skip


def workers(folder: Path, number: int, rounds: int = 2) -> None:
    """The same shards by one worker, by two, and by two of Dask, in turns, from start to merged scores. The workers are up, their code is
    loaded and the references are mapped before. The best of each counts: machines are noisy."""
    from captious import scale

    best: dict[str, float] = {}
    with scale.Local(1) as one, scale.Local(2) as two, scale.Dask(workers=2) as dask:
        engines = {"one": one, "two": two, "dask": dask}
        for engine in engines.values():
            run(folder, 2, executor=engine)
        for _ in range(rounds):
            for name, engine in engines.items():
                found, seconds = run(folder, number, executor=engine)
                cpu = sum(done.seconds for done in found.shards)
                best[name] = min(seconds, best.get(name, seconds))
                print(
                    f"{name:5s} {found.rows:,} captions, {seconds:6.2f} s, {found.rows / seconds:,.0f}/s; processor {cpu:6.2f} s",
                    flush=True,
                )
    print(f"efficiency of two workers: {best['one'] / best['two'] / 2:.1%}")
    print(f"Dask against processes: {best['dask'] / best['two'] - 1:+.1%}")


def merge(folder: Path) -> None:
    """Merge the parts of an earlier run, again and again where they are too few."""
    from captious.scale import find
    from captious.scale import shard_merging as merging
    from captious.scale.engines import Local
    from captious.scale.shard_task import Task

    tasks = [
        task
        for shard in find(shards(folder))
        if Path((task := Task(shard, str(folder / "out" / shard.name))).part).exists()
    ]
    with Local(2) as engine:
        for count in (10, 100, 1000):
            several = (tasks * (count // len(tasks) + 1))[:count]
            work = folder / "merge"
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir()
            start = time.perf_counter()
            found = merging.merge_all(engine, several, work, 10_000)
            parts = time.perf_counter() - start
            merging.merge_words(engine, several, work)
            words = time.perf_counter() - start - parts
            merging.count_distinct(engine, several, found.rows)
            captions = time.perf_counter() - start - parts - words
            print(
                f"{count:5d} shards: sums {parts:6.2f} s, words {words:6.2f} s, different captions {captions:6.2f} s"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("make", "whole", "workers", "merge"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--captions", type=int, default=10_000_000)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.what == "make":
        make(given.folder, given.captions)
    elif given.what == "whole":
        whole(given.folder, given.workers)
    elif given.what == "workers":
        workers(given.folder, given.shards)
    else:
        merge(given.folder)


if __name__ == "__main__":
    main()
