"""Long captions, as vision-language models write them: every metric beside its reference tool, and growth with length.

    python -m benchmarks.long [--images 1000] [--java DIR] [--java-images 8] [--json OUT]
    python -m benchmarks.long --growth [--most 10000] [--metrics NAME,…] [--json OUT]

Captions of 300 words and references of 100 are real captions put one after another as sentences, by a seeded script.
Fresh processes from files to numbers on both sides; METEOR is the jar that pycocoevalcap runs; Java SPICE is timed on a few
images and carried to all (DIR is the folder with its jars). ``--growth`` shows processor milliseconds per thousand words for longer and
longer captions, of which there are fewer and fewer; a measure that grows with the square of the length would double in each row.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from pathlib import Path
from typing import Any

from benchmarks.common import coco
from captious.corpus import Corpus
from captious.measures.making import make_measures
from captious.threads import working

WORDS, REFERENCE_WORDS, REFERENCES = 300, 100, 5
LENGTHS = (50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000)
METRICS = "BLEU-4,ROUGE-L,CIDEr-D,CIDEr,METEOR,SPICE,WMD,WEmbSim,HWCM-4,Recall-1,SPICE-U"


class Writer:
    """Long texts of real sentences."""

    def __init__(self, seed: int = 0) -> None:
        references, predictions = coco()
        self.draw = random.Random(seed)
        self.sentences = [self._sentence(text) for own in references.values() for text in own]
        self.predicted = [self._sentence(text) for text in predictions.values()]

    @staticmethod
    def _sentence(text: str) -> str:
        text = text.strip().rstrip(".").strip()
        return f"{text[:1].upper()}{text[1:]}."

    def text(self, words: int, own: bool) -> str:
        """Sentences until there are so many words, the last one cut."""
        found: list[str] = []
        while len(found) < words:
            found += self.draw.choice(self.predicted if own else self.sentences).split()
        return " ".join(found[:words])

    def rows(self, images: int, words: int, reference_words: int) -> list[tuple[str, list[str]]]:
        """Captions with their references."""
        return [(self.text(words, True), [self.text(reference_words, False) for _ in range(REFERENCES)]) for _ in range(images)]


def growth(metrics: str, most: int, total: int) -> dict[str, dict[int, float]]:
    """Processor milliseconds per thousand words of the captions, by metric and length; references are as long as captions."""
    writer = Writer()
    told: dict[str, dict[int, float]] = {}
    made = make_measures(metrics, {})
    for words in LENGTHS:
        if words > most:
            break
        images = max(total // words, 2)
        rows = writer.rows(images, words, words)
        start = time.process_time()
        corpus = Corpus.build([str(i) for i in range(images)], [[text] for text, _ in rows], [own for _, own in rows])
        spent = {"words": time.process_time() - start}
        for measure in made:
            start = time.process_time()
            measure.statistics(corpus, measure.prepare(corpus.references))
            spent[measure.name] = time.process_time() - start
        for name, seconds in spent.items():
            told.setdefault(name, {})[words] = 1e6 * seconds / (images * words)
        print(f"{words:6d} " + "  ".join(f"{name} {told[name][words]:.1f}" for name in spent), flush=True)
    return told
