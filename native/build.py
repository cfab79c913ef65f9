"""Build the library of kernels: `python -m native.build [TARGET] [-o FOLDER]`.

Kernels are compiled side by side and their object files cached by content. A second build compiles only
kernels that changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from native.targets import TARGETS, Target, host

ROOT = Path(__file__).parents[1]
#: Object files of earlier builds.
CACHE = ROOT / ".kernels"
#: Kernels that take longest to compile, to be started first.
_LONG = ("align", "_read", "_build", "scan_rows", "fill", "least_distances", "members")


def _toolchain(target: Target) -> str:
    """Digest of all that an object file depends on besides its kernel."""
    import llvmlite
    import numba

    state = hashlib.blake2b(
        f"{target} {numba.__version__} {llvmlite.__version__} {sys.version_info[:2]}".encode(), digest_size=8
    )
    for name in ("compile.py", "lanes.py"):
        state.update((ROOT / "native" / name).read_bytes())
    return state.hexdigest()


def _start_worker(target: Target, cpu: str) -> None:
    from native.compile import choose_processor

    choose_processor(target, cpu)


def _compile(number: int, target: Target, cpu: str, path: Path) -> float:
    """Compile the kernel with this number in the list of all kernels; return the seconds it took."""
    from native.compile import all_kernels, emit_kernel

    begin = time.perf_counter()
    code = emit_kernel(all_kernels()[number], target, cpu)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_bytes(code)
    temporary.replace(path)
    return time.perf_counter() - begin


def build(folder: Path, target: Target, development: bool = False, jobs: int | None = None) -> Path:
    """Build the library and its manifest in `folder`; return the library's path."""
    for path in (str(ROOT / "src"), str(ROOT)):
        if path not in sys.path:
            sys.path.insert(0, path)
    import numba

    from captious.kernels.library import FORMAT, MANIFEST
    from native.compile import all_kernels, emit_runtime, symbol_for
    from native.link import link

    CACHE.mkdir(exist_ok=True)
    toolchain = _toolchain(target)
    kernels = all_kernels()
    wide = [number for number, kernel in enumerate(kernels) if target.wide_cpu and kernel.options.get("wide")]
    plan = [(number, target.cpu) for number in range(len(kernels))] + [
        (number, str(target.wide_cpu)) for number in wide
    ]
    paths = {
        (number, cpu): CACHE
        / f"{symbol_for(kernels[number], target, cpu)}-{kernels[number].digest}-{toolchain}.o"
        for number, cpu in plan
    }
    _compile_all(
        {key: path for key, path in paths.items() if not path.exists()}, target, jobs or os.cpu_count() or 1
    )
    runtime = CACHE / f"runtime-{toolchain}.o"
    runtime.write_bytes(emit_runtime(target))
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / target.library
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "target": target.name,
        "numba": numba.__version__,
        "development": f"{sys.version_info.major}.{sys.version_info.minor}" if development else None,
        "kernels": {kernel.symbol: kernel.digest if development else "" for kernel in kernels},
        "wide": [kernels[number].symbol for number in wide],
    }
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        linked = Path(temporary, target.library)
        link([*paths.values(), runtime], linked, target)
        manifest["size"] = linked.stat().st_size
        # There is never a manifest beside another library. A library that is in use keeps its file: the new
        # one replaces the name, not the content.
        (folder / MANIFEST).unlink(missing_ok=True)
        linked.replace(library)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    _remove_old({*paths.values(), runtime})
    return library


def _compile_all(missing: dict[tuple[int, str], Path], target: Target, jobs: int) -> None:
    """Compile kernels (by number and processor) to these paths, side by side; raise one error for all."""
    from native.compile import BuildError, all_kernels, symbol_for

    kernels = all_kernels()
    order = sorted(missing, key=lambda key: kernels[key[0]].__name__ not in _LONG)
    failures: list[str] = []
    if missing:
        print(
            f"captious: compiling {len(missing)} kernels for {target.name} by {jobs} processes",
            file=sys.stderr,
            flush=True,
        )
    with ExitStack() as stack:
        # A process compiles for one processor.
        pools = {
            cpu: stack.enter_context(
                ProcessPoolExecutor(jobs, initializer=_start_worker, initargs=(target, cpu))
            )
            for cpu in {cpu for _, cpu in order}
        }
        running = {
            pools[cpu].submit(_compile, number, target, cpu, missing[number, cpu]): (number, cpu)
            for number, cpu in order
        }
        for done, future in enumerate(as_completed(running), 1):
            number, cpu = running[future]
            try:
                took = f"{future.result():6.1f} s"
            except BuildError as error:
                took = "  failed"
                failures.append(str(error))
            print(
                f"  {done:3}/{len(missing)} {took}  {symbol_for(kernels[number], target, cpu)}",
                file=sys.stderr,
                flush=True,
            )
    if failures:
        raise BuildError("\n".join(failures))


def _remove_old(current: set[Path]) -> None:
    """Remove object files that were not used for four weeks."""
    for path in CACHE.glob("*.o"):
        if path not in current and time.time() - path.stat().st_mtime > 28 * 86400:
            path.unlink(missing_ok=True)


def main() -> None:
    """Build from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "target", nargs="?", choices=sorted(TARGETS), help="platform (default: this machine's)"
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "src" / "captious" / "kernels" / "lib")
    parser.add_argument("--jobs", type=int)
    arguments = parser.parse_args()
    target = TARGETS[arguments.target] if arguments.target else host()
    if target is None:
        sys.exit("captious: kernels cannot be built for this platform")
    print(build(arguments.output, target, development=arguments.target is None, jobs=arguments.jobs))


if __name__ == "__main__":
    main()
