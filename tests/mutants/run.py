"""Run the tests against each mutant."""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import os
import py_compile
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.mutants import MAKERS, PACKAGE, ROOT, Mutant, StaleError
from tests.mutants.defects import MUTANTS

#: Parts of the repository that the tests need.
PARTS = (
    "src",
    "native",
    "tests",
    "benchmarks",
    "docs",
    "tools",
    "pyproject.toml",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
)
STORED = ROOT / ".pytest_cache" / "mutants.json"
LIBRARY = PACKAGE / "kernels" / "lib"
#: Seconds after which tests that do not end count as failed.
PATIENCE = 1800.0
#: Seconds of processor time after which named tests count as failed. Some mutants loop without end. Without a mutant,
#: no named tests take more than 30 seconds.
PROCESSOR_TIME = 100

NOTICED, UNNOTICED, UNCERTAIN, STALE = "noticed", "UNNOTICED", "UNCERTAIN", "STALE"


class Result(NamedTuple):
    """Outcome of one mutant."""

    name: str
    outcome: str
    #: The test that noticed, or a message.
    by: str
    seconds: float


class Copy:
    """A copy of the repository, to which one mutant at a time is applied."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "repository"
        self.root.mkdir()
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, self.root / part, ignore=ignored)
            elif source.exists():
                shutil.copy2(source, self.root / part)
        # Checked by the content of the source. By time and size, one mutant could pass for another.
        for part in ("src", "tests"):
            compileall.compile_dir(
                self.root / part, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
            )
        self.output = folder / "output"
        self.cache = folder / "cache"
        if (cache := ROOT / ".pytest_cache" / "captious").is_dir():
            shutil.copytree(cache, self.cache)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.root / "src"), str(self.root)]),
            "CAPTIOUS_CACHE": str(self.cache),
            "CAPTIOUS_DATA": str(folder / "no public data"),
            # No test uses a plugin, and plugins take time to load.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        self.environment = environment
        # Object files of unchanged kernels are used again.
        if (objects := ROOT / ".kernels").is_dir():
            shutil.copytree(objects, self.root / ".kernels")
        self.build()
        self.library = folder / "lib"
        shutil.copytree(self.root / LIBRARY, self.library)
        command = [sys.executable, "-c", "import captious; print(captious.__file__)"]
        imported = subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=True
        )
        if not Path(imported.stdout.strip()).is_relative_to(self.root):
            raise SystemExit(f"the tests would import {imported.stdout.strip()}, not the copy of the package")
        server = [sys.executable, str(self.root / "tests" / "mutants" / "server.py")]
        self._server = subprocess.Popen(
            server, cwd=self.root, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def build(self) -> None:
        """Build the library. Kernels that cannot be built run in their plain form."""
        command = [sys.executable, "-m", "native.build", "--jobs", "1"]
        subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, check=False)

    def close(self) -> None:
        """End the process that runs the tests."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait()

    def run(self, tests: Sequence[str], *, to_the_end: bool = False) -> tuple[int, str]:
        """Return pytest's exit code and output. Without ``to_the_end``, stop at the first failure."""
        assert self._server.stdin is not None and self._server.stdout is not None
        arguments = ["-q", "--no-header", "--tb=line", "-rfE", "-p", "no:cacheprovider"]
        # These would fail for every mutant: the text to change is gone, and a kernel may not build.
        arguments += ["--ignore=tests/test_mutants.py"]
        arguments += ["--deselect=tests/kernels/test_library.py::test_the_library_is_up_to_date"]
        arguments += [] if to_the_end else ["-x"]
        request = {
            "arguments": [*arguments, *(f"tests/{test}" for test in tests)],
            "output": str(self.output),
            "seconds": PATIENCE,
            "processor": PROCESSOR_TIME if tests and not to_the_end else None,
        }
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        if code == -1:
            return 1, f"FAILED {f'tests/{tests[0]}' if tests else 'tests'} - no end\n"
        return code, self.output.read_text(encoding="utf-8", errors="replace")

    def judge(self, mutant: Mutant, named: bool) -> Result:
        """Apply a mutant, run its named tests and then, unless ``named``, all tests, and restore the file."""
        start = time.monotonic()

        def result(outcome: str, by: str) -> Result:
            return Result(mutant.name, outcome, by, time.monotonic() - start)

        path = self.root / PACKAGE / mutant.file
        try:
            original = path.read_text(encoding="utf-8")
            changed = mutant.applied(original)
        except (OSError, StaleError) as error:
            return result(STALE, str(error))
        if mutant.file.startswith(MAKERS):
            shutil.rmtree(self.cache, ignore_errors=True)
        path.write_text(changed, encoding="utf-8")
        has_kernels = re.search(r"^@(kernel|inner)\b", original, re.MULTILINE) is not None
        if has_kernels:
            self.build()
        try:
            outcome, by = self._noticed((mutant.tests,) if named else (mutant.tests, ()))
        finally:
            path.write_text(original, encoding="utf-8")
            if has_kernels:
                shutil.rmtree(self.root / LIBRARY)
                shutil.copytree(self.library, self.root / LIBRARY)
            if mutant.file.startswith(MAKERS):
                shutil.rmtree(self.cache, ignore_errors=True)
        return result(outcome, by)

    def _noticed(self, stages: Iterable[Sequence[str]]) -> tuple[str, str]:
        """Return the outcome of the mutant in the copy, and the test that noticed it."""
        for tests in stages:
            code, output = self.run(tests)
            # 0: all passed. 1: some failed. 2, or 4 with an error: tests could not be loaded. 5: no tests.
            if code in (1, 2) or (code == 4 and re.search("^ERROR tests/", output, re.MULTILINE)):
                # Without a name in the output, the process crashed.
                return NOTICED, (failures(output) or [*tests, "a crash"])[0]
            if code not in (0, 5):
                return STALE, f"pytest ended with code {code}: {output.strip()[-300:]}"
        return UNNOTICED, ""


