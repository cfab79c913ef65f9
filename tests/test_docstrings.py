"""Docstrings of the public functions: parameters in numpydoc style, and examples that run."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType

import pytest

from tests.test_api import ROOMS

#: Functions that train a network, or need a trained one, take seconds. Their rooms' tests run them.
LONG = {
    "caption_likelihoods",
    "generate_captions",
    "judge_systems",
    "likelihood_study",
    "train_captioner",
    "train_composite",
    "train_critic",
}


def functions() -> Iterator[FunctionType]:
    """Yield the public functions, each once."""
    seen = set()
    for room in ROOMS:
        module = import_module(room)
        for name in module.__all__:
            item = inspect.unwrap(getattr(module, name))
            function = getattr(item, "__func__", item)
            if isinstance(function, FunctionType) and function not in seen:
                seen.add(function)
                yield function


FUNCTIONS = list(functions())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda one: f"{one.__module__}.{one.__name__}")
@pytest.mark.filterwarnings("ignore::captious.io.caption_files.CaptionWarning")
def test_examples_run(function: FunctionType) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    names = dict(function.__globals__)
    tests = [one for one in doctest.DocTestFinder(recurse=False).find(function, globs=names) if one.examples]
    assert bool(tests) != (function.__name__ in LONG), "each has an example, except those in LONG"
    printed: list[str] = []
    for one in tests:
        runner.run(one, out=printed.append)
    assert not runner.failures, "".join(printed)


def test_parameters_are_described() -> None:
    lacking = []
    for function in FUNCTIONS:
        text = inspect.getdoc(function) or ""
        parameters = {
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if name not in ("cls", "self") and parameter.kind is not parameter.VAR_POSITIONAL
        }
        section = text.partition("Parameters\n----------\n")[2].partition("\n---")[0]
        named = {
            word.strip(" *")
            for line in section.splitlines()
            if line and not line[0].isspace()
            for word in line.split(",")
        }
        if not parameters <= named:
            lacking.append(f"{function.__module__}.{function.__name__}: {sorted(parameters - named)}")
    assert not lacking, "\n".join(lacking)
