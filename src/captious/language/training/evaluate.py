"""How well the parser agrees with reference parses: ``python -m captious.language.training.evaluate --parses captions.jsonl.gz``.

Prints, for each source and for all, the agreement on the test part: tags, lemmas, unlabelled and labelled attachment, F1 of
the graph's edges, whole trees, and sentences with the same tuples for SPICE; then the same for the graph rules alone, from the reference trees.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from captious.errors import one_message
from captious.language.graph import collapse
from captious.language.lemmas import lemma
from captious.language.model import SHIPPED, read_model
from captious.language.parse_types import Sentence
from captious.language.parser import parse_batch
from captious.language.training.treebank import read_parses
from captious.scene.rules import tuples

COLUMNS = ("tags", "lemmas", "UAS", "LAS", "graph", "trees", "tuples")


def count(gold: Sentence, parsed: Sentence) -> Counter[str]:
    """What is right in one sentence."""
    arcs = [(a, b) for a, b in zip(zip(gold.heads, gold.relations), zip(parsed.heads, parsed.relations))]
    wanted, given = set(gold.graph), set(parsed.graph)
    return Counter(
        {
            "sentences": 1,
            "words": len(gold),
            "tags": sum(a == b for a, b in zip(gold.tags, parsed.tags)),
            "lemmas": sum(a == b for a, b in zip(gold.lemmas, parsed.lemmas)),
            "UAS": sum(a[0] == b[0] for a, b in arcs),
            "LAS": sum(a == b for a, b in arcs),
            "edges": len(wanted) + len(given),
            "common": len(wanted & given),
            "trees": all(a == b for a, b in arcs),
            "tuples": set(tuples(gold)) == set(tuples(parsed)),
        }
    )


def percentages(counts: Counter[str]) -> dict[str, float]:
    """Agreement in per cent: of words, of edges (F1), of sentences."""
    found = {name: 100 * counts[name] / max(1, counts["words"]) for name in ("tags", "lemmas", "UAS", "LAS")}
    found["graph"] = 200 * counts["common"] / max(1, counts["edges"])
    for name in ("trees", "tuples"):
        found[name] = 100 * counts[name] / max(1, counts["sentences"])
    return found


def by_source(pairs: Iterable[tuple[str, Sentence, Sentence]]) -> dict[str, Counter[str]]:
    """Summed counts for each source, and for all."""
    sums: dict[str, Counter[str]] = {}
    for source, gold, parsed in pairs:
        counts = count(gold, parsed)
        for name in (source, "all"):
            sums.setdefault(name, Counter()).update(counts)
    return sums


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m captious.language.training.evaluate", description=__doc__.splitlines()[0])
    parser.add_argument("--parses", required=True, type=Path, help="captions parsed by the reference parser (.jsonl.gz)")
    parser.add_argument("--model", type=Path, default=SHIPPED)
    options = parser.parse_args(argv)
    model = read_model(options.model)
    gold: list[tuple[str, Sentence]] = []
    rules: Counter[str] = Counter()
    for caption in read_parses(options.parses):
        for s in caption.sentences:
            wanted, given = set(s.graph), set(collapse(s.forms, s.tags, s.heads, s.relations))
            rules.update({"wanted": len(wanted), "given": len(given), "common": len(wanted & given)})
            if caption.part == "test":
                gold.append((caption.source, s))
    parsed = parse_batch([s.forms for _, s in gold], model=model).parses()
    # A reference sentence that our splitter divides cannot be compared word by word, and counts as wrong.
    nothing = Sentence([], [], [], [], [])
    pairs = [(source, s, p[0] if len(p) == 1 else nothing) for (source, s), p in zip(gold, parsed)]
    print("| source | sentences | words | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 3))
    for name, counts in sorted(by_source(pairs).items(), key=lambda item: item[1]["words"]):
        values = percentages(counts)
        figures = " | ".join(f"{values[column]:.2f}" for column in COLUMNS)
        print(f"| {name} | {counts['sentences']:,} | {counts['words']:,} | {figures} |")
    right = sum(lemma(f, t, model.exceptions) == x for _, s in gold for f, t, x in zip(s.forms, s.tags, s.lemmas))
    print(f"\nlemmas from the reference tags: {100 * right / sum(len(s) for _, s in gold):.2f} %")
    precision, recall = rules["common"] / rules["given"], rules["common"] / rules["wanted"]
    print(f"graph from the reference trees, all parts: precision {100 * precision:.3f} %, recall {100 * recall:.3f} %")


if __name__ == "__main__":
    with one_message():
        main()
