"""Benchmarks import names that exist. They run rarely, so a renamed function would go unnoticed."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import benchmarks

FOLDER = Path(benchmarks.__file__).parent


def missing_names(source: str) -> list[str]:
    """Return names that code imports from captious or other benchmarks but that do not exist."""
    missing = []
    modules: dict[str, ModuleType] = {}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        if node.module.partition(".")[0] not in ("captious", "benchmarks"):
            continue
        try:
            import_module(node.module)
        except ModuleNotFoundError as error:
            # An optional dependency may be missing, but not a module of ours.
            if error.name is None or error.name.partition(".")[0] in ("captious", "benchmarks"):
                missing.append(node.module)
            continue
        for alias in node.names:
            item = _imported(node.module, alias.name)
            if item is None:
                missing.append(f"{node.module}.{alias.name}")
            elif isinstance(item, ModuleType):
                modules[alias.asname or alias.name] = item
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in modules:
            missing.append(f"{modules[node.func.id].__name__} is not callable")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            module = modules[node.value.id]
            if not hasattr(module, node.attr):
                missing.append(f"{module.__name__}.{node.attr}")
    return missing


def _imported(module: str, name: str) -> Any:
    """Return a name of a module, or a module of a package, or None."""
    item = getattr(import_module(module), name, None)
    if item is None:
        try:
            return import_module(f"{module}.{name}")
        except ModuleNotFoundError:
            return None
    return item


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_imported_names_exist(path: Path) -> None:
    assert missing_names(path.read_text(encoding="utf-8")) == []


def test_missing_names_are_noticed() -> None:
    source = """
from captious.core import threads as t
from captious.core.threads import cores, no_such_name
def work():
    from captious.no_such_room import anything
    return t.cores() + t.other() + t()
"""
    assert missing_names(source) == [
        "captious.core.threads.no_such_name",
        "captious.no_such_room",
        "captious.core.threads is not callable",
        "captious.core.threads.other",
    ]
