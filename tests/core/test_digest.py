"""Digests: equal content has one digest, different content another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captious.core import digests as digest
from captious.core.container import Grouped, StoredTexts
from captious.core.ragged import offsets_of
from captious.corpus import Captions


def test_lines_are_taken_apart_and_have_an_order() -> None:
    assert digest.of_lines(["a", "b"]) == digest.of_lines(iter(["a", "b"]))
    others = [["b", "a"], ["ab"], ["a\nb"], ["a", "b", ""], ["1:a1:b"]]
    assert len({digest.of_lines(lines) for lines in [["a", "b"], *others]}) == 6


def test_groups_have_no_order_but_their_lines_do() -> None:
    groups = [["1", "a dog"], ["2", "a cat"], ["3"]]
    assert digest.of_any_order(groups) == digest.of_any_order(groups[::-1])
    assert digest.of_any_order(groups) != digest.of_any_order([group[::-1] for group in groups])
    assert digest.of_any_order(groups) != digest.of_any_order([*groups, ["3"]])


def test_arrays_differ_by_content_type_and_shape() -> None:
    plain = np.arange(6)
    others = [plain[::-1], plain.astype(np.int32), plain.reshape(2, 3), plain.reshape(3, 2)]
    assert len({digest.of_arrays(array) for array in [plain, *others]}) == 5
    # Memory layout is not content.
    assert digest.of_arrays(np.asfortranarray(plain.reshape(2, 3))) == digest.of_arrays(plain.reshape(2, 3))
    assert digest.of_arrays(plain, plain[:0]) != digest.of_arrays(plain)


def test_keys_of_words_are_of_the_words_alone() -> None:
    keys = digest.keys_of(["dog", "cat", "dog", "\ud83d"])
    assert keys[0] == keys[2] == digest.keys_of(["dog"])[0]
    assert len(set(keys.tolist())) == 3


groups_of_texts = st.lists(
    st.tuples(
        st.text(max_size=4),
        st.lists(st.text(max_size=12) | st.sampled_from(["a", "ab", "a dog " * 30]), max_size=6),
    ),
    max_size=6,
)


@settings(max_examples=200, deadline=None)
@given(groups_of_texts)
def test_named_texts_as_bytes_have_the_digest_of_texts(groups: list[tuple[str, list[str]]]) -> None:
    names = StoredTexts.of([name for name, _ in groups]).arrays
    texts = StoredTexts.of([text for _, listed in groups for text in listed]).arrays
    bounds = offsets_of([len(listed) for _, listed in groups])
    expected = digest.of_any_order([name, *sorted(listed)] for name, listed in groups)
    assert digest.of_named_texts(names, texts, bounds) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digest, "_PORTION", 2)
        assert digest.of_named_texts(names, texts, bounds) == expected


def test_very_many_texts_of_one_name_are_left_to_python() -> None:
    names, texts = StoredTexts.of(["x"]).arrays, StoredTexts.of(["a"] * 65).arrays
    assert digest.of_named_texts(names, texts, offsets_of([64])) == digest.of_any_order([["x", *["a"] * 64]])
    assert digest.of_named_texts(names, texts, offsets_of([65])) is None


def test_references_have_one_digest_however_they_are_kept() -> None:
    groups = [["b", "a", "ü"], ["x y"] * 70, ["", "z"]]
    kept = Captions.of(
        Grouped(StoredTexts.of([text for group in groups for text in group]), offsets_of([3, 70, 2])),
        ids=["1", "2", "3"],
    )
    assert kept.digest == Captions.of(groups, ids=["1", "2", "3"]).digest
    few = Captions.of(Grouped(StoredTexts.of(["b", "a"]), offsets_of([2])), ids=["1"])
    assert few.digest == Captions.of([["a", "b"]], ids=["1"]).digest == digest.of_any_order([["1", "a", "b"]])
