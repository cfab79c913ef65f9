"""Make the caption vectors that ship: units of text whose weighted sum is near a sentence encoder's vector.

python -m tools.make_caption_vectors DATA --work FOLDER --encode    # slow; resumable, in chunks
python -m tools.make_caption_vectors DATA --work FOLDER             # the fit, from what is encoded
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from captious.core.ragged import offsets_of
from captious.core.writing import atomic_write
from captious.text import tokenizers
from captious.training.distil_vectors import quantise
from captious.vectors.caption_vectors import FILE, gram_buckets, load
from captious.vectors.packaged_vectors import DEFAULT, load_default
from captious.vectors.sentence_vectors import SentenceEncoder

SEED = 1
#: Captions encoded at a time.
CHUNK = 2048
#: Longer texts are split into sentences; the whole text is a caption of its own, too.
LONG = 30
#: A word by itself is encoded in this phrase.
TEMPLATE = "a photo of {}."
#: Smallest number of occurrences of a word (one of them by itself) and of a pair.
MIN_WORD, MIN_PAIR = 3, 60
DIMENSION = 128
#: Penalties on what the fit adds to the start, and on character n-grams.
WORD_PENALTY, PAIR_PENALTY, GRAM_PENALTY = 5.0, 20.0, 0.02
ITERATIONS = 40
#: Weight of a word by itself, beside that of a caption.
ALONE = 0.2
#: Rows of character n-grams.
BUCKETS = 4096
#: Largest code: 8 bits.
LEVELS = 127

Floats = NDArray[np.float32]

#: Sets of judgements whose rated captions are never fitted, with the fields that hold them.
RATED = {
    "thumb/thumb": ("hyp",),
    "capeval1k/capeval1k": ("caption",),
    "composite/sample": ("caption",),
    "pascal50s/sample_pairs": ("sent1", "sent2"),
    "hat/hat": ("caption",),
    "nocaps_foil/pairs": ("baseline", "foil"),
    "audio/fluency": ("caption",),
    "flickr8k/captions": ("captions",),
    "flickr8k/expert": ("caption",),
    "flickr8k/crowdflower": ("caption",),
}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Read a gzipped file with one JSON object per line."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def sources(data: Path) -> Iterator[str]:
    """Texts of images that are not held back, and never those of Flickr8k's images."""
    flickr8k = {row["image"].partition("_")[0] for row in rows(data / "flickr8k/captions.jsonl.gz")}
    for row in rows(data / "flickr30k/captions.jsonl.gz"):
        # File names of both sets begin with the number of the photograph on Flickr.
        if row["image"].partition(".")[0] not in flickr8k:
            yield from row["captions"]
    images = set()
    for row in rows(data / "coco/references.jsonl.gz"):
        images.add(row["image_id"])
        yield from row["captions"]
    for row in rows(data / "nocaps/val.jsonl.gz"):
        yield from row["caption"]
    for path in sorted((data / "coco/systems").glob("*.jsonl.gz")):
        yield from (row["caption"] for row in rows(path) if row["image_id"] in images)
    for name in (
        "coco/spice_example_system",
        "karpathy_test/LLaVA-1.5-7B",
        "karpathy_test/LLaVA-1.5-7B-briefly",
        "comprecap/GPT-4o",
        "comprecap/LLaVA-NeXT-34B",
        "audio/audiocaps_val",
    ):
        yield from (row["caption"] for row in rows(data / f"{name}.jsonl.gz"))
    for row in rows(data / "decapbench/oracle_facts.jsonl.gz"):
        yield row["oracle_caption"]


def texts_of(field: Any) -> Iterator[str]:
    """Texts in a field: one, a list, or none."""
    if isinstance(field, str):
        yield field
    elif isinstance(field, list):
        yield from (text for text in field if isinstance(text, str))


def tokens_of(texts: list[str]) -> list[str]:
    """Tokens of each text, joined by blanks: two captions with the same ones count as one."""
    words, lengths = tokenizers.get("ptb")(texts)
    ends = np.cumsum(lengths).tolist()
    return [" ".join(words[end - length : end]) for end, length in zip(ends, lengths)]


def collect(data: Path) -> list[str]:
    """Words by themselves, then distinct texts, those first that say what few others say."""
    split: list[str] = []
    for text in sources(data):
        text = " ".join(text.split())
        split.append(text)
        if text.count(" ") >= LONG:
            split.extend(part for part in re.split(r"(?<=[.!?]) +", text) if part != text)
    rated = [
        text
        for name, fields in RATED.items()
        for row in rows(data / f"{name}.jsonl.gz")
        for field in fields
        for text in texts_of(row.get(field))
    ]
    seen = set(tokens_of(rated)) | {""}
    distinct: list[str] = []
    keys: list[str] = []
    for text, key in zip(split, tokens_of(split)):
        if key not in seen:
            seen.add(key)
            distinct.append(text)
            keys.append(key)
    order = np.random.default_rng(SEED).permutation(len(distinct)).tolist()
    words = [key.split(" ") for key in keys]
    return [*single_words(words), *(distinct[place] for place in by_coverage(words, order))]


