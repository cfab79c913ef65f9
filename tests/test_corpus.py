"""The corpus: captions as slices of integer arrays."""

from __future__ import annotations

import numpy as np
import pytest

from captious.corpus import Captions, Corpus
from captious.text.vocabulary import Vocabulary


def test_captions_are_slices() -> None:
    captions = Captions([["a dog", "a cat sat"], [], ["", "a dog"]], "none")
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
    other = corpus.with_candidates([["x y z a b"], ["b c"]], name="other")
    other.candidates.ngrams(2)
    assert corpus.references.ngrams(2).number.tolist() == before.tolist()
    assert other.references is corpus.references


def test_pairs_run_over_each_candidate_and_the_references_of_its_image() -> None:
    corpus = Corpus.build(["1", "2"], [["a", "b"], ["c"]], [["r", "s"], ["t"]], tokenizer="none")
    candidate, reference = corpus.pairs
    assert list(zip(candidate.tolist(), reference.tolist())) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)]
    assert corpus.pair_offsets.tolist() == [0, 2, 4, 5]


def test_shapes_must_agree() -> None:
    captions = Captions([["a"]], "none")
    with pytest.raises(ValueError, match="same images"):
        Corpus(["1", "2"], captions, captions)
    with pytest.raises(ValueError, match="lexicon"):
        Corpus(["1"], captions, Captions([["a"]], "none"))


def test_vocabulary_grows_and_finds() -> None:
    vocabulary = Vocabulary(["a"])
    assert vocabulary.encode(["b", "a", "b"]).tolist() == [1, 0, 1]
    assert vocabulary.find(["b", "zzz"]).tolist() == [1, -1]
    assert vocabulary.words == ["a", "b"]
    assert np.array_equal(vocabulary.encode([]), np.array([], dtype=np.int32))
