"""Train the caption grammar.

    python -m captious.training.grammar.train_grammar trees.jsonl.gz … -o captions.npz

The input is plain phrase-structure trees of captions, one JSON object per line with `tokens` and `tree`. The
grammar is written after each pass, and so is the state of training beside it, from which the same command
goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.digests import of_lines
from captious.core.errors import InputError, one_message
from captious.core.writing import atomic_write
from captious.parser.exact.phrase_trees import read_tree
from captious.parser.exact.typed_dependencies import convert
from captious.parser.grammar.grammar_model import read_grammar_model
from captious.parser.grammar.grammar_parser import GrammarParser
from captious.training.grammar.derivation_bank import DerivationBank, read_bank, read_trees
from captious.training.grammar.export_grammar import export_grammar
from captious.training.grammar.perceptron import GrammarTrainer, groups_of

Tree = tuple[list[str], str]
SETTLING = 0.4  # step size of a late pass, by that of the pass before it


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.grammar.train_grammar",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("trees", nargs="+", type=Path, help="plain trees of captions, as JSON lines")
    parser.add_argument("-o", "--output", required=True, type=Path, help="file for the grammar (.npz)")
    parser.add_argument("--heldout", type=Path, help="trees to evaluate on after each pass")
    parser.add_argument("--evaluate", type=int, default=3000, help="number of held-out trees to evaluate on")
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.45, help="step size, divided by the root of the pass")
    parser.add_argument(
        "--settle", type=int, default=3, help="number of passes after which each pass has much smaller steps"
    )
    parser.add_argument("--batch", type=int, default=60, help="groups of 16 sentences in an update")
    parser.add_argument("--rare", type=int, default=10, help="states seen less often get coarser")
    parser.add_argument("--longest", type=int, default=25, help="longest sentences to learn from, in words")
    parser.add_argument("--count", type=int, help="learn from N sentences, drawn at random")
    parser.add_argument(
        "--review", type=float, default=1.0, help="share of the right sentences of a pass in the next"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(argv)
    if options.passes < 1 or options.batch < 1 or not 0 <= options.review <= 1:
        raise InputError("--passes and --batch are at least 1, --review is from 0 to 1")
    train(options)


def train(options: argparse.Namespace) -> None:
    """Learn the grammar, pass by pass."""
    bank = _bank(options)
    rng = np.random.default_rng(options.seed)
    if options.count is not None and options.count < len(bank):
        bank = bank.select(np.sort(rng.permutation(len(bank))[: options.count]))
    start = time.monotonic()
    trainer = GrammarTrainer(bank.without_rare_states(options.rare), jobs=options.jobs)
    lexicon = trainer.lexicon
    _say(
        f"{len(bank)} sentences, {len(lexicon.forms)} words, "
        f"{trainer.size} states ({len(lexicon.tags)} tags), "
        f"{int((~trainer.is_unary).sum())} binary and {int(trainer.is_unary.sum())} unary rules"
    )
    heldout = _heldout(options)
    state = options.output.with_suffix(".state.npz")
    settings = of_lines(
        [
            f"{name}={getattr(options, name)}"
            for name in ("rate", "settle", "batch", "rare", "longest", "count", "review", "seed")
        ]
        + trainer.bank.state_names
        + [str(len(bank)), str(len(lexicon.forms))]
    )
    passes, wrong = _resume(state, trainer, settings)
    lengths = np.diff(bank.word_offsets)
    for number in range(passes + 1, options.passes + 1):
        rng = np.random.default_rng([options.seed, number])
        chosen = np.flatnonzero(wrong | (rng.random(len(bank)) < options.review))
        groups = groups_of(lengths, chosen, rng)
        for block in trainer.blocks.values():
            block.restart()
        errors = 0
        updates = 0
        for at in range(0, len(groups), options.batch):
            part = groups[at : at + options.batch]
            mistakes = trainer.update(part, rate_of(number, options), updates)
            wrong[np.concatenate(part)] = False
            wrong[mistakes] = True
            errors += len(mistakes)
            updates += 1
            if updates % 100 == 0:
                _say(
                    f"  {min(at + options.batch, len(groups))}/{len(groups)} groups, "
                    f"{time.monotonic() - start:.0f} s, {errors} wrong"
                )
        with trainer.averaged(updates):
            export_grammar(trainer, options.output)
        _save(state, trainer, settings, number, wrong)
        report = f"pass {number}: {errors / max(1, len(chosen)):.2%} of {len(chosen)} sentences wrong"
        if heldout:
            equal_trees, equal_graphs, speed = agreement(
                GrammarParser(read_grammar_model(options.output)), heldout
            )
            report += (
                f"; held out: {equal_trees:.2%} equal trees, {equal_graphs:.2%} equal dependencies, "
                f"{speed:.0f} trees a second"
            )
        _say(f"{report}; {time.monotonic() - start:.0f} s")


def rate_of(number: int, options: argparse.Namespace) -> float:
    """Return the step size of a pass."""
    late = max(0, number - options.settle)
    rate: float = options.rate / min(number, options.settle) ** 0.5 * SETTLING**late
    return rate


def agreement(parser: GrammarParser, trees: Sequence[Tree]) -> tuple[float, float, float]:
    """Return the shares of equal trees and of equal tags, heads and relations, and trees parsed a second."""
    start = time.monotonic()
    results = parser.trees([tokens for tokens, _ in trees])
    speed = len(trees) / (time.monotonic() - start)
    same = graphs = 0
    for (_, text), result in zip(trees, results):
        gold = read_tree(text)
        own = [leaf.label for leaf in result.leaves()]
        if str(result) == str(gold):
            same += 1
            graphs += 1
        elif own == [leaf.label for leaf in gold.leaves()]:
            graphs += convert(result) == convert(gold)
    return same / len(trees), graphs / len(trees), speed


def _bank(options: argparse.Namespace) -> DerivationBank:
    start = time.monotonic()
    bank = read_bank(options.trees, longest=options.longest, jobs=options.jobs)
    _say(f"annotated {len(bank)} trees in {time.monotonic() - start:.0f} s")
    return bank


def _heldout(options: argparse.Namespace) -> list[Tree]:
    if options.heldout is None:
        return []
    trees = [
        (tokens, tree)
        for tokens, tree in read_trees([options.heldout])
        if 1 <= len(tokens) <= options.longest and all(len(token.split()) == 1 for token in tokens)
    ]
    order = np.random.default_rng(options.seed).permutation(len(trees))[: options.evaluate]
    return [trees[i] for i in order.tolist()]


def _save(path: Path, trainer: GrammarTrainer, settings: str, passes: int, wrong: NDArray[np.bool_]) -> None:
    arrays: dict[str, Any] = {"settings": np.array(settings), "passes": np.array(passes), "wrong": wrong}
    for name, block in trainer.blocks.items():
        arrays[f"{name}_values"] = block.values
        arrays[f"{name}_squares"] = block.squares
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)


def _resume(path: Path, trainer: GrammarTrainer, settings: str) -> tuple[int, NDArray[np.bool_]]:
    """Return the number of passes that were made and the sentences that were wrong in the last one."""
    none: NDArray[np.bool_] = np.ones(len(trainer.bank), np.bool_)
    if not path.is_file():
        return 0, none
    with np.load(path, allow_pickle=False) as stored:
        if str(stored["settings"]) != settings:
            _say(f"{path} belongs to other trees or options; training starts anew")
            return 0, none
        for name, block in trainer.blocks.items():
            block.values[:] = stored[f"{name}_values"]
            block.squares[:] = stored[f"{name}_squares"]
        _say(f"{path}: going on after pass {int(stored['passes'])}")
        return int(stored["passes"]), stored["wrong"].copy()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    with one_message():
        main()
