"""The measures of sets by their definitions, image by image. Benchmarks and tests compare with them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Words = Sequence[str]
Floats = NDArray[np.float64]


def ngrams(words: Words, n: int) -> Counter[tuple[str, ...]]:
    """Count n-grams."""
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def document_frequencies(references: Sequence[Sequence[Words]]) -> Counter[tuple[str, ...]]:
    """Count the images whose references contain each n-gram."""
    counts: Counter[tuple[str, ...]] = Counter()
    for captions in references:
        counts.update({gram for words in captions for n in range(1, 5) for gram in ngrams(words, n)})
    return counts


def weigh(
    words: Words, n: int, df: Mapping[tuple[str, ...], int], images: int
) -> dict[tuple[str, ...], float]:
    """Return tf-idf weights."""
    log = math.log(images)
    return {
        gram: count * (log - math.log(max(1, df.get(gram, 0)))) for gram, count in ngrams(words, n).items()
    }


def cider(a: Words, b: Words, df: Mapping[tuple[str, ...], int], images: int, *, clip: bool = False) -> float:
    """Return CIDEr (or, with ``clip``, CIDEr-D) of two captions, between 0 and 1."""
    total = 0.0
    for n in range(1, 5):
        first, second = weigh(a, n, df, images), weigh(b, n, df, images)
        norms = math.sqrt(sum(w * w for w in first.values())) * math.sqrt(sum(w * w for w in second.values()))
        if norms > 0:
            product = sum(
                (min(w, second[gram]) if clip else w) * second[gram]
                for gram, w in first.items()
                if gram in second
            )
            total += product / norms
    if clip:
        total *= math.exp(-((max(len(a) - 1, 0) - max(len(b) - 1, 0)) ** 2) / 72.0)
    return total / 4


def spread(singular: Floats) -> float:
    """Return −log_m of the share of the largest value."""
    m, total = len(singular), singular.sum()
    return 0.0 if m < 2 or total == 0 else -math.log(singular.max() / total) / math.log(m)


def self_cider(
    captions: Sequence[Words], df: Mapping[tuple[str, ...], int], images: int, *, clip: bool = False
) -> float:
    """Return Self-CIDEr of one set."""
    kernel = np.array([[cider(a, b, df, images, clip=clip) for b in captions] for a in captions])
    values = np.linalg.eigvalsh((kernel + kernel.T) / 2)
    values[np.abs(values) < 1e-12 * np.abs(values).max(initial=0.0)] = 0.0
    return spread(np.sqrt(np.clip(values, 0.0, None)))


def lsa(captions: Sequence[Words]) -> float:
    """Return LSA diversity of one set."""
    vocabulary = sorted({word for words in captions for word in words})
    counts = np.array([[Counter(words)[word] for word in vocabulary] for words in captions], dtype=np.float64)
    if not vocabulary:
        return 0.0
    singular = np.zeros(len(captions))
    values = np.linalg.svd(counts, compute_uv=False)
    singular[: len(values)] = values
    return spread(singular)


def bleu(words: Words, references: Sequence[Words]) -> list[float]:
    """Return sentence BLEU-1…4 as in the COCO tools."""
    closest = min((abs(len(r) - len(words)), len(r)) for r in references)[1]
    ratio = (len(words) + 1e-15) / (closest + 1e-9)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, out = 1.0, []
    for n in range(1, 5):
        most: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            most |= ngrams(reference, n)
        matched = sum(min(count, most[gram]) for gram, count in ngrams(words, n).items())
        product *= (matched + 1e-15) / (max(0, len(words) - n + 1) + 1e-9)
        out.append(product ** (1 / n) * penalty)
    return out


def mbleu(captions: Sequence[Words]) -> list[float]:
    """Return mBLEU-1…4 of one set of at least two captions with words."""
    each = [bleu(words, [*captions[:i], *captions[i + 1 :]]) for i, words in enumerate(captions)]
    return [float(value) for value in np.mean(each, axis=0)]


def div(captions: Sequence[Words], n: int) -> float:
    """Return Div-n of one set."""
    words = sum(len(c) for c in captions)
    return len({gram for c in captions for gram in ngrams(c, n)}) / words if words else 0.0


def accuracy(
    captions: Sequence[Words], references: Sequence[Words], df: Mapping[tuple[str, ...], int], images: int
) -> list[float]:
    """Return CIDEr-D of each caption."""
    return [10 * float(np.mean([cider(c, r, df, images, clip=True) for r in references])) for c in captions]


def measure(
    captions: Sequence[Words], references: Sequence[Words], df: Mapping[tuple[str, ...], int], images: int
) -> dict[str, float]:
    """Return every measure of one set."""
    blue = mbleu(captions)
    cider_d = accuracy(captions, references, df, images)
    out = {"LSA": lsa(captions), "Self-CIDEr": self_cider(captions, df, images)}
    out |= {f"mBLEU-{n}": blue[n - 1] for n in range(1, 5)}
    out |= {f"1-mBLEU-{n}": 1 - blue[n - 1] for n in range(1, 5)}
    out |= {"mBLEU-mix": float(np.mean(blue)), "1-mBLEU-mix": 1 - float(np.mean(blue))}
    out |= {"Div-1": div(captions, 1), "Div-2": div(captions, 2)}
    out["Vocabulary"] = float(len({word for words in captions for word in words}))
    out["Unique"] = len({tuple(words) for words in captions}) / len(captions)
    out["mean CIDEr-D"], out["oracle CIDEr-D"] = float(np.mean(cider_d)), max(cider_d)
    return out
