"""Fitting the caption grammar to scores, with a small grammar whose scores are known."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError
from captious.parser.exact.derivation_scores import DerivationScores
from captious.parser.exact.exact_parser import ExactParser
from captious.parser.exact.pcfg import BOUNDARY_TAG, Grammar
from captious.parser.exact.phrase_trees import Node, read_tree
from captious.parser.grammar.grammar_model import read_grammar_model
from captious.parser.grammar.grammar_parser import GrammarParser
from captious.parser.network_model import shipped_model
from captious.training.grammar import fit_grammar, label_trees
from captious.training.grammar.annotation import Step, derivation, plain
from captious.training.grammar.fit_grammar import GrammarFit, draws
from captious.training.grammar.score_equations import ScoreEquations, SolvedWeights
from captious.training.grammar.tree_scores import TreeScores
from tests.parser.grammar.test_training import treebank, words

PREPOSITION = (
    "(ROOT (S (NP (DT a) (NN dog)) (VP (VBZ sees) (NP (NP (DT a) (NN cat)) (PP (IN {}) (NP (NN hat)))))))"
)
MEASURES = [
    "(ROOT (S (NP (NN dog)) (VP (VBZ sits) (PP (NP (CD two) (NNS feet)) (IN behind) (NP (NN cat))))))",
    "(ROOT (NP (NP (DT a) (NN man)) (NP (DT each) (NN day))))",
    "(ROOT (S (NP (NN man)) (VP (VBZ sits) (NP-TMP (NP (DT the) (NN night)) (PP (IN of) (NP (NN day)))))))",
    "(ROOT (NP (NP (DT a) (VBG running) (JJ small) (NN dog)) (PP (IN with) (NP (NN hat)))))",
]


def rules_of(steps: Sequence[Step]) -> list[tuple[str, ...]]:
    """Return parent and daughters of each rule of a derivation."""
    waiting: list[list[str]] = []
    rules = []
    for state, daughters in reversed(steps):
        if daughters:
            below = [waiting.pop() for _ in range(daughters)]
            rules.append((state, *(name for [name] in below)))
        waiting.append([state])
    return rules


def grammar_of(trees: list[str], seed: int = 1) -> Grammar:
    """Return a grammar with random scores that has the rules and words of trees."""
    binary: dict[tuple[str, ...], None] = {}
    unary: dict[tuple[str, ...], None] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for text in trees:
        steps = derivation(read_tree(text))
        tagged = [state for state, daughters in steps if daughters == 0][:-1]
        counts.update(zip(words(text), tagged))
        for rule in rules_of(steps):
            if len(rule) == 3:
                binary[rule] = None
            else:
                unary[rule] = None
    tags = sorted({tag for _, tag in counts} | {BOUNDARY_TAG})
    rules = [*binary, *unary]
    states = sorted({name for rule in rules for name in rule} | set(tags))
    number = {name: i for i, name in enumerate(states)}
    tag_number = {name: i for i, name in enumerate(tags)}
    vocabulary = sorted({form for form, _ in counts})
    word_number = {form: i for i, form in enumerate(vocabulary)}
    seen = {(word_number[form], tag_number[tag]): 200.0 * count for (form, tag), count in counts.items()}
    for (word, tag), count in list(seen.items()):
        for key in ((word, -1), (-1, tag), (-1, -1)):
            seen[key] = seen.get(key, 0) + count
    rng = np.random.default_rng(seed)
    return Grammar(
        states=states,
        tags=tags,
        words=vocabulary,
        binary=np.array([[number[name] for name in rule] for rule in binary], np.int32),
        binary_scores=rng.uniform(-4, -0.5, len(binary)).astype(np.float32),
        unary=np.array([[number[name] for name in rule] for rule in unary], np.int32),
        unary_scores=rng.uniform(-4, -0.5, len(unary)).astype(np.float32),
        seen=np.array(list(seen), np.int32),
        seen_counts=np.array(list(seen.values())),
        unseen=np.array([[-1, 0], [-1, -1]], np.int32),
        unseen_counts=np.array([60.0, 60.0]),
    )


@pytest.fixture(scope="module")
def tool() -> ExactParser:
    return ExactParser(grammar_of([*treebank(80, 1), *(PREPOSITION.format(p) for p in ("of", "in"))]))


def scored(tool: ExactParser, trees: list[str]) -> list[dict[str, object]]:
    rows = []
    sentences = [words(tree) for tree in trees]
    for tokens, (tree, score) in zip(sentences, tool.scored_trees(sentences, jobs=1)):
        rows.append({"tokens": tokens, "tree": str(tree), "score": score})
    return rows


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_score_of_a_derivation_is_that_of_the_search(tool: ExactParser) -> None:
    sentences = [words(tree) for tree in treebank(20, 3)]
    table, rows = tool._numbered(sentences)
    scores = DerivationScores(tool.rules)
    for row, (tree, score) in zip(rows, tool.scored_trees(sentences, jobs=1)):
        [path] = tool._derivations(table, [row])
        whole = tool._spaces.space.chart[len(row) * (len(row) - 1) // 2, tool.rules.goal, 0]
        assert tree.label == "ROOT"
        assert score == pytest.approx(scores.score(path, row, table)) == pytest.approx(whole, abs=1e-4)


def test_trees_have_scores_whether_or_not_they_are_best(tool: ExactParser) -> None:
    scores = TreeScores(tool)
    of = PREPOSITION.format("of")
    other = "(ROOT (S (NP (DT a) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat)) (PP (IN of) (NP (NN hat))))))"
    [(tree, best)] = tool.scored_trees([words(of)], jobs=1)
    assert scores.score(words(of), tree) == pytest.approx(best, abs=1e-5)
    values = [scores.score(words(of), read_tree(text)) for text in (of, other)]
    assert max(values) <= best + 1e-5 and min(values) < best
    assert scores.score(["a", "dog"], read_tree("(ROOT (VP (DT a) (NN dog)))")) == -np.inf


@pytest.mark.parametrize("text", MEASURES)
def test_adverbial_and_temporal_phrases_are_marked_down_to_their_nouns(text: str) -> None:
    tree = read_tree(text)
    steps = derivation(tree)
    assert str(plain(steps, words(text))) == text
    names = {name for name, daughters in steps if not name.startswith("@")}
    marked = [name for name in names if name.split("^")[0] in ("NN", "NNS") and name[-2:] in ("-A", "-T")]
    if text is not MEASURES[3]:
        assert len(marked) == 1
        assert any(name.startswith("NP^") and marked[0][-2:] in name for name in names)
    else:
        assert not marked
        assert any("-B-L" in name for name in names)


def test_the_fit_finds_the_trees_of_the_tool(tool: ExactParser, tmp_path: Path) -> None:
    path = write(tmp_path / "trees.jsonl", scored(tool, treebank(150, 2)))
    fit = GrammarFit(tool)
    fit.read([path], 25, 1)
    output = tmp_path / "captions.npz"
    for _ in range(3):
        report = fit.solve(output)
        parser = GrammarParser(read_grammar_model(output))
        parser.beam = np.inf
        compared = fit.compare(parser, range(len(fit.tokens)), 1)
    assert "100.00% of residuals below 0.1" in report
    assert compared.startswith("0.00% of 150")
    held = scored(tool, treebank(60, 7))
    trees = parser.trees([row["tokens"] for row in held], jobs=1)  # type: ignore[misc]
    assert [str(tree) for tree in trees] == [row["tree"] for row in held]


def total(solved: SolvedWeights, text: str) -> float:
    """Return the score of a tree under fitted weights."""
    steps = derivation(read_tree(text))
    number = {name: i for i, name in enumerate(solved.state_names)}
    weights = {tuple(rule): weight for rule, weight in zip(solved.rules.tolist(), solved.rule_weights)}
    tagged = [state for state, daughters in steps if daughters == 0][:-1]
    classes = shipped_model().classes
    score = sum(weights[tuple([*(number[name] for name in rule), -1][:3])] for rule in rules_of(steps))
    for form, tag in zip(words(text), tagged):
        row = solved.classes.tolist().index(classes.of(form))
        score += solved.table[row, solved.tags.tolist().index(number[tag])]
    return float(score)


def test_the_weights_of_trees_that_were_not_chosen_are_learned(tool: ExactParser) -> None:
    equations = ScoreEquations()
    of = PREPOSITION.format("of")
    other = "(ROOT (S (NP (DT a) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat)) (PP (IN of) (NP (NN hat))))))"
    equations.add(words(of), derivation(read_tree(of)), -20.0)
    # Its preposition has a state that no other tree has.
    assert not equations.add(words(other), derivation(read_tree(other)), -21.5, is_chosen=False)
    alone = "(ROOT (S (NP (DT a) (NN dog)) (VP (VBZ sees) (PP (IN of) (NP (NN hat))))))"
    equations.add(words(alone), derivation(read_tree(alone)), -17.0)
    known = len(equations.rules)
    assert not equations.add(words(other), derivation(read_tree(other)), -24, is_chosen=False, is_bound=True)
    assert len(equations.rules) == known and len(equations) == 2
    assert equations.add(words(other), derivation(read_tree(other)), -21.5, is_chosen=False)
    solved = equations.solve()
    assert np.abs(solved.residual).max() < 0.05
    before = total(solved, of)
    assert solved.rule_weights[solved.rules[:, 2] < 0].max() > -1.5
    solved.lower_unary(-1.5)
    assert solved.rule_weights[solved.rules[:, 2] < 0].max() <= -1.5 + 1e-9
    assert total(solved, of) == pytest.approx(before) == pytest.approx(-20, abs=0.05)


def test_a_tree_that_the_tool_lacks_is_a_bound(tool: ExactParser, tmp_path: Path) -> None:
    text = treebank(1, 5)[0]
    fit = GrammarFit(tool)
    fit.read([write(tmp_path / "trees.jsonl", scored(tool, [text]))], 25, 1)
    lacking = read_tree("(ROOT (NP " + " ".join(f"(NN {word})" for word in words(text)) + "))")
    assert tool_lacks(tool, words(text), lacking)
    assert not fit._add(0, lacking)
    # Its rules are not known, so it is not even a bound.
    assert len(fit.equations) == 1


def tool_lacks(tool: ExactParser, tokens: list[str], tree: Node) -> bool:
    return TreeScores(tool).score(tokens, tree) == -np.inf


def test_the_command_labels_and_fits(
    tool: ExactParser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    label_trees._worker = tool
    texts = [" ".join(words(tree)) for tree in treebank(30, 4)]
    part = tmp_path / "trees-0000.jsonl.gz"
    assert label_trees._label((texts, part)) == len(texts)
    [*rows] = fit_grammar.read_scored((part, 25))
    assert {tokens[2] for tokens, *_ in rows} == {"sees"}
    assert all(score < 0 for _, _, score, _ in rows)
    with pytest.raises(InputError, match="no such file"):
        fit_grammar.read_scored((tmp_path / "missing.jsonl", 25))
    other = {"tokens": ["a", "dog"], "tree": "(ROOT (NP (DT a) (NN cat)))", "score": -1.0}
    with pytest.raises(InputError, match="line 1: a tree has other words than its tokens"):
        fit_grammar.read_scored((write(tmp_path / "other.jsonl", [other]), 25))
    with pytest.raises(InputError, match="not a tree with a score"):
        fit_grammar.read_scored((write(tmp_path / "bad.jsonl", [{"tokens": ["a"], "tree": "(X a)"}]), 25))
    with pytest.raises(InputError, match="at least 1"):
        fit_grammar.main([str(part), "-o", str(tmp_path / "x.npz"), "--rounds", "0"])


def test_every_sentence_is_drawn_before_any_is_drawn_again() -> None:
    batches = draws([3, 30, 4, 5, 6], 25, 2, seed=1)
    first = [next(batches), next(batches)]
    assert sorted(i for part in first for i in part) == [0, 2, 3, 4]
