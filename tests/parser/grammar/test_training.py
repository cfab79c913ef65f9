"""Training of the caption grammar on a tiny treebank: annotation, weights, export, resumption."""

from __future__ import annotations

import argparse
import gzip
import json
import random
from pathlib import Path

import numpy as np
import pytest

from captious.core.errors import InputError
from captious.parser.exact.phrase_trees import read_tree
from captious.parser.grammar.caption_lexicon import SCALE
from captious.parser.grammar.grammar_model import read_grammar_model
from captious.parser.grammar.grammar_parser import GrammarParser
from captious.training.grammar import count_states, label_trees, put_in_words, train_grammar
from captious.training.grammar.adagrad import AveragedWeights
from captious.training.grammar.annotation import coarser, derivation, plain
from captious.training.grammar.derivation_bank import read_bank
from captious.training.grammar.export_grammar import grammar_arrays
from captious.training.grammar.perceptron import GrammarTrainer

TREES = [
    "(ROOT (S (NP (DT a) (NN dog)) (VP (VBZ runs) (PP (IN on) (NP (DT the) (NN beach))))))",
    "(ROOT (NP (NP (DT a) (NN man)) (VP (VBG riding) (NP (DT a) (NN horse)))))",
    "(ROOT (NP (NP (CD two) (JJ red) (NNS cars)) (CC and) (NP (DT a) (NN bus))))",
    "(ROOT (S (NP (NP (DT the) (NN woman) (POS 's)) (NN hat)) (VP (VBZ is) (ADJP (JJ red)))))",
    "(ROOT (S (NP (PRP he)) (VP (VBZ is) (VP (VBG running) (PRT (RP up)) (NP (DT a) (NN hill))))))",
]
NOUNS = [
    "dog",
    "man",
    "horse",
    "cat",
    "bus",
    "hat",
    "hill",
    "woman",
    "car",
    "beach",
    "boy",
    "girl",
    "bird",
    "bike",
    "truck",
    "table",
]


def words(text: str) -> list[str]:
    return [leaf.word or "" for leaf in read_tree(text).leaves()]


def write(path: Path, trees: list[str]) -> Path:
    with gzip.open(path, "wt", encoding="utf-8") as out:
        for tree in trees:
            out.write(json.dumps({"tokens": words(tree), "tree": tree}) + "\n")
    return path


def treebank(count: int, seed: int) -> list[str]:
    """Return trees in which a phrase after a noun belongs to the noun or the verb, by the preposition."""
    rng = random.Random(seed)
    trees = []
    for _ in range(count):
        a, b, c = rng.sample(NOUNS, 3)
        if rng.random() < 0.5:
            trees.append(
                f"(ROOT (S (NP (DT a) (NN {a})) (VP (VBZ sees) (NP (NP (DT a) (NN {b})) "
                f"(PP (IN of) (NP (DT the) (NN {c})))))))"
            )
        else:
            trees.append(
                f"(ROOT (S (NP (DT a) (NN {a})) (VP (VBZ sees) (NP (DT a) (NN {b})) "
                f"(PP (IN in) (NP (DT the) (NN {c}))))))"
            )
    return trees


@pytest.mark.parametrize("text", TREES)
def test_annotation_can_be_removed(text: str) -> None:
    tree = read_tree(text)
    assert str(plain(derivation(tree), words(text))) == str(tree)


def test_rare_states_get_coarser_until_they_are_plain() -> None:
    for text in TREES:
        for state, _ in derivation(read_tree(text)):
            seen = [state]
            while coarser(seen[-1]) != seen[-1]:
                seen.append(coarser(seen[-1]))
                assert len(seen) < 12
            assert len(seen[-1]) <= len(state) + 1


def test_weights_average_over_updates() -> None:
    weights = AveragedWeights(np.zeros(3, np.float32))
    history = []
    for update in range(4):
        weights.add(np.array([1]), 1.0)
        weights.add(np.array([2, 2]), -1.0)
        weights.step(0.5, update)
        history.append(weights.values.copy())
    assert weights.values[1] > 0 > weights.values[2]
    assert weights.values[0] == 0
    assert np.allclose(weights.average(4), np.mean(history, axis=0), atol=1e-6)


def test_a_grammar_is_learned_and_training_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trees = write(tmp_path / "trees.jsonl.gz", treebank(300, 1))
    held = write(tmp_path / "held.jsonl.gz", treebank(40, 2))
    common = [str(trees), "--heldout", str(held), "--jobs", "1", "--rare", "2", "--batch", "4"]
    train_grammar.main([*common, "-o", str(tmp_path / "once.npz"), "--passes", "2"])
    assert "held out: 100.00% equal trees, 100.00% equal dependencies" in capsys.readouterr().err
    train_grammar.main([*common, "-o", str(tmp_path / "twice.npz"), "--passes", "1"])
    train_grammar.main([*common, "-o", str(tmp_path / "twice.npz"), "--passes", "2"])
    assert "going on after pass 1" in capsys.readouterr().err
    once, twice = (np.load(tmp_path / f"{name}.npz") for name in ("once", "twice"))
    assert all(np.array_equal(once[name], twice[name]) for name in once.files)
    # A word that never occurred is a noun here by its spelling, and attachment still follows the preposition.
    parser = GrammarParser(read_grammar_model(tmp_path / "once.npz"))
    [tree] = parser.trees([["a", "frobnicator", "sees", "a", "boy", "of", "the", "bird"]])
    assert "(NP (NP (DT a) (NN boy)) (PP (IN of) (NP (DT the) (NN bird))))" in str(tree)


