"""Agreement of the parser with reference parses.

    python -m captious.training.parser.evaluation --parses captions.jsonl.gz

Prints the agreement on the test part for each source and for all: tags, lemmas, unlabelled and labelled
attachment, F1 of graph edges, whole trees, and sentences with the same tuples for SPICE. Then it prints the
agreement of the graph rules alone, applied to the reference trees.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from captious.core.errors import one_message
from captious.parser.dependency_graph import collapse
from captious.parser.fast_parser import parse_batch
from captious.parser.network_model import SHIPPED, read_model
from captious.parser.parsed_sentences import Sentence, lemma
from captious.scene.sentence_tuples import tuples
from captious.training.parser.treebank import read_parses

COLUMNS = ("tags", "lemmas", "UAS", "LAS", "graph", "trees", "tuples")


def count(gold: Sentence, parsed: Sentence) -> Counter[str]:
    """Count what is right in one sentence."""
    arcs = [(a, b) for a, b in zip(zip(gold.heads, gold.relations), zip(parsed.heads, parsed.relations))]
    expected, actual = set(gold.graph), set(parsed.graph)
    return Counter(
        {
            "sentences": 1,
            "words": len(gold),
            "tags": sum(a == b for a, b in zip(gold.tags, parsed.tags)),
            "lemmas": sum(a == b for a, b in zip(gold.lemmas, parsed.lemmas)),
            "UAS": sum(a[0] == b[0] for a, b in arcs),
            "LAS": sum(a == b for a, b in arcs),
            "edges": len(expected) + len(actual),
            "common": len(expected & actual),
            "trees": all(a == b for a, b in arcs),
            "tuples": set(tuples(gold)) == set(tuples(parsed)),
        }
    )


def percentages(counts: Counter[str]) -> dict[str, float]:
    """Return the agreement in per cent: of words, of edges (F1), of sentences."""
    shares = {name: 100 * counts[name] / max(1, counts["words"]) for name in ("tags", "lemmas", "UAS", "LAS")}
    shares["graph"] = 200 * counts["common"] / max(1, counts["edges"])
    for name in ("trees", "tuples"):
        shares[name] = 100 * counts[name] / max(1, counts["sentences"])
    return shares


def by_source(pairs: Iterable[tuple[str, Sentence, Sentence]]) -> dict[str, Counter[str]]:
    """Sum the counts for each source and for all."""
    sums: dict[str, Counter[str]] = {}
    for source, gold, parsed in pairs:
        counts = count(gold, parsed)
        for name in (source, "all"):
            sums.setdefault(name, Counter()).update(counts)
    return sums


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.parser.evaluation", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--parses", required=True, type=Path, help="captions parsed by the reference parser (.jsonl.gz)"
    )
    parser.add_argument("--model", type=Path, default=SHIPPED)
    options = parser.parse_args(argv)
    model = read_model(options.model)
    gold: list[tuple[str, Sentence]] = []
    rules: Counter[str] = Counter()
    for caption in read_parses(options.parses):
        for s in caption.sentences:
            expected, actual = set(s.graph), set(collapse(s.forms, s.tags, s.heads, s.relations))
            rules.update({"expected": len(expected), "found": len(actual), "common": len(expected & actual)})
            if caption.part == "test":
                gold.append((caption.source, s))
    parsed = parse_batch([s.forms for _, s in gold], model=model).parses()
    # Reference sentences that our splitter divides cannot be compared word by word and count as wrong.
    nothing = Sentence([], [], [], [], [])
    pairs = [(source, s, p[0] if len(p) == 1 else nothing) for (source, s), p in zip(gold, parsed)]
    print("| source | sentences | words | " + " | ".join(COLUMNS) + " |\n|" + "---|" * (len(COLUMNS) + 3))
    for name, counts in sorted(by_source(pairs).items(), key=lambda item: item[1]["words"]):
        values = percentages(counts)
        figures = " | ".join(f"{values[column]:.2f}" for column in COLUMNS)
        print(f"| {name} | {counts['sentences']:,} | {counts['words']:,} | {figures} |")
    right = sum(
        lemma(f, t, model.exceptions) == x for _, s in gold for f, t, x in zip(s.forms, s.tags, s.lemmas)
    )
    print(f"\nlemmas from the reference tags: {100 * right / sum(len(s) for _, s in gold):.2f} %")
    precision, recall = rules["common"] / rules["found"], rules["common"] / rules["expected"]
    print(
        f"graph from the reference trees, all parts: precision {100 * precision:.3f} %, recall "
        f"{100 * recall:.3f} %"
    )


if __name__ == "__main__":
    with one_message():
        main()