def single_words(words: list[list[str]]) -> list[str]:
    """Every word with a letter by itself, as a caption: the only evidence for many rare words."""
    listed = sorted({word for caption in words for word in caption if any(map(str.isalpha, word))})
    return [TEMPLATE.format(word) for word in listed]


def by_coverage(words: list[list[str]], order: list[int]) -> list[int]:
    """Order captions so that every word is seen once early, then twice, four times, and so on."""
    counts: Counter[str] = Counter()
    chosen: list[int] = []
    left = sorted(order, key=lambda place: len(words[place]) > LONG)
    for needed in (1, 2, 4, 8, 16, 32, 64, 128):
        later = []
        for place in left:
            if any(counts[word] < needed for word in words[place]):
                chosen.append(place)
                counts.update(words[place])
            else:
                later.append(place)
        left = later
    return chosen + left


def encoded(work: Path) -> tuple[list[str], NDArray[np.float32]]:
    """Texts of the work folder with their vectors."""
    texts: list[str] = []
    vectors = []
    for path in sorted(work.glob("vectors-*.npy")):
        texts += path.with_suffix(".txt").read_text(encoding="utf-8").split("\n")
        vectors.append(np.load(path).astype(np.float32))
    return texts, np.concatenate(vectors) if vectors else np.zeros((0, 0), np.float32)


def listed_only(texts: list[str], vectors: Floats, listed: list[str]) -> tuple[list[str], Floats]:
    """Encoded texts that are listed: a work folder may hold others, such as rated captions."""
    allowed = set(listed)
    chosen = [place for place, text in enumerate(texts) if text in allowed]
    return [texts[place] for place in chosen], vectors[chosen]


def encode(texts: list[str], work: Path) -> None:
    """Write the vectors of texts that have none yet, chunk by chunk, in half precision."""
    done = set(encoded(work)[0])
    left = [text for text in texts if text not in done]
    encoder = SentenceEncoder()
    for start in range(0, len(left), CHUNK):
        chunk = left[start : start + CHUNK]
        vectors = encoder.encode(chunk).astype(np.float16)
        path = work / f"vectors-{len(done) + start:07}.npy"
        path.with_suffix(".txt").write_text("\n".join(chunk), encoding="utf-8")
        with atomic_write(path) as temporary, temporary.open("wb") as out:
            np.save(out, vectors)
        print(f"{len(done) + start + len(chunk):,} of {len(texts):,}", flush=True)


class Units(NamedTuple):
    """Words and pairs of neighbouring words, by number; words first."""

    words: dict[str, int]
    pairs: dict[tuple[str, str], int]

    @property
    def size(self) -> int:
        return len(self.words) + len(self.pairs)

    def counts(self, captions: list[list[str]]) -> Any:
        """How often each caption has each unit, as a sparse matrix."""
        flat: list[int] = []
        offsets = [0]
        for caption in captions:
            flat += [self.words[word] for word in caption if word in self.words]
            flat += [self.pairs[pair] for pair in itertools.pairwise(caption) if pair in self.pairs]
            offsets.append(len(flat))
        shape = (len(captions), self.size)
        return sparse.csr_matrix((np.ones(len(flat), np.float32), flat, offsets), shape=shape)


def choose_units(captions: list[list[str]]) -> Units:
    """Words that occur twice, and frequent pairs of them, in the order of their frequency."""
    counts = Counter(word for caption in captions for word in caption)
    common = Counter(pair for caption in captions for pair in itertools.pairwise(caption))
    words = sorted(
        (word for word, count in counts.items() if count >= MIN_WORD), key=lambda w: (-counts[w], w)
    )
    listed = dict(zip(words, range(len(words))))
    pairs = sorted(
        (
            pair
            for pair, count in common.items()
            if count >= MIN_PAIR and pair[0] in listed and pair[1] in listed
        ),
        key=lambda pair: (-common[pair], pair),
    )
    return Units(listed, dict(zip(pairs, range(len(words), len(words) + len(pairs)))))


def principal(vectors: Floats) -> Floats:
    """Unit vectors on the axes along which captions differ most. Signs of axes are fixed."""
    _, axes = np.linalg.eigh((vectors.T @ vectors / len(vectors)).astype(np.float64))
    axes = axes[:, ::-1][:, :DIMENSION]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(DIMENSION)])
    reduced = vectors @ axes.astype(np.float32)
    unit: Floats = reduced / np.linalg.norm(reduced, axis=1, keepdims=True)
    return unit


