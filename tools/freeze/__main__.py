"""Command line of ``tools.freeze``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

import captious
from tools.freeze.compare import report
from tools.freeze.items import CASES, ITEMS, Settings
from tools.freeze.recorder import Recorder


def main() -> int:
    arguments = _parser().parse_args()
    if arguments.compare:
        old, new = arguments.compare
        return report(old, new, arguments.relaxed)
    if arguments.out is None:
        _parser().error("name a folder to write to, or two folders with --compare")
    names = arguments.only or list(ITEMS)
    if not arguments.only and arguments.out.is_dir() and any(arguments.out.iterdir()):
        _parser().error(f"{arguments.out} is not empty; name a new folder")
    settings = Settings(arguments.data.resolve(), arguments.grammar.resolve() if arguments.grammar else None)
    cases = ("demo",) if arguments.quick or not settings.data.is_dir() else tuple(CASES)
    return freeze(arguments.out.resolve(), names, cases, settings)


def freeze(out: Path, names: list[str], cases: tuple[str, ...], settings: Settings) -> int:
    """Write the files of some items on some cases. Return the number of failures."""
    out.mkdir(parents=True, exist_ok=True)
    print(f"freezing captious from {Path(captious.__file__).parent}")
    failures = 0
    with tempfile.TemporaryDirectory(prefix="freeze-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            item = ITEMS[name]
            if item.needs_grammar and settings.grammar is None:
                print(f"{name}: left out; name CoreNLP's models with --grammar or CAPTIOUS_GRAMMAR")
                continue
            for case in (case for case in item.cases if case in cases):
                inputs = Path(folder) / name / case
                CASES[case](inputs, settings.data)
                start = time.perf_counter()
                try:
                    item.freeze(Recorder(out, name, inputs), settings)
                except Exception as error:
                    failures += 1
                    print(f"{name}, {case}: FAILED: {type(error).__name__}: {error}")
                print(f"{name}, {case}: {time.perf_counter() - start:.1f} s", flush=True)
    return failures


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.freeze",
        description="Freeze the numbers of captious, and compare frozen folders.",
    )
    parser.add_argument("out", nargs="?", type=Path, metavar="OUT_DIR", help="folder for the frozen files")
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="public data sets (default: %(default)s)"
    )
    parser.add_argument(
        "--grammar",
        type=Path,
        default=os.environ.get("CAPTIOUS_GRAMMAR"),
        help="CoreNLP's models, for the exact parser (default: CAPTIOUS_GRAMMAR)",
    )
    parser.add_argument(
        "--only", nargs="+", choices=list(ITEMS), metavar="NAME", help=f"some items: {', '.join(ITEMS)}"
    )
    parser.add_argument("--quick", action="store_true", help="use the demo alone")
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar=("OLD_DIR", "NEW_DIR"), help="list all files that differ"
    )
    parser.add_argument(
        "--relaxed",
        type=float,
        default=0.0,
        metavar="T",
        help="largest difference accepted in relaxed/ (default: 0)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
