"""Compare the exact parser with stored analyses of CoreNLP 3.6.0.

    python -m captious.training.parser.exact_agreement --parses captions.jsonl.gz --count 20000

Captions are drawn at random from all stored ones. Sentences longer than the parser's limit count as
differences.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

from captious.core.errors import one_message
from captious.core.writing import atomic_write
from captious.parser.exact.exact_parser import LONGEST, ExactParser
from captious.training.parser.treebank import read_parses


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.parser.exact_agreement", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--parses", required=True, type=Path, help="captions with CoreNLP's analyses")
    parser.add_argument("--grammar", type=Path, help="CoreNLP's models (jar), or an englishPCFG.ser.gz")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--differences", type=Path, help="file for the sentences that differ, one JSON object per line"
    )
    options = parser.parse_args(argv)
    exact = ExactParser(options.grammar)
    captions = list(read_parses(options.parses))
    random.Random(options.seed).shuffle(captions)
    wanted = {
        tuple(s.forms): s for caption in captions[: options.count] for s in caption.sentences if s.forms
    }
    short = [forms for forms in wanted if len(forms) <= LONGEST]
    equal, words = {"tags": 0, "trees": 0}, {"tags": 0, "lemmas": 0, "labelled heads": 0}
    different: list[str] = []
    for found in exact.sentences(short, jobs=options.jobs):
        gold = wanted[tuple(found.forms)]
        tree = found.heads == gold.heads and found.relations == gold.relations
        equal["tags"] += found.tags == gold.tags
        equal["trees"] += tree
        words["tags"] += sum(a == b for a, b in zip(found.tags, gold.tags))
        words["lemmas"] += sum(a == b for a, b in zip(found.lemmas, gold.lemmas))
        words["labelled heads"] += sum(
            a == b for a, b in zip(zip(found.heads, found.relations), zip(gold.heads, gold.relations))
        )
        if not tree or found.tags != gold.tags or found.lemmas != gold.lemmas:
            different.append(
                json.dumps({"found": found.to_dict(), "stored": gold.to_dict()}, ensure_ascii=False)
            )
    total = sum(map(len, wanted))
    print(
        f"{len(wanted)} distinct sentences, {total} words, {len(wanted) - len(short)} of them longer than "
        f"{LONGEST} words; grammar {exact.digest}"
    )
    for name, count in equal.items():
        print(f"sentences with identical {name:16} {count:8} {100 * count / max(1, len(wanted)):8.3f} %")
    for name, count in words.items():
        print(f"words with identical {name:20} {count:8} {100 * count / max(1, total):8.3f} %")
    if options.differences is not None:
        with atomic_write(options.differences) as temporary:
            temporary.write_text("".join(line + "\n" for line in different), encoding="utf-8")


if __name__ == "__main__":
    with one_message():
        main()
