"""Every measure of the registry on 10,000 COCO images: processor seconds. What several measures share (n-grams, parses) counts where it is needed first.

    python -m benchmarks.measures [--images 10000] [--only NAME,…] [--json OUT.json] [--before OLD.json] [--save OUT.npz] [--like OLD.npz]
    python -m benchmarks.measures --commands [--images 10000] [--json OUT.json] [--before OLD.json]

Sets of captions (for LSA, Self-CIDEr, mBLEU …) are those of all systems on an image; objects and synonyms are those of COCO. Training captions and
concreteness ratings are made up of the references. Measures that need the sentence encoder (``--encoder``), images or weights are left out, and so said. ``--save``
keeps statistics and values, and ``--like`` says which differ from those of an earlier run, in any bit. ``--commands`` times ``captious corpus`` and ``captious
diversity`` instead, in fresh processes from files.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import coco, data_folder, read_jsonl
from benchmarks.process import Run
from captious.core.errors import InputError
from captious.core.threads import working
from captious.corpus import Corpus
from captious.metrics import registry, statistics
from captious.metrics.base import Measure
from captious.metrics.captions.encoded_captions import EncoderUser
from captious.results.scores import Score

SYSTEMS = 8


def systems(images: int) -> tuple[dict[str, list[str]], dict[str, str], dict[str, list[str]]]:
    """References, one system, and the captions of all systems by image."""
    references, predictions = coco(images=images)
    folder = data_folder()
    sets: dict[str, list[str]] = {image: [] for image in references}
    if folder is None:
        return (
            references,
            predictions,
            {image: [*own, predictions[image]] for image, own in references.items()},
        )
    for path in sorted((folder / "coco" / "systems").glob("*.jsonl.gz"))[:SYSTEMS]:
        for row in read_jsonl(path):
            if str(row["image_id"]) in sets:
                sets[str(row["image_id"])].append(row["caption"])
    return references, predictions, sets


def seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def options(references: dict[str, list[str]]) -> dict[str, Any]:
    """What some measures ask for, where there is such data."""
    words = {word for own in references.values() for text in own for word in text.lower().split()}
    found: dict[str, Any] = {"train": references, "norms": {word: float(len(word)) for word in words}}
    folder = data_folder()
    if folder is not None:
        found |= {
            "objects": str(folder / "coco" / "objects.jsonl.gz"),
            "chair_synonyms": str(folder / "coco" / "chair_synonyms.json"),
        }
    return found


def encodes(measure: Measure) -> bool:
    """Whether a measure runs the sentence encoder, which takes longer than all others together."""
    features = getattr(measure, "features", None)
    return (
        isinstance(measure, EncoderUser)
        or hasattr(measure, "encoder")
        or (features is not None and "encoder" in features.uses)
    )


def made(references: dict[str, list[str]], only: list[str] | None, encoder: bool) -> list[Measure]:
    """The measures that can run, in the order of the registry; what is left out is said."""
    given = options(references)
    found: list[Measure] = []
    for name in registry.names():
        if only is not None and name not in only:
            continue
        try:
            measure = registry.create(name, given)
            measure.check()
        except InputError as error:
            print(f"left out {name}: {str(error)[:100]}", flush=True)
            continue
        if encodes(measure) and not encoder:
            print(f"left out {name}: it needs the sentence encoder (--encoder)", flush=True)
            continue
        found.append(measure)
    return found


def measured(images: int, only: list[str] | None, encoder: bool) -> tuple[dict[str, float], dict[str, Any]]:
    """Processor seconds, and statistics and values, by measure."""
    references, predictions, sets = systems(images)
    ids = list(references)
    told: dict[str, float] = {}
    kept: dict[str, Any] = {}

    def build(own: dict[str, Any], part: slice) -> Corpus:
        texts = [[own[i]] if isinstance(own[i], str) else list(own[i]) for i in ids[part]]
        return Corpus.build(ids[part], texts, [references[i] for i in ids[part]])

    built: dict[bool, tuple[Corpus, Corpus]] = {}
    for measure in made(references, only, encoder):
        several = measure.rows == "image"
        if several not in built:
            own: dict[str, Any] = dict(sets if several else predictions)
            few = build(own, slice(400))
            corpus, told["sets as words" if several else "captions as words"] = seconds(
                partial(build, own, slice(None))
            )
            built[several] = few, corpus
        few, corpus = built[several]

        def run(corpus: Corpus, measure: Measure = measure) -> tuple[Any, float]:
            score = Score.of(measure, corpus)
            return score.statistics, score.value

        run(few)  # loads tables, models and compiled code
        (rows, value), told[measure.name] = seconds(partial(run, corpus))
        kept.update({f"{measure.name} {part}": values for part, values in statistics.pack(rows).items()})
        kept[f"{measure.name} value"] = np.array(value)
        print(f"{measure.name:24s} {told[measure.name]:8.3f} s", flush=True)
    return told, kept


def commands(images: int, times: int) -> dict[str, float]:
    """Processor seconds of commands in fresh processes, the best of some runs."""
    references, predictions, sets = systems(images)
    told: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, own in (("references", references), ("results", predictions), ("sets", sets)):
            with (folder / f"{file}.jsonl").open("w") as lines:
                for image, texts in own.items():
                    for text in [texts] if isinstance(texts, str) else texts:
                        lines.write(json.dumps({"image_id": image, "caption": text}) + "\n")
        known = str(folder / "references.jsonl")
        for label, command in {
            "captious corpus --no-trees": ["corpus", known, str(folder / "results.jsonl"), "--no-trees"],
            "captious corpus --no-trees --train": [
                "corpus",
                known,
                str(folder / "results.jsonl"),
                "--no-trees",
                "--train",
                known,
            ],
            "captious corpus": ["corpus", known, str(folder / "results.jsonl")],
            "captious diversity": ["diversity", known, str(folder / "sets.jsonl")],
        }.items():
            whole = [sys.executable, "-m", "captious", *command, "--jobs", "1"]
            Run(whole)  # fills the cache, once on a machine
            runs = [Run(whole) for _ in range(times)]
            told[label] = min(run.processor for run in runs)
            print(
                f"{label:36s} {told[label]:8.2f} s, {min(run.wall for run in runs):.2f} s by the clock, {runs[0].megabytes:.0f} MB",
                flush=True,
            )
    return told


def differing(new: dict[str, Any], old: Any) -> list[str]:
    return [
        name
        for name, values in new.items()
        if name not in old
        or values.dtype != old[name].dtype
        or not np.array_equal(values, old[name], equal_nan=values.dtype.kind == "f")
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--only")
    parser.add_argument("--encoder", action="store_true", help="measures with the sentence encoder, too")
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--times", type=int, default=3, help="runs of each command")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--like", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    kept: dict[str, Any] = {}
    if given.commands:
        told = commands(given.images, given.times)
    else:
        with working(1):
            told, kept = measured(given.images, given.only.split(",") if given.only else None, given.encoder)
    if given.save is not None:
        np.savez(given.save, **kept)
    if given.json is not None:
        given.json.write_text(json.dumps(told, indent=1))
    if given.before is not None:
        before = json.loads(given.before.read_text())
        print("| | before | now | |\n|---|---:|---:|---:|")
        for name, now in told.items():
            if name in before:
                print(
                    f"| {name} | {before[name]:.3f} s | {now:.3f} s | {before[name] / max(now, 1e-3):.1f}× |"
                )
    if given.like is not None:
        wrong = differing(kept, np.load(given.like))
        print(
            f"{len(kept)} tables, {len(wrong)} differ" + (f": {', '.join(wrong)}" if wrong else " in any bit")
        )


if __name__ == "__main__":
    main()
