"""Contexts and combinations of the critic (Cui et al. 2018, Figures 5 and 9): tables of docs/results/critic.md.

    python -m benchmarks.critic_grid [--folder DIR] [--negatives systems] [--features words --hold-out 2]

Two measures of every critic: performance (equation 10), and how often a caption of an image scores higher
than a caption of another image, in the context of the first. Critics and results are stored in the folder,
and a stopped run continues. Use another folder for other settings.

``--features words`` describes an image by the content words of held-out captions, which the critic neither
learns nor judges. To compare it with objects, hold out as many captions there.

A run at the paper's size, for one system, is ``--preset paper --dimensions 300 --systems Vinyals-et-al-2017
--combine cbp --context image+reference --seeds 1``. ``--unfinished`` measures a critic as it is, if its
training has not ended. The rate falls by epoch, so a critic stopped after an epoch is one of so many epochs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.critic import THREE, WIDE, CriticStudy, Variant, performance, score_people_and_systems
from captious.core.ragged import offsets_of
from captious.corpus import Captions
from captious.critic.critic_network import TrainedCritic, load_unfinished
from captious.critic.critic_scoring import chances
from captious.critic.critic_training import PRESETS
from captious.generate import train_vectors
from captious.generate.captioner.image_features import ImageFeatures
from captious.text.stopwords import ENGLISH

#: All contexts and combinations. Without context there is nothing to pool.
GRID = [
    Variant(context, combine)
    for combine in ("cbp", "mlp", "linear")
    for context in (("image",), WIDE, ("reference",), ())
    if context or combine != "cbp"
]


def word_features(captions: dict[str, list[str]], size: int) -> ImageFeatures:
    """Describe images by the ``size`` most frequent content words of their captions."""
    words = {
        image: [word for text in texts for word in text.lower().split() if word.isalpha()]
        for image, texts in captions.items()
    }
    counts = Counter(word for row in words.values() for word in set(row) - ENGLISH)
    classes = [word for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:size]]
    column = {word: k for k, word in enumerate(classes)}
    rows = [[column[word] for word in row if word in column] for row in words.values()]
    vectors = np.eye(len(classes), dtype=np.float32)[[k for row in rows for k in row]]
    return ImageFeatures(tuple(words), offsets_of([len(row) for row in rows]), vectors, None, tuple(classes))


def hold_out_captions(study: CriticStudy, count: int, words: int | None) -> None:
    """Remove the last captions of every image, and describe images by their words if ``words`` is set."""
    held = {image: texts[-count:] for image, texts in study.captions.items()}
    if words is not None:
        study.images = word_features(held, words)
    study.captions = {image: texts[:-count] for image, texts in study.captions.items()}


def both_measures(study: CriticStudy, variant: Variant) -> dict[str, Any]:
    """Return the performance of a critic, and its preference for captions of the right image."""
    row = score_people_and_systems(study, variant)
    critic, ids = study.critic(variant), study.tested
    first = [study.captions[image][0] for image in ids]
    judged = Captions.of([[right, other] for right, other in zip(first, [*first[1:], first[0]])], ids=ids)
    context = Captions.of([study.captions[image][1:] for image in ids], ids=ids)
    values = chances(
        *(critic, judged.sentences, judged.image_of, context.sentences, context.image_offsets),
        study.images.take(ids).counted(),
    ).reshape(-1, 2)
    wins = (values[:, 0] > values[:, 1]) + 0.5 * (values[:, 0] == values[:, 1])
    return {**row, "performance": performance(row), "right": float(wins.mean())}


class UnfinishedStudy(CriticStudy):
    """Critics as they are, also those whose training has not ended. Nothing is trained."""

    def critic(self, variant: Variant) -> TrainedCritic:
        critic, steps, _ = load_unfinished(self.path(f"{variant.name}.safetensors"))
        print(f"{variant.name}: {'finished' if steps is None else f'{steps:,} steps'}", flush=True)
        critic.model.eval()
        return critic


def over_seeds(values: Sequence[float]) -> str:
    """Return the mean, and the range over trainings."""
    spread = f" ({min(values):.3f}–{max(values):.3f})" if len(values) > 1 else ""
    return f"{np.mean(values):.3f}{spread}"


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--folder", type=Path, default=Path("critic-grid"))
    arguments.add_argument("--taught", type=int, default=2000, help="training images")
    arguments.add_argument("--tested", type=int, default=1000, help="test images")
    arguments.add_argument("--epochs", type=int, default=30)
    arguments.add_argument("--seeds", type=int, default=3, help="trainings of each critic")
    arguments.add_argument("--hidden", type=int, help="size of the LSTM (default: 64; paper: 512)")
    arguments.add_argument("--preset", choices=PRESETS, default="quick", help="other sizes, and the rate")
    arguments.add_argument("--systems", default=",".join(THREE), help="systems to tell from people")
    arguments.add_argument("--dimensions", type=int, help="word2vec of this size, learned from the images")
    arguments.add_argument("--unfinished", action="store_true", help="measure unfinished critics")
    arguments.add_argument("--negatives", choices=("all", "systems"), default="all")
    arguments.add_argument("--combine", default="cbp,mlp,linear", help="combinations to train")
    arguments.add_argument("--context", help="contexts to train (image, image+reference, reference, none)")
    arguments.add_argument("--features", choices=("objects", "words"), default="objects")
    arguments.add_argument("--words", type=int, default=1000, help="number of words for --features words")
    arguments.add_argument("--hold-out", type=int, default=0, help="captions of each image to leave out")
    options = arguments.parse_args()
    if options.features == "words" and not options.hold_out:
        arguments.error("--features words needs captions to read: add --hold-out 2")
    torch.set_num_threads(1)
    study = (UnfinishedStudy if options.unfinished else CriticStudy)(
        *(options.folder, None, options.taught, options.tested, options.epochs),
        preset=options.preset,
        systems=options.systems.split(","),
    )
    if options.dimensions and not options.unfinished:
        texts = [text for image in study.taught for text in study.captions[image]]
        study.vectors = train_vectors(texts, dimensions=options.dimensions)
    hidden = options.hidden or (64 if options.preset == "quick" else study.shape.hidden)
    if options.hold_out:
        hold_out_captions(study, options.hold_out, options.words if options.features == "words" else None)
    augmented = options.negatives == "all"
    print("| combination | context | people | machines | performance | right against other image |")
    print("|---|---|---:|---:|---:|---:|")
    for variant in GRID:
        context = "+".join(variant.context) or "none"
        if variant.combine not in options.combine.split(","):
            continue
        if options.context and context not in options.context.split(","):
            continue
        seeded = [
            variant._replace(seed=seed, augmented=augmented, hidden=hidden)
            for seed in range(1, options.seeds + 1)
        ]
        runs = [
            both_measures(study, one)
            if options.unfinished
            else study.stored(f"grid-{one.name}", partial(both_measures, study, one))
            for one in seeded
        ]
        people = float(np.mean([run["human"]["value"] for run in runs]))
        cells = [
            variant.combine,
            context.replace("+", " + "),
            f"{people:.3f}",
            f"{people + 1 - 2 * float(np.mean([run['performance'] for run in runs])):.3f}",
            *(over_seeds([run[name] for run in runs]) for name in ("performance", "right")),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
