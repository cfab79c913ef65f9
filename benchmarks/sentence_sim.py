"""Sentence vectors beside sentence-transformers (torch) on the same captions, both timed in one run.

    python -m benchmarks.sentence_sim [--captions 4000]

The last lines are the metric as it is used: COCO references with a system's captions, where equal captions count once.
Processor seconds are shown beside the clock's, because only they mean something on a busy machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from benchmarks.common import coco
from captious.corpus import Corpus
from captious.metrics.captions.sentence_sim import SentenceSim
from captious.results.scores import Score
from captious.vectors.sentence_vectors import SentenceEncoder, _processors, _unpacked, find_model


def clocked(work: Callable[[], np.ndarray]) -> tuple[np.ndarray, float, float]:
    """The result, seconds of the clock, seconds of all processors together."""
    wall, used = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - used


def main() -> None:
    """Time both, compare vectors, print captions a second."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--captions", type=int, default=4_000)
    parser.add_argument("--alone", action="store_true", help="leave out sentence-transformers")
    given = parser.parse_args()
    references, predictions = coco(images=(given.captions + 4) // 5)
    texts = list(dict.fromkeys(text for group in references.values() for text in group))[: given.captions]
    encoder = SentenceEncoder()
    encoder.encode(texts[:8])
    ours, wall, used = clocked(lambda: encoder.encode(texts))
    report("captious", len(texts), wall, used)
    if not given.alone:
        from sentence_transformers import SentenceTransformer

        source = find_model()
        model = SentenceTransformer(str(_unpacked(source) if source.is_file() else source), device="cpu")
        model.encode(texts[:8])
        theirs, their_wall, their_used = clocked(
            lambda: model.encode(texts, batch_size=64, show_progress_bar=False)
        )
        report("sentence-transformers", len(texts), their_wall, their_used)
        # Without its settings for a last step, the library leaves vectors unscaled.
        theirs = theirs / np.linalg.norm(theirs, axis=1, keepdims=True)
        print(f"ratio {their_wall / wall:.2f} by the clock, {their_used / used:.2f} in processor time")
        print(f"largest difference of a component {np.abs(ours - theirs).max():.1e}")
    ids = list(references)
    corpus = Corpus.build(ids, [[predictions[i]] for i in ids], [references[i] for i in ids])
    _, wall, used = clocked(lambda: Score.of(SentenceSim(), corpus))
    report("SentenceSim of a system", len(corpus.candidates) + len(corpus.references), wall, used)


def report(name: str, captions: int, wall: float, used: float) -> None:
    """One line: by the clock, and what the processors could do if nothing else ran."""
    cores = _processors()
    print(
        f"{name}: {captions:,} captions, {wall:.2f} s, {captions / wall:,.0f} a second; {1000 * used / captions:.2f} ms of "
        f"processor time each, {cores * captions / used:,.0f} a second on {cores} idle cores"
    )


if __name__ == "__main__":
    main()
