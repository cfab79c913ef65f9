"""Rows of words: joined from several tables, resampled and swapped like the texts they represent."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from captious.core.digests import keys_of
from captious.core.ragged import offsets_of
from captious.metrics.base import FloatArray, Sequences, Texts, concatenate, pack, unpack
from captious.results import significance
from tests.results.paired import paired_bootstrap


def table(rows: list[str], known: dict[str, float] | None = None) -> Sequences:
    """Rows of letters; each table numbers its own letters, in the order in which they come."""
    letters = list(dict.fromkeys("".join(rows)))
    items = np.array([letters.index(letter) for row in rows for letter in row], dtype=np.int32)
    rated = None if known is None else np.array([known[letter] for letter in letters])
    return Sequences(items, offsets_of([len(row) for row in rows]), keys_of(letters), rated)


def spelled(rows: Sequences) -> list[str]:
    """Return the rows as letters."""
    names = dict(zip(keys_of(list("abcdef")).tolist(), "abcdef"))
    letters = [names[key] for key in rows.keys[rows.items].tolist()]
    return ["".join(letters[a:b]) for a, b in itertools.pairwise(rows.offsets.tolist())]


def types(texts: Texts) -> FloatArray:
    return np.asarray((texts.counts() > 0).sum(axis=-1), dtype=np.float64)


def test_rows_can_be_picked_and_joined() -> None:
    rows = table(["ab", "", "cab", "d"])
    assert spelled(rows[np.array([2, 0, 0])]) == ["cab", "ab", "ab"]
    assert spelled(rows.grouped(np.array([0, 2, 4]))) == ["ab", "cabd"]
    assert len(rows) == 4


def test_items_are_counted_as_often_as_they_occur() -> None:
    rows = table(["aab", "b", "ca"])
    assert rows.sum().counts().tolist() == [3, 2, 1]
    assert rows.read(np.array([[0, 0], [1, 2]], dtype=np.int32)).counts().tolist() == [[4, 2, 0], [1, 1, 1]]


def test_tables_of_different_runs_become_one() -> None:
    known = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    first, second = table(["ab", "ba"], known), table(["dcb", "", "a"], known)
    whole = concatenate([first, second])
    assert isinstance(whole, Sequences)
    assert spelled(whole) == ["ab", "ba", "dcb", "", "a"]
    assert len(whole.keys) == 4 and whole.known is not None
    assert dict(zip(whole.keys.tolist(), whole.known.tolist())) == dict(
        zip(keys_of(list("abcd")).tolist(), known.values())
    )
    same = Sequences.concatenate([first, first])
    assert spelled(same) == ["ab", "ba", "ab", "ba"] and np.array_equal(same.keys, first.keys)


def test_files_keep_rows_of_both_kinds() -> None:
    rows = table(["ab", "c"], {"a": 0.5, "b": 1.5, "c": 2.5})
    again = unpack(pack(rows))
    assert isinstance(again, Sequences) and again.known is not None
    assert spelled(again) == ["ab", "c"] and again.known.tolist() == [0.5, 1.5, 2.5]
    numbers = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(unpack(pack(numbers)), numbers)


def test_resampled_texts_vary_about_the_value_of_all() -> None:
    # No resample has more than the six words of all rows; uncorrected, the interval would end there.
    rows = table(list("abcdef"))
    assert significance.bootstrap_values(rows, types, 200, 1).max() <= 6
    low, high = significance.interval(rows, types, resamples=400)
    assert low < 6.0 < high
    # The same goes for differences: one word against six.
    one = table(["a"] * 6)
    low, high, p = paired_bootstrap(one, rows, types, resamples=400)
    assert low < 5.0 < high and p < 0.05


@pytest.mark.parametrize(
    "pair", [(["ab", "ab", "ba", "a"], ["cd", "ef", "ba", "c"]), (["a", "b", "c"], ["d", "d", "d"])]
)
def test_swapped_texts_against_all_assignments(pair: tuple[list[str], list[str]]) -> None:
    a, b = map(table, pair)
    n = len(a)

    def value(rows: list[str]) -> int:
        return len(set("".join(rows)))

    observed = abs(value(pair[1]) - value(pair[0]))
    apart = []
    for swapped in itertools.product((0, 1), repeat=n):
        sides = [[pair[side ^ swap][i] for i, swap in enumerate(swapped)] for side in (0, 1)]
        apart.append(abs(value(sides[1]) - value(sides[0])))
    exact = float(np.mean([difference >= observed for difference in apart]))
    assert 0 < exact < 1
    assert significance.randomisation(a, b, types, trials=4_000) == pytest.approx(exact, abs=0.03)
