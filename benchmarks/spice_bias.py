"""How far SPICE with the small parser is from SPICE with CoreNLP's analyses, on images that training has not seen.

    python -m benchmarks.spice_bias [--models model.npz …] [--grammar JAR] [--percent 20] [--data ../shared/data]

Images are held out by a hash of their names (``captious.training.parser.labels hold-out`` lists all their captions). CoreNLP's analyses are
the exact parser's. For every system: the mean of the score's difference with its bootstrap interval over images, Pearson's correlation over images, images with
equal scores, and candidates with equal tuples; and the images all of whose reference tuples are equal. For the example system the same beside Java SPICE's stored output.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import captious
from captious.corpus import Corpus
from captious.metrics.captions.spice import Spice
from captious.parser.choice import Parser
from captious.parser.exact.exact_parser import ExactParser
from captious.parser.fast_parser import ParsedBatch, parse_batch
from captious.parser.network_model import SHIPPED, Model, read_model
from captious.parser.sentences import Parse
from captious.scene.build import caption_tuples, reference_graphs
from captious.text.ptb import tokenize
from captious.text.synonyms import Synonyms
from captious.training.parser.labels import is_held_out
from captious.training.parser.treebank import part_of

ROOT = Path(__file__).resolve().parent.parent
DRAWS = 2000


class Given:
    """The small parser with given weights."""

    label = "given"

    def __init__(self, path: Path) -> None:
        self.model: Model = read_model(path)
        self.digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> ParsedBatch:
        return parse_batch(captions, jobs=jobs, model=self.model)


class Exact:
    """The exact parser; what it has parsed is kept in a file."""

    label, digest = "exact", "exact"

    def __init__(self, grammar: Path | None, kept: Path | None) -> None:
        from captious.parser.sentences import Sentence

        self.grammar, self.kept = grammar, kept
        self.known: dict[str, Parse] = {}
        if kept is not None and kept.is_file():
            for line in kept.read_text(encoding="utf-8").splitlines():
                text, *columns = json.loads(line)
                self.known[text] = [Sentence(text.split(" "), *columns)]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> ParsedBatch:
        fresh = [list(words) for words in captions if " ".join(words) not in self.known]
        if fresh:
            found = ExactParser(self.grammar).parse_tokens(fresh, jobs=jobs)
            for words, parse in zip(fresh, found):
                self.known[" ".join(words)] = parse
            if self.kept is not None:
                with self.kept.open("a", encoding="utf-8") as out:
                    for words, parse in zip(fresh, found):
                        if len(parse) == 1:
                            s = parse[0]
                            out.write(
                                json.dumps([" ".join(words), s.tags, s.lemmas, s.heads, s.relations]) + "\n"
                            )
        return ParsedBatch.of([self.known[" ".join(words)] for words in captions])


def rows_of(path: Path) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def interval(differences: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean."""
    rng = np.random.default_rng(1)
    n = len(differences)
    means = [float(differences[rng.integers(0, n, n)].mean()) for _ in range(DRAWS)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def compare(name: str, values: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> str:
    difference = values - wanted
    low, high = interval(difference)
    return (
        f"| {name} | {len(values):,} | {values.mean():.4f} | {wanted.mean():.4f} | {difference.mean():+.4f} ({low:+.4f} … {high:+.4f}) "
        f"| {np.corrcoef(values, wanted)[0, 1]:.4f} | {100 * np.mean(np.abs(difference) < 1e-9):.1f} |"
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.spice_bias", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--models", type=Path, nargs="+", default=[SHIPPED])
    parser.add_argument("--grammar", type=Path)
    parser.add_argument("--percent", type=int, default=20)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--systems",
        nargs="*",
        default=["Dai-et-al-2017", "Liu-et-al-2017", "Shetty-et-al-2017", "Vinyals-et-al-2017"],
    )
    parser.add_argument("--keep", type=Path, help="keep the exact parser's analyses here, for the next run")
    parser.add_argument("--jobs", "-j", type=int, default=1)
    options = parser.parse_args(argv)

    images = {
        str(row["image_id"]): row["captions"]
        for row in rows_of(options.data / "coco/references.jsonl.gz")
        if is_held_out(row["image_id"], options.percent)
    }
    texts = {
        image: [" ".join(tokenize(caption)) for caption in captions] for image, captions in images.items()
    }
    systems: dict[str, dict[str, str]] = {}
    for name in options.systems:
        rows = rows_of(options.data / f"coco/systems/{name}.jsonl.gz")
        systems[name] = {
            str(row["image_id"]): " ".join(tokenize(row["caption"]))
            for row in rows
            if str(row["image_id"]) in texts
        }
    stored = {
        str(row["image_id"]): row
        for row in rows_of(options.data / "gold/spice_coco.jsonl.gz")
        if str(row["image_id"]) in texts
    }
    systems["example system"] = {image: row["caption"] for image, row in stored.items()}
    exact = Exact(options.grammar, options.keep)
    every = [t for group in texts.values() for t in group] + [
        t for system in systems.values() for t in system.values()
    ]
    exact.parse_batch([t.split(" ") for t in dict.fromkeys(every)], jobs=options.jobs)
    corpora = {
        name: Corpus.build(
            list(system), [[system[i]] for i in system], [texts[i] for i in system], tokenizer="none"
        )
        for name, system in systems.items()
    }

    def scores(corpus: Corpus, parser: Parser) -> np.ndarray[Any, Any]:
        return np.asarray(captious.score(corpus, [Spice(parser=parser)])["SPICE"].per_caption)

    wanted = {name: scores(corpus, exact) for name, corpus in corpora.items()}
    synonyms = Synonyms.load()
    references = Corpus.build(
        list(texts), [[t[0]] for t in texts.values()], list(texts.values()), tokenizer="none"
    ).references
    for path in options.models:
        small = Given(path)
        print(
            f"\n{path} ({small.digest}), {len(texts):,} images\n\n| system | images | small | exact | difference (95 %) | Pearson | equal % |\n|"
            + "---|" * 7
        )
        for name, corpus in corpora.items():
            found = scores(corpus, small)
            print(compare(name, found, wanted[name]), flush=True)
            if name == "example system":
                java = np.array([row["scores"]["All"] for row in stored.values()])
                print(compare("the same, Java SPICE", found, java))
                print(compare("exact, Java SPICE", wanted[name], java))
        graphs = [reference_graphs(references, chosen, synonyms) for chosen in (small, exact)]
        equal = np.array([set(a.tuples) == set(b.tuples) for a, b in zip(*graphs)])
        print(f"\nall reference tuples equal: {100 * equal.mean():.1f} % of images")
        ours, theirs = (caption_tuples(references, chosen) for chosen in (small, exact))
        same = np.array([set(a) == set(b) for a, b in zip(ours, theirs)])
        unseen = np.array([part_of(t) != "train" for group in texts.values() for t in group])
        for what, chosen in (("not of the parses' training part", unseen), ("of the training part", ~unseen)):
            share = same[chosen].mean()
            print(
                f"tuples equal, reference captions {what}: {100 * share:.2f} ± {196 * np.sqrt(share * (1 - share) / chosen.sum()):.2f} % of {chosen.sum():,}"
            )


if __name__ == "__main__":
    main()
