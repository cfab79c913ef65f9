"""The list of mutants fits the package: each can be applied, and the tests that should notice it exist."""

from __future__ import annotations

import ast
from collections import Counter

from tests.mutants import MAKERS, PACKAGE, ROOT, Mutant, StaleError
from tests.mutants.defects import MUTANTS

#: Parts of the package without code worth a mutant: versions, data and the like.
BARE = {"__init__", "__main__", "_version", "api", "collector", "data", "progress"}


def _problem(mutant: Mutant) -> str | None:
    """Return what is wrong with an entry of the list, or None."""
    path = ROOT / PACKAGE / mutant.file
    if not path.exists():
        return f"there is no file {mutant.file}"
    source = path.read_text(encoding="utf-8")
    try:
        changed = mutant.applied(source)
        ast.parse(changed)
    except (StaleError, SyntaxError) as error:
        return str(error)
    if changed == source:
        return "the defect changes nothing"
    if not mutant.tests:
        return "no test is named that should notice"
    for test in mutant.tests:
        file, _, function = test.partition("::")
        if not (path := ROOT / "tests" / file).exists():
            return f"there is no file tests/{file}"
        if function and f"def {function}(" not in path.read_text(encoding="utf-8"):
            return f"there is no test {test}"
    return None


def test_every_mutant_can_be_applied() -> None:
    problems = {mutant.name: problem for mutant in MUTANTS if (problem := _problem(mutant)) is not None}
    assert not problems, "\n".join(f"{name}: {problem}" for name, problem in problems.items())


def test_names_are_different_and_every_room_has_some() -> None:
    assert max(Counter(mutant.name for mutant in MUTANTS).values()) == 1
    rooms = {
        path.name.removesuffix(".py")
        for path in (ROOT / PACKAGE).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert rooms - BARE == {mutant.room for mutant in MUTANTS}
    assert len(MUTANTS) >= 40


def test_all_modules_that_fill_the_cache_are_listed() -> None:
    files = [
        path.relative_to(ROOT / PACKAGE).as_posix()
        for path in (ROOT / PACKAGE).rglob("*.py")
        if "cache_directory" in path.read_text(encoding="utf-8")
    ]
    assert files and all(file.startswith(MAKERS) for file in files)
