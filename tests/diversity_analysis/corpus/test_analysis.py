"""The whole analysis on a small corpus: reported, omitted and refused values."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import captious
from captious.core.errors import InputError
from captious.diversity_analysis.corpus import CorpusDiversity
from captious.diversity_analysis.corpus.corpus_study import id_order
from captious.io import CaptionWarning
from captious.parser.parsed_sentences import Parse, Sentence

pytestmark = pytest.mark.filterwarnings("ignore:.*have no words")

#: A tagger that knows the words of this test; every word hangs from the root, prepositions from the next
#: word.
TAGS = {"a": "DT", "the": "DT", "on": "IN", "near": "IN", "runs": "VBZ", "red": "JJ", "no": "DT"}


class SmallGrammar:
    """A parser that knows the words of this test."""

    label, digest = "small-grammar", "1"

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int = 1) -> Any:
        parses: list[Parse] = []
        for words in captions:
            forms = list(words)
            tags = [TAGS.get(form, "NN") for form in forms]
            heads = [i + 2 if tag == "IN" and i + 1 < len(forms) else 0 for i, tag in enumerate(tags)]
            names = ["case" if head else "root" for head in heads]
            parses.append([Sentence(forms, tags, forms, heads, names)] if forms else [])
        return parses


parser = SmallGrammar()


REFERENCES = {
    "1": ["A dog runs.", "a dog on grass", "a red dog"],
    "2": ["a bus stop", "the bus stop near a tree", "the bus"],
    "3": ["no cat", "a cat on a mat", "the cat", "a cat"],
}
SAME = {"1": "a dog .", "2": "a dog .", "3": "a dog ."}
RICH = {"1": "a red dog on grass", "2": "the bus stop near a tree", "3": "no cat on a mat"}
POOR = {"1": "", "2": "a bus", "3": "a cat"}
TRAIN = {"x": ["a dog", "the bus"], "y": ["grass tree mat zebra"]}


def analyse(systems: Any = (SAME, RICH, POOR), **options: Any) -> CorpusDiversity:
    given = {
        "train": TRAIN,
        "names": None if isinstance(systems, dict) else ["same", "rich", "poor"][: len(systems)],
    }
    return captious.corpus_diversity(REFERENCES, systems, parser=parser, **{**given, **options})


def test_every_measure_of_every_row() -> None:
    result = analyse(norms={"dog": 5.0, "no": 1.0})
    same, rich, poor = result.systems
    assert same.values["types"] == 3
    assert rich.values["types"] == 13
    assert same.values["novel"] == 0
    assert rich.values["novel"] == 1
    assert poor.values["asl"] == pytest.approx(4 / 3)
    assert rich.values["negations"] == pytest.approx(1 / 3)
    assert rich.values["concreteness"] == 3
    assert result.n == 3
    # Learnable: a, dog, the, bus, grass, tree, mat (and not zebra, which no reference has).
    assert result.learnable == 7
    assert result.limit == pytest.approx(7 / 15)
    assert same.values["coverage"] == pytest.approx(2 / 7)
    assert rich.values["coverage"] == 1
    # Class 3: dog, bus and cat (which four people use, so that class 3 lacks it).
    assert same.values["local_recall"] == pytest.approx(1 / 2)
    assert rich.values["compound_ratio"] == pytest.approx(1 / 3)
    assert rich.values["preposition_ratio"] == 1
    assert result.humans.values["compound_ratio"] == pytest.approx((1 / 3 + 1 / 3 + 0) / 3)
    assert result.omitted_by_all["global"]["validation"] == []
    assert ("dog", 1, 1) in poor.omitted_locally["absolute"]


def test_people_are_averaged_over_parallel_descriptions() -> None:
    result = analyse()
    lengths = [[4, 3, 2], [4, 6, 5], [3, 2, 2]]
    assert result.humans.values["asl"] == pytest.approx(np.mean([np.mean(part) for part in lengths]))
    assert result.humans.values["sdsl"] == pytest.approx(np.mean([np.std(part) for part in lengths]))
    assert len(result.humans.leave_one_out["mean"]) == 2
    assert "local_recall" not in result.humans.values


def test_json_is_json() -> None:
    result = analyse()
    loaded = json.loads(json.dumps(result.to_json(ci=True), allow_nan=False))
    assert (
        loaded["systems"][1]["intervals"]["Types"][0] <= 13 <= loaded["systems"][1]["intervals"]["Types"][1]
    )
    assert [system["name"] for system in loaded["systems"]] == ["same", "rich", "poor"]
    assert loaded["systems"][0]["measures"]["ttr1"] is None
    assert loaded["signature"].startswith("corpus|tok:spacy-like|")
    names = loaded["rank_correlations"]["measures"]
    assert len(loaded["rank_correlations"]["spearman"]) == len(names)
    header, rows = result.table()
    assert [row[0] for row in rows] == ["same", "rich", "poor", "humans"]
    assert all(len(row) == len(header) for row in rows)


def test_order_of_systems_and_company_change_nothing() -> None:
    together = analyse()
    alone = analyse([RICH], names=["rich"])
    for key, value in alone["rich"].values.items():
        assert together["rich"].values[key] == pytest.approx(value, nan_ok=True), key
    assert alone.correlations is None
    assert captious.corpus_diversity(REFERENCES, RICH, parse=False).systems[0].values["types"] == 13


def test_all_captions_count_where_no_reference_is_needed() -> None:
    more = {**RICH, "99": "a zebra near a zebra crossing"}
    with pytest.raises(InputError, match="--subset"):
        analyse([more], names=["more"])
    result = analyse([more, RICH], names=["more", "rich"], subset=True)
    more_report, rich = result.systems
    assert more_report.values["captions"] == 4
    assert more_report.values["types"] == 15
    assert (more_report.images, more_report.common_images) == (4, 3)
    for key in ("coverage", "local_recall", "local_precision", "pos_distance"):
        assert more_report.values[key] == rich.values[key]


def test_images_without_a_prediction_are_left_out_of_local_recall() -> None:
    only = {"1": "a dog"}
    result = analyse([only], names=["only"], subset=True)
    assert result.systems[0].local_recall is not None
    assert result.systems[0].local_recall.images.sum() == 2
    assert result.systems[0].values["local_recall"] == 1


def test_local_recall_is_pooled_or_a_mean_over_images() -> None:
    mixed = {"1": "a dog under a piano and a violin", "2": "the bus", "3": "cat"}
    pooled, mean = (
        analyse([mixed, RICH], names=["mixed", "rich"], over_images=form) for form in ("pooled", "mean")
    )
    for result, form in ((pooled, "pooled"), (mean, "mean")):
        for report in result.systems:
            assert report.local_recall is not None
            classes = getattr(report.local_recall, form)
            assert report.values["local_recall"] == pytest.approx(classes[result.n - 1])
            precision = getattr(report.local_recall, f"precision_{form}")
            assert report.values["local_precision"] == pytest.approx(precision, nan_ok=True)
            assert np.array_equal(result.recall_by_class(report), classes[: result.n], equal_nan=True)
    assert pooled["mixed"].values["local_precision"] < mean["mixed"].values["local_precision"]
    assert "over_images:pooled" in pooled.signature and "over_images:mean" in mean.signature
    with pytest.raises(InputError, match="pooled or averaged"):
        analyse(over_images="median")


def test_order_of_captions_is_that_of_the_file_or_of_ids() -> None:
    captions = {str(i): " ".join(f"w{i * 13 % 7 + k}" for k in range(20)) for i in range(120)}
    shuffled = dict(sorted(captions.items(), key=lambda row: int(row[0]) * 37 % 120))
    in_file, by_id = (
        captious.corpus_diversity(captions, [captions, shuffled], names="ab", parse=False, order=order)
        for order in ("file", "id")
    )
    assert in_file["a"].values["mtld"] != in_file["b"].values["mtld"]
    assert by_id["a"].values["mtld"] == by_id["b"].values["mtld"] == in_file["a"].values["mtld"]
    assert id_order(["10", "9"]).tolist() == [1, 0]
    assert id_order(["10", "9", "x"]).tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="order of the file"):
        captious.corpus_diversity(captions, captions, parse=False, order="size")


def test_without_training_and_without_trees() -> None:
    result = captious.corpus_diversity(REFERENCES, [RICH], parse=False)
    report = result.systems[0]
    assert "novel" not in report.values
    assert "yngve" not in report.values
    assert result.limit == 1
    assert "%Novel" not in result.table()[0]


def test_hostile_captions_go_through() -> None:
    texts = ["", "\n\t", "🐶 " * 50, "<b>dog</b>|||cat", "word " * 3000, "é́ \u202e"]
    references = {str(i): [text, "a dog"] for i, text in enumerate(texts)}
    result = captious.corpus_diversity(references, [dict(zip(references, texts))], parser=parser)
    json.dumps(result.to_json(), allow_nan=False)
    assert result.systems[0].values["captions"] == len(texts)


def test_mistakes_are_refused() -> None:
    with pytest.raises(InputError, match="no such file"):
        captious.corpus_diversity(REFERENCES, ["missing.json"], parse=False)
    with pytest.raises(InputError, match="at least one system"):
        captious.corpus_diversity(REFERENCES, [], parse=False)
    with pytest.raises(InputError, match="names"):
        captious.corpus_diversity(REFERENCES, [RICH], names=["a", "b"], parse=False)
    with pytest.raises(InputError, match="unknown tokenizer"):
        captious.corpus_diversity(REFERENCES, [RICH], tokenizer="spacey", parse=False)


def test_empty_captions_are_counted_in_a_warning() -> None:
    with pytest.warns(CaptionWarning, match="poor: 1 of 3 captions have no words"):
        captious.corpus_diversity(REFERENCES, [POOR], names=["poor"], parse=False)


def test_equal_names_are_told_apart() -> None:
    result = captious.corpus_diversity(REFERENCES, [RICH, SAME], names=["x", "x"], parse=False)
    assert [report.name for report in result.systems] == ["x", "x (2)"]


def test_the_same_seed_gives_the_same_curve() -> None:
    first, second, other = (analyse([RICH], names=["r"], seed=seed)["r"].curve for seed in (5, 5, 6))
    assert first is not None and second is not None and other is not None
    assert (first.types == second.types).all()
    assert math.isclose(first.types[-1], other.types[-1])


def test_values_are_those_of_the_scores_which_carry_intervals_and_can_be_compared() -> None:
    result = analyse(norms={"dog": 5.0, "no": 1.0})
    for report in result.systems:
        assert report.scores is not None
        for measure in result.measures:
            assert report.values[measure.key] == pytest.approx(report.scores[measure.name].value, nan_ok=True)
    rows = captious.compare(result.scores["same"], result.scores["rich"])
    types = next(row for row in rows if row.metric == "Types")
    assert (types.a, types.b, types.difference, types.better) == (3, 13, 10, "B")
    header, table = result.table(ci=True)
    assert table[1][header.index("Types")].startswith("13 [")
    assert "[" not in "".join(table[-1])


def test_signatures_name_all_inputs() -> None:
    shipped = captious.corpus_diversity(REFERENCES, [RICH], names=["rich"], train=TRAIN)
    given = analyse([RICH], names=["rich"])
    other = analyse([RICH], names=["rich"], train={"x": ["a dog"]})
    assert "|trees:small-grammar@1|" in given.signature
    assert "|trees:captious@" in shipped.signature
    assert given.scores["rich"]["Comp"].signature.fields["parser"] == "small-grammar@1"
    assert given.signature != other.signature
    assert given.scores["rich"]["%Novel"].signature != other.scores["rich"]["%Novel"].signature
    assert given.scores["rich"]["Types"].signature == other.scores["rich"]["Types"].signature
    with pytest.raises(InputError, match=r"cannot be compared.*parser"):
        captious.compare(given.scores["rich"], shipped.scores["rich"])


def test_a_function_is_no_parser() -> None:
    with pytest.raises(InputError, match="it needs label, digest and parse_batch"):
        captious.corpus_diversity(REFERENCES, [RICH], parser=lambda texts: [])  # type: ignore[arg-type]


def test_the_same_numbers_one_by_one() -> None:
    result = captious.corpus_diversity(REFERENCES, [RICH], train=TRAIN, names=["rich"])
    corpus = captious.load(REFERENCES, RICH, tokenizer="spacy-like")
    scores = captious.score(corpus, "corpus", train=TRAIN)
    assert set(scores) == {measure.name for measure in result.measures}
    for name, score in scores.items():
        ours = result.scores["rich"][name]
        assert score.value == pytest.approx(ours.value, nan_ok=True), name
        assert score.signature == ours.signature
