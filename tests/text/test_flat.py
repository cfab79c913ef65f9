"""Tables of texts in arrays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.text.flat_table import FlatTable, flat_arrays


@given(
    table=st.dictionaries(st.text(max_size=6), st.binary(max_size=6), max_size=40),
    other=st.lists(st.text(max_size=6), max_size=10),
)
def test_it_is_a_dictionary(table: dict[str, bytes], other: list[str]) -> None:
    flat = FlatTable(flat_arrays(table))
    assert dict(flat) == table
    assert len(flat) == len(table)
    for word in other:
        assert flat.find(word) == table.get(word)
        assert (word in flat) == (word in table)


def test_one_that_is_not_there() -> None:
    flat = FlatTable(flat_arrays({"a": b"1", "\udc80": b"2"}))
    assert flat["\udc80"] == b"2"
    with pytest.raises(KeyError):
        flat["b"]
    assert 1 not in flat
    assert dict(FlatTable(flat_arrays({}))) == {}
