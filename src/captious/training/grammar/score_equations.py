"""Weights of a grammar from the scores of trees: one linear equation per tree.

The score of a derivation is the sum of the weights of its rules and of its words' tags. Where the states of
the annotation determine those of the grammar that gave the scores, every tree is an equation about the
weights, and least squares over many trees finds them (up to shifts that cancel in every sum).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, hstack, vstack
from scipy.sparse.linalg import lsmr

from captious.core.ragged import offsets_of
from captious.parser.exact.pcfg import BOUNDARY_TAG, START, Doubles
from captious.parser.network_model import shipped_model
from captious.training.grammar.annotation import Step
from captious.training.grammar.lexicon_weights import LexiconWeights

Integers = NDArray[np.int64]
ABSENT = 0.5  # occurrences taken from each rule's count in favour of rules that were not seen
HUBER = 0.05  # residuals above this number count by their size rather than their square
ROUNDS = 3  # of weighted least squares
ENOUGH = 15  # equations of the tool's trees for a rule or a word by tag
MARGIN = 4.0  # a tree without a score is to be at least this much worse than the right one
OTHERS = 2.0  # weight of the equations of trees that the tool did not choose
DAMPING = 0.003


class ScoreEquations:
    """Trees with scores, and the weights of rules and words that they determine."""

    def __init__(self) -> None:
        self.state_names: list[str] = []
        self.forms: list[str] = []
        self._states: dict[str, int] = {}
        self._forms: dict[str, int] = {}
        self._groups: list[int] = []
        self._tag_states: set[str] = set()
        self._rule_counts: list[int] = []
        self._pair_counts: list[int] = []
        #: Number of the tool's trees, with those that are only counted.
        self.count = 0
        self._rules: dict[tuple[int, int, int], int] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        #: Features of each tree: rules count from 0 up, pairs of class and tag from -1 down.
        self._places = array("i")
        self._lengths: list[int] = []
        self._scores: list[float] = []
        self._is_chosen: list[bool] = []
        self._is_bound: list[bool] = []
        self._uses: dict[tuple[int, int], int] = {}
        self._classes = shipped_model().classes
        self._start: tuple[LexiconWeights, Integers, Integers, Doubles] | None = None
        self._solved_rules: Doubles = np.empty(0)
        self._table: Doubles | None = None

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

        `is_chosen` marks the tool's own trees. Other trees are not added if they have tag states that those
        lack. With `is_bound`, the score is an upper bound; a tree of unknown rules is not added. A tree of
        the tool is only counted if there are enough equations for each of its rules and words.
        """
        leaves = {name for name, daughters in steps if daughters == 0}
        if is_chosen:
            self._tag_states |= leaves
        elif not leaves <= self._tag_states:
            return False
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
        if is_chosen:
            counts = [self._count(place) for place in places]
            self.count += 1
            if min(counts) > ENOUGH:
                return False
        self._places.extend(places)
        self._lengths.append(len(places))
        self._scores.append(score)
        self._is_chosen.append(is_chosen)
        self._is_bound.append(is_bound)
        return True

    def _count(self, place: int) -> int:
        """Count a use of a rule or pair in a tree of the tool, and return the number of uses."""
        counts = self._rule_counts if place >= 0 else self._pair_counts
        index = place if place >= 0 else -1 - place
        counts.extend([0] * (index + 1 - len(counts)))
        counts[index] += 1
        return counts[index]

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

    def _starting_words(self) -> tuple[LexiconWeights, Integers, Integers, Doubles]:
        """Return what `lexicon` does, and the starting weight of each class by tag."""
        if self._start is None:
            lexicon, tags, classes = self.lexicon()
            # The most frequent word of a class gives it its spelling.
            frequency = np.zeros(len(self.forms))
            for (word, _), uses in self._uses.items():
                frequency[word] += uses
            spoken = np.zeros(len(classes), np.int64)
            order = np.argsort(frequency, kind="stable")
            spoken[lexicon.groups[order]] = order
            self._start = lexicon, tags, classes, lexicon.table(spoken)[1:].astype(np.float64)
        return self._start

    def solve(self, damping: float = DAMPING) -> SolvedWeights:
        """Return the weights that fit the scores best.

        The search starts from the last solution, or from relative frequencies.
        """
        lexicon, tags, classes, start = self._starting_words()
        is_first = self._table is None
        table: Doubles = (start if self._table is None else self._table).copy()
        flat = table.reshape(-1)
        rules = self.rules
        count, size = len(rules), len(tags)
        # Pairs that only trees which the tool did not choose have are allowed, too.
        place_of = {number: i for i, number in enumerate(classes.tolist())}
        tag_of = {number: i for i, number in enumerate(tags.tolist())}
        columns = np.array([place_of[group] * size + tag_of[state] for group, state in self._pairs], np.int64)
        fresh = columns[~np.isfinite(flat[columns])]
        flat[fresh] = np.where(np.isfinite(table), table, np.inf).min(1)[fresh // size] - 1
        allowed = np.flatnonzero(np.isfinite(flat))
        joined = np.array(self._places, np.int64)
        is_pair = joined < 0
        joined[is_pair] = count + np.searchsorted(allowed, columns[-1 - joined[is_pair]])
        matrix = csr_matrix(
            (np.ones(len(joined)), joined, offsets_of(self._lengths)), shape=(len(self), count + len(allowed))
        )
        matrix.sum_duplicates()
        chosen, bound = np.array(self._is_chosen), np.array(self._is_bound)
        seen = np.zeros(count)
        seen[: len(self._rule_counts)] = self._rule_counts
        parents = np.bincount(rules[:, 0], seen, len(self.state_names))
        by_count = np.log(np.maximum(seen - ABSENT, 0.1) / np.maximum(parents[rules[:, 0]], 1))
        solved = np.pad(self._solved_rules, (0, count - len(self._solved_rules)), constant_values=np.nan)
        prior = np.concatenate([np.where(np.isnan(solved), by_count, solved), flat[allowed]])
        scores = np.array(self._scores)
        shifts = _shifts(allowed, count, len(classes), size)
        weights = prior.copy()
        if is_first:
            system = hstack([matrix, matrix @ shifts]).tocsr()
            steps = _least_squares(system, scores - matrix @ prior, chosen, bound, damping)
            weights += steps[: len(prior)] + shifts @ steps[len(prior) :]
            self.tag_shifts = steps[len(prior) + len(classes) :]
        else:
            weights += _least_squares(matrix, scores - matrix @ prior, chosen, bound, damping)
        flat[allowed] = weights[count:]
        self._table = table
        self._solved_rules = weights[:count]
        frequency = np.bincount(rules[:, 0], seen, len(self.state_names))
        uses = np.array(list(self._uses.values()))
        frequency += np.bincount([state for _, state in self._uses], uses, len(self.state_names))
        return SolvedWeights(
            self.state_names,
            rules,
            weights[:count],
            tags,
            classes,
            table,
            self.tag_shifts,
            lexicon,
            frequency.astype(np.int64),
            self.count,
            (scores - matrix @ weights)[~bound],
            seen,
            start,
        )


def _shifts(allowed: Integers, rules: int, classes: int, tags: int) -> csr_matrix:
    """Return the shifts that all tags of a class share, and all classes of a tag.

    They also reach pairs that no tree has.
    """
    rows = np.arange(len(allowed)) + rules
    return csr_matrix(
        (
            np.ones(2 * len(allowed)),
            (np.tile(rows, 2), np.concatenate([allowed // tags, classes + allowed % tags])),
        ),
        shape=(rules + len(allowed), classes + tags),
    )


def _least_squares(
    system: csr_matrix, target: Doubles, chosen: NDArray[np.bool_], bound: NDArray[np.bool_], damping: float
) -> Doubles:
    """Return the solution of equations, of which few may be far off.

    Columns are brought to one length, without which the iteration hardly converges.
    """
    scale = 1 / np.sqrt(np.maximum(np.asarray(system.power(2).sum(0)).ravel(), 1))
    system = (system @ diags(scale)).tocsr()
    importance = np.where(chosen, 1.0, OTHERS)
    importance[bound] = 0.5
    steps: Doubles = np.zeros(system.shape[1])
    residual = target
    for _ in range(ROUNDS):
        robust = 1 / np.maximum(1, np.abs(residual) / HUBER)
        robust[bound & (residual >= 0)] = 0  # as low as it should be
        weight = importance * np.sqrt(robust)
        steps += lsmr(
            diags(weight) @ system, residual * weight, damp=damping, maxiter=600, atol=1e-7, btol=1e-7
        )[0]
        residual = target - system @ steps
    solution: Doubles = steps * scale
    return solution


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
        rule_counts: Doubles,
        start: Doubles,
    ) -> None:
        self.state_names, self.rules, self.rule_weights = list(state_names), rules, rule_weights
        self.tags, self.classes, self.table, self.tag_shifts = tags, classes, table, tag_shifts
        self.lexicon, self.seen, self.count, self.residual = lexicon, seen, count, residual
        self.rule_counts, self.start = rule_counts, start

    def _shift(self, shift: Doubles) -> None:
        """Take a number from each state's weights as a parent or tag, and add it where it is a daughter."""
        parent, first, second = self.rules.T
        self.rule_weights = self.rule_weights - shift[parent] + shift[first]
        binary = second >= 0
        self.rule_weights[binary] += shift[second[binary]]
        self.table = self.table - shift[self.tags]
        self.tag_shifts = self.tag_shifts - shift[self.tags]

    def normalize(self) -> None:
        """Shift weights between states so that they come near to logarithms of relative frequencies.

        No derivation's score changes, but scores of different states over the same words become comparable,
        which the beam needs.
        """
        size = len(self.state_names)
        parent, first, second = self.rules.T
        rows = np.flatnonzero(self.rule_counts > 0)
        chosen = rows[second[rows] >= 0]
        numbers = np.arange(len(self.rules))
        places = np.concatenate([parent[rows], first[rows], second[chosen]])
        signs = np.repeat([-1.0, 1.0, 1.0], [len(rows), len(rows), len(chosen)])
        by_parent = np.bincount(parent, self.rule_counts, size)
        wanted = np.log(np.maximum(self.rule_counts, 0.5) / np.maximum(by_parent[parent], 1))
        rules = csr_matrix(
            (signs, (np.concatenate([numbers[rows], numbers[rows], numbers[chosen]]), places)),
            shape=(len(self.rules), size + len(self.classes)),
        )
        line, tag = np.nonzero(np.isfinite(self.table) & np.isfinite(self.start))
        own = np.arange(len(line))
        words = csr_matrix(
            (
                np.repeat([-1.0, 1.0], len(line)),
                (np.tile(own, 2), np.concatenate([self.tags[tag], size + line])),
            ),
            shape=(len(line), size + len(self.classes)),
        )
        fixed = [self.state_names.index(name) for name in (START, BOUNDARY_TAG)]
        ends = csr_matrix((np.ones(2), (np.arange(2), fixed)), shape=(2, size + len(self.classes)))
        weight = np.concatenate([np.sqrt(self.rule_counts), np.full(len(line), 1.0), np.full(2, 1e4)])
        target = np.concatenate(
            [wanted - self.rule_weights, self.start[line, tag] - self.table[line, tag], np.zeros(2)]
        )
        system = diags(weight) @ vstack([rules, words, ends])
        shift = lsmr(system, target * weight, damp=0.1, maxiter=500)[0][:size]
        shift[fixed] = 0
        self._shift(shift)

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
        self._shift(shift)
        self.rule_weights[unary] = np.minimum(self.rule_weights[unary], highest)
