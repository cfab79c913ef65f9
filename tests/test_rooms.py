"""The rooms of the house: a room uses only rooms above it, wherever in a file the import stands."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import captious

ROOT = Path(captious.__file__).parent

#: From the ground up; the rooms of one line may use each other as long as no circle comes of it.
ORDER = [
    {"_version", "errors", "digest", "kernels", "progress", "collector", "threads", "ragged", "memo", "cache", "container", "writing", "linking", "compiling", "native", "limits", "names", "html", "frames", "data"},
    {"text"},
    {"encoding"},
    {"corpus"},
    {"frequencies", "statistics"},
    {"io"},
    {"language", "vectors"},
    {"scene", "meteor"},
    {"measures"},
    {"signature", "significance"},
    {"records", "merging"},
    {"scores"},
    {"comparison", "paired", "references"},
    {"metrics"},
    {"variety"},
    {"learned"},
    {"human", "robustness"},
    {"generate", "rerank", "rewards"},
    {"critic"},
    {"figures"},
    {"page"},
    {"scale"},
    {"compat", "torchmetrics"},
    {"api"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def _room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    """The modules of this package that a file imports (those that only name types for the checker do not count)."""
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typed = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in typed:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are written in full"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} if node.module == "captious" else {node.module}
    return {name for name in found if name.split(".")[0] == "captious"}


FILES = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.name not in ("__init__.py", "__main__.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_uses_only_rooms_above_it(path: Path) -> None:
    own = _room(path)
    assert own in LEVEL, f"{own} has no place in the order of rooms"
    for name in _imports(path):
        parts = name.split(".")
        if len(parts) == 1:
            continue
        # Training runs at no other time than its own, and may judge a model by what is made of its output.
        assert "training" in path.parts or LEVEL[parts[1]] <= LEVEL[own], f"{path.relative_to(ROOT)} uses {name}, which lies below {own}"


def test_there_is_no_circle_between_modules() -> None:
    """Not even inside a room."""
    modules = {".".join(("captious", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path for path in FILES}
    graph = {name: {m for m in _imports(path) if m in modules and m != name} for name, path in modules.items()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail[trail.index(name) :], name))
        if name in done:
            return
        for other in sorted(graph[name]):
            # A package's __init__ gathers what is in it.
            if not name.startswith(other + "."):
                visit(other, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


def test_training_code_is_apart_from_what_runs_at_scoring_time() -> None:
    """Scoring never loads a module that only training needs."""
    for path in FILES:
        if "training" in path.parts or path.name == "__main__.py" or _room(path) in ("cli", "generate"):
            continue
        for name in _imports(path):
            assert ".training." not in f"{name}.", f"{path.relative_to(ROOT)} uses {name}"
