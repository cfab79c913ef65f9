"""Names of content: equal content has one, other content another."""

from __future__ import annotations

import numpy as np

from captious import digest


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
    # How they lie in memory is no content.
    assert digest.of_arrays(np.asfortranarray(plain.reshape(2, 3))) == digest.of_arrays(plain.reshape(2, 3))
    assert digest.of_arrays(plain, plain[:0]) != digest.of_arrays(plain)


def test_keys_of_words_are_of_the_words_alone() -> None:
    keys = digest.keys_of(["dog", "cat", "dog", "\ud83d"])
    assert keys[0] == keys[2] == digest.keys_of(["dog"])[0]
    assert len(set(keys.tolist())) == 3
