"""Units of a captioner: words, characters, BPE and unigram pieces (Sharif 2020, appendix A), on a captioner of our own.

``python -m benchmarks.subwords [--folder DIR] [--steps N]``: trains the same model with each kind of unit on the same captions for as
many steps, writes the best caption of a beam for 500 unseen images and prints metrics with intervals, the share of
captions that no other image has, parameters, and the longest sequence. Every model is kept in the folder; a run that was stopped
goes on. The objects are an oracle that has partly read the references (see ``benchmarks.balance``).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

import captious
from benchmarks.balance import Sizes, Study, _tell
from captious.generate.captioner.caption_sets import Plan, generate
from captious.generate.captioner.captioners import CaptionerShape
from captious.metrics.registry import make_measures
from captious.training.captioner_trainer import CaptionerSettings, train

KINDS = {"words": None, "unigram": 1000, "bpe": 1000, "characters": None}
METRICS = "CIDEr-D,BLEU-4,METEOR,ROUGE-L,SPICE"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path("subwords"))
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--taught", type=int, default=Sizes().taught, help="images that are learned from")
    parser.add_argument("--kinds", default=",".join(KINDS))
    given = parser.parse_args()
    torch.set_num_threads(1)
    study = Study(given.folder, Sizes(taught=given.taught))
    table = captious.FrequencyTable.build(study.references.captions)
    print(f"| units | vocabulary | longest | parameters | unique | {' | '.join(METRICS.split(','))} |")
    print("|---|---:|---:|---:|---:|" + "---:|" * len(METRICS.split(",")), flush=True)
    for kind in given.kinds.split(","):
        settings = CaptionerSettings(
            steps=given.steps,
            batch=50,
            rate=4e-3,
            evaluate_every=max(given.steps // 4, 1),
            save_every=100,
            seed=1,
        )
        trained = study._trained(f"{kind}.safetensors", lambda path, kind=kind, settings=settings: train(  # type: ignore[misc]
            study.images, study.references, path, ids=study.ids, validation=study.validation[:100], shape=CaptionerShape(hidden=given.hidden, dropout=0.1),
            units=kind, vocabulary=KINDS[kind], settings=settings, resume=True, progress=_tell,
        ))  # fmt: skip
        made = generate(trained, study.images.take(study.unseen), Plan("beam", 3)).captions
        best = {image: texts[0] for image, texts in zip(study.unseen, made)}
        study.path(f"{kind}.json").write_text(json.dumps(best), encoding="utf-8")
        references = {image: study.captions[image] for image in study.unseen}
        scores = captious.score(captious.load(references, best), make_measures(METRICS, {"df": table}))
        cells = [
            f"{score.value:.3f} [{score.interval()[0]:.3f}, {score.interval()[1]:.3f}]"
            for score in scores.values()
        ]
        listed = list(best.values())
        unique = sum(listed.count(text) == 1 for text in listed) / len(listed)
        weight = sum(parameter.numel() for parameter in trained.model.parameters())
        print(
            f"| {kind} | {len(trained.units):,} | {trained.longest} | {weight:,} | {100 * unique:.1f} % | {' | '.join(cells)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