def failures(output: str) -> list[str]:
    """Return the failed tests of pytest's summary."""
    return re.findall(r"^(?:FAILED|ERROR) tests/(.+?)(?: - .*)?$", output, re.MULTILINE)


def confirmed(results: Sequence[Result], copy: Copy) -> list[Result]:
    """Return the results. If the test that noticed also fails without the mutant, the outcome is uncertain."""
    noticed = sorted({result.by for result in results if result.outcome == NOTICED})
    code, output = copy.run(noticed, to_the_end=True)
    if code == 4:
        # pytest does not accept all parameters in brackets as it prints them.
        code, output = copy.run(sorted(set(map(_function, noticed))), to_the_end=True)
    wrong = set(map(_function, failures(output))) if code else set()
    if code and not any(_function(result.by) in wrong for result in results):
        raise SystemExit(f"the tests that noticed cannot be run without mutants:\n{output[-3000:]}")
    return [
        result._replace(outcome=UNCERTAIN) if _function(result.by) in wrong else result for result in results
    ]


def _function(test: str) -> str:
    return test.partition("[")[0]


class StoredResults:
    """Results by digests of their sources, in a file that is written after each result."""

    def __init__(self, path: Path, fresh: bool) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._package = package_digest()
        self._rows: dict[str, list[object]] = {}
        if not fresh and path.exists():
            self._rows = json.loads(path.read_text(encoding="utf-8"))

    def _key(self, mutant: Mutant) -> str:
        tests = {ROOT / "tests" / test.partition("::")[0] for test in mutant.tests}
        files = [file for path in tests for file in (path.rglob("*.py") if path.is_dir() else [path])]
        return f"{mutant.name} {_digest(sorted(files), repr(mutant), self._package)}"

    def get(self, mutant: Mutant) -> Result | None:
        """Return the stored result of a mutant that was noticed. All others run again."""
        row = self._rows.get(self._key(mutant))
        return Result(*row) if row is not None and row[1] == NOTICED else None  # type: ignore[arg-type]

    def add(self, mutant: Mutant, result: Result) -> None:
        """Store a result."""
        with self._lock:
            self._rows[self._key(mutant)] = list(result)
            self.path.parent.mkdir(exist_ok=True)
            temporary = self.path.with_suffix(".tmp")
            temporary.write_text(json.dumps(self._rows, indent=1), encoding="utf-8")
            temporary.replace(self.path)


