"""Link object files to a shared library, by the system's C compiler or by Zig."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

from native.targets import Target, host


def c_compiler(target: Target) -> str | None:
    """Return the path of the system's C compiler, if there is one that links for the target."""
    if target != host() or target.name.startswith("win32"):  # Windows has several that do not fit together
        return None
    return next((path for path in map(shutil.which, ("cc", "gcc", "clang")) if path), None)


def link(objects: list[Path], output: Path, target: Target) -> None:
    """Link object files to the library `output`."""
    compiler = c_compiler(target)
    if compiler is not None:
        command = [compiler]
    elif importlib.util.find_spec("ziglang"):
        command = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
        if target.name.startswith("linux"):
            command.append("-rtlib=none")  # memset is the running Python's, too
    else:
        raise OSError("there is neither a C compiler nor the package ziglang to link with")
    command += ["-shared", "-o", str(output), *map(str, objects), "-s", *_options(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"the linker failed: {done.stderr.strip() or done.stdout.strip()}")
    if target.name.startswith("win32"):
        _remove_time(output)


def _options(target: Target) -> list[str]:
    """Return options that keep paths and other traces of this machine out of the library."""
    if target.name.startswith("darwin"):
        return [f"-Wl,-install_name,@rpath/{target.library}"]
    if target.name.startswith("win32"):
        return []
    # No C library is named, so that every one will do: malloc, free and memset are those of Python's process.
    return ["-nostdlib", "-Wl,--build-id=none", "-Wl,-z,noexecstack", "-Wl,-z,relro", "-Wl,-z,now"]


def _remove_time(library: Path) -> None:
    """Set the time of linking in a DLL's header to zero."""
    content = bytearray(library.read_bytes())
    start = int.from_bytes(content[0x3C:0x40], "little") + 8
    content[start : start + 4] = bytes(4)
    library.write_bytes(content)
