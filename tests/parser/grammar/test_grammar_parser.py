"""The shipped caption grammar as a parser, on its own and through SPICE, signatures and the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.corpus import Captions
from captious.parser import parse
from captious.parser.choice import get, parses_of
from captious.parser.exact.search import Workspace, derivations
from captious.parser.grammar import GrammarParser
from captious.parser.grammar.caption_lexicon import SCALE
from captious.parser.grammar.grammar_model import SHIPPED, read_grammar_model
from tests import command

CAPTIONS = [
    "a dog runs on the beach",
    "two small brown dogs run after a red ball on top of a hill",
    "a man riding a wave on a surfboard",
    "A woman's hat , and the cats !",
    "zxqy frobnicated 17 wug-blickets near",
]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return command.run(*arguments, folder=folder)


def test_a_simple_caption_has_the_analysis_of_corenlp() -> None:
    [[sentence]] = GrammarParser().parse_tokens([["a", "dog", "runs", "on", "the", "beach"]])
    assert sentence.tags == ["DT", "NN", "VBZ", "IN", "DT", "NN"]
    assert sentence.lemmas == ["a", "dog", "run", "on", "the", "beach"]
    assert sentence.heads == [2, 3, 0, 6, 6, 3]
    assert sentence.relations == ["det", "nsubj", "root", "case", "det", "nmod"]


def test_a_sentence_has_one_analysis_whatever_is_parsed_with_it() -> None:
    batch = GrammarParser().parse_batch
    together = parse(CAPTIONS, tokenizer="none", batch=batch, jobs=2)
    for caption, expected in zip(CAPTIONS, together):
        [alone] = parse([caption], tokenizer="none", batch=batch, jobs=1)
        assert alone == expected
        for sentence in alone:
            assert len(sentence.tags) == len(sentence.forms)
            assert sentence.heads.count(0) == 1


def test_a_sentence_without_an_analysis_within_the_beam_is_searched_without_it() -> None:
    parser, whole = GrammarParser(), GrammarParser()
    parser.beam, whole.beam = 0.01, np.inf
    sentences = [caption.split() for caption in CAPTIONS if caption]
    table, words = parser._numbered(sentences)
    space = Workspace(parser.rules, max(map(len, words)))
    within = [derivations(parser.rules, table, [word], space, beam=0.01)[0] for word in words]
    lost = [i for i, path in enumerate(within) if not len(path)]
    assert lost
    trees, expected = parser.trees(sentences), whole.trees(sentences)
    for i in lost:
        assert str(trees[i]) == str(expected[i])


def test_each_state_has_its_own_frequency() -> None:
    with np.load(SHIPPED, allow_pickle=False) as file:
        names = bytes(file["states"]).decode().split("\n")
        expected = dict(zip(names, (file["prior"] * SCALE).tolist(), strict=True))
    rules = read_grammar_model().rules
    assert rules.names != names
    assert dict(zip(rules.names, rules.prior.tolist(), strict=True)) == expected


def test_captions_without_words_and_very_long_ones_are_parsed() -> None:
    long = " ".join(["a red car and"] * 60)
    parses = parse(["", long], tokenizer="none", batch=GrammarParser().parse_batch)
    assert parses[0] == []
    assert [form for sentence in parses[1] for form in sentence.forms] == long.split()
    assert max(map(len, parses[1])) <= 70


def test_names_and_digests_of_parsers() -> None:
    grammar = get("grammar")
    assert grammar is get("Grammar")
    assert grammar.label == "captious-grammar"
    assert grammar.digest == read_grammar_model(SHIPPED).digest[:8]
    assert get("fast") is get("small") is get(None)
    with pytest.raises(InputError, match=r"unknown parser 'gramar'; did you mean 'grammar'"):
        get("gramar")


def test_equal_captions_are_parsed_once() -> None:
    captions = Captions.of([["a dog runs", "a dog runs"], ["a dog runs"]], "none")
    first, second, third = parses_of(captions, "grammar")
    assert first is second is third


@pytest.mark.parametrize("measure", ["SPICE", "SPICE-U", "HWCM-2", "Yngve"])
def test_measures_take_it_and_name_it_in_their_signatures(measure: str) -> None:
    corpus = captious.load(
        {"1": ["a man riding a wave on a surfboard", "a surfer on a wave"], "2": ["a brown dog"]},
        {"1": "a man rides a wave", "2": "a dog"},
    )
    options: dict[str, Any] = {"parser": "grammar"}
    result = captious.score(corpus, measure, **options)[measure]
    assert f"captious-grammar@{get('grammar').digest}" in result.signature
    assert 0 < result.value < 5


def test_prepared_references_give_the_same_scores_and_know_their_parser(tmp_path: Path) -> None:
    references = {"1": ["a man riding a wave on a surfboard", "a surfer on a wave"], "2": ["a brown dog"]}
    predictions = {"1": "a man rides a wave", "2": "a small dog"}
    plain = captious.score(captious.load(references, predictions), "SPICE", parser="grammar")["SPICE"]
    captious.prepare(references, "SPICE", parser="grammar").save(tmp_path / "r.prepared")
    corpus = captious.load(tmp_path / "r.prepared", predictions)
    scored = captious.score(corpus, "SPICE", parser="grammar")["SPICE"]
    assert scored.value == plain.value
    assert scored.signature == plain.signature
    other = captious.score(corpus, "SPICE", parser="fast")["SPICE"]
    assert other.signature != plain.signature


def test_commands_take_it(tmp_path: Path) -> None:
    (tmp_path / "captions.txt").write_text("a dog runs on the beach\n")
    done = run("parse", "captions.txt", "--parser", "grammar", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "nmod:on" in done.stdout
    done = run("scene", "a dog runs on the beach", "--parser", "grammar", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "beach" in done.stdout
    done = run("parse", "captions.txt", "--parser", "grammar", "--grammar", "x.jar", folder=tmp_path)
    assert done.returncode == 2
    assert "--grammar belongs to '--parser exact'" in done.stderr


def _changed(path: Path, **changes: Any) -> Path:
    with np.load(SHIPPED, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    arrays.update(changes)
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_bad_files_are_one_message(tmp_path: Path) -> None:
    path = tmp_path / "captions.npz"
    with pytest.raises(InputError, match="cannot be read as a caption grammar"):
        read_grammar_model(path)
    path.write_bytes(SHIPPED.read_bytes()[:5000])
    with pytest.raises(InputError, match="cannot be read as a caption grammar"):
        read_grammar_model(path)
    np.savez(path, words=np.arange(3))
    with pytest.raises(InputError, match="it has no binary"):
        read_grammar_model(path)
    with pytest.raises(InputError, match="of format 99, not"):
        read_grammar_model(_changed(path, format=np.array(99)))
    with pytest.raises(InputError, match="other word classes"):
        read_grammar_model(_changed(path, word_classes=np.array("0000")))
    with pytest.raises(InputError, match="a state has no frequency"):
        read_grammar_model(_changed(path, prior=np.zeros(3, np.int16)))
    wrong = np.full((4, 3), 30_000, np.int16)
    with pytest.raises(InputError):
        read_grammar_model(_changed(path, binary=wrong, binary_weights=np.zeros(4, np.int16)))
