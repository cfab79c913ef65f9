"""``captious.diversity`` is a function and a package at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

CALL = "assert captious.diversity({'a': ['x y', 'z'], 'b': ['x', 'x']}, tokenizer='none')['LSA'].value > 0"


@pytest.mark.parametrize(
    "lines",
    [
        ["import captious", CALL],
        ["import captious.diversity", CALL],
        ["import captious", "from captious.variety.sets import LSA", CALL],
        ["from captious.diversity import human, f_measure", "import captious", CALL],
        ["from captious import diversity", "import captious", "assert diversity is captious.diversity", CALL],
        ["import captious", CALL, "import captious.variety.sets.lsa", CALL, "captious.diversity.human"],
        ["import captious", "import captious.variety.corpus", CALL],
    ],
)
def test_called_and_imported_in_any_order(lines: list[str]) -> None:
    program = "import warnings; warnings.simplefilter('ignore')\n" + "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_captious_does_not_load_it() -> None:
    program = "import captious, sys; assert 'captious.diversity' not in sys.modules; assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_unknown_names() -> None:
    import captious.diversity

    with pytest.raises(AttributeError, match="nothing"):
        captious.diversity.nothing  # noqa: B018
    assert "human" in dir(captious.diversity)
