"""Units of our captioner: words, characters, BPE and unigram pieces (Sharif 2020, appendix A).

    python -m benchmarks.subwords [--folder DIR] [--steps N]
    python -m benchmarks.subwords --folder DIR --table

Trains the object-relation Transformer and the LSTM with each kind of unit and three seeds on the same
captions, each for the same number of steps, writes the best caption of a beam for unseen images, and stores
one JSON file per model. A stopped run continues, and several processes share the models of one folder.
``--table`` prints means over seeds, 95 % intervals over images, and differences from words. The objects are
an oracle without boxes (see ``benchmarks.balance``).
"""

from __future__ import annotations

import argparse
import fcntl
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

import captious
from benchmarks.balance import CaptionerStudy, Sizes
from captious.generate.captioner.caption_sets import CaptionPlan, generate
from captious.generate.captioner.captioners import CaptionerShape
from captious.metrics.registry import make_measures
from captious.results.significance import percentile_interval
from captious.training.captioner_trainer import CaptionerSettings

METRICS = "CIDEr-D,BLEU-4,METEOR,ROUGE-L,SPICE"
SEEDS = (1, 2, 3)
BEAM = 3
#: Units and sizes of vocabularies, by model. The first is the one to compare with.
KINDS: tuple[tuple[str, int | None], ...] = (
    ("words", None),
    ("unigram", 1000),
    ("bpe", 1000),
    ("characters", None),
    *(("unigram", size) for size in (300, 500, 2000, 3000)),
)
UNITS = {"relation": KINDS, "fc": KINDS}
NAMES = {"relation": "Transformer", "fc": "LSTM"}
RESAMPLES = 2000
#: Locks of this process, released when it ends.
HELD: list[Any] = []


class ModelCell(NamedTuple):
    """One model of the study."""

    model: str
    units: str
    size: int | None
    seed: int

    @property
    def name(self) -> str:
        return f"{self.model}-{self.units}{self.size or ''}-{self.seed}"


def cells() -> list[ModelCell]:
    """Return all models: the kinds of units first, then the sizes of vocabularies, seed by seed."""
    all_cells = [
        ModelCell(model, units, size, seed)
        for seed in SEEDS
        for model, rows in UNITS.items()
        for units, size in rows
    ]
    return sorted(all_cells, key=lambda cell: (cell.size not in (None, 1000), cell.seed))


def claimed(path: Path) -> bool:
    """Return whether this process may train a model: no other process holds the lock of its file."""
    lock = path.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    HELD.append(lock)
    return True


