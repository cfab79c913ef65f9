"""``captious.diversity`` is a function, in whatever order modules are imported."""

from __future__ import annotations

import subprocess
import sys

import pytest

CALL = "assert captious.diversity({'a': ['x y', 'z'], 'b': ['x', 'x']}, tokenizer='none')['LSA'].value > 0"


@pytest.mark.parametrize(
    "lines",
    [
        ["import captious", CALL],
        ["import captious", "from captious.diversity_analysis.sets import LSA", CALL],
        ["from captious.diversity_analysis.sets import human, f_measure", "import captious", CALL],
        ["from captious import diversity", "import captious", "assert diversity is captious.diversity", CALL],
        ["import captious", CALL, "import captious.metrics.sets.lsa", CALL],
        ["import captious", "import captious.diversity_analysis.corpus", CALL],
        ["from captious import corpus_diversity", "import captious", CALL],
    ],
)
def test_called_and_imported_in_any_order(lines: list[str]) -> None:
    program = "import warnings; warnings.simplefilter('ignore')\n" + "\n".join(lines)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_captious_does_not_load_it() -> None:
    program = (
        "import captious, sys; assert 'captious.diversity' not in sys.modules; "
        "assert 'numpy' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_is_a_function_and_no_module() -> None:
    import inspect

    import captious

    assert inspect.isfunction(captious.diversity)
    with pytest.raises(ModuleNotFoundError, match="captious"):
        __import__("captious.diversity")
    with pytest.raises(AttributeError, match="nothing"):
        captious.nothing  # noqa: B018
