"""Processor seconds of every measure of the registry on COCO images.

    python -m benchmarks.measures [--images 10000] [--only NAME,…] [--encoder] [--json OUT.json]
    python -m benchmarks.measures --commands [--images 10000] [--json OUT.json] [--before OLD.json]

Work that measures share (n-grams, parses) counts for the first measure that needs it. Sets of captions (for
LSA, Self-CIDEr, mBLEU …) are the captions of all systems for an image. Objects and synonyms are COCO's.
Training captions and concreteness ratings are derived from the references. Measures that need the sentence
encoder (``--encoder``), images or weights are skipped with a message. ``--commands`` times ``captious
corpus`` and ``captious diversity`` in fresh processes instead. ``--before`` compares with the times of an
earlier run.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.captions import coco, coco_system, coco_systems, data_folder
from benchmarks.timing import Run, python, timed
from captious.core.errors import InputError
from captious.core.threads import working
from captious.corpus import Corpus
from captious.metrics import registry
from captious.metrics.base import Measure
from captious.metrics.captions.encoded_captions import EncoderUser
from captious.results.scores import Score

SYSTEMS = 8

Groups = dict[str, list[str]]


def captions(images: int) -> tuple[Groups, Groups, Groups]:
    """Return references, the captions of one system, and the captions of all systems, by image."""
    references, predictions = coco(images=images)
    folder = data_folder()
    if folder is None:
        sets = {image: [*texts, predictions[image]] for image, texts in references.items()}
    else:
        systems = [coco_system(folder, name) for name in coco_systems(folder)[:SYSTEMS]]
        sets = {image: [system[image] for system in systems if image in system] for image in references}
    return references, {image: [text] for image, text in predictions.items()}, sets


def measure_options(references: Groups) -> dict[str, Any]:
    """Return options that some measures need. Objects need the public data."""
    words = {word for texts in references.values() for text in texts for word in text.lower().split()}
    options: dict[str, Any] = {"train": references, "norms": {word: float(len(word)) for word in words}}
    folder = data_folder()
    if folder is not None:
        for name, file in (("objects", "objects.jsonl.gz"), ("chair_synonyms", "chair_synonyms.json")):
            options[name] = str(folder / "coco" / file)
    return options


def uses_encoder(measure: Measure) -> bool:
    """Whether a measure runs the sentence encoder, which takes longer than all other measures together."""
    features = getattr(measure, "features", None)
    return (
        isinstance(measure, EncoderUser)
        or hasattr(measure, "encoder")
        or (features is not None and "encoder" in features.uses)
    )


def measures(references: Groups, only: list[str] | None, encoder: bool) -> list[Measure]:
    """Create the measures that can run, in the order of the registry."""
    options = measure_options(references)
    created: list[Measure] = []
    for name in registry.names():
        if only is not None and name not in only:
            continue
        try:
            measure = registry.create(name, options)
            measure.check()
        except InputError as error:
            print(f"skipped {name}: {str(error)[:100]}", flush=True)
            continue
        if uses_encoder(measure) and not encoder:
            print(f"skipped {name}: it needs the sentence encoder (--encoder)", flush=True)
            continue
        created.append(measure)
    return created


def measure_seconds(images: int, only: list[str] | None, encoder: bool) -> dict[str, float]:
    """Return processor seconds by measure, and of building the corpora."""
    references, predictions, sets = captions(images)
    ids = list(references)
    seconds: dict[str, float] = {}

    def build(groups: Groups, part: slice) -> Corpus:
        return Corpus.build(ids[part], [groups[i] for i in ids[part]], [references[i] for i in ids[part]])

    corpora: dict[bool, tuple[Corpus, Corpus]] = {}
    for measure in measures(references, only, encoder):
        is_set = measure.rows == "image"
        if is_set not in corpora:
            groups = sets if is_set else predictions
            few = build(groups, slice(400))
            whole, spent = timed(partial(build, groups, slice(None)))
            seconds["sets as words" if is_set else "captions as words"] = spent.processor
            corpora[is_set] = few, whole
        few, whole = corpora[is_set]
        _ = Score.of(measure, few).value  # loads tables, models and kernels
        _, spent = timed(lambda measure=measure, whole=whole: Score.of(measure, whole).value)
        seconds[measure.name] = spent.processor
        print(f"{measure.name:24s} {spent.processor:8.3f} s", flush=True)
    return seconds


def command_seconds(images: int, times: int) -> dict[str, float]:
    """Return the least processor seconds of commands in fresh processes."""
    names = ("references", "results", "sets")
    seconds: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: Path(folder) / f"{name}.jsonl" for name in names}
        for name, groups in zip(names, captions(images)):
            rows = ({"image_id": i, "caption": text} for i, texts in groups.items() for text in texts)
            paths[name].write_text("".join(json.dumps(row) + "\n" for row in rows))
        references, results, sets = map(str, paths.values())
        for label, command in {
            "captious corpus --no-trees": ["corpus", references, results, "--no-trees"],
            "captious corpus --no-trees --training": [
                "corpus",
                references,
                results,
                "--no-trees",
                "--training",
                references,
            ],
            "captious corpus": ["corpus", references, results],
            "captious diversity": ["diversity", references, sets],
        }.items():
            words = python("captious", *command, "--jobs", "1")
            Run(words)  # fills captious's cache
            runs = [Run(words) for _ in range(times)]
            seconds[label] = min(run.processor for run in runs)
            wall = min(run.wall for run in runs)
            print(
                f"{label:36s} {seconds[label]:8.2f} s, {wall:.2f} s wall clock, {runs[0].megabytes:.0f} MB",
                flush=True,
            )
    return seconds


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--images", type=int, default=10_000)
    arguments.add_argument("--only", type=lambda text: text.split(","), metavar="NAME,…")
    arguments.add_argument(
        "--encoder", action="store_true", help="include measures with the sentence encoder"
    )
    arguments.add_argument("--commands", action="store_true", help="time commands instead of measures")
    arguments.add_argument("--times", type=int, default=3, help="runs of each command")
    arguments.add_argument("--before", type=Path, help="JSON file of an earlier run to compare with")
    arguments.add_argument("--json", type=Path, help="write the times to this file")
    options = arguments.parse_args()
    if options.commands:
        seconds = command_seconds(options.images, options.times)
    else:
        with working(1):
            seconds = measure_seconds(options.images, options.only, options.encoder)
    if options.json is not None:
        options.json.write_text(json.dumps(seconds, indent=1))
    if options.before is not None:
        before = json.loads(options.before.read_text())
        print("| | before | now | |\n|---|---:|---:|---:|")
        for name, now in seconds.items():
            if name in before:
                ratio = before[name] / max(now, 1e-3)
                print(f"| {name} | {before[name]:.3f} s | {now:.3f} s | {ratio:.1f}× |")


if __name__ == "__main__":
    main()
