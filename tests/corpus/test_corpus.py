"""The corpus: captions as slices of integer arrays."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import captious
from captious import References
from captious.corpus import Captions, Corpus
from captious.data import demo_path
from captious.io import CaptionWarning, read
from captious.metrics import registry

#: Measures that need a file of weights, vectors or annotations.
OF_FILES = ("Learned", "CLIP-S", "RefCLIP-S", "AMBER-CHAIR", "Cover", "Hal", "Cog")
METRICS = [name for name in registry.of_family("all") if name not in OF_FILES]


def test_captions_are_slices() -> None:
    captions = Captions.of([["a dog", "a cat sat"], [], ["", "a dog"]], "none")
    assert captions.n_images == 3
    assert len(captions) == 4
    assert captions.lengths.tolist() == [2, 3, 0, 2]
    assert captions.image_of.tolist() == [0, 0, 2, 2]
    assert captions.words(1) == ["a", "cat", "sat"]
    assert captions.sentences == ["a dog", "a cat sat", "", "a dog"]
    first, inverse = captions.unique
    assert first.tolist() == [0, 1, 2]
    assert inverse.tolist() == [0, 1, 2, 0]


def test_ngram_tables_are_sorted_counted_and_shared() -> None:
    corpus = Corpus.build(["1"], [["b a b a b"]], [["a b", "b a b a"]], tokenizer="none")
    table = corpus.candidates.ngrams(2)
    other = corpus.references.ngrams(2)
    assert sorted(table.count.tolist()) == [2, 2]
    assert table.totals.tolist() == [4]
    assert set(other.number.tolist()) == set(table.number.tolist())
    assert corpus.references.ngrams(2) is other


def test_numbers_stay_valid_when_another_system_brings_new_words() -> None:
    corpus = Corpus.build(["1", "2"], [["a b"], ["c"]], [["a b c"], ["c d"]], tokenizer="none")
    before = corpus.references.ngrams(2).number.copy()
    other = Corpus.build(corpus.ids, [["x y z a b"], ["b c"]], corpus.references, name="other")
    other.candidates.ngrams(2)
    assert corpus.references.ngrams(2).number.tolist() == before.tolist()
    assert other.references is corpus.references


def test_pairs_run_over_each_candidate_and_the_references_of_its_image() -> None:
    corpus = Corpus.build(["1", "2"], [["a", "b"], ["c"]], [["r", "s"], ["t"]], tokenizer="none")
    candidate, reference = corpus.pairs
    assert list(zip(candidate.tolist(), reference.tolist())) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)]
    assert corpus.pair_offsets.tolist() == [0, 2, 4, 5]


def test_shapes_must_agree() -> None:
    captions = Captions.of([["a"]], "none")
    with pytest.raises(ValueError, match="same images"):
        Corpus(Captions.of([["a"], ["b"]], "none", over=captions), captions)
    with pytest.raises(ValueError, match="share the numbering of their words"):
        Corpus(captions, Captions.of([["a"]], "none"))
    with pytest.raises(ValueError, match="2 ids for 1 images"):
        Captions.of([["a"]], "none", ids=["1", "2"])


# Missing parts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ids", "candidates", "references", "message"),
    [
        (["1", "2"], [["a"], []], [["a"], ["b"]], "image 2 has no candidate caption; leave the image out"),
        (["1", "2"], [["a"], ["b"]], [[], ["b"]], "image 1 has no reference caption; leave the image out"),
        (["1", "2"], [["a"], []], None, "image 2 has no candidate caption"),
        ([], [], [], "there are no images"),
        ([], [], None, "there are no images"),
        (["1"], [["a"], ["b"]], None, "1 image ids .* candidate captions for 2 images"),
        (["1", "2"], [["a"], ["b"]], [["a"]], "2 image ids .* reference captions for 1 images"),
    ],
)
def test_what_is_missing_is_named(ids: list[str], candidates: Any, references: Any, message: str) -> None:
    with pytest.raises(captious.InputError, match=message):
        Corpus.build(ids, candidates, references)


def test_candidates_for_encoded_references_are_checked() -> None:
    corpus = Corpus.build(["1", "2"], [["a"], ["b"]], [["a"], ["b"]])
    with pytest.raises(captious.InputError, match="image 2 has no candidate caption"):
        Corpus.build(corpus.ids, [["a"], []], corpus.references, name="other")


def test_without_references_what_needs_none_is_measured_and_the_rest_refused() -> None:
    corpus = Corpus.build(["1", "2"], [["a dog", "a cat"], ["b", "c"]], tokenizer="none")
    assert not corpus.has_references
    assert captious.score(corpus, "Div-1,mBLEU-1")["Div-1"].value == pytest.approx(np.mean([3 / 4, 1]))
    with pytest.raises(
        captious.InputError, match="ROUGE-L compares captions with references, and there are none"
    ):
        captious.score(corpus, "ROUGE-L")


#: Measures of the caption alone.
ALONE = [name for name in METRICS if not registry.measure_class(name).needs]


@pytest.mark.parametrize("name", ALONE)
def test_measures_of_the_caption_alone_need_no_references(name: str) -> None:
    corpus = Corpus.build(["1", "2"], [["a dog"], ["a cat"]], tokenizer="none")
    assert captious.score(corpus, name)[name].per_caption.shape == (2,)


@pytest.mark.parametrize("name", [name for name in METRICS if name not in ALONE])
def test_every_metric_says_that_it_needs_references(name: str) -> None:
    corpus = Corpus.build(["1", "2"], [["a dog"], ["a cat"]], tokenizer="none")
    with pytest.raises(captious.InputError, match="there are none; pass reference captions"):
        captious.score(corpus, name)


def test_objects_take_the_place_of_references_for_chair() -> None:
    corpus = Corpus.build(["1", "2"], [["a dog"], ["a cat"]], tokenizer="none")
    score = captious.score(corpus, "CHAIRi", objects={"1": ["dog"], "2": ["dog"]})["CHAIRi"]
    assert score.per_image == {"1": 0.0, "2": 1.0}
    assert "refs" not in score.signature.fields


def test_candidates_may_be_of_some_of_the_images_of_the_references() -> None:
    """A batch is scored against all references: pairs find the image by its id, in any order of the batch."""
    references = Captions.of([["a b", "b c"], ["c d"], ["d e", "e f", "f g"]], "none", ids=["1", "2", "3"])
    batch = Corpus.build(["3", "1"], [["x", "y"], ["z"]], references)
    candidate, reference = batch.pairs
    assert list(zip(candidate.tolist(), reference.tolist())) == [
        (0, 3),
        (0, 4),
        (0, 5),
        (1, 3),
        (1, 4),
        (1, 5),
        (2, 0),
        (2, 1),
    ]
    with pytest.raises(captious.InputError, match="image '9' is not among the 3 images of the references"):
        Corpus.build(["9"], [["x"]], references)


@cache
def batch_and_whole() -> tuple[Corpus, Corpus]:
    """Twenty images with captions to score, alone and among all. Measures share their derived data."""
    references = References.read(demo_path("references"))
    whole = references.corpus(read(demo_path("sampling"), "predictions"), "whole")
    ids = whole.ids[40:20:-1]
    bounds, texts = whole.candidates.image_offsets, whole.candidates.texts
    groups = [texts[bounds[i] : bounds[i + 1]] for i in (whole.ids.index(image) for image in ids)]
    return Corpus.build(ids, groups, references.captions), whole


@pytest.mark.parametrize("name", [*METRICS, "Self-CIDEr"])
def test_a_batch_scores_as_the_whole_does(name: str) -> None:
    batch, whole = batch_and_whole()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)
        ours, all_of_them = (captious.score(corpus, name)[name] for corpus in (batch, whole))
    assert ours.per_image == {
        image: pytest.approx(all_of_them.per_image[image], abs=1e-6, nan_ok=True) for image in batch.ids
    }


# Content ----------------------------------------------------------------------------------------------------


def test_the_digest_names_every_id_and_text_in_any_order() -> None:
    def digest(groups: dict[str, list[str]]) -> str:
        return Captions.of(list(groups.values()), "none", ids=list(groups)).digest

    base = {"1": ["a dog", "a cat"], "2": ["a car"]}
    assert digest({"2": ["a car"], "1": ["a cat", "a dog"]}) == digest(base)
    others = [
        {"1": ["a dog", "a cat"], "3": ["a car"]},
        {"1": ["a dog", "a cat."], "2": ["a car"]},
        {"1": ["a dog", "a Cat"], "2": ["a car"]},
        {"1": ["a dog"], "2": ["a car", "a cat"]},
        {"2": ["a dog", "a cat"], "1": ["a car"]},
        {"1": ["a dog", "a cat", "a cat"], "2": ["a car"]},
        {"1": ["a dog", "a cat"], "2": ["a car"], "3": [""]},
        {"1": ["a dog\x00a cat"], "2": ["a car"]},
        {"1": ["a dog\na cat"], "2": ["a car"]},
        {"1\x00a dog": ["a cat"], "2": ["a car"]},
    ]
    assert len({digest(base), *map(digest, others)}) == len(others) + 1


def test_taken_captions_have_the_digest_of_their_content() -> None:
    captions = Captions.of([["a", "b"], ["c"], ["d"]], "none", ids=["1", "2", "3"])
    taken = captions.take_images(np.array([2, 0]))
    assert taken.digest == Captions.of([["a", "b"], ["d"]], "none", ids=["1", "3"]).digest
    assert taken.ids == ("3", "1")
    assert taken.texts == ["d", "a", "b"]
    assert taken.take(np.array([1]), np.array([0, 1])).texts == ["a"]
