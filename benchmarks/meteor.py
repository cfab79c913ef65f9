"""METEOR beside the Java reference as pycocoevalcap runs it: from tokens in memory to all scores.

    pip install -e '.[benchmark]'      (and a Java runtime)
    python -m benchmarks.meteor [--images N]

Each side runs in a process of its own on the same captions, tokenized by captious. The Java side includes the
start of the virtual machine and the loading of its tables, which every evaluation pays for. Ours is shown for
the first evaluation of a process, including imports, kernels and the opening of the index, and for the best
of three. The paraphrase index is built beforehand and timed separately.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.captions import coco
from benchmarks.timing import Run, best_of, peak_megabytes, python, timed

Groups = dict[str, list[str]]


def tokenized(images: int | None) -> tuple[Groups, Groups]:
    """Return references and candidates as the COCO tools pass them to METEOR."""
    from captious.corpus import Corpus

    references, predictions = coco(images=images)
    ids = list(references)
    corpus = Corpus.build(ids, [[predictions[i]] for i in ids], [references[i] for i in ids])
    bounds = corpus.references.image_offsets.tolist()
    sentences = corpus.references.sentences
    return (
        {i: sentences[a:b] for i, a, b in zip(ids, bounds, bounds[1:])},
        {i: [sentence] for i, sentence in zip(ids, corpus.candidates.sentences)},
    )


def our_scores(references: Groups, candidates: Groups) -> tuple[float, list[float]]:
    from captious.corpus import Corpus
    from captious.metrics.captions.meteor import Meteor

    groups = list(candidates.values()), list(references.values())
    corpus = Corpus.build(list(references), *groups, tokenizer="none")
    metric = Meteor()
    statistics = metric.statistics(corpus, metric.prepare(corpus.references))
    return float(metric.value(statistics.sum(axis=0))), metric.per_row(statistics).tolist()


def java_scores(references: Groups, candidates: Groups) -> tuple[float, list[float]]:
    from pycocoevalcap.meteor.meteor import Meteor

    return Meteor().compute_score(references, candidates)  # type: ignore[no-any-return]


def measure(part: str, images: int | None) -> dict[str, Any]:
    """Measure one part in this process."""
    result: dict[str, Any] = {}
    if part == "build index":
        from captious.meteor.meteor_tables import Resources

        with tempfile.TemporaryDirectory() as folder:
            os.environ["CAPTIOUS_CACHE"] = folder
            result["seconds"] = timed(Resources.open)[1].wall
            result["size"] = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
    elif part == "open index":
        from captious.meteor.meteor_tables import open_index
        from captious.text import meteor_data

        table = meteor_data.find().paraphrases
        result["seconds"] = timed(lambda: open_index(table))[1].wall
    else:
        groups = tokenized(images)
        result |= {"images": len(groups[0]), "pairs": sum(map(len, groups[0].values()))}
        scorer = our_scores if part == "captious" else java_scores
        (value, values), first = timed(lambda: scorer(*groups))
        result |= {"value": value, "values": values, "first": first.wall}
        if part == "captious":
            result["seconds"] = best_of(3, lambda: our_scores(*groups))[1].wall
    result["peak"] = peak_megabytes()
    result["child peak"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return result


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--images", type=int)
    arguments.add_argument("--part", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.part:
        print(json.dumps(measure(options.part, options.images)))
        return

    def run(part: str) -> Any:
        images = ["--images", str(options.images)] if options.images else []
        return Run(python("benchmarks.meteor", "--part", part, *images)).json

    built = run("build index")
    memory = f"{built['size']:.0f} MB, peak memory {built['peak']:.0f} MB"
    print(f"paraphrase index: built in {built['seconds']:.1f} s, {memory}")
    run("captious")  # builds the index if it is not cached
    opened = run("open index")
    print(f"paraphrase index: opened in {opened['seconds']:.2f} s, peak {opened['peak']:.0f} MB")
    ours, java = run("captious"), run("Java")
    worst = max(abs(a - b) for a, b in zip(ours["values"], java["values"]))
    print(f"{ours['images']:,} images, {ours['pairs']:,} references")
    print(f"largest difference: {worst:.1e} (image), {abs(ours['value'] - java['value']):.1e} (corpus)")
    print(f"  Java METEOR 1.5      {java['first']:7.2f} s   peak {java['child peak']:5.0f} MB (Java process)")
    for label, key in (("captious, first run", "first"), ("captious, best of 3", "seconds")):
        ratio = java["first"] / ours[key]
        print(f"  {label}  {ours[key]:7.2f} s   peak {ours['peak']:5.0f} MB   {ratio:6.1f}× as fast")


if __name__ == "__main__":
    main()
