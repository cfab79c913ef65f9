"""Derivations of many sentences as flat arrays, read from files of plain trees and annotated."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import offsets_of, runs
from captious.parser.exact.pcfg import BOUNDARY_TAG
from captious.parser.exact.phrase_trees import read_tree
from captious.training.grammar.annotation import coarser, derivation
from captious.training.parser.treebank import open_text

Integers = NDArray[np.int64]
Small = NDArray[np.int32]
_CHUNK = 4000  # trees that a process annotates at a time
_ROOT = "ROOT"


@dataclass
class DerivationBank:
    """Derivations and words of sentences.

    The steps of sentence s are `states[step_offsets[s]:step_offsets[s + 1]]` with their numbers of
    `daughters`, its words `words[word_offsets[s]:word_offsets[s + 1]]`. The boundary is a step, not a word.
    """

    state_names: list[str]
    word_names: list[str]
    states: Small
    daughters: NDArray[np.uint8]
    step_offsets: Integers
    words: Small
    word_offsets: Integers

    def __len__(self) -> int:
        return len(self.step_offsets) - 1

    def select(self, chosen: Integers) -> DerivationBank:
        """Return some of the sentences. Names stay as they are."""
        steps, step_offsets = runs(self.step_offsets, chosen)
        words, word_offsets = runs(self.word_offsets, chosen)
        return DerivationBank(
            self.state_names,
            self.word_names,
            self.states[steps],
            self.daughters[steps],
            step_offsets,
            self.words[words],
            word_offsets,
        )

    def without_rare_states(self, least: int) -> DerivationBank:
        """Return derivations in which states seen fewer than `least` times are replaced by coarser ones."""
        counts = Counter(
            dict(
                zip(
                    self.state_names,
                    np.bincount(self.states, minlength=len(self.state_names)).tolist(),
                )
            )
        )
        target = {name: name for name in self.state_names}
        while True:
            rare = {
                name: coarser(name)
                for name, count in counts.items()
                if 0 < count < least and name not in (_ROOT, BOUNDARY_TAG) and coarser(name) != name
            }
            if not rare:
                break
            for name, general in rare.items():
                counts[general] += counts.pop(name)
            target = {name: rare.get(now, now) for name, now in target.items()}
        names = sorted(set(target.values()))
        number = {name: i for i, name in enumerate(names)}
        renumbered = np.array([number[target[name]] for name in self.state_names], np.int32)
        return DerivationBank(
            names,
            self.word_names,
            renumbered[self.states],
            self.daughters,
            self.step_offsets,
            self.words,
            self.word_offsets,
        )


def read_trees(paths: Iterable[Path]) -> Iterator[tuple[list[str], str]]:
    """Yield words and tree of each line of JSON-lines files with the fields `tokens` and `tree`."""
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path}: no such file; expected trees as JSON lines (.jsonl or .jsonl.gz)")
        with open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    row = json.loads(line)
                    yield list(row["tokens"]), str(row["tree"])
                except (ValueError, KeyError, TypeError) as error:
                    raise InputError(
                        f"{path}, line {number}: not a tree ({type(error).__name__}: {error}); "
                        "each line needs tokens and tree"
                    ) from error


_Annotated = tuple[list[str], list[str], list[int], list[int], list[int], list[int], list[int]]


def _annotate(rows: Sequence[tuple[list[str], str]]) -> _Annotated:
    """Return names of states and words, steps, their daughters and numbers, words and their numbers."""
    states: dict[str, int] = {}
    forms: dict[str, int] = {}
    steps: list[int] = []
    daughters: list[int] = []
    step_counts: list[int] = []
    words: list[int] = []
    word_counts: list[int] = []
    for tokens, text in rows:
        if any(len(token.split()) != 1 for token in tokens):
            continue  # numbers such as "2 1/2", which bracket notation cannot express
        tree = read_tree(text)
        if tree.label != _ROOT or len(tree.children) != 1:
            continue  # a sentence that the reference parser could not analyse
        path = derivation(tree)
        if sum(n == 0 for _, n in path) != len(tokens) + 1:
            raise InputError(f"a tree has other words than its tokens: {text[:120]}")
        steps += [states.setdefault(name, len(states)) for name, _ in path]
        daughters += [n for _, n in path]
        step_counts.append(len(path))
        words += [forms.setdefault(form, len(forms)) for form in tokens]
        word_counts.append(len(tokens))
    return list(states), list(forms), steps, daughters, step_counts, words, word_counts


def _chunks(rows: Iterator[tuple[list[str], str]]) -> Iterator[list[tuple[list[str], str]]]:
    while chunk := list(islice(rows, _CHUNK)):
        yield chunk


def read_bank(paths: Iterable[Path], *, longest: int, jobs: int) -> DerivationBank:
    """Annotate the trees of sentences with at most `longest` words."""
    rows = ((tokens, tree) for tokens, tree in read_trees(paths) if 1 <= len(tokens) <= longest)
    states: dict[str, int] = {}
    forms: dict[str, int] = {}
    parts: list[tuple[Small, NDArray[np.uint8], Small]] = []
    step_counts: list[int] = []
    word_counts: list[int] = []
    with ProcessPoolExecutor(jobs) as pool:
        for names, words, steps, daughters, counts, used, lengths in pool.map(_annotate, _chunks(rows)):
            state_numbers = np.array([states.setdefault(n, len(states)) for n in names], np.int32)
            word_numbers = np.array([forms.setdefault(w, len(forms)) for w in words], np.int32)
            parts.append(
                (state_numbers[steps], np.array(daughters, np.uint8), word_numbers[used])
                if steps
                else (np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0, np.int32))
            )
            step_counts += counts
            word_counts += lengths
    if not step_counts:
        raise InputError("no trees to learn from; expected JSON lines with tokens and tree")
    return DerivationBank(
        list(states),
        list(forms),
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        offsets_of(step_counts),
        np.concatenate([part[2] for part in parts]),
        offsets_of(word_counts),
    )
