"""METEOR beside the Java reference, as pycocoevalcap drives it: from tokenized captions in memory to all scores.

    pip install -e '.[benchmark]'      (and a Java runtime)
    python -m benchmarks.meteor

Each side runs in a process of its own, on the same captions (COCO, tokenized by captious, where the public data are).
The Java side counts the start of the virtual machine and the loading of its tables, as every evaluation pays for them.
Ours is shown for the first evaluation of a process, with the imports, the loading of the
library of kernels and the opening of the index counted, and for the best of three. The paraphrase index is made beforehand and timed apart.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.common import best_of, coco, in_child, peak_megabytes, timed


def tokenized() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """References and candidates as the COCO tools pass them to METEOR."""
    from captious.corpus import Corpus

    references, predictions = coco()
    ids = list(references)
    corpus = Corpus.build(ids, [[predictions[i]] for i in ids], [references[i] for i in ids])
    bounds = corpus.references.image_offsets.tolist()
    sentences = corpus.references.sentences
    return (
        {i: sentences[a:b] for i, a, b in zip(ids, bounds, bounds[1:])},
        {i: [sentence] for i, sentence in zip(ids, corpus.candidates.sentences)},
    )


def ours(references: dict[str, list[str]], candidates: dict[str, list[str]]) -> tuple[float, list[float]]:
    from captious.corpus import Corpus
    from captious.metrics.captions.meteor import Meteor

    corpus = Corpus.build(
        list(references), list(candidates.values()), list(references.values()), tokenizer="none"
    )
    metric = Meteor()
    statistics = metric.statistics(corpus, metric.prepare(corpus.references))
    return float(metric.value(statistics.sum(axis=0))), metric.per_row(statistics).tolist()


def theirs(references: dict[str, list[str]], candidates: dict[str, list[str]]) -> tuple[float, list[float]]:
    from pycocoevalcap.meteor.meteor import Meteor

    meteor = Meteor()
    return meteor.compute_score(references, candidates)  # type: ignore[no-any-return]


def child(side: str) -> None:
    report: dict[str, Any] = {}
    if side == "index":
        from captious.meteor.meteor_tables import Resources

        with tempfile.TemporaryDirectory() as folder:
            os.environ["CAPTIOUS_CACHE"] = folder
            _, report["seconds"] = timed(Resources.open)
            report["size"] = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
    elif side == "open":
        before = peak_megabytes()
        from captious.meteor.meteor_tables import open_index
        from captious.text import meteor_data

        table = meteor_data.find().paraphrases
        _, report["seconds"] = timed(lambda: open_index(table))
        report["before"] = before
    else:
        references, candidates = tokenized()
        report |= {
            "images": len(references),
            "pairs": sum(map(len, references.values())),
            "before": peak_megabytes(),
        }
        if side == "ours":
            (value, values), report["first"] = timed(lambda: ours(references, candidates))
            _, report["seconds"] = best_of(3, lambda: ours(references, candidates))
        else:
            (value, values), report["seconds"] = timed(lambda: theirs(references, candidates))
        report |= {"value": value, "values": values}
    report["peak"] = peak_megabytes()
    report["children"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps(report))


def main() -> None:
    index = in_child("benchmarks.meteor", "--child", "index")
    print(
        f"paraphrase index: made in {index['seconds']:.1f} s, {index['size']:.0f} MB, peak memory {index['peak']:.0f} MB"
    )
    in_child("benchmarks.meteor", "--child", "ours")  # makes the index if need be
    opened = in_child("benchmarks.meteor", "--child", "open")
    print(
        f"paraphrase index: opened in {opened['seconds']:.2f} s, peak memory of the process {opened['peak']:.0f} MB"
    )
    mine = in_child("benchmarks.meteor", "--child", "ours")
    other = in_child("benchmarks.meteor", "--child", "theirs")
    worst = max(abs(a - b) for a, b in zip(mine["values"], other["values"]))
    print(f"{mine['images']:,} images, {mine['pairs']:,} references")
    print(f"largest difference: {worst:.1e} (image), {abs(mine['value'] - other['value']):.1e} (corpus)")
    print(
        f"  Java METEOR 1.5      {other['seconds']:7.2f} s   peak {other['children']:5.0f} MB (Java process)"
    )
    for label, key in (("captious, first run", "first"), ("captious, best of 3", "seconds")):
        ratio = other["seconds"] / mine[key]
        print(f"  {label}  {mine[key]:7.2f} s   peak {mine['peak']:5.0f} MB   {ratio:6.1f}× as fast")


if __name__ == "__main__":
    if "--child" in sys.argv:
        child(sys.argv[-1])
    else:
        main()
