"""The list of mutants fits the package: each can be made, and the tests that ought to notice are there."""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from tests.mutants import MAKERS, PACKAGE, ROOT, Mutant
from tests.mutants.defects import MUTANTS

#: Rooms with nothing of their own that could be wrong: versions, data, bars and the like.
BARE = {"__init__", "__main__", "_version", "api", "collector", "data", "progress"}


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_can_be_made(mutant: Mutant) -> None:
    source = (ROOT / PACKAGE / mutant.file).read_text(encoding="utf-8")
    changed = mutant.applied(source)
    assert changed != source
    ast.parse(changed)
    assert mutant.tests, "some test ought to notice"
    for test in mutant.tests:
        file, _, function = test.partition("::")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not function or f"def {function}(" in text, test


def test_names_are_different_and_every_room_has_some() -> None:
    assert max(Counter(mutant.name for mutant in MUTANTS).values()) == 1
    rooms = {path.name.removesuffix(".py") for path in (ROOT / PACKAGE).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - BARE == {mutant.room for mutant in MUTANTS}
    assert len(MUTANTS) >= 40


def test_all_that_fills_the_cache_is_known() -> None:
    files = [path.relative_to(ROOT / PACKAGE).as_posix() for path in (ROOT / PACKAGE).rglob("*.py") if "cache_directory" in path.read_text(encoding="utf-8")]
    assert files and all(file.startswith(MAKERS) for file in files)
