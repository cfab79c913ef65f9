"""Make the map of distilled caption vectors that ships.

python -m tools.make_caption_map DATA

It is learned so that a caption is nearer to other captions of its image than to those of similar images.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from captious.agreement import CaptionPairs, RatedCaptions, load_judgements
from captious.core.writing import atomic_write
from captious.corpus import Corpus
from captious.io.judgements import own_key
from captious.metrics.captions.distilled_captions import distilled_vectors
from captious.vectors import caption_vectors
from tools.make_caption_vectors import rows

#: Sets of judgements whose images are left out: two captions in common with their references.
JUDGED = ("thumb", "capeval1k", "composite", "hat", "nocaps-foil", "pascal-50s")
#: References of an image: one is compared with the centroid of some others.
NEEDED, OTHERS = 5, 4
STEPS, WARM, RATE = 600, 20, 1e-3
#: Temperature of the cosines, and the penalty on the difference from the identity.
TEMPERATURE, PENALTY = 0.05, 10.0
#: Images of a step: one at random and its nearest neighbours.
NEIGHBOURS = 192
#: The maps of several seeds are averaged.
SEEDS = 2

Floats = NDArray[np.float32]


class Images(NamedTuple):
    """Vectors of captions, and the rows of each image's captions."""

    vectors: Floats
    captions: list[list[int]]


def judged_captions(data: Path) -> set[str]:
    """References of the images of judged sets."""
    keys: set[str] = set()
    for name in JUDGED:
        judged = load_judgements(name, data)
        assert isinstance(judged, RatedCaptions | CaptionPairs)
        keys.update(own_key(text) for texts in judged.references for text in texts)
    return keys


def references(data: Path) -> list[list[str]]:
    """Human captions of each image of COCO, Flickr30k and nocaps, without images of judged sets and of Flickr8k."""
    flickr8k = {row["image"].partition("_")[0] for row in rows(data / "flickr8k/captions.jsonl.gz")}
    groups = [list(row["captions"]) for row in rows(data / "coco/references.jsonl.gz")]
    groups += [list(row["caption"]) for row in rows(data / "nocaps/val.jsonl.gz")]
    groups += [
        list(row["captions"])
        for row in rows(data / "flickr30k/captions.jsonl.gz")
        if row["image"].partition(".")[0] not in flickr8k
    ]
    judged = judged_captions(data)
    return [group for group in groups if sum(own_key(text) in judged for text in group) < 2]


def distilled(groups: list[list[str]]) -> Images:
    """Distilled caption vectors of all captions."""
    texts = [text for group in groups for text in group]
    corpus = Corpus.build(["all"], [["a"]], [texts])
    ends = np.cumsum([len(group) for group in groups]).tolist()
    captions = [list(range(end - len(group), end)) for group, end in zip(groups, ends)]
    vectors = distilled_vectors(corpus.references, caption_vectors.load())
    return Images(vectors, [own for own in captions if len(own) >= NEEDED])


def learn(images: Images, seed: int, neighbours: int = NEIGHBOURS, both: bool = True) -> Floats:
    """Return the matrix by which images find their captions among those of similar images.

    With ``both``, captions also find the centroid of their image among those of similar images.
    """
    generator = np.random.default_rng(seed)
    vectors = torch.from_numpy(images.vectors)
    centroids = functional.normalize(torch.stack([vectors[own].mean(0) for own in images.captions]), dim=1)
    size = vectors.shape[1]
    change = torch.zeros(size, size, requires_grad=True)
    optimizer = torch.optim.Adam([change], lr=RATE)
    right = torch.arange(neighbours)
    for step in range(STEPS):
        rate = RATE * min(1.0, (step + 1) / WARM) * (0.5 + 0.5 * np.cos(np.pi * step / STEPS))
        optimizer.param_groups[0]["lr"] = float(rate)
        centre = centroids[int(generator.integers(len(centroids)))]
        near = (centroids @ centre).topk(neighbours).indices.tolist()
        chosen = np.stack([generator.permutation(images.captions[k])[: 1 + OTHERS] for k in near])
        mapped = vectors[torch.from_numpy(chosen)]
        mapped = functional.normalize(mapped + mapped @ change, dim=2)
        cosines = mapped[:, 0] @ functional.normalize(mapped[:, 1:].mean(1), dim=1).T / TEMPERATURE
        loss = functional.cross_entropy(cosines.T, right)
        if both:
            loss = functional.cross_entropy(cosines, right) + loss
        optimizer.zero_grad()
        (loss + PENALTY * (change**2).sum() / size).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    matrix: Floats = (torch.eye(size) + change).detach().numpy()
    return matrix


def main() -> None:
    """Learn the map and write it in half precision."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=caption_vectors.MAP_FILE)
    options = parser.parse_args()
    torch.set_num_threads(1)
    images = distilled(references(options.data))
    print(f"{len(images.captions):,} images", flush=True)
    matrix = np.mean([learn(images, seed) for seed in range(SEEDS)], axis=0)
    arrays = {"matrix": matrix.astype(np.float16), "source": np.array(caption_vectors.load().digest)}
    with atomic_write(options.out) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, **arrays)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