def test_the_beam_favours_frequent_states(tmp_path: Path) -> None:
    trees = write(tmp_path / "trees.jsonl.gz", [*treebank(60, 1), TREES[2]])
    trainer = GrammarTrainer(read_bank([trees], longest=25, jobs=1), jobs=1)
    prior = grammar_arrays(trainer)["prior"]
    seen = np.bincount(trainer.bank.states, minlength=len(prior))[trainer.scores.number]
    assert prior.tolist() == np.rint(0.7 / SCALE * np.log(seen / len(trainer.bank))).tolist()
    assert prior.max() > 0 > prior.min()


def test_states_of_a_finished_grammar_are_counted_in_other_trees(tmp_path: Path) -> None:
    trees = write(tmp_path / "trees.jsonl.gz", treebank(200, 1))
    first, second, third = (tmp_path / f"{name}.npz" for name in ("first", "second", "third"))
    train_grammar.main([str(trees), "-o", str(first), "--passes", "1", "--jobs", "1", "--rare", "2"])
    before = dict(np.load(first))
    np.savez(second, **{name: before[name] for name in before if name != "prior"})
    # With the same trees, the counts are those of training.
    count_states.main([str(second), str(trees), "-o", str(third), "--jobs", "1"])
    after = np.load(third)
    assert all(np.array_equal(before[name], after[name]) for name in before)
    # No phrase of these trees belongs to the verb.
    few = write(tmp_path / "few.jsonl.gz", [tree for tree in treebank(200, 1) if "(IN of)" in tree])
    count_states.main([str(second), str(few), "-o", str(third), "--jobs", "1"])
    names = bytes(before["states"]).decode().split("\n")
    prior = dict(zip(names, np.load(third)["prior"].tolist()))
    assert prior["PP^VP"] == min(prior.values()) < prior["PP^NP"]
    with pytest.raises(InputError, match="no such file"):
        count_states.main([str(tmp_path / "none.npz"), str(few), "-o", str(third)])
    np.savez(tmp_path / "other.npz", words=np.arange(3))
    with pytest.raises(InputError, match="not a caption grammar"):
        count_states.main([str(tmp_path / "other.npz"), str(few), "-o", str(third)])


def test_late_passes_have_much_smaller_steps() -> None:
    options = argparse.Namespace(rate=0.6, settle=4)
    rates = [train_grammar.rate_of(number, options) for number in (1, 4, 5, 6)]
    assert rates == pytest.approx([0.6, 0.3, 0.12, 0.048])


def test_bad_trees_are_one_message(tmp_path: Path) -> None:
    path = tmp_path / "trees.jsonl"
    with pytest.raises(InputError, match="no such file"):
        read_bank([path], longest=25, jobs=1)
    path.write_text('{"tokens": ["a"]}\n')
    with pytest.raises(InputError, match="line 1: not a tree"):
        read_bank([path], longest=25, jobs=1)
    path.write_text('{"tokens": ["a", "dog"], "tree": "(ROOT (NP (DT a)))"}\n')
    with pytest.raises(InputError, match="other words than its tokens"):
        read_bank([path], longest=25, jobs=1)
    path.write_text("")
    with pytest.raises(InputError, match="no trees to learn from"):
        read_bank([path], longest=25, jobs=1)


def test_sentences_of_held_out_images_and_test_files_are_not_chosen(tmp_path: Path) -> None:
    rows = [{"image_id": i, "captions": [f"a dog number {i} runs. It is big."]} for i in range(200)]
    (tmp_path / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "test.jsonl").write_text(
        json.dumps({"image": "7_a.jpg", "caption": "a dog number 1 runs"}) + "\n"
    )
    output, heldout = tmp_path / "texts.txt", tmp_path / "heldout.txt"
    label_trees.main(
        [
            "choose",
            str(tmp_path / "captions.jsonl"),
            "--test",
            str(tmp_path / "test.jsonl"),
            "-o",
            str(output),
            "--heldout",
            str(heldout),
        ]
    )
    chosen, left_out = output.read_text().splitlines(), set(heldout.read_text().splitlines())
    assert len(chosen) > 100 and len(set(chosen)) == len(chosen)
    assert {line.lower() for line in chosen}.isdisjoint(left_out)
    assert "a dog number 1 runs" in left_out
    held = [i for i in range(200) if label_trees.is_held_out(i, label_trees.PERCENT)]
    assert 20 < len(held) < 60
    assert all(f"a dog number {i} runs" in left_out for i in held)
    for name in (f"COCO_val2014_{42:012}.jpg", f"coco_val2014_{42:012}", "000000000042.jpg", "42"):
        assert label_trees.image_of({"image": name}) == 42
    flickr = "3516825206_5750824874.jpg"
    assert label_trees.image_of({"image": flickr}) == flickr


def test_words_are_put_where_their_ending_fits() -> None:
    frames = [(words(tree), [leaf.label for leaf in read_tree(tree).leaves()]) for tree in TREES]
    made = put_in_words.put_in(frames, {})
    texts = [next(made) for _ in range(300)]
    known = {len(frame[0]) for frame in frames}
    assert {len(text.split()) for text in texts} <= known
    assert len(set(texts)) > 250
    assert put_in_words.tags_for("jumping") == ("VBG", "NN")
    excluded = {put_in_words.words_of(texts[0])}
    assert texts[0] not in set(put_in_words.fresh(texts, excluded))
