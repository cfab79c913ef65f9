"""Structured perceptron: where the search disagrees with a derivation, its weights move towards it.

Rules and tags start with their relative frequencies. Every weight is additive, so the search stays a plain
maximisation over derivations (Collins 2002). Steps follow AdaGrad, and the weights of a pass are averaged.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import offsets_of, runs
from captious.core.threads import side_by_side
from captious.parser.exact.lanes import LANES
from captious.parser.exact.pcfg import Floats, Grammar, Ints
from captious.parser.exact.search import Workspace, derivations
from captious.parser.network_model import shipped_model
from captious.training.grammar.adagrad import AveragedWeights
from captious.training.grammar.annotation import coarse
from captious.training.grammar.derivation_bank import DerivationBank
from captious.training.grammar.lexicon_weights import LexiconWeights
from captious.training.grammar.rule_scores import RuleScores

Integers = NDArray[np.int64]
HIGHEST_UNARY = -0.01  # unary rules cost something, so that chains of them end
ABSENT = 0.5  # occurrences taken from each rule's count in favour of rules that were not seen


def right_daughters(daughters: NDArray[np.uint8], offsets: Integers) -> Integers:
    """Return the place of the second daughter of each step of several derivations, -1 without one.

    Steps stand before their daughters. The number of steps that wait rises by one after a step with two
    daughters and falls by one after a word, so the second daughter is the next step with as many waiting.
    """
    change = daughters.astype(np.int64) - 1
    waiting = np.cumsum(change) - change
    sentence = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((np.arange(len(change)), waiting, sentence))
    following: Integers = np.full(len(change), -1, np.int64)
    following[order[:-1]] = order[1:]
    following[daughters != 2] = -1
    return following


@dataclass
class Batch:
    """Derivations with their rules: parent, first and second daughter (-1) of each step with daughters."""

    parents: Integers
    firsts: Integers
    seconds: Integers

    @classmethod
    def of(cls, states: Ints, daughters: NDArray[np.uint8], offsets: Integers) -> Batch:
        following = right_daughters(daughters, offsets)
        inner = np.flatnonzero(daughters > 0)
        seconds = following[inner]
        return cls(
            states[inner].astype(np.int64),
            states[inner + 1].astype(np.int64),
            np.where(seconds >= 0, states[seconds], -1),
        )

    def keys(self, size: int) -> Integers:
        """Return a number for each rule."""
        return (self.parents * size + self.firsts) * (size + 1) + self.seconds + 1


class GrammarTrainer:
    """Weights of a grammar and the derivations they are learned from."""

    def __init__(self, bank: DerivationBank, *, jobs: int = 2) -> None:
        self.jobs = jobs
        size = self.size = len(bank.state_names)
        batch = Batch.of(bank.states, bank.daughters, bank.step_offsets)
        keys, counts = np.unique(batch.keys(size), return_counts=True)
        second = keys % (size + 1) - 1
        first = keys // (size + 1) % size
        parent = keys // (size + 1) // size
        is_unary = second < 0
        self.rows: Integers = np.stack([parent, first, second], 1)
        self.is_unary = is_unary
        parent_counts = np.bincount(parent, counts, size)
        start = np.log(np.maximum(counts - ABSENT, 0.1) / parent_counts[parent])
        start[is_unary] = np.minimum(start[is_unary], HIGHEST_UNARY)
        leaf = bank.daughters == 0
        tag_numbers = np.unique(bank.states[leaf])
        names = bank.state_names
        tags = [names[i] for i in tag_numbers.tolist()]
        # Words and their tags; the last leaf of a derivation is the boundary.
        is_word = leaf.copy()
        is_word[bank.step_offsets[1:] - 1] = False
        tag_of = np.full(size, -1, np.int64)
        tag_of[tag_numbers] = np.arange(len(tags))
        pairs, pair_counts = np.unique(
            bank.words.astype(np.int64) * len(tags) + tag_of[bank.states[is_word]], return_counts=True
        )
        classes = shipped_model().classes
        #: Numbers of the word classes that occur. Words of a class share their weights.
        self.classes, groups = np.unique([classes.of(form) for form in bank.word_names], return_inverse=True)
        self.lexicon = LexiconWeights(
            tags,
            bank.word_names,
            groups.astype(np.int64),
            np.stack([pairs // len(tags), pairs % len(tags)], 1),
            pair_counts,
        )
        self.grammar = Grammar(
            states=names,
            tags=tags,
            words=[],
            binary=self.rows[~is_unary].astype(np.int32),
            binary_scores=np.zeros(int((~is_unary).sum()), np.float32),
            unary=self.rows[is_unary, :2].astype(np.int32),
            unary_scores=np.full(int(is_unary.sum()), -1, np.float32),
            seen=np.empty((0, 2), np.int32),
            seen_counts=np.empty(0),
            unseen=np.empty((0, 2), np.int32),
            unseen_counts=np.empty(0),
        )
        self.scores = RuleScores(self.grammar)
        number = self.scores.number.astype(np.int64)
        # Rules in the search's numbers, sorted for lookup.
        arranged = Batch(number[parent], number[first], np.where(is_unary, -1, number[second])).keys(size)
        self._order = np.argsort(arranged)
        self._keys = arranged[self._order]
        coarse_names = [coarse(name) for name in names]
        coarse_index = {name: i for i, name in enumerate(sorted(set(coarse_names)))}
        coarse_of = np.array([*(coarse_index[name] for name in coarse_names), -1], np.int64)
        _, self.coarse_rule = np.unique(
            Batch(coarse_of[parent], coarse_of[first], coarse_of[second]).keys(len(coarse_index)),
            return_inverse=True,
        )
        self.rule = AveragedWeights(start.astype(np.float32))
        self.rule_plain = AveragedWeights(np.zeros(int(self.coarse_rule.max()) + 1, np.float32))
        self.bank = DerivationBank(
            self.scores.rules.names,
            bank.word_names,
            self.scores.number[bank.states],
            bank.daughters,
            bank.step_offsets,
            bank.words,
            bank.word_offsets,
        )
        self._tag_of: Integers = np.full(size, -1, np.int64)
        self._tag_of[self.scores.rules.tag_states] = np.arange(len(tags))
        self._spaces = threading.local()

    @contextmanager
    def averaged(self, updates: int) -> Iterator[None]:
        """Use the weights averaged over the updates of a pass inside the block."""
        present = {name: block.values for name, block in self.blocks.items()}
        for block in self.blocks.values():
            block.values = block.average(updates)
        try:
            yield
        finally:
            for name, block in self.blocks.items():
                block.values = present[name]

    @property
    def blocks(self) -> dict[str, AveragedWeights]:
        """All weights by name."""
        return {"rule": self.rule, "rule_plain": self.rule_plain, **self.lexicon.blocks}

    def rule_scores(self) -> Floats:
        """Return the score of each rule."""
        scores = self.rule.values + self.rule_plain.values[self.coarse_rule]
        scores[self.is_unary] = np.minimum(scores[self.is_unary], HIGHEST_UNARY)
        return scores

    def search(self, groups: Sequence[Integers]) -> list[list[Ints]]:
        """Return the best derivations of groups of at most sixteen sentences."""
        scores = self.rule_scores()
        rules = self.scores.refresh(scores[~self.is_unary], scores[self.is_unary])
        chosen = np.concatenate(groups)
        places, _ = runs(self.bank.word_offsets, chosen)
        used = np.unique(self.bank.words[places])
        table = self.lexicon.table(used.astype(np.int64))
        row: Ints = np.zeros(len(self.bank.word_names), np.int32)
        row[used] = np.arange(1, len(used) + 1)
        results: list[list[Ints]] = [[] for _ in groups]

        def run(g: int) -> None:
            words = [
                np.append(
                    row[self.bank.words[self.bank.word_offsets[s] : self.bank.word_offsets[s + 1]]],
                    np.int32(0),
                )
                for s in groups[g].tolist()
            ]
            length = max(map(len, words))
            space: Workspace | None = getattr(self._spaces, "space", None)
            if space is None or space.length < length:
                space = self._spaces.space = Workspace(rules, length)
            results[g] = derivations(rules, table, words, space)

        for _ in side_by_side(run, range(len(groups)), self.jobs):
            pass
        return results

    def update(self, groups: Sequence[Integers], rate: float, number: int) -> Integers:
        """Search sentences, move the weights where the result is wrong, and return the wrong sentences."""
        wrong: list[int] = []
        paths: list[Ints] = []
        offsets = self.bank.step_offsets
        for group, results in zip(groups, self.search(groups)):
            for s, path in zip(group.tolist(), results):
                gold = self.bank.states[offsets[s] : offsets[s + 1]]
                if len(path) != len(gold) or not (path[:, 0] == gold).all():
                    wrong.append(s)
                    paths.append(path)
        sentences = np.array(wrong, np.int64)
        parsed = [i for i, path in enumerate(paths) if len(path)]
        if parsed:
            steps, gold_offsets = runs(offsets, sentences[parsed])
            joined = np.concatenate([paths[i] for i in parsed])
            path_offsets = offsets_of([len(paths[i]) for i in parsed])
            gold_tags = self._add(self.bank.states[steps], self.bank.daughters[steps], gold_offsets, 1.0)
            own_tags = self._add(joined[:, 0], joined[:, 1].astype(np.uint8), path_offsets, -1.0)
            places, _ = runs(self.bank.word_offsets, sentences[parsed])
            words = self.bank.words[places].astype(np.int64)
            differ = gold_tags != own_tags
            self.lexicon.add(words[differ], gold_tags[differ], own_tags[differ])
            for block in self.blocks.values():
                block.step(rate, number)
        return sentences

    def _add(self, states: Ints, daughters: NDArray[np.uint8], offsets: Integers, sign: float) -> Integers:
        """Add the rules of derivations to the gradient, and return their tags without the boundary."""
        keys = Batch.of(states, daughters, offsets).keys(self.size)
        rules = self._order[np.searchsorted(self._keys, keys)]
        self.rule.add(rules, sign)
        self.rule_plain.add(self.coarse_rule[rules], sign)
        leaf = daughters == 0
        leaf[offsets[1:] - 1] = False
        tags: Integers = self._tag_of[states[leaf]]
        return tags


def groups_of(lengths: Integers, chosen: Integers, rng: np.random.Generator) -> list[Integers]:
    """Return groups of sentences of one length, in random order."""
    shuffled = rng.permutation(chosen)
    ordered = shuffled[np.argsort(lengths[shuffled], kind="stable")]
    starts = np.flatnonzero(np.diff(lengths[ordered], prepend=-1))
    groups = [
        part[i : i + LANES] for part in np.split(ordered, starts[1:]) for i in range(0, len(part), LANES)
    ]
    return [groups[i] for i in rng.permutation(len(groups)).tolist()]
