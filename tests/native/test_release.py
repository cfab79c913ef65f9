"""Release files: requirements of the build, tags of wheels, content of the source archive, the library."""

from __future__ import annotations

import os
import platform
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from captious.kernels.library import FOLDER, MANIFEST, WIDE_SUFFIX, library_name
from native.link import _remove_time
from native.targets import TARGETS, host

pytest.importorskip("hatchling", reason="hatchling, the build system, is not installed")

import hatch_build

ROOT = Path(__file__).parents[2]
ZIG = hatch_build.ZIG


class Warnings:
    """Collects the warnings of a hook."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def display_warning(self, message: str) -> None:
        self.shown.append(message)


def make_hook(root: Path = ROOT) -> Any:
    return hatch_build.KernelBuildHook(str(root), {}, None, None, "", "wheel", Warnings())


def pretend(monkeypatch: pytest.MonkeyPatch, system: str, machine: str, libc: str = "glibc 2.36") -> None:
    """Make this machine look like another one."""
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(os, "confstr", lambda name: libc, raising=False)


class TestRequirements:
    @pytest.fixture(autouse=True)
    def no_choice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("CAPTIOUS_KERNELS", raising=False)

    @pytest.mark.parametrize(
        ("system", "machine", "target"),
        [
            ("linux", "x86_64", "linux-x86_64"),
            ("linux", "aarch64", "linux-aarch64"),
            ("darwin", "arm64", "darwin-arm64"),
            ("win32", "AMD64", "win32-x86_64"),
        ],
    )
    def test_the_compiler_is_required(
        self, monkeypatch: pytest.MonkeyPatch, system: str, machine: str, target: str
    ) -> None:
        pretend(monkeypatch, system, machine)
        assert hatch_build.wanted_target() == TARGETS[target]
        assert set(hatch_build.NUMBA) < set(make_hook().dependencies())

    @pytest.mark.parametrize(
        ("system", "machine", "libc"),
        [
            ("linux", "x86_64", ""),  # musl
            ("linux", "riscv64", "glibc 2.36"),
            ("darwin", "x86_64", ""),
            ("freebsd14", "amd64", ""),
        ],
    )
    def test_nothing_is_required_where_the_compiler_is_not_published(
        self, monkeypatch: pytest.MonkeyPatch, system: str, machine: str, libc: str
    ) -> None:
        pretend(monkeypatch, system, machine, libc)
        assert hatch_build.wanted_target() is None
        assert make_hook().dependencies() == []

    def test_zig_is_required_without_a_c_compiler(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        pretend(monkeypatch, "linux", "x86_64")
        monkeypatch.setenv("PATH", str(tmp_path))
        assert ZIG in make_hook().dependencies()
        compiler = tmp_path / "cc"
        compiler.touch(mode=0o755)
        assert ZIG not in make_hook().dependencies()

    def test_zig_is_required_for_other_platforms(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, target in TARGETS.items():
            monkeypatch.setenv("CAPTIOUS_KERNELS", name)
            if target != host():
                assert ZIG in make_hook().dependencies()

    def test_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CAPTIOUS_KERNELS", "none")
        assert make_hook().dependencies() == []

    def test_other_words_are_errors(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CAPTIOUS_KERNELS", "linux-arm")
        with pytest.raises(ValueError, match=r"'linux-arm'; it can be none, require, linux-x86_64"):
            make_hook().dependencies()


class TestWheel:
    """The hook with a stand-in for the build, which takes a minute."""

    def run(
        self, monkeypatch: pytest.MonkeyPatch, choice: str, root: Path, fails: bool = False
    ) -> tuple[dict[str, Any], list[str]]:
        def build(folder: Path, target: Any, development: bool) -> Path:
            if fails:
                raise OSError("no linker")
            return folder / str(target.library)

        monkeypatch.setattr("native.build.build", build)
        monkeypatch.setenv("CAPTIOUS_KERNELS", choice)
        hook, data = make_hook(root), {"force_include": {}}
        hook.initialize("standard", data)
        return data, hook.app.shown

    @pytest.mark.parametrize(
        ("target", "tag", "library"),
        [
            ("linux-x86_64", "py3-none-linux_x86_64", "captious_kernels.so"),
            ("linux-aarch64", "py3-none-linux_aarch64", "captious_kernels.so"),
            ("darwin-x86_64", "py3-none-macosx_11_0_x86_64", "captious_kernels.dylib"),
            ("darwin-arm64", "py3-none-macosx_11_0_arm64", "captious_kernels.dylib"),
            ("win32-x86_64", "py3-none-win_amd64", "captious_kernels.dll"),
        ],
    )
    def test_tags(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: str, tag: str, library: str
    ) -> None:
        data, warnings = self.run(monkeypatch, target, tmp_path)
        assert (data["tag"], data["pure_python"], warnings) == (tag, False, [])
        assert set(data["force_include"].values()) == {
            f"captious/kernels/lib/{library}",
            f"captious/kernels/lib/{MANIFEST}",
        }

    def test_no_library(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        data, warnings = self.run(monkeypatch, "none", tmp_path)
        assert data == {"force_include": {}}
        assert len(warnings) == 1

    def test_a_failed_build_gives_a_pure_wheel(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        pretend(monkeypatch, "linux", "x86_64")
        data, warnings = self.run(monkeypatch, "", tmp_path, fails=True)
        assert data == {"force_include": {}}
        assert len(warnings) == 1 and "no linker" in warnings[0]

    @pytest.mark.parametrize("choice", ["require", "linux-aarch64"])
    def test_a_failed_build_is_an_error_on_request(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, choice: str
    ) -> None:
        pretend(monkeypatch, "linux", "x86_64")
        with pytest.raises(OSError, match="no linker"):
            self.run(monkeypatch, choice, tmp_path, fails=True)

    def test_require_where_nothing_can_be_compiled(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        pretend(monkeypatch, "linux", "riscv64")
        with pytest.raises(OSError, match="CAPTIOUS_KERNELS=require"):
            self.run(monkeypatch, "require", tmp_path)


def files_of(kind: str) -> dict[str, int]:
    """Return the paths and sizes of files that a wheel or a source archive takes from the clone."""
    from hatchling.builders.sdist import SdistBuilder
    from hatchling.builders.wheel import WheelBuilder

    builder: Any = {"sdist": SdistBuilder, "wheel": WheelBuilder}[kind](str(ROOT))
    return {
        file.distribution_path.replace(os.sep, "/"): Path(file.path).stat().st_size
        for file in builder.recurse_included_files()
    }


def test_source_archive() -> None:
    files = files_of("sdist")
    needed = {
        "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "NOTICE", "CHANGELOG.md", "Makefile",
        "src/captious/__init__.py", "src/captious/kernels/library.py", "src/captious/data/wordnet/LICENSE",
        *(f"native/{path.name}" for path in (ROOT / "native").glob("*.py")),
    }  # fmt: skip
    assert needed <= set(files)
    unwanted = (
        "tests/",
        "benchmarks/",
        ".kernels/",
        ".venv/",
        "src/captious/kernels/lib/",
        ".github/",
        "docs/figures/",
    )
    assert [path for path in files if path.startswith(unwanted) or "__pycache__" in path] == []
    assert sum(files.values()) < 40e6


def test_a_library_for_development_is_not_in_the_wheel() -> None:
    files = files_of("wheel")
    assert "captious/kernels/library.py" in files
    assert [path for path in files if path.startswith("captious/kernels/lib/")] == []


def test_no_time_in_a_dll(tmp_path: Path) -> None:
    library = tmp_path / "some.dll"
    header = b"PE\0\0" + b"\x64\x86\x06\0" + b"time" + b"rest"
    library.write_bytes(b"MZ".ljust(0x3C, b"\0") + (0x40).to_bytes(4, "little") + header)
    _remove_time(library)
    assert library.read_bytes()[0x40:] == b"PE\0\0" + b"\x64\x86\x06\0" + bytes(4) + b"rest"


@pytest.fixture(scope="module")
def library() -> bytes:
    path = FOLDER / library_name()
    if not path.exists():
        pytest.skip("there is no library; 'make kernels' builds it")
    return path.read_bytes()


def elf_symbols(content: bytes) -> tuple[set[str], set[str]]:
    """Return the symbols that a 64-bit ELF library defines and those that it needs."""
    start, size, count = struct.unpack_from("<Q", content, 40)[0], *struct.unpack_from("<HH", content, 58)
    # Of each section: name, type, flags, address, offset, size, link.
    sections = [struct.unpack_from("<IIQQQQI", content, start + size * number) for number in range(count)]
    table = next(section for section in sections if section[1] == 11)
    names = sections[table[6]][4]
    defined, needed = set(), set()
    for place in range(table[4] + 24, table[4] + table[5], 24):
        name, _, _, section = struct.unpack_from("<IBBH", content, place)
        text = content[names + name : content.index(b"\0", names + name)].decode()
        (defined if section else needed).add(text)
    return defined, needed


class TestLibrary:
    def test_symbols(self, library: bytes) -> None:
        import json

        if library[:4] != b"\x7fELF":
            pytest.skip("not a library of Linux")
        manifest = json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8"))
        defined, needed = elf_symbols(library)
        assert defined == {*manifest["kernels"], *(name + WIDE_SUFFIX for name in manifest["wide"])}
        assert needed <= {"malloc", "free", "memset", "memcpy", "memmove"}

    def test_no_paths_of_the_build(self, library: bytes) -> None:
        for path in (str(ROOT), str(Path.home()), sys.prefix, "site-packages", "native/", ".py\0"):
            assert path.encode() not in library, path