def ridge(inputs: Any, targets: Floats, penalty: Floats) -> Floats:
    """Least squares with a penalty per row, by conjugate gradients on all columns at once."""
    square = (inputs.T @ inputs).tocsr()
    scale = (square.diagonal() + penalty)[:, None]
    solution = np.zeros((square.shape[0], targets.shape[1]), np.float32)
    rest = inputs.T @ targets
    step = rest / scale
    size = (rest * step).sum(axis=0)
    for _ in range(ITERATIONS):
        image = square @ step + penalty[:, None] * step
        length = size / np.maximum((step * image).sum(axis=0), 1e-20)
        solution += length * step
        rest -= length * image
        scaled = rest / scale
        size, before = (rest * scaled).sum(axis=0), size
        step = scaled + size / np.maximum(before, 1e-20) * step
    return solution


def grams_of(words: list[str]) -> Any:
    """Mean of the character n-grams of each word, as a sparse matrix."""
    buckets = [gram_buckets(word, BUCKETS) for word in words]
    lengths = np.array([len(own) for own in buckets])
    flat = [bucket for own in buckets for bucket in own]
    weights = np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32)
    return sparse.csr_matrix((weights, flat, offsets_of(lengths)), shape=(len(words), BUCKETS))


def fit(texts: list[str], vectors: Floats, listed: list[str]) -> dict[str, NDArray[Any]]:
    """Fit the table to encoded texts; ``listed`` are all texts, encoded or not, which choose the units."""
    units = choose_units([key.split(" ") for key in tokens_of(listed)])
    inputs, targets = units.counts([key.split(" ") for key in tokens_of(texts)]), principal(vectors)
    # Words by themselves are many, and short: they count less than captions.
    alone = np.array(
        [text.startswith(TEMPLATE[:11]) and text.count(" ") == TEMPLATE.count(" ") for text in texts]
    )
    weights = np.where(alone, np.sqrt(ALONE), 1.0).astype(np.float32)
    inputs, targets = (sparse.diags(weights) @ inputs).tocsr(), targets * weights[:, None]
    # Start: the word vectors of the default table, turned so that their sums are as near as they can be.
    default = load_default()
    known = np.zeros((units.size, default.dimension), np.float32)
    known[: len(units.words)] = default.lookup(list(units.words))[0]
    sums = inputs @ known
    turn = np.linalg.solve(sums.T @ sums + np.eye(default.dimension), sums.T @ targets).astype(np.float32)
    start = known @ turn
    penalty = np.full(units.size, WORD_PENALTY, np.float32)
    penalty[len(units.words) :] = PAIR_PENALTY
    table = start + ridge(inputs, targets - inputs @ start, penalty)
    cosines = np.einsum("ij,ij->i", scaled_rows(inputs @ table), scaled_rows(targets))
    print(
        f"{len(units.words):,} words, {len(units.pairs):,} pairs; {len(texts):,} texts, cosine {cosines.mean():.4f}"
    )
    # Character n-grams: as near as their mean gets to the words of the default table.
    every = list(dict.fromkeys([*units.words, *distilled_words()]))
    rows = default.lookup(every)[0] @ turn
    rows[: len(units.words)] = table[: len(units.words)]
    grams = ridge(grams_of(every), rows, np.full(BUCKETS, GRAM_PENALTY, np.float32))
    codes, scales = quantise(table.astype(np.float64), LEVELS)
    gram_codes, gram_scales = quantise(grams.astype(np.float64), LEVELS)
    pairs = np.array([[units.words[a], units.words[b]] for a, b in units.pairs], np.int32)
    return {
        "words": np.frombuffer("\n".join(units.words).encode(), np.uint8),
        "pairs": pairs.reshape(-1, 2),
        "codes": codes,
        "scales": scales,
        "gram_codes": gram_codes,
        "gram_scales": gram_scales,
    }


def scaled_rows(rows: Floats) -> Floats:
    """Rows of length one."""
    unit: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return unit


def distilled_words() -> list[str]:
    """Words of the default table with vectors of their own."""
    with np.load(DEFAULT) as data:
        return str(data["words"].tobytes().decode()).split("\n")


def main() -> None:
    """Collect, encode, fit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--encode", action="store_true")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    listed = options.work / "captions.txt"
    if not listed.exists():
        listed.write_text("\n".join(collect(options.data)), encoding="utf-8")
    texts = listed.read_text(encoding="utf-8").split("\n")
    if options.encode:
        encode(texts, options.work)
        return
    arrays = fit(*listed_only(*encoded(options.work), texts), texts)
    with atomic_write(options.out) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, **arrays)
    print(f"{options.out}: {load(options.out).digest}, {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
