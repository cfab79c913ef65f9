"""Difference of SPICE with the shipped parsers from SPICE with CoreNLP's parses, on held-out images.

    python -m benchmarks.spice_bias [--models model.npz …] [--captions captions.npz …] [--grammar JAR] [--percent 20]

Images are held out by a hash of their names (``captious.training.parser.labels hold-out`` lists all their
captions). CoreNLP's parses are those of the exact parser. For every system, the benchmark prints the mean
difference of the score with its bootstrap interval over images, Pearson's correlation over images, and the
share of images with equal scores. It also prints the share of images with equal reference tuples, and of
captions with equal tuples. The example system is also compared with Java SPICE's stored output. The brief
captions of a vision-language model for the Karpathy test split have that split's references.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import captious
from benchmarks.captions import coco_system, public_data, read_jsonl
from captious.corpus import Captions, Corpus
from captious.metrics.captions.spice import Spice
from captious.parser.choice import Parser
from captious.parser.exact.exact_parser import ExactParser
from captious.parser.fast_parser import ParsedBatch, parse_batch
from captious.parser.grammar import GrammarParser
from captious.parser.grammar.grammar_model import SHIPPED as SHIPPED_GRAMMAR
from captious.parser.network_model import SHIPPED, Model, read_model
from captious.parser.parsed_sentences import Parse
from captious.scene.graphs import caption_tuples, reference_graphs
from captious.text.ptb import tokenize
from captious.text.synonyms import Synonyms
from captious.training.parser.labels import is_held_out
from captious.training.parser.treebank import part_of

DRAWS = 2000
MODERN = "LLaVA-1.5-7B-briefly"


class FastParser:
    """The fast parser with the weights of a file."""

    label = "fast"

    def __init__(self, path: Path) -> None:
        self.model: Model = read_model(path)
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> ParsedBatch:
        return parse_batch(captions, jobs=jobs, model=self.model)


class CachedExactParser:
    """The exact parser with a file of its earlier parses."""

    label, digest = "exact", "exact"

    def __init__(self, grammar: Path | None, cache: Path | None) -> None:
        from captious.parser.parsed_sentences import Sentence

        self.grammar, self.cache = grammar, cache
        self.parses: dict[str, Parse] = {}
        if cache is not None and cache.is_file():
            for line in cache.read_text(encoding="utf-8").splitlines():
                text, *columns = json.loads(line)
                self.parses[text] = [Sentence(text.split(" "), *columns)]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> ParsedBatch:
        fresh = [list(words) for words in captions if " ".join(words) not in self.parses]
        if fresh:
            parses = ExactParser(self.grammar).parse_tokens(fresh, jobs=jobs)
            for words, parse in zip(fresh, parses):
                self.parses[" ".join(words)] = parse
            if self.cache is not None:
                with self.cache.open("a", encoding="utf-8") as out:
                    for words, parse in zip(fresh, parses):
                        if len(parse) == 1:
                            s = parse[0]
                            out.write(
                                json.dumps([" ".join(words), s.tags, s.lemmas, s.heads, s.relations]) + "\n"
                            )
        return ParsedBatch.of([self.parses[" ".join(words)] for words in captions])


def interval(differences: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    rng = np.random.default_rng(1)
    n = len(differences)
    means = [float(differences[rng.integers(0, n, n)].mean()) for _ in range(DRAWS)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def compare(name: str, values: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> str:
    difference = values - expected
    low, high = interval(difference)
    cells = [
        *(name, f"{len(values):,}", f"{values.mean():.4f}", f"{expected.mean():.4f}"),
        f"{difference.mean():+.4f} ({low:+.4f} … {high:+.4f})",
        f"{np.corrcoef(values, expected)[0, 1]:.4f}",
        f"{100 * np.mean(np.abs(difference) < 1e-9):.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--models", type=Path, nargs="*", default=[SHIPPED])
    arguments.add_argument(
        "--captions", type=Path, nargs="*", default=[SHIPPED_GRAMMAR], help="caption grammars"
    )
    arguments.add_argument("--grammar", type=Path, help="jar of CoreNLP's models")
    arguments.add_argument("--percent", type=int, default=20, help="share of held-out images")
    arguments.add_argument(
        "--systems",
        nargs="*",
        default=["Dai-et-al-2017", "Liu-et-al-2017", "Shetty-et-al-2017", "Vinyals-et-al-2017"],
    )
    arguments.add_argument("--images", type=int, help="number of held-out images (default: all)")
    arguments.add_argument(
        "--cache", type=Path, help="file for the exact parser's parses, used by the next run"
    )
    arguments.add_argument("--jobs", "-j", type=int, default=1)
    options = arguments.parse_args()

    data = public_data()
    rows = [
        row
        for row in read_jsonl(data / "coco/references.jsonl.gz")
        if is_held_out(row["image_id"], options.percent)
    ]
    texts = {
        str(row["image_id"]): [" ".join(tokenize(caption)) for caption in row["captions"]]
        for row in rows[: options.images]
    }
    systems = {
        name: {
            image: " ".join(tokenize(caption))
            for image, caption in coco_system(data, name).items()
            if image in texts
        }
        for name in options.systems
    }
    java_rows = {str(row["image_id"]): row for row in read_jsonl(data / "gold/spice_coco.jsonl.gz")}
    java_rows = {image: row for image, row in java_rows.items() if image in texts}
    systems["example system"] = {image: row["caption"] for image, row in java_rows.items()}
    split = {
        str(row["image_id"]): [" ".join(tokenize(caption)) for caption in row["captions"]]
        for row in read_jsonl(data / "karpathy_test/references.jsonl.gz")
        if is_held_out(row["image_id"], options.percent)
    }
    systems[MODERN] = {
        str(row["image_id"]): " ".join(tokenize(row["caption"]))
        for row in read_jsonl(data / f"karpathy_test/{MODERN}.jsonl.gz")
        if str(row["image_id"]) in split
    }
    exact = CachedExactParser(options.grammar, options.cache)
    groups = [*texts.values(), *split.values(), *(list(system.values()) for system in systems.values())]
    distinct = dict.fromkeys(text for group in groups for text in group)
    exact.parse_batch([text.split(" ") for text in distinct], jobs=options.jobs)
    corpora = {
        name: Corpus.build(
            list(system),
            [[text] for text in system.values()],
            [(split if name == MODERN else texts)[i] for i in system],
            tokenizer="none",
        )
        for name, system in systems.items()
    }

    def scores(corpus: Corpus, parser: Parser) -> np.ndarray[Any, Any]:
        return np.asarray(captious.score(corpus, [Spice(parser=parser)])["SPICE"].per_caption)

    expected = {name: scores(corpus, exact) for name, corpus in corpora.items()}
    references = Captions.of(list(texts.values()), "none", ids=list(texts))
    parsers: list[tuple[Path, Parser]] = [(path, FastParser(path)) for path in options.models]
    parsers += [(path, GrammarParser(path)) for path in options.captions]
    for path, parser in parsers:
        print(f"\n{path} ({parser.label} {parser.digest}), {len(texts):,} images\n")
        print("| system | images | parser | exact | difference (95 %) | Pearson | equal % |\n|" + "---|" * 7)
        for name, corpus in corpora.items():
            values = scores(corpus, parser)
            print(compare(name, values, expected[name]), flush=True)
            if name == "example system":
                java = np.array([row["scores"]["All"] for row in java_rows.values()])
                print(compare("the same, Java SPICE", values, java))
                print(compare("exact, Java SPICE", expected[name], java))
        print_equal_tuples(references, parser, exact)


def print_equal_tuples(references: Captions, shipped: Parser, exact: Parser) -> None:
    """Compare the tuples of reference captions, by image and by caption."""
    synonyms = Synonyms.load()
    graphs = [reference_graphs(references, parser, synonyms) for parser in (shipped, exact)]
    equal = np.array([set(a.tuples) == set(b.tuples) for a, b in zip(*graphs)])
    print(f"\nall reference tuples equal: {100 * equal.mean():.1f} % of images")
    tuples = [caption_tuples(references, parser) for parser in (shipped, exact)]
    same = np.array([set(a) == set(b) for a, b in zip(*tuples)])
    unseen = np.array([part_of(text) != "train" for text in references.texts])
    for label, chosen in (("outside the training part", unseen), ("of the training part", ~unseen)):
        share, number = same[chosen].mean(), chosen.sum()
        half = 196 * np.sqrt(share * (1 - share) / number)
        print(f"tuples equal, captions {label}: {100 * share:.2f} ± {half:.2f} % of {number:,}")


if __name__ == "__main__":
    main()
