"""Count the functions and files that a command crosses, and the size of the package.

    python -m tools.crossed src                     # this tree
    python -m tools.crossed /path/to/old/src src    # two trees, side by side
    python -m tools.crossed src --command score --list    # the functions that score crosses, by file

Each command runs on the demo in a process of its own. Every Python function of captious that it calls counts
once, and a file counts if one of its functions does. Bodies of modules and classes do not count, nor do
functions that only run while a module is imported (decorators, tables of constants). Compiled kernels are
called from C and do not count. Tokens do not depend on line breaks.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

#: Commands by name. DEMO stands for the folder of the demo's files, OUT for an empty folder.
COMMANDS = {
    "score": ["score", "DEMO/references.json", "DEMO/good.json"],
    "diversity": ["diversity", "DEMO/references.json", "DEMO/sampling.jsonl"],
    "critic": [
        *("critic", "DEMO/references.json", "DEMO/good.json"),
        *("--epochs", "1", "--hidden", "8", "--no-augmentation"),
    ],
    "report": ["report", "DEMO/references.json", "DEMO/good.json", "--output", "OUT/report.html"],
}

#: Runs in the process of the command and prints its functions and files. The command exits in several ways.
TRACER = """
import json, os, sys, threading
package = os.path.realpath(sys.argv[1]) + os.sep
OPTIMIZED = 1  # flag of the code of functions; bodies of modules and classes lack it
seen = set()
imports = threading.local()
def note(frame, event, argument):
    code = frame.f_code
    if code.co_name == "_find_and_load" and code.co_filename == "<frozen importlib._bootstrap>":
        imports.depth = getattr(imports, "depth", 0) + (event == "call") - (event == "return")
    elif event == "call" and code.co_flags & OPTIMIZED and not getattr(imports, "depth", 0):
        seen.add(code)
def finish(status=0):
    sys.setprofile(None)
    inside = {code for code in seen if code.co_filename.startswith(package)}
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        json.dump(sorted({(c.co_filename[len(package):], c.co_firstlineno, c.co_qualname) for c in inside}), out)
    end(status)
end = os._exit
os._exit = finish
result = sys.argv[2]
threading.setprofile(note)
sys.setprofile(note)
words = sys.argv[3:]
status = 0
try:
    from captious.cli.app import main
    arguments, sys.argv = sys.argv, ["captious", *words]
    try:
        main()
    finally:
        sys.argv = arguments
except SystemExit as stop:
    status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
finish(status)
"""


#: File, line and qualified name of a function.
Function = tuple[str, int, str]


def crossed(source: Path, words: list[str]) -> list[Function]:
    """Run a command and return the functions of the package that it called, generators and lambdas, too."""
    demo = source / "captious" / "data" / "demo"
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "crossed.json"
        places = {"DEMO": str(demo), "OUT": folder}
        for name, path in places.items():
            words = [word.replace(name, path, 1) if word.startswith(name) else word for word in words]
        tracer = TRACER.replace("sys.argv[2]", repr(str(result)))
        # An empty cache, so that the numbers do not depend on earlier runs.
        environment = {**os.environ, "PYTHONPATH": str(source.resolve()), "CAPTIOUS_CACHE": f"{folder}/cache"}
        done = subprocess.run(
            [sys.executable, "-c", tracer, str(source / "captious"), str(result), *words],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        if done.returncode or not result.exists():
            raise SystemExit(f"captious {words[0]} failed in {source}:\n{done.stderr[-2000:]}")
        return [(file, line, name) for file, line, name in json.loads(result.read_text(encoding="utf-8"))]


def counts(functions: list[Function]) -> dict[str, int]:
    """Return the numbers of functions with a name and of files."""
    named = sum(not name.endswith(">") for _, _, name in functions)
    return {"functions": named, "files": len({file for file, _, _ in functions})}


def print_list(functions: list[Function]) -> None:
    """Print every file with the names of its functions in their order."""
    names: dict[str, list[str]] = {}
    for file, _, name in functions:
        names.setdefault(file, []).extend([name] if not name.endswith(">") else [])
    for file, own in names.items():
        print(f"{file} ({len(own)}): {', '.join(own)}")


def tokens(text: str) -> int:
    """Return the number of tokens of a module, without comments."""
    code = ast.unparse(ast.parse(text))
    skipped = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    return sum(token.type not in skipped for token in tokenize.generate_tokens(io.StringIO(code).readline))


def size(source: Path) -> dict[str, int]:
    """Return the numbers of lines, tokens, files, functions and rooms of the package."""
    package = source / "captious"
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    functions = sum(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for text in texts
        for node in ast.walk(ast.parse(text))
    )
    rooms = sum((path / "__init__.py").exists() for path in package.iterdir() if path.name != "data")
    top = len([path for path in package.glob("*.py") if not path.name.startswith("_")])
    return {
        "lines": sum(text.count("\n") for text in texts),
        "tokens of code": sum(map(tokens, texts)),
        "files": len(texts),
        "functions": functions,
        "rooms": rooms,
        "modules beside the rooms": top,
    }


def main() -> None:
    """Print one column per tree."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("source", nargs="+", type=Path, help="folders that contain the package captious")
    arguments.add_argument("--command", choices=COMMANDS, action="append", help="only this command")
    arguments.add_argument("--list", action="store_true", help="print the functions by file instead")
    chosen = arguments.parse_args()
    if chosen.list:
        for source in chosen.source:
            for command in chosen.command or COMMANDS:
                print_list(crossed(source.resolve(), COMMANDS[command]))
        return
    rows: dict[str, list[int]] = {}
    for source in chosen.source:
        for name, number in size(source.resolve()).items():
            rows.setdefault(name, []).append(number)
        for command in chosen.command or COMMANDS:
            for name, number in counts(crossed(source.resolve(), COMMANDS[command])).items():
                rows.setdefault(f"{command}: {name}", []).append(number)
    print("| |", " | ".join(str(source) for source in chosen.source), "|")
    print("|---|" + "---:|" * len(chosen.source))
    for name, numbers in rows.items():
        print(f"| {name} |", " | ".join(f"{number:,}" for number in numbers), "|")


if __name__ == "__main__":
    main()
