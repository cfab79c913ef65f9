"""Measures on tags and trees, on sentences parsed by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.corpus import Captions, Corpus
from captious.metrics.corpus import caption_trees as trees
from captious.metrics.corpus import complexity as cx
from captious.metrics.corpus import composition as comp
from captious.metrics.corpus import local_recall as local
from captious.metrics.corpus import pos_counts as pos
from captious.metrics.corpus.caption_trees import TreeBank
from captious.parser.parsed_sentences import Parse, Sentence
from tests.conftest import read_jsonl


def sentence(text: str) -> Sentence:
    """``word/TAG/head/relation`` for each word."""
    cells = [word.rsplit("/", 3) for word in text.split()]
    forms, tags, heads, relations = (list(column) for column in zip(*cells))
    return Sentence(forms, tags, list(forms), [int(head) for head in heads], relations)


PARSED = {
    # The table is on the pan or the pan on the table: the example of the paper, three prepositions deep.
    "eggs on top of a pan on a table": [
        "eggs/NNS/0/root on/IN/3/case top/NN/1/nmod of/IN/6/case a/DT/6/det pan/NN/3/nmod on/IN/9/case "
        "a/DT/9/det table/NN/6/nmod"
    ],
    "a man walks to a bus stop while it rains": [
        "a/DT/2/det man/NN/3/nsubj walks/VBZ/0/root to/TO/7/case a/DT/7/det bus/NN/7/compound stop/NN/3/nmod "
        "while/IN/10/mark it/PRP/10/nsubj rains/VBZ/3/advcl"
    ],
    "a fire hydrant sign to read": [
        "a/DT/4/det fire/NN/4/compound hydrant/NN/4/compound sign/NN/0/root to/TO/6/mark read/VB/4/acl"
    ],
    "two dogs cats run": ["two/CD/2/nummod dogs/NNS/0/root", "cats/NNS/2/nsubj run/VBP/0/root"],
    "bus stop": ["bus/NN/2/compound stop/NN/0/root"],
    "": [],
}


class ByHand:
    """Parser that knows the sentences above. It reads tokens, as parsers do."""

    label, digest = "by-hand", "1"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> Any:
        self.calls += [" ".join(words) for words in captions]
        return [[sentence(line) for line in PARSED[" ".join(words)]] for words in captions]


def bank_of(texts: list[str]) -> tuple[TreeBank, np.ndarray]:
    return trees.parsed(Captions.of([texts], "none"), ByHand())


def found(texts: list[str]) -> dict[str, float]:
    corpus = Corpus.build(["1"], [texts], tokenizer="none")
    return {
        name: s.value for name, s in captious.score(corpus, "Comp,Comp-2,Prep,PP-1", parser=ByHand()).items()
    }


def sizes(texts: list[str]) -> comp.Composition:
    return comp.composition(trees.Parsed(*bank_of(texts)))


def test_the_example_of_the_paper_has_depth_three() -> None:
    depths = sizes(["eggs on top of a pan on a table"]).pp_depths
    assert depths.tolist() == [0, 1, 1, 1]


def test_to_is_a_preposition_before_a_noun_only_and_a_conjunction_has_its_own_phrase() -> None:
    texts = ["a man walks to a bus stop while it rains", "a fire hydrant sign to read"]
    assert sizes(texts).pp_depths.tolist() == [0, 2]
    assert (found(texts)["Prep"], found(texts)["PP-1"]) == (1, 2)


def test_compounds_are_runs_of_nouns_within_a_sentence() -> None:
    texts = ["a fire hydrant sign to read", "two dogs cats run", "bus stop", "bus stop", ""]
    assert sizes(texts).compound_lengths.tolist() == [0, 0, 2, 1]
    assert found(texts)["Comp"] == pytest.approx(3 / 5)
    assert found(texts)["Comp-2"] == 1


def test_a_text_is_parsed_once_and_parts_share_the_trees_of_all() -> None:
    parser = ByHand()
    captions = Captions.of([["bus stop", "", "bus stop"], ["two dogs cats run"]], "none")
    bank, rows = trees.parsed(captions, parser)
    assert rows.tolist() == [0, 1, 0, 2]
    part = trees.parsed(captions.take_images(np.array([1])), parser)
    assert part.bank is bank
    assert part.rows.tolist() == [2]
    assert parser.calls == ["bus stop", "", "two dogs cats run"]
    assert [bank.tags.words[t] for t in bank.trees.tags] == ["NN", "NN", "CD", "NNS", "NNS", "VBP"]
    # Captions of a part that was not parsed are parsed alone, not with all the others.
    alone = ByHand()
    trees.parsed(Captions.of([["bus stop"], ["two dogs cats run"]], "none").take_images(np.array([0])), alone)
    assert alone.calls == ["bus stop"]


def test_trees_use_ptb_tokens_with_any_tokenizer() -> None:
    counts = []
    for tokenizer in ("ptb", "spacy-like", "none"):
        corpus = Corpus.build(["1"], [["A red bus stop, on the street."]], tokenizer=tokenizer)
        counts.append([score.value for score in captious.score(corpus, "Comp,Prep,Yngve").values()])
    assert counts[0] == counts[1] == counts[2]
    assert counts[0][:2] == [1, 1]


def test_yngve_and_frazier_by_hand() -> None:
    # [[a man] walks [to a [bus stop]] [while it rains]]: "bus" and "stop" are one flat phrase with "to" and
    # "a".
    bank, _ = bank_of(["a man walks to a bus stop while it rains"])
    yngve, frazier = cx.word_scores(bank)
    assert yngve.tolist() == [4, 3, 2, 4, 3, 2, 1, 2, 1, 0]
    # At "a" open the clause (1.5) and the noun phrase; "to" opens a phrase, "while" a clause.
    assert frazier.tolist() == [2.5, 0, 0, 1, 0, 0, 0, 1.5, 0, 0]
    scores = cx.complexity(bank)
    assert scores.yngve[0] == pytest.approx(2.2)
    assert scores.frazier[0] == pytest.approx(0.5)
    assert scores.frazier_peak[0] == 2.5


def test_complexity_of_several_sentences_and_of_none() -> None:
    bank, rows = bank_of(["two dogs cats run", "", "bus stop"])
    scores = cx.complexity(bank)
    assert scores.yngve.tolist()[0] == pytest.approx(0.5)
    # Two sentences: the peak does not reach over the full stop between them.
    assert scores.frazier_peak[0] == 1.5
    assert np.isnan(scores.yngve[1])
    assert rows.tolist() == [0, 1, 2]
    corpus = Corpus.build(["1", "2"], [["two dogs cats run", ""], ["bus stop"]], tokenizer="none")
    assert captious.score(corpus, "Yngve", parser=ByHand())["Yngve"].value == pytest.approx(0.5)


def test_shares_of_parts_of_speech() -> None:
    found = trees.Parsed(*bank_of(["two dogs cats run"]))
    shares = pos.shares(found.bank, pos.tag_counts(found))
    assert shares == {"noun": 0.5, "number": 0.25, "verb": 0.25}
    assert [pos.is_content(tag) for tag in ("NNP", "JJR", "VBG", "RBS", "IN", "MD", "PRP")] == [True] * 4 + [
        False
    ] * 3


def words(text: str) -> list[tuple[str, str]]:
    return [(word.split("/")[0], word.split("/")[1]) for word in text.split()]


REFERENCES = [
    ["a/DT dog/NN runs/VBZ", "the/DT dog/NN sleeps/VBZ", "dog/NN dog/NN on/IN grass/NN"],
    ["red/JJ bus/NN", "a/DT red/JJ car/NN", "red/VB red/JJ bus/NN"],
    ["two/CD cats/NNS", "cats/NNS", "cats/NNS quickly/RB"],
]
CANDIDATES = ["the/DT dog/NN on/IN sand/NN", "a/DT bus/NN", "a/DT"]


def tagged(groups: list[list[str]]) -> tuple[trees.Parsed, np.ndarray]:
    """Captions by image, parsed from their tags, and where each image starts."""
    texts = [text for group in groups for text in group]
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    return trees.Parsed(TreeBank(plain(texts)), np.arange(len(texts))), offsets


def recall_of(
    candidates: list[list[str]], references: list[list[str]]
) -> tuple[local.LocalRecall, list[str]]:
    theirs, bounds = tagged(references)
    target = local.importance(theirs, bounds)
    ours, own = tagged(candidates)
    return local.local_recall(
        local.recalled(ours, own, np.arange(len(candidates)), target)
    ), target.words.words


def plain(texts: Sequence[str]) -> list[Parse]:
    """Tags only; every word hangs from the root."""
    parses = []
    for text in texts:
        forms, tags = zip(*words(text))
        parses.append(
            [Sentence(list(forms), list(tags), list(forms), [0] * len(forms), ["root"] * len(forms))]
        )
    return parses


def test_local_recall_by_hand() -> None:
    result, names = recall_of([[text] for text in CANDIDATES], REFERENCES)
    # Class 1: runs, sleeps, grass | car | quickly; class 2: bus; class 3: dog | red | cats.
    assert result.words.tolist() == [5, 1, 3]
    assert result.images.tolist() == [3, 1, 3]
    assert result.mean.tolist() == [0, 1, pytest.approx(1 / 3)]
    assert result.pooled.tolist() == [0, 1, pytest.approx(1 / 3)]
    # dog yes, sand no | bus yes | no content word: that image is left out.
    assert result.precision_mean == pytest.approx(0.75)
    assert result.precision_pooled == pytest.approx(2 / 3)
    assert {names[w] for w in local.rank_absolute(result.missed)} == {"red", "cats"}


def test_mean_and_pooled_recall_differ_as_they_should() -> None:
    result, _ = recall_of([["a/NN"], ["d/NN"]], [["a/NN b/NN c/NN"], ["d/NN"]])
    assert result.mean.tolist() == [pytest.approx((1 / 3 + 1) / 2)]
    assert result.pooled.tolist() == [pytest.approx(2 / 4)]


def test_rankings_of_missed_words() -> None:
    missed, occurrences = np.array([5, 3, 3, 0, 4]), np.array([10, 3, 4, 9, 4])
    assert local.rank_absolute(missed).tolist() == [0, 4, 1, 2]
    assert local.rank_relative(missed, occurrences).tolist() == [4, 1, 2, 0]
    assert local.rank_relative(missed, occurrences, 3).tolist() == [4, 2, 0]


def test_several_captions_of_an_image_count_together() -> None:
    both, _ = recall_of([["grass/NN", "dog/NN"]], [["dog/NN", "grass/NN"]])
    assert both.mean.tolist() == [1, pytest.approx(np.nan, nan_ok=True)]


@pytest.mark.shared
def test_fast_paths_agree_with_plain_ones_on_real_trees(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = {}
    for number, row in enumerate(read_jsonl(shared_data / "parses" / "captions.jsonl.gz")):
        if number % 40 == 0:
            gold[row["text"]] = [Sentence.from_dict(s, keep_graph=False) for s in row["sentences"]]
        if number > 80_000:
            break
    monkeypatch.setattr(trees, "repair", lambda words, tags, *_: (tags, np.zeros(len(words), dtype=bool)))
    bank = TreeBank(list(gold.values()))
    result = comp.composition(trees.Parsed(bank, np.arange(len(gold))))
    compounds, prepositions = comp.find_compounds(bank), comp.find_prepositions(bank)
    lengths: Counter[int] = Counter()
    depths: Counter[int] = Counter()
    pairs, phrases = set(), set()
    for parse in gold.values():
        for parsed in parse:
            for run in plain_compounds(parsed):
                lengths[len(run)] += 1
                if len(run) == 2:
                    pairs.add(tuple(run))
            for depth, phrase in plain_prepositions(parsed):
                depths[depth] += 1
                if depth == 1:
                    phrases.add(phrase)
    assert {k: v for k, v in enumerate(result.compound_lengths) if v} == lengths
    assert {k: v for k, v in enumerate(result.pp_depths) if v} == depths
    assert len(np.unique(compounds.key[compounds.size == 2])) == len(pairs)
    assert len(np.unique(prepositions.key[prepositions.size == 1])) == len(phrases)


def test_tags_are_repaired_as_captions_need_it() -> None:
    def tags_of(text: str) -> list[str]:
        bank = TreeBank(plain([text]))
        return [bank.tags.words[t] for t in bank.trees.tags]

    assert tags_of("a/DT dog/NN standing/NN on/IN grass/NN") == ["DT", "NN", "VBG", "IN", "NN"]
    assert tags_of("a/DT brick/NN building/NN standing/NN") == ["DT", "NN", "NN", "VBG"]
    assert tags_of("standing/NN room/NN") == ["NN", "NN"]
    assert tags_of("walks/VBZ down/RP the/DT street/NN") == ["VBZ", "IN", "DT", "NN"]
    assert tags_of("close/JJ up/RB of/IN a/DT cat/NN") == ["JJ", "IN", "IN", "DT", "NN"]
    assert tags_of("holds/VBZ up/RP a/DT sign/NN") == ["VBZ", "RP", "DT", "NN"]
    assert tags_of("lies/VBZ down/RP next/JJ to/TO it/PRP") == ["VBZ", "RP", "JJ", "TO", "PRP"]
    assert tags_of("lies/VBZ down/RP on/IN it/PRP") == ["VBZ", "RP", "IN", "PRP"]
    assert tags_of("a/DT laptop/JJ computer/NN") == ["DT", "NN", "NN"]
    assert tags_of("a/DT red/JJ computer/NN") == ["DT", "JJ", "NN"]
    assert tags_of("a/DT living/VBG room/NN") == ["DT", "NN", "NN"]
    assert tags_of("a/DT man/NN cutting/VBG cake/NN") == ["DT", "NN", "VBG", "NN"]
    assert tags_of("a/DT teddy/JJ bear/VBP") == ["DT", "NN", "NN"]
    assert tags_of("dogs/NNS run/VBP") == ["NNS", "VBP"]


def test_rules_do_not_reach_over_the_end_of_a_sentence() -> None:
    first, second = ["lies/VBZ down/RP", "a/DT dog/NN"], ["a/DT dog/NN", "standing/NN"]
    for texts, expected in ((first, ["VBZ", "RP", "DT", "NN"]), (second, ["DT", "NN", "NN"])):
        bank = TreeBank([[parse[0] for parse in plain(texts)]])
        assert [bank.tags.words[t] for t in bank.trees.tags] == expected


def test_a_regained_preposition_has_the_phrase_that_follows() -> None:
    line = "walks/VBZ/0/root down/RP/1/compound:prt the/DT/4/det street/NN/1/dobj in/IN/6/case town/NN/4/nmod"
    bank = TreeBank([[sentence(line)]])
    assert comp.composition(trees.Parsed(bank, np.array([0]))).pp_depths.tolist() == [0, 1, 1]


def plain_compounds(parsed: Sentence) -> list[list[str]]:
    runs: list[list[str]] = [[]]
    for form, tag in zip(parsed.forms, parsed.tags):
        if tag.startswith("NN"):
            runs[-1].append(form.lower())
        else:
            runs.append([])
    return [run for run in runs if len(run) > 1]


def plain_prepositions(parsed: Sentence) -> list[tuple[int, tuple[str, ...]]]:
    """Depth and words of each prepositional phrase, by collecting subtrees."""

    def under(word: int) -> set[int]:
        return {word}.union(*(under(d) for d, head in enumerate(parsed.heads, 1) if head == word))

    places = range(1, len(parsed) + 1)
    kinds = {i: (parsed.tags[i - 1], parsed.relations[i - 1]) for i in places}
    prepositions = {i for i, (tag, name) in kinds.items() if tag == "IN" or (tag == "TO" and name == "case")}
    out = []
    for i in sorted(prepositions):
        head = parsed.heads[i - 1]
        owner = head if kinds[i][1] == "case" and head > i else i
        phrase = range(i, max(under(owner)) + 1)
        out.append(
            (len(prepositions.intersection(phrase)), tuple(parsed.forms[j - 1].lower() for j in phrase))
        )
    return out


def test_arrays_of_the_parser_are_its_sentences() -> None:
    from captious.parser import parse_batch

    captions = [
        ["a", "man", "walks", "down", "the", "street"],
        [],
        ["two", "dogs"],
        ["a", "man", "walks", "down", "the", "street"],
    ]
    batch = parse_batch(captions)
    made = [TreeBank(batch), TreeBank(batch.parses())]
    first, second = (bank.trees for bank in made)
    for name in ("words", "heads", "sentences", "offsets", "regained"):
        assert (getattr(first, name) == getattr(second, name)).all()
    for labels, numbers in (("tags", "tags"), ("relations", "relations")):
        names = [[getattr(bank, labels).words[t] for t in getattr(bank.trees, numbers)] for bank in made]
        assert names[0] == names[1]
