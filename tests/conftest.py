"""Fixtures that every test may use."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.browser import executable

# How long an example takes is no property of the code: a busy machine must not fail a test.
settings.register_profile("captious", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("captious")


ROOT = Path(__file__).resolve().parent.parent


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A run without the tests of the page must not look like one with them."""
    if executable() is None:
        terminalreporter.section("NO BROWSER", sep="!", red=True, bold=True)
        terminalreporter.write_line(
            "The tests of the HTML report in a browser were LEFT OUT: there is no Chromium. 'make browser' installs it; or set CAPTIOUS_BROWSER to its path.", red=True, bold=True
        )


def data_folder() -> Path:
    """Where the public data sets are, if they are there."""
    return Path(os.environ.get("CAPTIOUS_DATA") or ROOT.parent / "shared" / "data")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of public data sets; the test is skipped where there is none."""
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip("the public data sets are not beside the repository")
    return folder


def read_jsonl(path: Path) -> Iterator[Any]:
    """Rows of a gzipped JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests neither use nor change the cache of the person who runs them, but share one among themselves."""
    if "CAPTIOUS_CACHE" not in os.environ:
        monkeypatch.setenv("CAPTIOUS_CACHE", str(ROOT / ".pytest_cache" / "captious"))
