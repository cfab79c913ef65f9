"""Diversity of whole corpora: nine systems × 40,504 captions, and one system beside plain Python.

    python -m benchmarks.corpus [--captions N]   # both
    python -m benchmarks.corpus --systems        # only the nine systems

Times are processor seconds of one process. Parsing is timed separately. The plain side computes length,
types, segmented ratios and ten type-token curves with lists and sets, from tokens. Ours includes the
tokenizer.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from benchmarks.captions import coco, coco_systems, data_folder
from benchmarks.timing import Run, peak_megabytes, python, timed


def plain_measures(sentences: list[list[str]]) -> dict[str, float]:
    """Compute the vocabulary measures by their definitions."""
    words = [word for sentence in sentences for word in sentence]
    lengths = [len(sentence) for sentence in sentences]
    mean = sum(lengths) / len(lengths)

    def ratio(items: Sequence[Any]) -> float:
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
    return {
        "asl": mean,
        "sdsl": (sum((length - mean) ** 2 for length in lengths) / len(lengths)) ** 0.5,
        "types": len(set(words)),
        "ttr1": ratio(words),
        "ttr2": ratio(list(pairwise(words))),
        "curve_end": means[-1],
    }


def our_measures(texts: list[str]) -> dict[str, float]:
    import captious
    from captious.corpus import Captions, Corpus
    from captious.metrics.corpus.vocabulary_measures import type_token_curve

    captions = Captions.of([[text] for text in texts], "spacy-like")
    scores = captious.score(Corpus(captions), "ASL,SDSL,Types,TTR1,TTR2")
    values = {name.lower(): score.value for name, score in scores.items()}
    return values | {"curve_end": type_token_curve(captions).types[-1]}


def measure_side(side: str, limit: int | None) -> dict[str, Any]:
    """Measure one side in this process."""
    texts = [text for captions in coco()[0].values() for text in captions][:limit]
    before = peak_megabytes()
    if side == "ours":
        our_measures(texts[:20_000])  # loads kernels
        values, seconds = timed(lambda: our_measures(texts))
    else:
        from captious.text.spacy_like import tokenize_flat

        flat, counts = tokenize_flat(texts)
        ends = counts.cumsum().tolist()
        sentences = [flat[a:b] for a, b in zip([0, *ends[:-1]], ends)]
        values, seconds = timed(lambda: plain_measures(sentences))
    megabytes = peak_megabytes() - before
    return {
        "seconds": seconds.processor,
        "values": values,
        "captions": len(texts),
        "megabytes": megabytes,
    }


def print_systems() -> None:
    """Measure nine systems, with the time of parsing apart."""
    folder = data_folder()
    if folder is None:
        print("nine systems: skipped without the public data (set CAPTIOUS_DATA)")
        return
    from captious.diversity_analysis.corpus import corpus_diversity
    from captious.parser.choice import get

    shipped = get()

    class TimedParser:
        """The shipped parser and its total time."""

        label, digest, seconds = shipped.label, shipped.digest, 0.0

        def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> Any:
            parses, seconds = timed(lambda: shipped.parse_batch(captions, jobs=jobs))
            self.seconds += seconds.processor
            return parses

    parser = TimedParser()
    files = [folder / "coco" / "systems" / f"{name}.jsonl.gz" for name in coco_systems(folder)]
    references, train = folder / "coco/references.jsonl.gz", folder / "flickr30k/captions.jsonl.gz"
    result, total = timed(
        lambda: corpus_diversity(references, files, train=train, subset=True, parser=parser)
    )
    captions = sum(report.values["captions"] for report in result.systems)
    print(
        f"{len(files)} systems, {captions:,.0f} captions, with references and training captions, from files:"
    )
    print(f"  without parsing {total.processor - parser.seconds:.1f} s, parsing {parser.seconds:.1f} s")
    print(f"  peak memory {peak_megabytes():,.0f} MB")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--systems", action="store_true", help="only the nine systems")
    arguments.add_argument("--captions", type=int, help="captions of the one system (default: all)")
    arguments.add_argument("--side", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.side:
        print(json.dumps(measure_side(options.side, options.captions)))
        return
    if not options.systems:
        limit = ["--captions", str(options.captions)] if options.captions else []
        ours, plain = (
            Run(python("benchmarks.corpus", "--side", side, *limit)).json for side in ("ours", "plain")
        )
        for name, value in plain["values"].items():
            assert abs(value - ours["values"][name]) < 1e-9 * max(1.0, abs(value)), name
        print(f"vocabulary measures and curves of {ours['captions']:,} captions:")
        print(f"  captious {ours['seconds']:.2f} s with tokenizer, Python {plain['seconds']:.2f} s without")
        print(f"  {plain['seconds'] / ours['seconds']:.1f} times faster, same values")
        print(f"  memory beyond the texts: {ours['megabytes']:.0f} MB and {plain['megabytes']:.0f} MB")
    print_systems()


if __name__ == "__main__":
    main()
