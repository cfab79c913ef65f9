"""Fit the caption grammar to the scores that the exact parser gives to trees.

    python -m captious.training.grammar.fit_grammar trees.jsonl.gz … --grammar MODELS.jar -o captions.npz

The input is plain phrase-structure trees of captions with their scores, as `label_trees` writes them. Every
tree is an equation about the weights. Each round solves them, parses sentences with the result and, where it
finds another tree, adds that tree with its score, so that the weights also learn what the tool does not
choose. `train_grammar` learns from the trees alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from captious.core.errors import InputError, one_message
from captious.parser.exact.exact_parser import ExactParser
from captious.parser.exact.phrase_trees import Node, read_tree
from captious.parser.grammar.grammar_model import read_grammar_model
from captious.parser.grammar.grammar_parser import GrammarParser
from captious.training.grammar.annotation import Step, derivation
from captious.training.grammar.export_grammar import solved_arrays, write_arrays
from captious.training.grammar.score_equations import MARGIN, ScoreEquations
from captious.training.grammar.train_grammar import agreement
from captious.training.grammar.tree_scores import TreeScores
from captious.training.parser.treebank import open_text

HIGHEST_UNARY = -0.01
ROOT = "ROOT"
Scored = tuple[list[str], list[Step], float, str]


def read_scored(job: tuple[Path, int]) -> list[Scored]:
    """Return words, states, score and tree of the sentences of a file that are not too long."""
    path, longest = job
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected trees as JSON lines (.jsonl or .jsonl.gz)")
    rows: list[Scored] = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            try:
                row = json.loads(line)
                tokens, text, score = list(row["tokens"]), str(row["tree"]), float(row["score"])
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(
                    f"{path}, line {number}: not a tree with a score ({type(error).__name__}: {error}); "
                    "expected tokens, tree and score, as label_trees writes them"
                ) from error
            if not 1 <= len(tokens) <= longest or any(len(token.split()) != 1 for token in tokens):
                continue
            tree = read_tree(text)
            if tree.label == ROOT and len(tree.children) == 1:
                if [leaf.word for leaf in tree.leaves()] != tokens:
                    raise InputError(f"{path}, line {number}: a tree has other words than its tokens")
                rows.append((tokens, derivation(tree), score, text))
    return rows


class GrammarFit:
    """Equations, the sentences they come from, and the scores of further trees."""

    def __init__(self, tool: ExactParser) -> None:
        self.tool = TreeScores(tool)
        self.equations = ScoreEquations()
        self.tokens: list[list[str]] = []
        self.trees: list[str] = []
        self.scores: list[float] = []
        self._added: set[tuple[int, str]] = set()

    def read(self, paths: Sequence[Path], longest: int, jobs: int) -> None:
        """Add the trees of files."""
        with ProcessPoolExecutor(jobs) as pool:
            for rows in pool.map(read_scored, [(path, longest) for path in paths]):
                for tokens, steps, score, text in rows:
                    self.equations.add(tokens, steps, score)
                    self.tokens.append(tokens)
                    self.trees.append(text)
                    self.scores.append(score)
        if not self.tokens:
            raise InputError("no trees to learn from; expected JSON lines with tokens, tree and score")

    def solve(self, path: Path) -> str:
        """Write the grammar that fits the equations best, and return a report."""
        start = time.monotonic()
        solved = self.equations.solve()
        solved.normalize()
        solved.lower_unary(HIGHEST_UNARY)
        write_arrays(path, solved_arrays(solved))
        near = float(np.mean(np.abs(solved.residual) < 0.1))
        return (
            f"{len(self.equations)} equations, {len(solved.state_names)} states, {len(solved.rules)} rules, "
            f"{int(np.isfinite(solved.table).sum())} pairs; {near:.2%} of residuals below 0.1; "
            f"{time.monotonic() - start:.0f} s"
        )

    def compare(self, parser: GrammarParser, chosen: Iterable[int], jobs: int) -> str:
        """Parse sentences, add the trees that differ from the tool's, and return a report."""
        start = time.monotonic()
        sentences = list(chosen)
        results = parser.trees([self.tokens[i] for i in sentences], jobs=jobs)
        wrong = added = impossible = 0
        for i, tree in zip(sentences, results):
            text = str(tree)
            if text == self.trees[i]:
                continue
            wrong += 1
            if tree.label != ROOT or (i, text) in self._added:
                continue
            self._added.add((i, text))
            is_possible = self._add(i, tree)
            added += is_possible
            impossible += not is_possible
        return (
            f"{wrong / max(1, len(sentences)):.2%} of {len(sentences)} sentences wrong, {added} trees added, "
            f"{impossible} bounds; {time.monotonic() - start:.0f} s"
        )

    def _add(self, sentence: int, tree: Node) -> bool:
        """Add a tree, and return whether it is an equation rather than a bound or nothing."""
        tokens = self.tokens[sentence]
        score = self.tool.score(tokens, tree)
        steps = derivation(tree)
        if np.isfinite(score):
            return self.equations.add(tokens, steps, score, is_chosen=False)
        bound = self.scores[sentence] - MARGIN
        self.equations.add(tokens, steps, bound, is_chosen=False, is_bound=True)
        return False


def draws(lengths: Sequence[int], longest: int, size: int, seed: int) -> Iterator[list[int]]:
    """Yield lists of sentences without end, each sentence as often as any other."""
    rng = np.random.default_rng(seed)
    short = np.flatnonzero(np.array(lengths) <= longest)
    while True:
        order = rng.permutation(short)
        for start in range(0, len(order), size):
            yield order[start : start + size].tolist()


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.grammar.fit_grammar",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("trees", nargs="+", type=Path, help="plain trees of captions and their scores")
    parser.add_argument("-o", "--output", required=True, type=Path, help="file for the grammar (.npz)")
    parser.add_argument("--grammar", help="CoreNLP's models (jar), or an englishPCFG.ser.gz")
    parser.add_argument("--heldout", type=Path, help="trees to evaluate on after each round")
    parser.add_argument("--evaluate", type=int, default=3000, help="number of held-out trees to evaluate on")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--size", type=int, default=40_000, help="sentences parsed in a round")
    parser.add_argument("--longest", type=int, default=36, help="longest sentences to learn from, in words")
    parser.add_argument("--parsed", type=int, default=25, help="longest sentences to parse, in words")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(argv)
    if options.rounds < 1 or options.size < 1:
        raise InputError("--rounds and --size are at least 1")
    fit(options)


def fit(options: argparse.Namespace) -> None:
    """Fit the grammar, round by round."""
    heldout = []
    if options.heldout is not None:
        rows = read_scored((options.heldout, options.parsed))[: options.evaluate]
        heldout = [(tokens, text) for tokens, _, _, text in rows]
    state = GrammarFit(ExactParser(options.grammar))
    start = time.monotonic()
    state.read(options.trees, options.longest, options.jobs)
    _say(f"{len(state.tokens)} trees in {time.monotonic() - start:.0f} s")
    batches = draws([len(tokens) for tokens in state.tokens], options.parsed, options.size, options.seed)
    for number in range(1, options.rounds + 1):
        _say(f"round {number}: {state.solve(options.output)}")
        parser = GrammarParser(read_grammar_model(options.output))
        if heldout:
            trees, graphs, speed = agreement(parser, heldout)
            _say(
                f"  held out: {trees:.2%} equal trees, {graphs:.2%} equal dependencies, {speed:.0f} a second"
            )
        if number < options.rounds:
            parser.beam = np.inf
            _say(f"  {state.compare(parser, next(batches), options.jobs)}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    with one_message():
        main()
