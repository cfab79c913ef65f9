"""Throughput and time left."""

from __future__ import annotations

import pytest

from captious.scale.run_progress import Meter, duration
from captious.scale.shard_task import Done


def test_time_left_is_by_bytes_and_by_what_was_done_now(monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Meter(4, 1000, 2)
    assert meter.left is None and "left" not in str(meter)
    monkeypatch.setattr(Meter, "seconds", property(lambda self: 10.0))
    # Work of an earlier run takes no time and does not enter the estimate.
    meter.add(Done("a", 5000, 0, kept=True), 500)
    assert meter.left is None
    meter.add(Done("b", 2000, 3), 100)
    meter.skip(100)
    assert meter.rate == 200 and meter.left == pytest.approx(300 / 100 * 10)
    assert (
        str(meter)
        == "2 of 4 shards, 1 done before, 7,000 captions, 200/s, 3 bad rows, 1 bad shards, 30 s left"
    )


@pytest.mark.parametrize(("seconds", "text"), [(12, "12 s"), (720, "12 min"), (12_240, "3.4 h")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
