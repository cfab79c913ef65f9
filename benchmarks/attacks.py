"""Attacks on metrics: can a caption gain by tricks that make it no better?

    python -m benchmarks.attacks [--images 200] [-m METRICS]

The captions of one COCO system are changed in ways that add no true statement. For every attack and metric,
the table has the mean score after the attack divided by the mean before, and the share of captions that gain,
with a 95 % interval over images.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from benchmarks.captions import coco
from captious.corpus import Corpus
from captious.metrics.registry import make_measures
from captious.results.scores import Score
from captious.text import tokenizers
from captious.text.stopwords import ENGLISH

METRICS = "BLEU-4,ROUGE-L,METEOR,CIDEr-D,SPICE,WEmbSim,SentenceSim,SentenceSim-lite,CaptiousScore-lite,CaptiousScore"
#: Words that are true of many pictures.
SAFE_WORDS = "in front of a building with a man and a table on a sunny day"
SEED = 1
#: Gains below this share of the mean score before do not count.
NOTHING = 0.01


def words_of(texts: list[str]) -> list[list[str]]:
    """Tokens of each text."""
    words, lengths = tokenizers.get("ptb")(texts)
    ends = np.cumsum(lengths).tolist()
    return [list(words[end - length : end]) for end, length in zip(ends, lengths)]


def most_typical(captions: list[list[str]]) -> str:
    """The caption whose content words are the most common ones."""
    counts = Counter(word for caption in captions for word in set(caption) if word not in ENGLISH)
    return " ".join(
        max(captions, key=lambda c: (np.mean([counts[w] for w in c if w not in ENGLISH] or [0]), c))
    )


def attacks(captions: list[str], references: list[list[str]]) -> dict[str, list[str]]:
    """Every attack's captions, the unchanged ones first."""
    generator = np.random.default_rng(SEED)
    split = words_of(captions)
    vocabulary = sorted({word for caption in split for word in caption if word not in ENGLISH})
    content = [[word for word in caption if word not in ENGLISH] for caption in split]
    typical = most_typical(words_of([text for group in references for text in group]))
    return {
        "unchanged": captions,
        "words true of many pictures appended": [f"{text} {SAFE_WORDS}" for text in captions],
        "five random words appended": [
            " ".join([text, *generator.choice(vocabulary, 5).tolist()]) for text in captions
        ],
        "caption said twice": [f"{text} {text}" for text in captions],
        "content words said three times": [
            " ".join([text, *own, *own]) for text, own in zip(captions, content)
        ],
        "list of its content words": [" ".join(own) for own in content],
        "words in random order": [" ".join(generator.permutation(own).tolist()) for own in split],
        "one typical caption for all": [typical] * len(captions),
    }


def main() -> None:
    """Score all attacks and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("-m", "--metrics", default=METRICS)
    options = parser.parse_args()
    references, predictions = coco(images=options.images)
    ids = list(references)
    variants = attacks([predictions[i] for i in ids], [references[i] for i in ids])
    groups = [list(texts) for texts in zip(*variants.values())]
    corpus = Corpus.build(ids, groups, [references[i] for i in ids])
    draws = np.random.default_rng(SEED).integers(0, len(ids), (1000, len(ids)))
    print(f"typical caption: {variants['one typical caption for all'][0]!r}\n")
    measures = make_measures(options.metrics, {})
    columns = []
    for measure in measures:
        values = Score.of(measure, corpus).per_caption.reshape(len(ids), len(variants))
        before = values[:, 0]
        cells = []
        for k in range(1, len(variants)):
            gains = values[:, k] > before + NOTHING * before.mean()
            low, high = np.percentile(100 * gains[draws].mean(axis=1), [2.5, 97.5])
            ratio = values[:, k].mean() / before.mean()
            cells.append(f"{ratio:.2f} · {100 * gains.mean():.0f} [{low:.0f}, {high:.0f}]")
        columns.append(cells)
    print("| metric | " + " | ".join(list(variants)[1:]) + " |")
    print("|---" * len(variants) + "|")
    for measure, cells in zip(measures, columns):
        print(f"| {measure.name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
