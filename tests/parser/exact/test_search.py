"""The search against a plain implementation that tries all derivations, on small made-up grammars."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from captious.parser.exact.lanes import LANES
from captious.parser.exact.pcfg import BOUNDARY_TAG, Grammar
from captious.parser.exact.rule_arrays import Rules, arrange, unary_chains
from captious.parser.exact.search import Workspace, derivations
from tests.forms import both_forms, running

TAGS = ["D^NP", "N^NP", "V^VP", "P^PP", BOUNDARY_TAG]
PHRASES = ["S^ROOT", "NP", "VP", "PP", "NP^NP", "ROOT"]


def made_up(seed: int, step: float) -> Grammar:
    """A grammar of the real one's shape; a large `step` between scores makes many of them equal.

    As in the real one, scores of unfinished phrases are given out in advance here and taken back there, so
    some rules have scores above 0.
    """
    rng = np.random.default_rng(seed)
    unfinished = [f"@{phrase}| {i}" for phrase in PHRASES[:-1] for i in range(3)]
    states = ["@lonely", *TAGS, *unfinished, *PHRASES]
    number = {name: i for i, name in enumerate(states)}
    complete = [number[name] for name in [*TAGS[:-1], *PHRASES[:-1]]]
    binary = {(number["ROOT"], number[p], number[BOUNDARY_TAG]) for p in ("S^ROOT", "NP", "VP")}
    unary = set()
    for phrase in PHRASES[:-1]:
        mine = [number[name] for name in unfinished if name.startswith(f"@{phrase}|")]
        for child in rng.choice(complete, 3, replace=False).tolist():
            if child != number[phrase]:
                unary.add((mine[0], child))
        unary.add((number[phrase], mine[-1]))
        for parent, daughter in itertools.product(mine[1:], mine):
            for other in rng.choice(complete, 3, replace=False).tolist():
                binary.add((parent, daughter, other) if rng.random() < 0.5 else (parent, other, daughter))
    rules, chains = np.array(sorted(binary), np.int32), np.array(sorted(unary), np.int32)
    rng.shuffle(rules)

    def scores(count: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return (-np.round(rng.random(count) * 4 / step) * step).astype(np.float32)

    empty, counts = np.zeros((0, 2), np.int32), np.zeros(0)
    rule_scores, chain_scores = scores(len(rules)), scores(len(chains))
    for name in unfinished[1::3]:  # these are made by binary rules only
        ahead = np.float32(4 * rng.integers(-2, 3))
        rule_scores[rules[:, 0] == number[name]] += ahead
        rule_scores[(rules[:, 1:] == number[name]).any(axis=1)] -= ahead
    assert (rule_scores > 0).any()
    grammar = Grammar(
        states, TAGS, [], rules, rule_scores, chains, chain_scores, empty, counts, empty, counts
    )
    grammar.check()
    return grammar


def brute_force(rules: Rules, table: np.ndarray, words: list[int]) -> float:
    """The score of the best derivation, by definition: every split, every rule, chains on top."""
    parents = [
        [
            (int(rules.by_parent[1][r]), int(rules.by_parent[2][r]), float(rules.by_parent[3][r]))
            for r in range(a, b)
        ]
        for a, b in itertools.pairwise(rules.by_parent[0].tolist())
    ]
    chains = [
        [(int(rules.down[1][r]), float(rules.down[2][r])) for r in range(a, b)]
        for a, b in itertools.pairwise(rules.down[0].tolist())
    ]
    tag_of = {int(state): tag for tag, state in enumerate(rules.tag_states.tolist())}

    @cache
    def base(state: int, i: int, j: int) -> float:
        if j - i == 1:
            return float(table[words[i], tag_of[state]]) if state in tag_of else -np.inf
        return max(
            (s + full(a, i, k) + full(b, k, j) for k in range(i + 1, j) for a, b, s in parents[state]),
            default=-np.inf,
        )

    @cache
    def full(state: int, i: int, j: int) -> float:
        return max([base(state, i, j), *(s + base(child, i, j) for child, s in chains[state])])

    return full(rules.goal, 0, len(words))


def score_of(rules: Rules, table: np.ndarray, words: list[int], steps: list[list[int]]) -> float:
    """The score of a derivation, which must be one: its rules exist and its leaves are the words' tags."""
    binary = {
        (parent, int(rules.by_parent[1][r]), int(rules.by_parent[2][r])): float(rules.by_parent[3][r])
        for parent, (a, b) in enumerate(itertools.pairwise(rules.by_parent[0].tolist()))
        for r in range(a, b)
    }
    unary = {
        (parent, int(rules.down[1][r])): float(rules.down[2][r])
        for parent, (a, b) in enumerate(itertools.pairwise(rules.down[0].tolist()))
        for r in range(a, b)
        if rules.down[3][r] == rules.down[1][r]
    }
    tags = rules.tag_states.tolist()
    remaining, leaves = iter(steps), iter(words)

    def walk() -> tuple[int, float]:
        state, daughters = next(remaining)
        if daughters == 0:
            return state, float(table[next(leaves), tags.index(state)])
        first, score = walk()
        if daughters == 1:
            return state, score + unary[state, first]
        second, other = walk()
        return state, score + other + binary[state, first, second]

    state, score = walk()
    assert state == rules.goal and next(remaining, None) is None and next(leaves, None) is None
    return score


