"""Count the states of a caption grammar in trees, for the beam of its search.

    python -m captious.training.grammar.count_states captions.npz trees.jsonl.gz … -o faster.npz

`train_grammar` does this for the grammars it writes. This command does it for an earlier grammar, with other
trees than those it was trained on. Rules and weights stay as they are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from captious.core.errors import InputError, one_message
from captious.core.writing import atomic_write
from captious.parser.grammar.caption_lexicon import Arrays, names_of
from captious.parser.grammar.grammar_model import FORMAT
from captious.training.grammar.annotation import coarser
from captious.training.grammar.derivation_bank import DerivationBank, read_bank
from captious.training.grammar.export_grammar import prior_of


def with_prior(arrays: Arrays, bank: DerivationBank) -> tuple[Arrays, int]:
    """Return the arrays of a grammar with a prior, and the number of trees that have only its states."""
    names = names_of(arrays["states"])
    index = {name: i for i, name in enumerate(names)}
    states = np.array([number_of(name, index) for name in bank.state_names], np.int64)[bank.states]
    is_known = np.minimum.reduceat(states, bank.step_offsets[:-1]) >= 0
    seen = np.bincount(states[np.repeat(is_known, np.diff(bank.step_offsets))], minlength=len(names))
    count = int(is_known.sum())
    return {**arrays, "format": np.array(FORMAT), "prior": prior_of(seen, count)}, count


def number_of(name: str, index: dict[str, int]) -> int:
    """Return the number of a state, or of the next coarser one that the grammar has, -1 if it has none."""
    while name not in index:
        general = coarser(name)
        if general == name:
            return -1
        name = general
    return index[name]


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.grammar.count_states",
        description=(__doc__ or "").splitlines()[0],
    )
    parser.add_argument("grammar", type=Path, help="a caption grammar (.npz)")
    parser.add_argument("trees", nargs="+", type=Path, help="plain trees of captions, as JSON lines")
    parser.add_argument("-o", "--output", required=True, type=Path, help="file for the grammar")
    parser.add_argument("--longest", type=int, default=32, help="longest sentences to count, in words")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(argv)
    if not options.grammar.is_file():
        raise InputError(f"{options.grammar}: no such file; expected a caption grammar (.npz)")
    with np.load(options.grammar, allow_pickle=False) as file:
        arrays: Arrays = {name: file[name] for name in file.files}
    if "binary" not in arrays or int(arrays["format"]) != FORMAT:
        raise InputError(f"{options.grammar}: not a caption grammar of format {FORMAT}")
    bank = read_bank(options.trees, longest=options.longest, jobs=options.jobs)
    result, count = with_prior(arrays, bank)
    with atomic_write(options.output) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **result)  # type: ignore[arg-type]
    print(f"{count} of {len(bank)} trees counted", file=sys.stderr)


if __name__ == "__main__":
    with one_message():
        main()
