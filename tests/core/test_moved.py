"""Old import paths of the public interface."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys

import pytest

from captious.core.moved import MOVED

INSIDE = {
    "measures.base": "metrics.base",
    "variety.sets": "diversity_analysis.sets",
    "language.exact": "parser.exact",
}


@pytest.mark.parametrize(("old", "new"), [*MOVED.items(), *INSIDE.items()])
def test_an_old_path_gives_the_module_of_the_new_one(old: str, new: str) -> None:
    sys.modules.pop(f"captious.{old}", None)
    with pytest.warns(DeprecationWarning, match=rf"captious\.{old} is now captious\.{new};"):
        module = importlib.import_module(f"captious.{old}")
    assert module is importlib.import_module(f"captious.{new}")
    assert module.__spec__ is not None
    assert module.__spec__.name == module.__name__ == f"captious.{new}"


def test_names_that_never_were_are_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("captious.nowhere")
    assert importlib.util.find_spec("captious.nowhere") is None


def test_the_package_itself_uses_no_old_path() -> None:
    code = (
        "import warnings; warnings.simplefilter('error', DeprecationWarning); "
        "import captious.cli.app, captious.metrics.registry"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
