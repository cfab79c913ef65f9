"""Progress bars: at a terminal, with the item in progress, one below another."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr

import pytest

import captious
from captious.core import progress
from captious.data import demo_path


class Terminal(io.StringIO):
    """Standard error at a terminal."""

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """The lines that were drawn, without colours and movements of the cursor."""
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", self.getvalue())
        return [line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal that shows bars at once, for ``redirect_stderr`` (pytest replaces standard error in fixtures)."""
    stream = Terminal()
    for name, value in (("TERM", "xterm"), ("COLUMNS", "120"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_INTERVAL", 0.0)
    yield stream
    assert progress._display._bars is None and not progress._display._loops


def test_a_bar_names_the_item_in_progress(terminal: Terminal) -> None:
    with redirect_stderr(terminal):
        for item in progress.track(["fast", "slow"], "scoring", label=str.upper):
            assert progress._display._bars is not None
            progress._display._bars.refresh()
            assert f"scoring: {item.upper()}" in terminal.lines()[-1]
            assert f"{['fast', 'slow'].index(item)}/2" in terminal.lines()[-1]


def test_a_bar_of_even_items_has_the_time_left(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 20))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with redirect_stderr(terminal):
        for even in (True, False):
            for item in progress.track(range(4), "encoding", even=even):
                assert progress._display._bars is not None
                progress._display._bars.refresh()
                assert ("left" in terminal.lines()[-1]) == (even and item > 0)
    assert re.search(r"2/4.*about \d+ s left|2/4.*about \d+ min left", "\n".join(terminal.lines()))


def test_loops_inside_loops_have_bars_of_their_own(terminal: Terminal) -> None:
    with redirect_stderr(terminal):
        for _ in progress.track([1], "outer"):
            for _ in progress.track(iter([1, 2, 3]), "inner [/x]", total=3):
                assert progress._display._bars is not None
                progress._display._bars.refresh()
            outer, inner = terminal.lines()[-2:]
            assert outer.startswith("outer") and inner.startswith("inner [/x]") and "2/3" in inner
            progress._display._bars.refresh()
            assert terminal.lines()[-1].startswith("outer")


def test_a_bar_appears_while_the_first_item_is_running(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The timer's function runs while the loop waits for it."""
    with redirect_stderr(terminal):
        monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
        started = threading.Event()
        usual = progress._Display._start

        def start(display: progress._Display) -> None:
            usual(display)
            started.set()

        monkeypatch.setattr(progress._Display, "_start", start)
        for _ in progress.track([1], "reading"):
            assert started.wait(30)
            assert progress._display._bars is not None


def test_a_loop_that_is_left_takes_its_bar_along(terminal: Terminal) -> None:
    with redirect_stderr(terminal):
        loop = progress.track(range(5), "counting")
        assert next(loop) == 0
        loop.close()  # type: ignore[attr-defined]
        with pytest.raises(ZeroDivisionError):
            for item in progress.track(range(5), "dividing"):
                1 / item


def test_scoring_says_which_metric_is_running(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[str, int]] = []
    usual = progress._Display._draw

    def draw(display: progress._Display, loop: progress._Loop) -> None:
        drawn.append((loop.description, loop.done))
        usual(display, loop)

    monkeypatch.setattr(progress._Display, "_draw", draw)
    with redirect_stderr(terminal):
        captious.score_systems(demo_path("references"), [demo_path("good")], "BLEU-1,CIDEr-D")
    assert ("scoring: good, BLEU-1", 0) in drawn and ("scoring: good, CIDEr-D", 1) in drawn


def test_silence(terminal: Terminal) -> None:
    with redirect_stderr(terminal):
        with progress.silenced():
            assert list(progress.track([1, 2], "nothing")) == [1, 2]
        assert terminal.getvalue() == ""
