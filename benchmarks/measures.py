"""Each measure by itself on 10,000 COCO images: processor seconds. What several measures share (n-grams, parses) counts where it is needed first.

    python -m benchmarks.measures [--images 10000] [--only NAME,…] [--save OUT.npz] [--like OLD.npz] [--before OLD.json] [--json OUT.json]

Sets of captions (for LSA, Self-CIDEr, mBLEU …) are those of all systems on an image. ``--save`` keeps the statistics of every
measure, and ``--like`` says which differ from those of an earlier run, in any bit.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import coco, data_folder, read_jsonl
from captious import statistics
from captious.corpus import Corpus
from captious.measures.making import make_measures
from captious.threads import working

SYSTEMS = 8
GROUPS = {
    "BLEU": "BLEU-4", "ROUGE-L": "ROUGE-L", "CIDEr-D": "CIDEr-D", "Recall-1": "Recall-1", "METEOR": "METEOR", "WMD": "WMD", "WEmbSim": "WEmbSim",
    "CHAIR": "CHAIRi", "SPICE": "SPICE", "SPICE-U": "SPICE-U", "HWCM": "HWCM-4",
}  # fmt: skip
CORPUS = {
    "ASL, SDSL": "ASL,SDSL", "Types, Hapax": "Types,Hapax", "TTR": "TTR1,TTR2", "MTLD": "MTLD", "Loc": "Loc", "Prec": "Prec", "%Novel, Cov": "%Novel,Cov",
    "Comp, Comp-2": "Comp,Comp-2", "Prep, PP-1": "Prep,PP-1", "Yngve, Frazier": "Yngve,Frazier,Frazier3", "Neg": "Neg", "POS-JSD": "POS-JSD",
}  # fmt: skip
SETS = {"LSA": "LSA", "Self-CIDEr": "Self-CIDEr", "mBLEU": "mBLEU-mix", "Div": "Div-1,Div-2", "Vocabulary, Unique": "Vocabulary,Unique"}
NEEDS_OBJECTS, NEEDS_TRAIN = ("CHAIR",), ("%Novel, Cov",)


def systems(images: int) -> tuple[dict[str, list[str]], dict[str, str], dict[str, list[str]]]:
    """References, one system, and the captions of all systems by image."""
    references, predictions = coco(images=images)
    folder = data_folder()
    sets: dict[str, list[str]] = {image: [] for image in references}
    if folder is None:
        return references, predictions, {image: [*own, predictions[image]] for image, own in references.items()}
    for path in sorted((folder / "coco" / "systems").glob("*.jsonl.gz"))[:SYSTEMS]:
        for row in read_jsonl(path):
            if str(row["image_id"]) in sets:
                sets[str(row["image_id"])].append(row["caption"])
    return references, predictions, sets


def seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def options(name: str, references: dict[str, list[str]]) -> dict[str, Any]:
    folder = data_folder()
    if name in NEEDS_OBJECTS and folder is not None:
        return {"objects": str(folder / "coco" / "objects.jsonl.gz"), "chair_synonyms": str(folder / "coco" / "chair_synonyms.json")}
    if name in NEEDS_TRAIN:
        return {"train": references}
    return {}


def measured(images: int, only: list[str] | None) -> tuple[dict[str, float], dict[str, Any]]:
    references, predictions, sets = systems(images)
    ids = list(references)
    told: dict[str, float] = {}
    kept: dict[str, Any] = {}
    for groups, own in ((GROUPS, predictions), (CORPUS, predictions), (SETS, sets)):
        wanted = {name: listed for name, listed in groups.items() if only is None or name in only}
        if not wanted:
            continue
        texts = [[own[i]] if isinstance(own[i], str) else list(own[i]) for i in ids]

        def build(part: slice, texts: list[list[str]] = texts) -> Corpus:
            return Corpus.build(ids[part], texts[part], [references[i] for i in ids[part]])

        few, corpus = build(slice(400)), build(slice(None))
        for name, listed in wanted.items():
            made = make_measures(listed, options(name, references))

            def run(corpus: Corpus, made: Any = made) -> list[Any]:
                return [measure.statistics(corpus, measure.prepare(corpus.references)) for measure in made]

            run(few)  # loads tables, models and compiled code
            found, told[name] = seconds(partial(run, corpus))
            for measure, rows in zip(made, found):
                kept.update({f"{measure.name} {part}": values for part, values in statistics.pack(rows).items()})
            print(f"{name:24s} {told[name]:8.2f} s", flush=True)
    return told, kept


def differing(new: dict[str, Any], old: Any) -> list[str]:
    return [name for name, values in new.items() if name not in old or values.dtype != old[name].dtype or not np.array_equal(values, old[name], equal_nan=values.dtype.kind == "f")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--only")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--like", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with working(1):
        told, kept = measured(given.images, given.only.split(",") if given.only else None)
    if given.save is not None:
        np.savez(given.save, **kept)
    if given.json is not None:
        given.json.write_text(json.dumps(told, indent=1))
    if given.before is not None:
        before = json.loads(given.before.read_text())
        print("| | before | now | |\n|---|---:|---:|---:|")
        for name, now in told.items():
            if name in before:
                print(f"| {name} | {before[name]:.2f} s | {now:.2f} s | {before[name] / max(now, 1e-3):.1f}× |")
    if given.like is not None:
        wrong = differing(kept, np.load(given.like))
        print(f"{len(kept)} tables, {len(wrong)} differ" + (f": {', '.join(wrong)}" if wrong else " in any bit"))


if __name__ == "__main__":
    main()
