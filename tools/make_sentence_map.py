"""Make the map of the sentence encoder's vectors that ships.

python -m tools.make_sentence_map DATA --work FOLDER --encode    # five minutes on an idle core; resumable
python -m tools.make_sentence_map DATA --work FOLDER             # the map, from what is encoded

It is learned so that an image's captions find a further caption of it among those of similar images.
"""

from __future__ import annotations

import argparse
import zipfile
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from captious.core.writing import atomic_write
from captious.vectors import sentence_map
from captious.vectors.sentence_vectors import SentenceEncoder
from tools.make_caption_map import NEEDED, Images, learn, references

SEED = 1
#: Images whose captions are encoded at a time, and captions of a batch. All texts of a batch are equally long.
IMAGES, BATCH = 2000, 64
#: Images of a step, the number of maps that are averaged, and the rank of their difference from the identity.
NEIGHBOURS, SEEDS, RANK = 64, 4, 64

Floats = NDArray[np.float32]


def groups(data: Path) -> list[list[str]]:
    """Captions of each image in random order, without images of judged sets and of Flickr8k."""
    listed = references(data)
    return [listed[k] for k in np.random.default_rng(SEED).permutation(len(listed))]


def encode(texts: list[str], folder: Path) -> Floats:
    """Unit vectors by all-MiniLM-L6-v2 in bfloat16: 2.5 times as fast as ours, cosine 0.99996 with it."""
    from transformers import AutoModel

    own = SentenceEncoder()
    if not (folder / "model").exists():
        with zipfile.ZipFile(own.source) as archive:
            archive.extractall(folder / "model")
    model = AutoModel.from_pretrained(folder / "model", dtype=torch.bfloat16).eval()
    # token_numbers leaves out the marks of beginning and end that the network sees.
    numbers = [np.concatenate([[101], tokens, [102]]) for tokens in own.token_numbers(texts)]
    lengths = np.array([len(tokens) for tokens in numbers])
    vectors = np.empty((len(texts), own.dimension), np.float32)
    with torch.inference_mode():
        for length in np.unique(lengths):
            rows = np.flatnonzero(lengths == length)
            for batch in np.array_split(rows, -(-len(rows) // BATCH)):
                inputs = torch.from_numpy(np.stack([numbers[k] for k in batch]))
                states = model(input_ids=inputs).last_hidden_state.float().mean(1)
                vectors[batch] = functional.normalize(states, dim=1).numpy()
    return vectors


def encode_all(images: list[list[str]], work: Path) -> None:
    """Write the vectors of all captions, chunk by chunk, in half precision."""
    for start in range(0, len(images), IMAGES):
        path = work / f"captions-{start // IMAGES:03}.npy"
        if path.exists():
            continue
        texts = list(chain.from_iterable(images[start : start + IMAGES]))
        vectors = encode(texts, work).astype(np.float16)
        with atomic_write(path) as temporary, temporary.open("wb") as out:
            np.save(out, vectors)
        print(f"{min(start + IMAGES, len(images)):,} of {len(images):,} images", flush=True)


def encoded(images: list[list[str]], work: Path) -> Images:
    """Vectors of the captions that are encoded."""
    paths = sorted(work.glob("captions-*.npy"))
    vectors = np.concatenate([np.load(path) for path in paths]).astype(np.float32)
    ends = np.cumsum([len(group) for group in images[: len(paths) * IMAGES]]).tolist()
    captions = [list(range(end - len(group), end)) for group, end in zip(images, ends)]
    return Images(vectors, [own for own in captions if len(own) >= NEEDED])


def main() -> None:
    """Encode, or learn the map and write it in half precision."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--encode", action="store_true")
    parser.add_argument("--out", type=Path, default=sentence_map.FILE)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    listed = groups(options.data)
    if options.encode:
        encode_all(listed, options.work)
        return
    images = encoded(listed, options.work)
    print(f"{len(images.captions):,} images", flush=True)
    maps = [learn(images, seed, NEIGHBOURS, both=False) for seed in range(SEEDS)]
    change = np.mean(maps, axis=0).astype(np.float64) - np.eye(maps[0].shape[0])
    left, sizes, right = np.linalg.svd(change)
    print(f"rank {RANK} keeps {(sizes[:RANK] ** 2).sum() / (sizes**2).sum():.4f} of the squared change")
    root = np.sqrt(sizes[:RANK])
    arrays = {
        "left": (left[:, :RANK] * root).astype(np.float16),
        "right": (right[:RANK] * root[:, None]).astype(np.float16),
        "encoder": np.array(sentence_map.fingerprint(SentenceEncoder())),
    }
    with atomic_write(options.out) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, **arrays)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
