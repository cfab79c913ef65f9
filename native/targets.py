"""Platforms that kernels can be built for."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A platform: how to emit code for it and how to link it."""

    name: str
    #: LLVM's names of the platform and of the oldest processor that the library is for.
    triple: str
    cpu: str
    #: Newer processor for which kernels marked `wide` are compiled a second time.
    wide_cpu: str | None
    library: str
    #: Target of `zig cc`, which links for every platform.
    zig: str
    #: Platform tag of the wheel.
    wheel: str


_V2, _V3 = "x86-64-v2", "x86-64-v3"

#: How each was tested: docs/results/platforms.md.
TARGETS = {
    target.name: target
    for target in (
        Target(
            "linux-x86_64",
            "x86_64-unknown-linux-gnu",
            _V2,
            _V3,
            "captious_kernels.so",
            "x86_64-linux-gnu.2.17",
            "linux_x86_64",
        ),
        Target(
            "linux-aarch64",
            "aarch64-unknown-linux-gnu",
            "generic",
            None,
            "captious_kernels.so",
            "aarch64-linux-gnu.2.17",
            "linux_aarch64",
        ),
        Target(
            "darwin-x86_64",
            "x86_64-apple-macosx11.0",
            _V2,
            _V3,
            "captious_kernels.dylib",
            "x86_64-macos",
            "macosx_11_0_x86_64",
        ),
        Target(
            "darwin-arm64",
            "arm64-apple-macosx11.0",
            "apple-m1",
            None,
            "captious_kernels.dylib",
            "aarch64-macos",
            "macosx_11_0_arm64",
        ),
        Target(
            "win32-x86_64",
            "x86_64-pc-windows-gnu",
            _V2,
            _V3,
            "captious_kernels.dll",
            "x86_64-windows-gnu",
            "win_amd64",
        ),
    )
}


def host() -> Target | None:
    """Return the platform of this machine, or None if kernels cannot be built for it."""
    system = "linux" if sys.platform.startswith("linux") else sys.platform
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "arm64" if system == "darwin" else "aarch64"}.get(machine, machine)
    return TARGETS.get(f"{system}-{machine}") if sys.maxsize > 2**32 else None


def has_compiler() -> bool:
    """Whether Numba's compiler (llvmlite) is published for this machine. Intel Macs and musl have none."""
    if sys.implementation.name != "cpython":
        return False
    if sys.platform == "linux":
        try:
            return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
        except (OSError, ValueError):
            return False
    return host() != TARGETS["darwin-x86_64"]
