"""Units of our captioner: words, characters, BPE and unigram pieces (Sharif 2020, appendix A).

    python -m benchmarks.subwords [--folder DIR] [--steps N]

Trains the same model with each kind of unit on the same captions for the same number of steps, generates the
best caption of a beam for 500 unseen images, and prints metrics with intervals, the share of unique captions,
parameters and the longest sequence. Models are stored in the folder, and a stopped run continues. The objects
are an oracle (see ``benchmarks.balance``).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import torch

import captious
from benchmarks.balance import CaptionerStudy, Sizes
from captious.generate.captioner.caption_sets import Plan, generate
from captious.generate.captioner.captioners import CaptionerShape
from captious.metrics.registry import make_measures
from captious.training.captioner_trainer import CaptionerSettings

#: Kind of unit → size of its vocabulary.
KINDS = {"words": None, "unigram": 1000, "bpe": 1000, "characters": None}
METRICS = "CIDEr-D,BLEU-4,METEOR,ROUGE-L,SPICE"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--folder", type=Path, default=Path("subwords"))
    arguments.add_argument("--steps", type=int, default=400)
    arguments.add_argument("--hidden", type=int, default=128)
    arguments.add_argument("--taught", type=int, default=Sizes().taught, help="training images")
    arguments.add_argument("--kinds", default=",".join(KINDS))
    options = arguments.parse_args()
    torch.set_num_threads(1)
    study = CaptionerStudy(options.folder, Sizes(taught=options.taught))
    frequencies = captious.FrequencyTable.build(study.references.captions)
    references = {image: study.captions[image] for image in study.unseen}
    shape = CaptionerShape(hidden=options.hidden, dropout=0.1)
    steps = options.steps
    settings = CaptionerSettings(
        steps=steps, batch=50, rate=4e-3, evaluate_every=max(steps // 4, 1), save_every=100, seed=1
    )
    print(f"| units | vocabulary | longest | parameters | unique | {' | '.join(METRICS.split(','))} |")
    print("|---|---:|---:|---:|---:|" + "---:|" * len(METRICS.split(",")), flush=True)
    for kind in options.kinds.split(","):
        trained = study.trained(kind, settings, shape=shape, units=kind, vocabulary=KINDS[kind])
        captions = generate(trained, study.images.take(study.unseen), Plan("beam", 3)).captions
        best = {image: texts[0] for image, texts in zip(study.unseen, captions)}
        study.path(f"{kind}.json").write_text(json.dumps(best), encoding="utf-8")
        scores = captious.score(captious.load(references, best), make_measures(METRICS, {"df": frequencies}))
        metrics = [
            f"{score.value:.3f} [{score.interval()[0]:.3f}, {score.interval()[1]:.3f}]"
            for score in scores.values()
        ]
        unique = sum(count == 1 for count in Counter(best.values()).values()) / len(best)
        parameters = sum(parameter.numel() for parameter in trained.model.parameters())
        cells = [
            kind,
            f"{len(trained.units):,}",
            trained.longest,
            f"{parameters:,}",
            f"{unique:.1%}",
            *metrics,
        ]
        print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
