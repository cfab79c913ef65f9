"""Words as numbers: growing, frozen, and overlaid on others."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from captious.text.vocabulary import Vocabulary


def test_vocabulary_grows_and_finds() -> None:
    vocabulary = Vocabulary(["a"])
    assert vocabulary.encode(["b", "a", "b"]).tolist() == [1, 0, 1]
    assert vocabulary.find(["b", "zzz"]).tolist() == [1, -1]
    assert vocabulary.words == ["a", "b"]
    assert np.array_equal(vocabulary.encode([]), np.array([], dtype=np.int32))


def test_a_frozen_vocabulary_takes_no_new_word() -> None:
    vocabulary = Vocabulary(["a", "b"])
    vocabulary.freeze()
    assert vocabulary.encode(["b", "a"]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="frozen: it takes no new word 'c'"):
        vocabulary.encode(["a", "c"])
    assert vocabulary.words == ["a", "b"]
    assert vocabulary.find(["c"]).tolist() == [-1]
    assert "c" not in vocabulary


def test_an_overlay_numbers_new_words_behind_its_base_and_leaves_it_alone() -> None:
    base = Vocabulary(["a", "b"])
    first, second = Vocabulary(base=base), Vocabulary(base=base)
    assert first.encode(["c", "a", "c", "d"]).tolist() == [2, 0, 2, 3]
    assert second.encode(["d", "b"]).tolist() == [2, 1]
    assert base.words == ["a", "b"] and len(base) == 2
    assert first.words == ["a", "b", "c", "d"] and first.new == ["c", "d"] and len(first) == 4
    assert second.words == ["a", "b", "d"]
    assert first.find(["b", "d", "zzz"]).tolist() == [1, 3, -1]
    assert "a" in first and "d" in first and "zzz" not in first
    with pytest.raises(ValueError, match="frozen"):
        base.encode(["e"])


def test_a_frozen_overlay_still_knows_all_words_of_its_base() -> None:
    overlay = Vocabulary(["x"], base=Vocabulary(["a", "b"]))
    overlay.freeze()
    assert overlay.encode(["b", "x", "a"]).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="frozen"):
        overlay.encode(["y"])


def test_overlays_are_one_deep() -> None:
    """A word is looked up in the overlay and in its base, nowhere else: a third layer would give it a
    second number."""
    overlay = Vocabulary(["x"], base=Vocabulary(["a"]))
    with pytest.raises(ValueError, match="not over another overlay"):
        Vocabulary(base=overlay)


def test_pickles_keep_numbers_and_frozenness() -> None:
    base = Vocabulary(["a", "b"])
    overlay = Vocabulary(["x", "a"], base=base)
    again, again_base = pickle.loads(pickle.dumps((overlay, base)))
    assert again.base is again_base
    assert again.words == overlay.words
    assert again.encode(["x", "b", "new"]).tolist() == [2, 1, 3]
    with pytest.raises(ValueError, match="frozen"):
        again_base.encode(["new"])
