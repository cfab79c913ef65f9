"""Benchmarks import names that exist. They run rarely, so a renamed function would go unnoticed."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

import benchmarks

FOLDER = Path(benchmarks.__file__).parent


def missing_names(source: str) -> list[str]:
    """Return the names that code imports from captious or other benchmarks and that do not exist."""
    missing = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if node.module.partition(".")[0] not in ("captious", "benchmarks"):
            continue
        try:
            module = import_module(node.module)
        except ModuleNotFoundError as error:
            # An optional dependency may be missing, but not a module of ours.
            if error.name is None or error.name.partition(".")[0] in ("captious", "benchmarks"):
                missing.append(node.module)
            continue
        for name in (alias.name for alias in node.names):
            if not hasattr(module, name) and not _is_module(f"{node.module}.{name}"):
                missing.append(f"{node.module}.{name}")
    return missing


def _is_module(name: str) -> bool:
    try:
        import_module(name)
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_imported_names_exist(path: Path) -> None:
    assert missing_names(path.read_text(encoding="utf-8")) == []


def test_missing_names_are_noticed() -> None:
    source = """
from captious.core.threads import cores, no_such_name
def work():
    from captious.no_such_room import anything
"""
    assert missing_names(source) == ["captious.core.threads.no_such_name", "captious.no_such_room"]