def package_digest() -> str:
    """Return the digest of the package that the mutants are applied to, without the library of kernels."""
    files = (ROOT / PACKAGE).rglob("*")
    return _digest(sorted(file for file in files if not file.is_relative_to(ROOT / LIBRARY)))


def _digest(files: Iterable[Path], *texts: str) -> str:
    state = hashlib.blake2b(digest_size=12)
    for file in files:
        if file.is_file() and "__pycache__" not in file.parts:
            state.update(
                str(file.relative_to(ROOT)).encode() + b"\0" + hashlib.blake2b(file.read_bytes()).digest()
            )
    for text in texts:
        state.update(text.encode() + b"\0")
    return state.hexdigest()


def chosen(names: Sequence[str]) -> list[Mutant]:
    """Return the selected mutants, or all if no name is passed."""
    unknown = [name for name in names if not any(_is_selected(mutant, name) for mutant in MUTANTS)]
    if unknown:
        raise SystemExit(f"no mutant or room is called {', '.join(unknown)}; --list shows all mutants")
    return [mutant for mutant in MUTANTS if not names or any(_is_selected(mutant, name) for name in names)]


def _is_selected(mutant: Mutant, name: str) -> bool:
    return mutant.name.startswith(name) or mutant.file.startswith(name)


def run(mutants: Sequence[Mutant], *, jobs: int, fresh: bool, named: bool) -> list[Result]:
    """Judge mutants and print each result when it is known."""
    stored = StoredResults(STORED, fresh)
    results: list[Result] = []
    waiting: queue.SimpleQueue[Mutant] = queue.SimpleQueue()
    todo: list[Mutant] = []
    for mutant in mutants:
        earlier = stored.get(mutant)
        if earlier is not None:
            results.append(earlier)
        else:
            todo.append(mutant)
            waiting.put(mutant)
    if results:
        print(
            f"{len(results)} of {len(mutants)} mutants were noticed by an earlier run (--fresh tries them again)",
            flush=True,
        )
    lock = threading.Lock()
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        copies = []
        for k in range(max(1, min(jobs, len(todo)))):
            (place := Path(folder) / str(k)).mkdir()
            copies.append(Copy(place))

        def work(copy: Copy) -> None:
            while True:
                try:
                    mutant = waiting.get_nowait()
                except queue.Empty:
                    return
                result = copy.judge(mutant, named)
                with lock:
                    results.append(result)
                    stored.add(mutant, result)
                    print(f"{len(results):>3}/{len(mutants)}  {line(result)}", flush=True)

        threads = [threading.Thread(target=work, args=(copy,)) for copy in copies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        results = confirmed(results, copies[0])
        by_name = {mutant.name: mutant for mutant in mutants}
        for result in results:
            if result.outcome == UNCERTAIN:
                stored.add(by_name[result.name], result)
        for copy in copies:
            copy.close()
    return results


def line(result: Result) -> str:
    """Format a result as a line of the table."""
    return f"{result.name:<44} {result.outcome:<9} {result.seconds:>6.1f} s  {result.by}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description="Find defects of one line that no test notices."
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="mutants, rooms, or beginnings of their names (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="list mutants and their named tests")
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="copies of the package to use side by side"
    )
    parser.add_argument("--named", action="store_true", help="run only the named tests of each mutant")
    parser.add_argument("--fresh", action="store_true", help="drop stored results")
    options = parser.parse_args(arguments)
    mutants = chosen(options.names)
    if options.list:
        for mutant in mutants:
            print(f"{mutant.room:<13} {mutant.name:<44} {' '.join(mutant.tests)}")
        print(f"{len(mutants)} mutants in {len({mutant.room for mutant in mutants})} rooms")
        return 0
    start = time.monotonic()
    results = {
        result.name: result
        for result in run(mutants, jobs=options.jobs, fresh=options.fresh, named=options.named)
    }
    print()
    for mutant in mutants:
        print(f"{mutant.room:<13} {line(results[mutant.name])}")
    counted = Counter(result.outcome for result in results.values())
    print(
        "\n"
        + ", ".join(f"{count} {outcome}" for outcome, count in counted.items())
        + f"; {time.monotonic() - start:.0f} s; package {package_digest()}"
    )
    return 0 if set(counted) == {NOTICED} else 1
