"""Distillation of the default word vectors from a sentence encoder.

    python -m captious.training.distil_vectors DATA_DIR [--out minilm_words.npz]

Every word is encoded alone in a fixed phrase. The vectors are centred on the mean content word of captions,
rotated to their principal axes with partial whitening, reduced in dimension, weighted so that common words
count less (which matters when vectors are averaged), and quantised with one scale per word. The constants
were chosen on THumB, CapEval1k, Crisscrossed Captions and on the discrimination of captions of an image from
captions of others (see docs/background/vectors.md).
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, one_message
from captious.core.writing import atomic_write
from captious.text import tokenizers
from captious.text.stopwords import ENGLISH
from captious.vectors.packaged_vectors import DEFAULT
from captious.vectors.sentence_vectors import SentenceEncoder

Floats = NDArray[np.float64]

#: Caption files in the data folder, with the field of the captions.
CAPTIONS = (
    ("coco/references.jsonl.gz", "captions"),
    ("flickr30k/captions.jsonl.gz", "captions"),
    ("nocaps/val.jsonl.gz", "caption"),
)
FREQUENCIES = "coco/df_val2014.tsv.gz"

#: The phrase that is encoded for a word. It resembles a caption, so that the encoder expects something
#: visible.
TEMPLATE = "a photo of {}."
WORDS = 40_000
DIMENSION = 256
#: Degree of whitening, from 0 (none) to 1 (complete).
WHITENING = 0.75
#: A word with frequency p is weighted by a / (a + p) (Arora et al. 2017).
SMOOTHING = 0.01
#: Largest code. With six bits, rounding adds less than 0.1 % of the variance, and the file compresses well.
LEVELS = 31

_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")


def caption_words(data: Path) -> Counter[str]:
    """Count the words of captions. Words of the frequency table that do not occur in them count 0."""
    counts: Counter[str] = Counter()
    tokenize = tokenizers.get("ptb")
    for name, field in CAPTIONS:
        words, _ = tokenize([text for row in _rows(data / name) for text in row[field]])
        counts.update(word for word in words if any(letter.isalnum() for letter in word))
    with gzip.open(data / FREQUENCIES, "rt", encoding="utf-8") as lines:
        for line in lines:
            word = line.partition("\t")[0]
            if (
                word
                and not any(letter.isspace() for letter in word)
                and any(letter.isalnum() for letter in word)
            ):
                counts[word] += 0
    return counts


def _rows(path: Path) -> Iterator[dict[str, list[str]]]:
    if not path.is_file():
        raise InputError(f"{path} is not there; pass the folder that contains coco/, flickr30k/ and nocaps/")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def word_list(counts: Counter[str], common: Iterable[str], size: int) -> list[str]:
    """Return the words of captions, the most common first, then the most common other English words."""
    listed = dict.fromkeys(sorted(counts, key=lambda word: (-counts[word], word)))
    listed.update(dict.fromkeys(word for word in common if _WORD.fullmatch(word)))
    return list(listed)[:size]


def reduce(
    vectors: Floats, frequency: Floats, content: NDArray[np.bool_], dimension: int = DIMENSION
) -> Floats:
    """Centre, whiten, reduce and weight the vectors. Rows have unit length on average."""
    weight = frequency * content
    centred = vectors - weight @ vectors / weight.sum()
    # Square roots of frequencies, so that the axes are not determined by the few most common words.
    spread = np.sqrt(weight)
    values, axes = np.linalg.eigh((centred * spread[:, None]).T @ centred / spread.sum())
    values, axes = values[::-1][:dimension], axes[:, ::-1][:, :dimension]
    # The sign of an axis is arbitrary. It is fixed so that two runs write the same file.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimension)])
    even = centred @ axes * np.maximum(values / values[0], 1e-6) ** (-WHITENING / 2)
    weighted: Floats = even * (SMOOTHING / (SMOOTHING + frequency))[:, None]
    weighted /= np.linalg.norm(weighted, axis=1).mean()
    return weighted


def quantise(vectors: Floats, levels: int = LEVELS) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return the rows as small integers, with one scale per row."""
    scales = np.maximum(np.abs(vectors).max(axis=1) / levels, 1e-12).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def main(arguments: list[str] | None = None) -> None:
    """Compute the table and write it."""
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.distil_vectors", description=__doc__.split("\n")[0]
    )
    parser.add_argument("data", type=Path, help="the public data folder")
    parser.add_argument(
        "--model", default=None, help="folder of the sentence encoder (default: the installed package)"
    )
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--dimension", type=int, default=DIMENSION)
    parser.add_argument("--out", type=Path, default=DEFAULT)
    options = parser.parse_args(arguments)
    from captious.vectors.packaged_vectors import glove_words

    counts = caption_words(options.data)
    words = word_list(counts, glove_words(), options.words)
    frequency = np.array([counts[word] for word in words], np.float64) / sum(counts.values())
    content = np.array([word not in ENGLISH for word in words])
    vectors = (
        SentenceEncoder(options.model).encode([TEMPLATE.format(word) for word in words]).astype(np.float64)
    )
    codes, scales = quantise(reduce(vectors, frequency, content, options.dimension))
    with atomic_write(options.out) as temporary, temporary.open("wb") as out:
        packed = np.frombuffer("\n".join(words).encode("utf-8"), np.uint8)
        np.savez_compressed(out, words=packed, codes=codes, scales=scales)
    used = sum(count > 0 for count in counts.values())
    print(
        f"{options.out}: {len(words):,} words ({used:,} seen in captions) × {codes.shape[1]}, "
        f"{options.out.stat().st_size:,} bytes"
    )


if __name__ == "__main__":
    with one_message():
        main()
