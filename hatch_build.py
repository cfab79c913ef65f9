"""Build hook of the wheel: compiles the kernels (`native/`) and puts the library into the package.

Without a library captious runs in plain Python. A platform that cannot be built for gets a pure wheel, and a
failed build does not fail the installation. The variable `CAPTIOUS_KERNELS` changes this: `require` makes a
failed build an error, `none` builds no library, and the name of a target (see `native/targets.py`) builds for
another platform.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

from native.link import c_compiler
from native.targets import TARGETS, Target, has_compiler, host

#: Pinned: the build uses private parts of Numba, and another version could compile other instructions.
NUMBA = ["numba==0.68.1", "llvmlite==0.50.0"]
#: Python versions for which that version of Numba exists.
PYTHONS = ((3, 10), (3, 14))
ZIG = "ziglang==0.15.2"
LIBRARY_FOLDER = "captious/kernels/lib"


def wanted_target() -> Target | None:
    """Return the platform to build for, or None for a wheel without a library."""
    wanted = os.environ.get("CAPTIOUS_KERNELS", "")
    if wanted in TARGETS:
        return TARGETS[wanted]
    if wanted not in ("", "none", "require"):
        raise ValueError(f"CAPTIOUS_KERNELS is '{wanted}'; it can be none, require, {', '.join(TARGETS)}")
    can_compile = has_compiler() and PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]
    return host() if can_compile and wanted != "none" else None


def must_succeed() -> bool:
    """Whether a failed build is an error, because the library was requested explicitly."""
    return os.environ.get("CAPTIOUS_KERNELS", "") not in ("", "none")


class KernelBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compile the kernels for wheels and editable installations."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return what the build needs: the compiler, and a linker where the system has none."""
        target = wanted_target()
        if target is None:
            return []
        return [*NUMBA, "numpy>=1.26"] + ([ZIG] if c_compiler(target) is None else [])

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the library and add it to the wheel."""
        target = wanted_target()
        if target is None:
            if must_succeed():
                raise OSError(
                    "captious: CAPTIOUS_KERNELS=require is set, but kernels cannot be compiled here"
                )
            self.app.display_warning(
                "captious: no compiled kernels for this platform; plain Python will run, which is slow"
            )
            return
        editable = version == "editable"
        folder = (
            Path(self.root, "src", LIBRARY_FOLDER) if editable else Path(self.root, ".kernels", target.name)
        )
        try:
            from native.build import build

            library = build(folder, target, development=editable)
        except Exception as error:
            if must_succeed():
                raise
            self.app.display_warning(
                f"captious: the kernels were not compiled ({error}); plain Python will run, which is slow"
            )
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{target.wheel}"
        if not editable:
            for path in (library, folder / "kernels.json"):
                build_data["force_include"][str(path)] = f"{LIBRARY_FOLDER}/{path.name}"