def train_and_measure(study: CaptionerStudy, cell: ModelCell, options: argparse.Namespace) -> dict[str, Any]:
    """Train a model, write captions of the unseen images, and score them."""
    steps, relation = options.steps, cell.model == "relation"
    settings = CaptionerSettings(
        steps=steps,
        batch=50,
        rate=options.rate if relation else 4e-3,
        warmup=100 if relation else 0,
        evaluate_every=max(steps // 3, 1),
        save_every=250,
        seed=cell.seed,
    )
    shape = CaptionerShape(
        *(cell.model, options.hidden),
        dropout=0.1,
        layers=options.layers,
        heads=options.heads,
        width=options.width,
    )
    begin = time.process_time()
    trained = study.trained(cell.name, settings, shape=shape, units=cell.units, vocabulary=cell.size)
    training = time.process_time() - begin
    captions = generate(trained, study.images.take(study.unseen), CaptionPlan("beam", BEAM)).captions
    best = [texts[0] for texts in captions]
    references = {image: study.captions[image] for image in study.unseen}
    frequencies = captious.FrequencyTable.build(study.references.captions)
    corpus = captious.load(references, dict(zip(study.unseen, best)))
    scores = captious.score(corpus, make_measures(METRICS, {"df": frequencies}))
    counts = Counter(best)
    return {
        "vocabulary": len(trained.units),
        "longest": trained.longest,
        "parameters": sum(parameter.numel() for parameter in trained.model.parameters()),
        "steps": steps,
        "seconds": round(training),
        "unique": [int(counts[text] == 1) for text in best],
        "distinct": len(counts) / len(best),
        "words": float(np.mean([len(text.split()) for text in best])),
        "curve": trained.history[-1]["curve"],
        "values": {name: score.value for name, score in scores.items()},
        "per image": {name: list(score.per_image.values()) for name, score in scores.items()},
        "captions": best,
    }


class Group(NamedTuple):
    """Results of the seeds of one kind of unit."""

    label: str
    rows: list[dict[str, Any]]

    def per_image(self, name: str) -> NDArray[np.float64]:
        """Return the mean over seeds for each image."""
        parts = [row["unique"] if name == "unique" else row["per image"][name] for row in self.rows]
        means: NDArray[np.float64] = np.mean(np.array(parts, float), axis=0)
        return means

    def seeds(self, name: str) -> list[float]:
        """Return the value of each seed."""
        return [
            float(np.mean(row["unique"])) if name == "unique" else row["values"][name] for row in self.rows
        ]


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval over images of a mean."""
    drawn = np.random.default_rng(1).integers(0, len(values), (RESAMPLES, len(values)))
    return percentile_interval(values[drawn].mean(axis=1))


def table(study: CaptionerStudy) -> str:
    """Return the results as Markdown: means over seeds, intervals, and differences from words."""
    lines = [
        "| model | units | vocabulary | longest | parameters | unique, % | CIDEr-D | seeds | − words | BLEU-4 "
        "| METEOR | ROUGE-L | SPICE | − words | s |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for model, kinds in UNITS.items():
        words: Group | None = None
        for units, size in kinds:
            paths = [study.path(f"{ModelCell(model, units, size, seed).name}.json") for seed in SEEDS]
            rows = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
            if not rows:
                continue
            group = Group(units, rows)
            words = words or group
            lines.append(f"| {' | '.join([NAMES[model], *_row(group, words)])} |")
    return "\n".join(lines)


def _row(group: Group, words: Group) -> list[str]:
    first = group.rows[0]

    def mean(name: str, scale: float = 1, digits: int = 3) -> str:
        value = scale * float(np.mean(group.seeds(name)))
        if name in ("BLEU-4", "METEOR"):  # no means over images
            return f"{value:.{digits}f}"
        low, high = (scale * end for end in interval(group.per_image(name)))
        return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"

    def difference(name: str) -> str:
        if group is words:
            return ""
        apart = group.per_image(name) - words.per_image(name)
        low, high = interval(apart)
        return f"{apart.mean():+.3f} [{low:+.3f}, {high:+.3f}]".replace("-", "−")

    seeds = group.seeds("CIDEr-D")
    return [
        group.label,
        f"{first['vocabulary']:,}",
        str(first["longest"]),
        f"{first['parameters']:,}",
        mean("unique", 100, 1),
        mean("CIDEr-D"),
        f"{min(seeds):.3f}–{max(seeds):.3f}",
        difference("CIDEr-D"),
        *(mean(name) for name in ("BLEU-4", "METEOR", "ROUGE-L", "SPICE")),
        difference("SPICE"),
        f"{np.mean([row['seconds'] for row in group.rows]):.0f}",
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--folder", type=Path, default=Path("subwords"))
    arguments.add_argument("--steps", type=int, default=1000)
    arguments.add_argument("--hidden", type=int, default=128)
    arguments.add_argument("--layers", type=int, default=2, help="layers of the Transformer")
    arguments.add_argument("--heads", type=int, default=4, help="its attention heads")
    arguments.add_argument("--width", type=int, default=0, help="its feed-forward layers (0: twice --hidden)")
    arguments.add_argument("--rate", type=float, default=1e-3, help="its learning rate")
    arguments.add_argument("--taught", type=int, default=9800, help="training images")
    arguments.add_argument("--models", default=",".join(UNITS), help="relation, fc, or both")
    arguments.add_argument("--units", help="only these, such as words,bpe1000 (default: all)")
    arguments.add_argument("--seeds", type=int, default=len(SEEDS), help="trainings of each model")
    arguments.add_argument("--table", action="store_true", help="print the results and train nothing")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    study = CaptionerStudy(options.folder, Sizes(taught=options.taught))
    if not options.table:
        for cell in cells():
            wanted = (
                cell.model in options.models.split(",")
                and cell.seed <= options.seeds
                and (not options.units or f"{cell.units}{cell.size or ''}" in options.units.split(","))
            )
            if wanted and claimed(study.path(f"{cell.name}.lock")):
                study.stored(cell.name, lambda cell=cell: train_and_measure(study, cell, options))  # type: ignore[misc]
                print(cell.name, flush=True)
    print(table(study))


if __name__ == "__main__":
    main()
