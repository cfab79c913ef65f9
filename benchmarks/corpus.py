"""Diversity of whole corpora: nine systems × 40,504 captions, and one system beside plain Python.

    python -m benchmarks.corpus            both
    python -m benchmarks.corpus --systems  only the nine systems

Everything is timed in processor seconds of one process (machines are shared). Parsing is timed apart. The plain side
computes length, types, segmented ratios and ten type-token curves with lists and sets, on tokens that are given to it;
ours tokenizes too.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.common import coco, data_folder, in_child, peak_megabytes

T = Any


def plain(sentences: list[list[str]]) -> dict[str, float]:
    """The vocabulary measures, written down as they are defined."""
    words = [word for sentence in sentences for word in sentence]
    lengths = [len(sentence) for sentence in sentences]
    mean = sum(lengths) / len(lengths)
    pairs = list(pairwise(words))

    def ratio(items: Sequence[T]) -> float:
        parts = [items[i : i + 1000] for i in range(0, len(items) - 999, 1000)]
        return sum(len(set(part)) / 1000 for part in parts) / len(parts)

    curves = []
    rng = random.Random(1)
    for _ in range(10):
        seen: set[str] = set()
        curve = []
        for sentence in rng.sample(sentences, len(sentences)):
            for word in sentence:
                seen.add(word)
                curve.append(len(seen))
        curves.append(curve)
    means = [sum(values) / len(values) for values in zip(*curves)]
    deviation = (sum((length - mean) ** 2 for length in lengths) / len(lengths)) ** 0.5
    return {
        "asl": mean, "sdsl": deviation, "types": len(set(words)), "ttr1": ratio(words), "ttr2": ratio(pairs),
        "curve_end": means[-1],
    }  # fmt: skip


def ours(texts: list[str]) -> dict[str, float]:
    import captious
    from captious.corpus import Captions, Corpus
    from captious.metrics.corpus.vocabulary_measures import type_token_curve

    captions = Captions.of([[text] for text in texts], "spacy-like")
    found = captious.score(Corpus(captions), "ASL,SDSL,Types,TTR1,TTR2")
    return {name.lower(): score.value for name, score in found.items()} | {
        "curve_end": type_token_curve(captions).types[-1]
    }


def one_system(side: str) -> None:
    """One side, in a process of its own."""
    references, _ = coco()
    texts = [text for captions in references.values() for text in captions]
    before = peak_megabytes()
    if side == "ours":
        ours(texts[:20_000])  # loads the library of kernels
        start = time.process_time()
        values = ours(texts)
    else:
        from captious.text.spacy_like import tokenize_flat

        flat, counts = tokenize_flat(texts)
        ends = counts.cumsum().tolist()
        sentences = [flat[a:b] for a, b in zip([0, *ends[:-1]], ends)]
        start = time.process_time()
        values = plain(sentences)
    seconds = time.process_time() - start
    print(
        json.dumps(
            {
                "seconds": seconds,
                "values": values,
                "captions": len(texts),
                "megabytes": peak_megabytes() - before,
            }
        )
    )


def systems() -> None:
    """Nine systems, with the time of parsing apart."""
    folder = data_folder()
    if folder is None:
        print("the public data folder is not there: nothing to measure")
        return
    from captious.diversity_analysis.corpus import corpus_diversity
    from captious.parser.choice import get

    shipped = get()

    class Timed:
        """The shipped parser, and the time that it takes."""

        label, digest, seconds = shipped.label, shipped.digest, 0.0

        def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> Any:
            start = time.process_time()
            made = shipped.parse_batch(captions, jobs=jobs)
            self.seconds += time.process_time() - start
            return made

    parser = Timed()
    files: list[Path] = sorted((folder / "coco" / "systems").glob("*.jsonl.gz"))
    start = time.process_time()
    result = corpus_diversity(
        folder / "coco" / "references.jsonl.gz", files, train=folder / "flickr30k" / "captions.jsonl.gz",
        subset=True, parser=parser,
    )  # fmt: skip
    total = time.process_time() - start
    captions = sum(report.values["captions"] for report in result.systems)
    print(
        f"{len(files)} systems, {captions:,.0f} captions, with references and training captions, files read:"
    )
    print(
        f"  everything but parsing {total - parser.seconds:6.1f} s of processor time, parsing {parser.seconds:6.1f} s"
    )
    print(f"  peak memory {peak_megabytes():,.0f} MB")


def main() -> None:
    if "--child" in sys.argv:
        one_system(sys.argv[-1])
        return
    if "--systems" not in sys.argv:
        sides = {side: in_child("benchmarks.corpus", "--child", side) for side in ("ours", "plain")}
        for key, value in sides["plain"]["values"].items():
            assert abs(value - sides["ours"]["values"][key]) < 1e-9 * max(1.0, abs(value)), key
        quick, slow = sides["ours"], sides["plain"]
        print(f"vocabulary measures and curves of {quick['captions']:,} captions:")
        print(
            f"  captious {quick['seconds']:.2f} s (tokens included), plain Python {slow['seconds']:.2f} s (tokens given)"
        )
        print(f"  {slow['seconds'] / quick['seconds']:.1f} times faster, same values")
        print(f"  memory above the texts: {quick['megabytes']:.0f} MB and {slow['megabytes']:.0f} MB")
    systems()


if __name__ == "__main__":
    main()
