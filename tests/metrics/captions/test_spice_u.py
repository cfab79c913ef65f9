"""SPICE-U: the worked example of Wang et al. 2020, and the metric."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.corpus import Corpus
from captious.io import CaptionWarning
from captious.scene import ConceptTable, Tuple
from captious.scene import uniqueness as scene_uniqueness
from captious.scene.sentence_tuples import TupleTable
from captious.scene.uniqueness import JoinedConcepts
from tests.conftest import read_jsonl

#: A person in 25 of 100 images, a table in 13, an elephant in 2.
TABLE = ConceptTable(100, {("person",): 25, ("table",): 13, ("elephant",): 2})
IMAGE: list[Tuple] = [("person",), ("table",), ("elephant",)]


def uniqueness(candidate: list[Tuple], reference: list[Tuple], table: ConceptTable) -> float:
    ours, theirs = (TupleTable.from_groups([tuples]) for tuples in (candidate, reference))
    [value] = scene_uniqueness.uniqueness(ours, theirs, np.zeros(1, np.int64), table)
    return float(value)


@pytest.mark.parametrize(
    ("named", "unique", "both"), [("table", 0.52, 0.51), ("elephant", 1.0, 0.67), ("person", 0.0, 0.0)]
)
def test_the_example_of_the_paper(named: str, unique: float, both: float) -> None:
    assert uniqueness([(named,)], IMAGE, TABLE) == pytest.approx(unique, abs=0.005)
    corpus = Corpus.build(["1"], [[f"a {named}"]], [["a person", "a table", "an elephant"]])
    scores = captious.score(corpus, ["SPICE", "Uniq", "SPICE-U"], concepts=TABLE)
    assert scores["SPICE"].value == pytest.approx(0.5)
    assert scores["Uniq"].value == pytest.approx(unique, abs=0.005)
    assert scores["SPICE-U"].value == pytest.approx(both, abs=0.005)


def test_all_or_nothing_is_no_choice() -> None:
    assert uniqueness(IMAGE, IMAGE, TABLE) == 1.0
    assert uniqueness([], IMAGE, TABLE) == 1.0
    assert uniqueness([("a",)], [("b",)], TABLE) == 1.0  # both never seen


def test_two_of_three() -> None:
    # 0.75, 0.87 and 0.98: (0.75 + 0.98) lies between (0.75 + 0.87) and (0.87 + 0.98).
    expected = (0.75 + 0.98 - 1.62) / (1.85 - 1.62)
    assert uniqueness([("person",), ("elephant",)], IMAGE, TABLE) == pytest.approx(expected)


def test_tuples_outside_the_references_count() -> None:
    assert uniqueness([("unicorn",)], IMAGE, TABLE) == 1.0


def test_frequencies_from_the_references_of_the_run() -> None:
    references = [["a dog on grass"], ["a dog"], ["a dog"], ["a cat"]]
    corpus = Corpus.build(list("abcd"), [["a dog"], ["grass"], ["a dog"], ["a cat"]], references)
    scores = captious.score(corpus, ["SPICE", "Uniq", "SPICE-U"])
    uniq = scores["Uniq"].per_caption
    # Of dog, grass and dog-on-grass, the dog (in three of four images) is the most common choice.
    assert uniq[0] == 0.0 and scores["SPICE-U"].per_caption[0] == 0.0
    assert uniq[2] == 1.0 and scores["SPICE-U"].per_caption[2] == 1.0
    fields = scores["SPICE-U"].signature.fields
    assert (fields["concepts"], fields["refs"]) == ("references", f"4x1@{corpus.references.digest}")


def test_a_table_from_a_file(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "t.concepts")
    corpus = Corpus.build(["1"], [["a table"]], [["a person", "a table", "an elephant"]])
    score = captious.score(corpus, "SPICE-U", concepts=tmp_path / "t.concepts")["SPICE-U"]
    assert score.value == pytest.approx(0.51, abs=0.005)
    assert score.signature.fields["concepts"] == f"table@{TABLE.digest}"


def test_an_empty_caption_has_no_spice_u() -> None:
    corpus = Corpus.build(["1", "2"], [[""], ["a dog"]], [["a dog"], ["a dog"]])
    assert captious.score(corpus, "SPICE-U")["SPICE-U"].per_caption[0] == 0.0


def test_a_warning_says_that_captions_without_tuples_raise_uniq() -> None:
    references = [["a dog on grass"], ["a dog"], ["a dog"], ["a cat"]]
    corpus = Corpus.build(list("abcd"), [["a dog"], [""], ["quickly"], ["a cat"]], references, name="mine")
    message = r"mine: 2 of 4 captions name nothing .* counts them as 1.* the mean of the others is 0\.5000"
    with pytest.warns(CaptionWarning, match=message):
        score = captious.score(corpus, "Uniq")["Uniq"]
    assert score.per_caption.tolist() == [0.0, 1.0, 1.0, 1.0]
    with pytest.warns(CaptionWarning, match=r"3 of 3 captions name nothing .* code does\. SPICE-U"):
        captious.score(Corpus.build(list("abc"), [[""], [""], ["so"]], references[:3]), "Uniq")


def test_no_warning_where_nothing_is_raised() -> None:
    references = [["a dog on grass"], ["a dog"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        captious.score(Corpus.build(list("ab"), [["a dog"], ["a dog"]], references), "Uniq")
        # SPICE-U of an empty caption is 0, so there is no warning.
        captious.score(Corpus.build(list("ab"), [["a dog"], [""]], references), "SPICE-U")
        # The others have 1, too.
        captious.score(Corpus.build(list("ab"), [[""], ["a dog"]], references), "Uniq")


@pytest.mark.shared
def test_uniqueness_of_java_tuples_by_the_published_rule(shared_data: Path) -> None:
    """Concepts are their words joined by spaces, unknown ones have uniqueness 1, and no choice gives 1."""
    rows = list(read_jsonl(shared_data / "gold" / "spice_coco.jsonl.gz"))
    sides = [[list(map(tuple, row[f"{side}_tuples"])) for row in rows] for side in ("candidate", "reference")]
    joined = [[[" ".join(item) for item in group] for group in groups] for groups in sides]
    counts = Counter(name for group in joined[1] for name in set(group))
    published = {name: 1 - count / len(rows) for name, count in counts.items()}
    expected = []
    for ours, theirs in zip(*joined):
        choice = sorted(published.get(name, 1.0) for name in {*ours, *theirs})
        least, most = sum(choice[: len(ours)]), sum(choice[len(choice) - len(ours) :])
        value = sum(published.get(name, 1.0) for name in ours)
        expected.append(1.0 if most == least else (value - least) / (most - least))
    tables = [TupleTable.from_groups(groups) for groups in sides]
    values = scene_uniqueness.uniqueness(*tables, np.arange(len(rows)), JoinedConcepts(published))
    assert len(rows) == 8000 and np.abs(values - expected).max() < 1e-12