@both_forms
@pytest.mark.parametrize("step", [1e-3, 1.0])
def test_the_best_derivation_is_found(form: str, step: float) -> None:
    rng = np.random.default_rng(5)
    parsed = 0
    for seed in range(6 if form == "plain" else 25):
        rules = arrange(made_up(seed, step))
        table = np.full((7, len(TAGS)), -np.inf, np.float32)
        table[0, -1] = 0
        table[1:, :-1] = -np.round(rng.random((6, len(TAGS) - 1)) * 4 / step) * step
        table[1:, :-1][rng.random((6, len(TAGS) - 1)) < 0.4] = -np.inf
        sentences = [[*rng.integers(1, 7, length).tolist(), 0] for length in (1, 2, 3, 5, 6)]
        space = Workspace(rules, 7)
        with running(form):
            found = derivations(rules, table, [np.array(s, np.int32) for s in sentences], space)
        for words, steps in zip(sentences, found):
            best = brute_force(rules, table, words)
            assert (len(steps) == 0) == (best == -np.inf)
            if len(steps):
                parsed += 1
                assert score_of(rules, table, words, steps.tolist()) == pytest.approx(best, abs=1e-3)
    assert parsed > (10 if form == "plain" else 50)


def test_company_and_history_do_not_matter() -> None:
    rules = arrange(made_up(3, 1.0))
    rng = np.random.default_rng(1)
    table = np.concatenate(
        [[[-np.inf] * 4 + [0]], np.hstack([-rng.random((6, 4)), np.full((6, 1), -np.inf)])]
    ).astype(np.float32)
    sentences = [np.array([*rng.integers(1, 7, length), 0], np.int32) for length in (6, 5, 4, 6, 2, 1, 6, 3)]
    space = Workspace(rules, 7)
    together = derivations(rules, table, sentences, space)
    for sentence, expected in zip(sentences, together):
        assert derivations(rules, table, [sentence], space)[0].tolist() == expected.tolist()
    assert len(sentences) <= LANES


def test_a_beam_drops_what_is_far_behind() -> None:
    """A wide beam changes nothing, a narrow one finds no better analysis, common states survive longer. Pruning
    does not depend on the other sentences.
    """
    rng = np.random.default_rng(2)
    lost = kept = 0
    for seed in range(25):
        rules = arrange(made_up(seed, 1e-3))
        table = np.full((7, len(TAGS)), -np.inf, np.float32)
        table[0, -1] = 0
        table[1:, :-1] = -rng.random((6, len(TAGS) - 1)) * 4
        words = [[*rng.integers(1, 7, 6).tolist(), 0] for _ in range(4)]
        sentences = [np.array(s, np.int32) for s in words]
        space = Workspace(rules, 7)
        exact = derivations(rules, table, sentences, space)
        for a, b in zip(exact, derivations(rules, table, sentences, space, beam=1e4)):
            assert a.tolist() == b.tolist()
        narrow = derivations(rules, table, sentences, space, beam=3)
        for sentence, together in zip(sentences, narrow):
            [alone] = derivations(rules, table, [sentence], space, beam=3)
            assert alone.tolist() == together.tolist()
        for state in {int(state) for steps in exact for state, _ in steps}:
            rules.prior[state] = 50
        helped = derivations(rules, table, sentences, space, beam=3)
        for s, best, found, again in zip(words, exact, narrow, helped):
            if len(found):
                assert (
                    score_of(rules, table, s, found.tolist())
                    <= score_of(rules, table, s, best.tolist()) + 1e-3
                )
            lost += found.tolist() != best.tolist()
            kept += len(again) > 0 and again.tolist() == best.tolist()
    assert lost > 10 and kept > 100 - lost


def test_equal_scores_give_the_first_split() -> None:
    """Of two analyses with equal scores, the one with the shorter first part wins, as in CoreNLP."""
    states = ["N", BOUNDARY_TAG, "ROOT", "NP", "@NP| a", "@NP| b"]
    number = {name: i for i, name in enumerate(states)}
    binary = np.array(
        [[number[x] for x in row] for row in (("ROOT", "NP", BOUNDARY_TAG), ("@NP| b", "@NP| a", "NP"))],
        np.int32,
    )
    unary = np.array(
        [
            [number[x] for x in row]
            for row in (("@NP| a", "N"), ("@NP| a", "NP"), ("NP", "@NP| b"), ("NP", "N"))
        ],
        np.int32,
    )
    empty, counts = np.zeros((0, 2), np.int32), np.zeros(0)
    grammar = Grammar(
        states,
        ["N", BOUNDARY_TAG],
        [],
        binary,
        np.zeros(2, np.float32),
        unary,
        np.array([0, -1, 0, 0], np.float32),
        empty,
        counts,
        empty,
        counts,
    )
    rules = arrange(grammar)
    table = np.array([[-np.inf, 0], [-1, -np.inf]], np.float32)
    [steps] = derivations(rules, table, [np.array([1, 1, 1, 0], np.int32)], Workspace(rules, 4))
    assert score_of(rules, table, [1, 1, 1, 0], steps.tolist()) == -3
    names = [rules.names[state] for state, _ in steps.tolist()]
    assert names[:5] == ["ROOT", "NP", "@NP| b", "@NP| a", "N"]


def test_chains_of_unary_rules_are_the_best_ones() -> None:
    rows = np.array([[1, 0], [2, 1], [2, 0], [3, 2], [1, 3]], np.int32)
    highest, lowest, scores, below = unary_chains(rows, np.array([-1, -1, -3, -1, -1], np.float32))
    chains = {
        (h, c): (s, b)
        for h, c, s, b in zip(highest.tolist(), lowest.tolist(), scores.tolist(), below.tolist())
    }
    assert (
        chains[2, 0] == (-2, 1)
        and chains[3, 0] == (-3, 2)
        and chains[3, 1] == (-2, 2)
        and (1, 1) not in chains
    )
