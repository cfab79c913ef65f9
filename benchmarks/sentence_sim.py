"""Sentence vectors beside sentence-transformers (torch) on the same captions.

    python -m benchmarks.sentence_sim [--captions 4000]

The last line is the metric in use: COCO references with a system's captions, where equal captions are encoded
once. Processor time is shown beside wall-clock time, because only processor time means much on a busy
machine.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.captions import coco
from benchmarks.timing import Seconds, timed
from captious.core.threads import cores
from captious.corpus import Corpus
from captious.metrics.captions.sentence_sim import SentenceSim
from captious.results.scores import Score
from captious.vectors.sentence_vectors import SentenceEncoder, find_model


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--captions", type=int, default=4_000)
    arguments.add_argument("--alone", action="store_true", help="skip sentence-transformers")
    options = arguments.parse_args()
    references, predictions = coco(images=(options.captions + 4) // 5)
    texts = list(dict.fromkeys(text for group in references.values() for text in group))[: options.captions]
    encoder = SentenceEncoder()
    encoder.encode(texts[:8])
    ours, our_time = timed(lambda: encoder.encode(texts))
    report("captious", len(texts), our_time)
    if not options.alone:
        from sentence_transformers import SentenceTransformer

        with tempfile.TemporaryDirectory() as folder:
            source = find_model()
            if source.is_file():
                shutil.unpack_archive(source, folder, "zip")
                source = Path(folder)
            model = SentenceTransformer(str(source), device="cpu")
        model.encode(texts[:8])
        theirs, their_time = timed(lambda: model.encode(texts, batch_size=64, show_progress_bar=False))
        report("sentence-transformers", len(texts), their_time)
        # Without its configuration of the last step, the library does not scale vectors.
        theirs = theirs / np.linalg.norm(theirs, axis=1, keepdims=True)
        wall, processor = (b / a for a, b in zip(our_time, their_time))
        print(f"ratio {wall:.2f} wall clock, {processor:.2f} processor time")
        print(f"largest difference of a component {np.abs(ours - theirs).max():.1e}")
    ids = list(references)
    corpus = Corpus.build(ids, [[predictions[i]] for i in ids], [references[i] for i in ids])
    _, seconds = timed(lambda: Score.of(SentenceSim(), corpus))
    report("SentenceSim of a system", len(corpus.candidates) + len(corpus.references), seconds)


def report(name: str, captions: int, seconds: Seconds) -> None:
    """Print the speed, and the speed that idle cores would reach."""
    print(
        f"{name}: {captions:,} captions, {seconds.wall:.2f} s, {captions / seconds.wall:,.0f} per second; "
        f"{1000 * seconds.processor / captions:.2f} ms of processor time each, "
        f"{cores() * captions / seconds.processor:,.0f} per second on {cores()} idle cores"
    )


if __name__ == "__main__":
    main()
