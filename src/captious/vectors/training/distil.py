"""Makes the default word vectors from a sentence encoder.

    python -m captious.vectors.training.distil DATA_DIR [--out minilm_words.npz]

Every word is encoded by itself, as the only content of a fixed phrase. The vectors are centred on the mean content word of captions, rotated to their principal
axes with the axes' spread evened out in part, cut to fewer dimensions, weighted so that common words count less (which
matters where vectors are averaged), and rounded to small whole numbers with one scale per word. The constants were
chosen on THumB, CapEval1k, Crisscrossed Captions and on telling captions of an image from captions of others; see
docs/vectors.md.
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

from captious.cache import atomic_write
from captious.errors import InputError, one_message
from captious.text import tokenizers
from captious.text.stopwords import ENGLISH
from captious.vectors.default import PATH
from captious.vectors.sentences import SentenceEncoder

Floats = NDArray[np.float64]

#: Caption files below the data folder, and the field that holds captions.
CAPTIONS = (
    ("coco/references.jsonl.gz", "captions"),
    ("flickr30k/captions.jsonl.gz", "captions"),
    ("nocaps/val.jsonl.gz", "caption"),
)
FREQUENCIES = "coco/df_val2014.tsv.gz"

#: What is encoded for a word. A phrase of captions tells the encoder to expect something visible.
TEMPLATE = "a photo of {}."
WORDS = 40_000
DIMENSION = 256
#: How far the spread along the axes is evened out: 0 not at all, 1 completely.
WHITENING = 0.75
#: A word with frequency p is weighted by a / (a + p) (Arora et al. 2017).
SMOOTHING = 0.01
#: Largest code. Six bits: the rounding adds less than a thousandth of the variance, and the file packs well.
LEVELS = 31

_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*")


def caption_words(data: Path) -> Counter[str]:
    """How often captions use each word; words of the frequency table that these captions lack count 0."""
    counts: Counter[str] = Counter()
    tokenize = tokenizers.get("ptb")
    for name, field in CAPTIONS:
        words, _ = tokenize([text for row in _rows(data / name) for text in row[field]])
        counts.update(word for word in words if any(letter.isalnum() for letter in word))
    with gzip.open(data / FREQUENCIES, "rt", encoding="utf-8") as lines:
        for line in lines:
            word = line.partition("\t")[0]
            if word and not any(letter.isspace() for letter in word) and any(letter.isalnum() for letter in word):
                counts[word] += 0
    return counts


def _rows(path: Path) -> Iterator[dict[str, list[str]]]:
    if not path.is_file():
        raise InputError(f"{path} is not there; give the folder that holds coco/, flickr30k/ and nocaps/")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def word_list(counts: Counter[str], common: Iterable[str], size: int) -> list[str]:
    """The words of captions, commonest first, then the commonest other English words."""
    listed = dict.fromkeys(sorted(counts, key=lambda word: (-counts[word], word)))
    listed.update(dict.fromkeys(word for word in common if _WORD.fullmatch(word)))
    return list(listed)[:size]


def reduce(vectors: Floats, frequency: Floats, content: NDArray[np.bool_], dimension: int = DIMENSION) -> Floats:
    """Centre, even out, cut and weight; rows have length one on average."""
    weight = frequency * content
    centred = vectors - weight @ vectors / weight.sum()
    # Axes of the words that captions use, but not only of the few commonest: square roots of frequencies.
    spread = np.sqrt(weight)
    values, axes = np.linalg.eigh((centred * spread[:, None]).T @ centred / spread.sum())
    values, axes = values[::-1][:dimension], axes[:, ::-1][:, :dimension]
    # The sign of an axis is arbitrary; fixed, so that two runs give one file.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimension)])
    even = centred @ axes * np.maximum(values / values[0], 1e-6) ** (-WHITENING / 2)
    weighted: Floats = even * (SMOOTHING / (SMOOTHING + frequency))[:, None]
    weighted /= np.linalg.norm(weighted, axis=1).mean()
    return weighted


def quantise(vectors: Floats, levels: int = LEVELS) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Small whole numbers and one scale per row."""
    scales = np.maximum(np.abs(vectors).max(axis=1) / levels, 1e-12).astype(np.float32)
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales


def main(arguments: list[str] | None = None) -> None:
    """Make the table and write it."""
    parser = argparse.ArgumentParser(prog="python -m captious.vectors.training.distil", description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="the public data folder")
    parser.add_argument("--model", default=None, help="folder of the sentence encoder (default: the installed package)")
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--dimension", type=int, default=DIMENSION)
    parser.add_argument("--out", type=Path, default=PATH)
    given = parser.parse_args(arguments)
    from captious.vectors.glove import words_by_frequency

    counts = caption_words(given.data)
    words = word_list(counts, words_by_frequency(), given.words)
    frequency = np.array([counts[word] for word in words], np.float64) / sum(counts.values())
    content = np.array([word not in ENGLISH for word in words])
    vectors = SentenceEncoder(given.model).encode([TEMPLATE.format(word) for word in words]).astype(np.float64)
    codes, scales = quantise(reduce(vectors, frequency, content, given.dimension))
    with atomic_write(given.out) as temporary, temporary.open("wb") as out:
        packed = np.frombuffer("\n".join(words).encode("utf-8"), np.uint8)
        np.savez_compressed(out, words=packed, codes=codes, scales=scales)
    used = sum(count > 0 for count in counts.values())
    print(f"{given.out}: {len(words):,} words ({used:,} seen in captions) × {codes.shape[1]}, {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    with one_message():
        main()
