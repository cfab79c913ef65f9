"""Counts that do not fit into memory, and summaries that do."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.scale import counting
from captious.scale.sketches import Bloom, DistinctCount, Frequent, mixed

WORDS = st.lists(st.text(min_size=1, max_size=3), max_size=200)


@given(st.lists(WORDS, min_size=1, max_size=20), st.integers(1, 20))
def test_runs_count_exactly_however_often_they_spill(
    tmp_path_factory: pytest.TempPathFactory, shards: list[list[str]], held: int
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    files = []
    for number, words in enumerate(shards):
        counter = counting.Counter(folder / str(number), held)
        for start in range(0, len(words), 5):
            counter.add((word, 1) for word in words[start : start + 5])
        counter.finish()
        files.append(str(folder / str(number)))
    counting.merge(files, str(folder / "quick"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "SMALL", 0)
        merged = counting.merge(files, str(folder / "all"))
    assert (folder / "quick").read_bytes() == (folder / "all").read_bytes(), "in memory or as a tree"
    found = list(counting.items(merged))
    assert dict(found) == dict(Counter(word for words in shards for word in words))
    keys = [key for key, _ in counting.read(merged)]
    assert keys == sorted(set(keys))
    assert {path.name for path in folder.iterdir()} == {*map(str, range(len(shards))), "all", "quick"}, (
        "nothing is left over"
    )


def test_half_a_run_is_refused(tmp_path: Path) -> None:
    counter = counting.Counter(tmp_path / "a")
    counter.add([("dog", 3), ("cat", 1)])
    counter.finish()
    whole = (tmp_path / "a").read_bytes()
    for damaged in (whole[:-10], whole.replace(b"dog\t3", b"dog\t4"), whole[: whole.index(b"dog")], b"what"):
        (tmp_path / "a").write_bytes(damaged)
        with pytest.raises(counting.CountsError):
            list(counting.read(tmp_path / "a"))


@given(st.lists(st.lists(st.integers(0, 30), max_size=60), min_size=1, max_size=8), st.integers(1, 12))
def test_frequent_items_are_within_the_bound(shards: list[list[int]], size: int) -> None:
    """Every count is too low by at most the error, the error is within the theoretical bound, and more frequent
    items are kept.
    """
    exact = Counter(str(item) for items in shards for item in items)
    merged = Frequent(size)
    for items in shards:
        part = Frequent(size)
        for start in range(0, len(items), 7):
            part.add(Counter(map(str, items[start : start + 7])).items())
        merged.merge(part)
    assert len(merged.counts) <= size and merged.total == sum(exact.values())
    assert merged.error <= merged.bound
    for item, count in exact.items():
        assert count - merged.error <= merged.counts.get(item, 0) <= count


def test_distinct_counts_are_near_and_merge() -> None:
    for number in (0, 10, 1000, 300_000):
        keys = np.arange(number, dtype=np.uint64)
        whole, left, right = DistinctCount(), DistinctCount(), DistinctCount()
        whole.add(np.concatenate([keys, keys[: number // 2]]))
        left.add(keys[: number * 2 // 3])
        right.add(keys[number // 3 :])
        left.merge(right)
        assert np.array_equal(left.registers, whole.registers)
        assert whole.value == pytest.approx(number, rel=4 * whole.error)


def test_the_position_of_the_first_bit() -> None:
    """Registers hold one more than the zeros in front, also for hashes that round up to the next power of
    two.
    """
    sketch = DistinctCount(bits=4)
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63, 5000, dtype=np.uint64)
    sketch.add(keys)
    expected = [0] * 16
    for hashed in mixed(keys).tolist():
        rest = f"{(hashed << 4) & (2**64 - 1):064b}"[:60] + "1000"
        expected[hashed >> 60] = max(expected[hashed >> 60], rest.index("1") + 1)
    assert sketch.registers.tolist() == expected


def test_a_filter_finds_what_was_put_in_and_little_else(tmp_path: Path) -> None:
    keys = mixed(np.arange(40_000, dtype=np.uint64), 7)
    one, two, all_of_them = (Bloom(20_000, 0.01) for _ in range(3))
    one.add(keys[:10_000])
    two.add(keys[10_000:20_000])
    all_of_them.add(keys[:20_000])
    one.merge(two)
    assert one.digest == all_of_them.digest
    one.save(tmp_path / "filter")
    loaded = Bloom.load(tmp_path / "filter")
    assert loaded.has(keys[:20_000]).all()
    wrong = float(loaded.has(keys[20_000:]).mean())
    assert 0.005 < wrong < 0.015, "the requested error rate"
    with pytest.raises(ValueError, match="different sizes"):
        one.merge(Bloom(10, 0.01))
