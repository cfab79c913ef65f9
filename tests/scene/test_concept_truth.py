"""Ground truth as concepts, and dictionaries of uniqueness."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from click.testing import CliRunner

import captious
from captious.cli.app import app
from captious.core.errors import InputError
from captious.scene.concept_truth import ConceptTruth
from captious.scene.uniqueness import ConceptTable, JoinedConcepts, read_concepts

TUPLES = [("dog",), ("dog", "brown"), ("grass",), ("dog", "on", "grass")]
GENOME = {
    "image_id": 1,
    "objects": [
        {"object_id": 5, "names": ["Dog"], "attributes": ["brown"]},
        {"object_id": 6, "names": ["grass"]},
    ],
    "relationships": [{"predicate": "ON", "subject_id": 5, "object_id": 6}],
}
RELATIONS = {
    "image_id": 1,
    "relationships": [{"predicate": "on", "subject": {"name": "dog"}, "object": {"names": ["grass"]}}],
}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_formats(tmp_path: Path) -> None:
    for content, wanted in (
        ([{"image_id": 1, "tuples": [list(item) for item in TUPLES]}], set(TUPLES)),
        ([GENOME], set(TUPLES)),
        ([RELATIONS], {("dog",), ("grass",), ("dog", "on", "grass")}),
        ([{"image_id": 1, "objects": ["dog", "grass"]}], {("dog",), ("grass",)}),
        ({"1": ["dog"]}, {("dog",)}),
    ):
        truth = ConceptTruth.read(write(tmp_path / "truth.json", content))
        assert set(truth.tuples["1"]) == wanted
        assert truth.only_objects == all(len(item) == 1 for item in wanted)
    lines = tmp_path / "truth.jsonl"
    lines.write_text(
        '{"image_id": 1, "objects": ["dog"]}\n{"image_id": 2, "objects": []}\n', encoding="utf-8"
    )
    assert ConceptTruth.read(lines).tuples == {"1": (("dog",),), "2": ()}


@pytest.mark.parametrize(
    "content",
    [
        [{"tuples": [["dog"]]}],
        [{"image_id": 1, "tuples": ["dog"]}],
        [{"image_id": 1, "tuples": [["a", "b", "c", "d"]]}],
        [{"image_id": 1, "objects": [{"object_id": 1}]}],
        [{"image_id": 1, "objects": 3}],
    ],
)
def test_mistakes(tmp_path: Path, content: object) -> None:
    with pytest.raises(InputError):
        ConceptTruth.read(write(tmp_path / "truth.json", content))


def test_concepts_replace_references() -> None:
    corpus = captious.load(
        {"1": ["something else"], "2": ["other"]}, {"1": "a brown dog on grass", "2": "a cat"}
    )
    truth = ConceptTruth({"1": TUPLES, "2": [("cat",), ("mat",)]})
    scores = captious.score(corpus, ["SPICE", "SPICE-U", "Uniq"], truth=truth)
    assert scores["SPICE"].per_caption.tolist() == pytest.approx([1.0, 2 / 3])
    assert scores["SPICE-U"].per_caption[0] == pytest.approx(1.0)
    assert f"truth:concepts@{truth.digest}" in str(scores["SPICE"].signature)
    # The captions of the references count without it.
    assert captious.score(corpus, "SPICE")["SPICE"].value == 0.0
    with pytest.raises(InputError, match="1 of 2 images have no concepts"):
        captious.score(corpus, "SPICE", truth=ConceptTruth({"1": TUPLES}))


def test_objects_judge_objects_only() -> None:
    corpus = captious.load({"1": ["x"]}, {"1": "a brown dog on grass"})
    score = captious.score(corpus, ["SPICE"], truth=ConceptTruth({"1": [("dog",), ("grass",)]}))["SPICE"]
    assert score.value == pytest.approx(1.0)
    judged = captious.score(corpus, ["SPICE"], truth=ConceptTruth({"1": [*TUPLES[:1], ("grass", "green")]}))
    assert judged["SPICE"].value < 1


def test_objects_of_captions_by_classes() -> None:
    corpus = captious.load(
        {"1": ["x"], "2": ["x"]}, {"1": "two women on a sofa with snow", "2": "a shiny mirror"}
    )
    truth = ConceptTruth({"1": [("person",), ("settee",), ("dog",)], "2": [("cat",)]})
    scores = captious.score(corpus, ["SPICE", "SPICE-U"], truth=truth, truth_names="classes")
    # Precision 2/2 (snow is no class), recall 2/3; the second caption names no class.
    assert scores["SPICE"].per_caption.tolist() == pytest.approx([0.8, 0.0])
    assert scores["SPICE-U"].per_caption[1] == 0.0
    nouns = captious.score(corpus, ["SPICE"], truth=truth, truth_names="nouns")["SPICE"]
    assert nouns.value == captious.score(corpus, ["SPICE"], truth=truth)["SPICE"].value < 0.4
    assert "classes:" in str(scores["SPICE"].signature) and "classes:" not in str(nouns.signature)


def test_classes_that_share_a_synset_stay_apart() -> None:
    """WordNet calls a sausage a dog, too, so nouns are joined. A hot dog is not a dog."""
    corpus = captious.load({"1": ["x"], "2": ["x"]}, {"1": "a dog on a sofa", "2": "a dog"})
    truth = ConceptTruth({"1": [("dog",), ("hot dog",)], "2": [("hot dog",)]})
    by_class = captious.score(corpus, ["SPICE", "Uniq"], truth=truth, truth_names="classes")
    # One class of two on either side. The second caption names a class that its image does not have.
    assert by_class["SPICE"].per_caption.tolist() == pytest.approx([0.5, 0.0])
    # A dog is in one image of two, a couch in none, a hot dog in both: both captions chose the rarest.
    assert by_class["Uniq"].per_caption.tolist() == pytest.approx([1.0, 1.0])
    by_noun = captious.score(corpus, ["SPICE"], truth=truth)["SPICE"]
    assert by_noun.per_caption[1] == 1.0


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        (None, "add --truth FILE"),
        (ConceptTruth({"1": TUPLES}), "attributes or relations"),
        (ConceptTruth({"1": [("gazebo",)]}), "'gazebo' is not in the synonym table"),
    ],
)
def test_classes_need_objects_of_the_table(truth: ConceptTruth | None, message: str) -> None:
    corpus = captious.load({"1": ["x"]}, {"1": "a dog"})
    with pytest.raises(InputError, match=message):
        captious.score(corpus, ["SPICE"], truth=truth, truth_names="classes")


def test_dictionary_of_uniqueness(tmp_path: Path) -> None:
    path = tmp_path / "uniqueness.pkl"
    path.write_bytes(pickle.dumps({"person": 0.75, "table": 0.87, "elephant": 0.98}))
    corpus = captious.load({"1": ["a person", "a table", "an elephant"]}, {"1": "a table"})
    assert captious.score(corpus, "SPICE-U", concepts=path)["SPICE-U"].value == pytest.approx(0.51, abs=0.005)
    table = read_concepts(path)
    assert isinstance(table, JoinedConcepts) and table.digest == JoinedConcepts.load(path).digest


def test_counts_need_the_number_of_images(tmp_path: Path) -> None:
    path, out = tmp_path / "counts.pkl", tmp_path / "counts.concepts"
    path.write_bytes(pickle.dumps({"person": 25, "table": 13, "elephant": 2, "person at table": 4}))
    with pytest.raises(InputError, match="captious concepts import"):
        read_concepts(path)
    arguments = ["concepts", "import", str(path), "--images", "100", "-o", str(out)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    table = read_concepts(out)
    assert isinstance(table, ConceptTable) and table.joined
    assert table.uniqueness(("person", "at", "table")) == pytest.approx(0.96)
    corpus = captious.load({"1": ["a person", "a table", "an elephant"]}, {"1": "a table"})
    assert captious.score(corpus, "SPICE-U", concepts=out)["SPICE-U"].value == pytest.approx(0.51, abs=0.005)
    with pytest.raises(InputError, match="25 of 10 images"):
        JoinedConcepts.load(path, 10)


def test_a_pickle_that_runs_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "evil.pkl"
    path.write_bytes(b"cos\nsystem\n(S'touch evil'\ntR.")
    with pytest.raises(InputError):
        JoinedConcepts.load(path)
