"""A room imports only from rooms above it, also inside functions."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import captious

ROOT = Path(captious.__file__).parent

#: From the ground up. Rooms in one line may use each other as long as modules do not form a circle.
ORDER = [
    {"_version", "core", "data", "kernels"},
    {"text"},
    {"corpus"},
    {"io"},
    {"parser", "vectors"},
    {"scene", "meteor"},
    {"metrics"},
    {"results"},
    {"dense", "diversity_analysis"},
    {"agreement", "robustness"},
    {"generate", "rerank", "rewards"},
    {"critic"},
    {"figures"},
    {"reporting"},
    {"scale"},
    {"training"},
    {"compat", "tasks", "track"},
    {"api"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def _room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def _imports(path: Path) -> set[str]:
    """Return the modules of this package that a file imports, except under TYPE_CHECKING."""
    modules: set[str] = set()
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
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are written in full"
            modules |= (
                {f"{node.module}.{alias.name}" for alias in node.names}
                if node.module == "captious"
                else {node.module}
            )
    return {name for name in modules if name.split(".")[0] == "captious"}


FILES = sorted(
    path
    for path in ROOT.rglob("*.py")
    if path.parent != ROOT or path.name not in ("__init__.py", "__main__.py")
)


def test_a_room_uses_only_rooms_above_it() -> None:
    problems = []
    for path in FILES:
        own = _room(path)
        if own not in LEVEL:
            problems.append(f"{path.relative_to(ROOT)}: {own} has no place in ORDER")
            continue
        # Training code may judge a model with any room.
        if "training" in path.parts:
            continue
        for name in sorted(_imports(path)):
            _, _, rest = name.partition(".")
            if rest and LEVEL[rest.split(".")[0]] > LEVEL[own]:
                problems.append(f"{path.relative_to(ROOT)} uses {name}, which is below {own} in ORDER")
    assert not problems, "\n".join(problems)


def test_there_is_no_circle_between_modules() -> None:
    """Not even inside a room."""
    modules = {
        ".".join(("captious", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in FILES
    }
    graph = {
        name: {m for m in _imports(path) if m in modules and m != name} for name, path in modules.items()
    }
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
        if "training" in path.parts or path.name == "__main__.py" or _room(path) == "cli":
            continue
        for name in _imports(path):
            assert ".training." not in f"{name}.", f"{path.relative_to(ROOT)} uses {name}"


def test_the_architecture_page_names_the_rooms() -> None:
    page = (ROOT.parent.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("\n## Rooms\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.split("\n") if line.startswith("| `")]
    named = {name for cell in cells for name in re.findall(r"`(\w+)/`", cell)}
    assert named == {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"data"}


def test_files_and_classes_have_names_of_their_own() -> None:
    """Except in ``compat/``, which repeats names of other tools, and commands, named as the file that they call."""
    files = [
        path.name for path in FILES if path.name != "__init__.py" and _room(path) not in ("cli", "compat")
    ]
    classes = [
        node.name
        for path in FILES
        if _room(path) != "compat"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert not {name for names in (files, classes) for name, count in Counter(names).items() if count > 1}
