"""Weights of a grammar from the scores of trees: one linear equation per tree.

The score of a derivation is the sum of the weights of its rules and of its words' tags. Where the states of
the annotation determine those of the grammar that gave the scores, every tree is an equation about the
weights, and least squares over many trees finds them (up to shifts that cancel in every sum).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, hstack
from scipy.sparse.linalg import lsmr

from captious.core.ragged import offsets_of
from captious.parser.exact.pcfg import BOUNDARY_TAG, Doubles
from captious.parser.network_model import shipped_model
from captious.training.grammar.annotation import Step
from captious.training.grammar.lexicon_weights import LexiconWeights

Integers = NDArray[np.int64]
ABSENT = 0.5  # occurrences taken from each rule's count in favour of rules that were not seen
HUBER = 0.15  # residuals above this number count by their size rather than their square
ROUNDS = 4  # of weighted least squares
MARGIN = 4.0  # a tree without a score is to be at least this much worse than the right one
OTHERS = 2.0  # weight of the equations of trees that the tool did not choose
DAMPING = 0.01


class ScoreEquations:
    """Trees with scores, and the weights of rules and words that they determine."""

    def __init__(self) -> None:
        self.state_names: list[str] = []
        self.forms: list[str] = []
        self._states: dict[str, int] = {}
        self._forms: dict[str, int] = {}
        self._groups: list[int] = []
        self._rules: dict[tuple[int, int, int], int] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        self._places: list[list[int]] = []  # rules count from 0 up, pairs of class and tag from -1 down
        self._scores: list[float] = []
        self._is_chosen: list[bool] = []
        self._is_bound: list[bool] = []
        self._uses: dict[tuple[int, int], int] = {}
        self._classes = shipped_model().classes

    def __len__(self) -> int:
        return len(self._scores)

    def add(
        self,
        tokens: Sequence[str],
        steps: Sequence[Step],
        score: float,
        *,
        is_chosen: bool = True,
        is_bound: bool = False,
    ) -> bool:
        """Add an equation, and return whether it was added.

        `is_chosen` marks the tool's own trees. With `is_bound`, the score is an upper bound, and a tree of
        rules that are not known yet is not added.
        """
        numbers = [self._state(name) for name, _ in steps]
        places: list[int] = []
        words = iter(tokens)
        following = iter(zip(numbers, (daughters for _, daughters in steps)))

        def build() -> int:
            state, daughters = next(following)
            if daughters == 0:
                form = next(words, None)
                if form is not None:
                    places.append(-1 - self._pair(form, state, is_chosen))
                return state
            first = build()
            second = build() if daughters == 2 else -1
            key = (state, first, second)
            places.append(len(self._rules) if is_bound and key not in self._rules else self._rule(key))
            return state

        before = len(self._rules)
        build()
        if is_bound and max(places) >= before:
            return False
        self._places.append(places)
        self._scores.append(score)
        self._is_chosen.append(is_chosen)
        self._is_bound.append(is_bound)
        return True

    def _state(self, name: str) -> int:
        number = self._states.get(name)
        if number is None:
            number = self._states[name] = len(self.state_names)
            self.state_names.append(name)
        return number

    def _rule(self, key: tuple[int, int, int]) -> int:
        return self._rules.setdefault(key, len(self._rules))

    def _pair(self, form: str, state: int, is_chosen: bool) -> int:
        word = self._forms.get(form)
        if word is None:
            word = self._forms[form] = len(self.forms)
            self.forms.append(form)
            self._groups.append(self._classes.of(form))
        if is_chosen:
            self._uses[word, state] = self._uses.get((word, state), 0) + 1
        key = (self._groups[word], state)
        return self._pairs.setdefault(key, len(self._pairs))

    @property
    def rules(self) -> Integers:
        """Parent, first and second daughter (-1 without one) of each rule."""
        return np.array(list(self._rules), np.int64).reshape(-1, 3)

    def lexicon(self) -> tuple[LexiconWeights, Integers, Integers]:
        """Return starting weights of words, the tag states and the word classes that occur."""
        uses = np.array([(word, state, count) for (word, state), count in self._uses.items()], np.int64)
        boundary = self._states[BOUNDARY_TAG]
        tags = np.unique(np.append(uses[:, 1], boundary))
        number = np.full(len(self.state_names), -1, np.int64)
        number[tags] = np.arange(len(tags))
        classes, groups = np.unique(self._groups, return_inverse=True)
        names = [self.state_names[tag] for tag in tags.tolist()]
        pairs = np.stack([uses[:, 0], number[uses[:, 1]]], 1)
        weights = LexiconWeights(names, self.forms, groups.astype(np.int64), pairs, uses[:, 2].astype(float))
        return weights, tags, classes.astype(np.int64)

    def solve(self, damping: float = DAMPING) -> SolvedWeights:
        """Return the weights that fit the scores best."""
        lexicon, tags, classes = self.lexicon()
        rules = self.rules
        count, size = len(rules), len(tags)
        # A word of each class, its most frequent one, gives the class its spelling.
        frequency = np.zeros(len(self.forms))
        for (word, _), uses in self._uses.items():
            frequency[word] += uses
        spoken = np.zeros(len(classes), np.int64)
        order = np.argsort(frequency, kind="stable")
        spoken[lexicon.groups[order]] = order
        start = lexicon.table(spoken)[1:].astype(np.float64)
        # Pairs that only trees which the tool did not choose have.
        place_of = {number: i for i, number in enumerate(classes.tolist())}
        tag_of = {number: i for i, number in enumerate(tags.tolist())}
        columns = np.array(
            [place_of[group] * size + tag_of.get(state, 0) for group, state in self._pairs], np.int64
        )
        floor = np.where(np.isfinite(start), start, np.inf).min(1)
        unseen = ~np.isfinite(start.reshape(-1)[columns])
        start.reshape(-1)[columns[unseen]] = floor[columns[unseen] // size] - 1
        allowed = np.flatnonzero(np.isfinite(start.reshape(-1)))
        lengths = np.array([len(places) for places in self._places])
        joined = np.fromiter((p for places in self._places for p in places), np.int64, int(lengths.sum()))
        is_pair = joined < 0
        joined[is_pair] = count + np.searchsorted(allowed, columns[-1 - joined[is_pair]])
        matrix = csr_matrix(
            (np.ones(len(joined)), joined, offsets_of(lengths.tolist())),
            shape=(len(self), count + len(allowed)),
        )
        matrix.sum_duplicates()
        chosen, bound = np.array(self._is_chosen), np.array(self._is_bound)
        seen = np.asarray(matrix[np.flatnonzero(chosen), :count].sum(0)).ravel()
        parents = np.bincount(rules[:, 0], seen, len(self.state_names))
        prior = np.log(np.maximum(seen - ABSENT, 0.1) / np.maximum(parents[rules[:, 0]], 1))
        prior = np.concatenate([prior, start.reshape(-1)[allowed]])
        # Shifts that all tags of a class share, and all classes of a tag, also reach pairs without a tree.
        own = np.arange(len(allowed))
        shifts = csr_matrix(
            (
                np.ones(2 * len(allowed)),
                (
                    np.concatenate([own, own]) + count,
                    np.concatenate([allowed // size, len(classes) + allowed % size]),
                ),
            ),
            shape=(matrix.shape[1], len(classes) + size),
        )
        system = hstack([matrix, matrix @ shifts]).tocsr()
        squares = np.asarray(system.power(2).sum(0)).ravel()
        scale = 1 / np.sqrt(np.maximum(squares, 1))
        system = (system @ diags(scale)).tocsr()
        target = np.array(self._scores) - matrix @ prior
        importance = np.where(chosen, 1.0, OTHERS)
        importance[bound] = 0.5
        steps: Doubles = np.zeros(system.shape[1])
        residual = target.copy()
        for _ in range(ROUNDS):
            robust = 1 / np.maximum(1, np.abs(residual) / HUBER)
            robust[bound & (residual >= 0)] = 0  # as low as it should be
            weight = importance * np.sqrt(robust)
            steps += lsmr(
                diags(weight) @ system, residual * weight, damp=damping, maxiter=1500, atol=1e-7, btol=1e-7
            )[0]
            residual = target - system @ steps
        steps *= scale
        weights = prior + steps[: len(prior)] + shifts @ steps[len(prior) :]
        table: Doubles = np.full(start.shape, -np.inf)
        table.reshape(-1)[allowed] = weights[count:]
        return SolvedWeights(
            self.state_names,
            rules,
            weights[:count],
            tags,
            classes,
            table,
            steps[len(prior) + len(classes) :],
            lexicon,
            np.bincount(rules[:, 0], seen, len(self.state_names)).astype(np.int64)
            + np.bincount(
                [state for _, state in self._uses], list(self._uses.values()), len(self.state_names)
            ).astype(np.int64),
            int(chosen.sum()),
            residual[~bound],
        )


class SolvedWeights:
    """Weights of rules and of words by tag, with what an export needs."""

    def __init__(
        self,
        state_names: list[str],
        rules: Integers,
        rule_weights: Doubles,
        tags: Integers,
        classes: Integers,
        table: Doubles,
        tag_shifts: Doubles,
        lexicon: LexiconWeights,
        seen: Integers,
        count: int,
        residual: Doubles,
    ) -> None:
        self.state_names, self.rules, self.rule_weights = list(state_names), rules, rule_weights
        self.tags, self.classes, self.table, self.tag_shifts = tags, classes, table, tag_shifts
        self.lexicon, self.seen, self.count, self.residual = lexicon, seen, count, residual

    def lower_unary(self, highest: float) -> None:
        """Shift weights between states so that unary rules get at most `highest`.

        Chains of unary rules then end. No derivation's score changes, unless a circle of rules gains.
        """
        parent, child, second = self.rules.T
        unary = second < 0
        shift = np.zeros(len(self.state_names))
        for _ in range(50):
            wanted = self.rule_weights[unary] + shift[child[unary]] - highest
            raised = shift.copy()
            np.maximum.at(raised, parent[unary], wanted)
            if np.allclose(raised, shift):
                break
            shift = raised
        self.rule_weights = self.rule_weights - shift[parent] + shift[child]
        self.rule_weights[~unary] += shift[second[~unary]]
        self.rule_weights[unary] = np.minimum(self.rule_weights[unary], highest)
        self.table = self.table - shift[self.tags]
        self.tag_shifts = self.tag_shifts - shift[self.tags]
