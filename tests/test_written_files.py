"""What is kept is used only if it is sound, and nothing depends on being able to keep it."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from captious import cache
from captious.cache import CacheWarning, content_digest, derived
from captious.meteor import paraphrases


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_said", set())
    paraphrases._open.cache_clear()
    return tmp_path / "cache"


def table(path: Path) -> Path:
    lines = ["0.5", "a dog", "one dog", "0.1", "one dog", "a dog", "0.2", "big", "large"]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return path


def index_of(source: Path) -> list[list[int]]:
    paraphrases._open.cache_clear()
    return [part.ravel().tolist() for part in paraphrases.open_index(source)]


def test_every_byte_of_meteors_index_is_checked(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = table(tmp_path / "paraphrase-en.gz")
    expected = index_of(source)
    (kept,) = folder.glob("*.index")
    whole = kept.read_bytes()
    built: list[int] = []
    build = paraphrases._build
    monkeypatch.setattr(paraphrases, "_build", lambda *a: built.append(1) or build(*a))  # type: ignore[func-returns-value]
    assert index_of(source) == expected
    assert not built
    for place in [*range(0, len(whole), 37), len(whole) - 1]:
        before = kept.stat()
        kept.write_bytes(whole[:place] + bytes([whole[place] ^ 0x11]) + whole[place + 1 :])
        os.utime(kept, ns=(before.st_atime_ns, before.st_mtime_ns))
        built.clear()
        assert index_of(source) == expected
        assert built, f"byte {place}"
        assert kept.read_bytes() == whole
    for length in (0, 10, len(whole) // 2):
        kept.write_bytes(whole[:length])
        assert index_of(source) == expected


@pytest.mark.parametrize("why", ["a file in its place", "no home"])
def test_without_a_cache_it_works_and_says_so_once(
    why: str, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    if why == "no home":
        monkeypatch.setattr(cache, "cache_directory", lambda: None)
    else:
        folder.write_text("not a folder")
    source = table(tmp_path / "paraphrase-en.gz")
    first = index_of(source)
    assert index_of(source) == first
    said = [str(item.message) for item in recwarn if item.category is CacheWarning]
    assert len(said) == 1
    assert "paraphrase index" in said[0]
    assert "CAPTIOUS_CACHE" in said[0]


def test_no_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CAPTIOUS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    assert cache.cache_directory() is None


def test_the_digest_is_remembered_until_the_file_is_touched(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    first = content_digest(path)
    opened: list[Path] = []
    open_ = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(self) or open_(self, *a, **k))  # type: ignore[func-returns-value]
    assert content_digest(path) == first
    assert path not in opened
    before = path.stat()
    path.write_bytes(b"CONTENT")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert content_digest(path) != first
    assert path in opened


def test_a_bad_copy_is_made_again(folder: Path) -> None:
    made: list[Path] = []

    def make(path: Path) -> None:
        made.append(path)
        path.write_text("good")

    def load(path: Path) -> str | None:
        return "good" if path.exists() and path.read_text() == "good" else None

    folder.mkdir()
    (folder / "thing").write_text("bad")
    assert derived("thing", "a thing", load, make) == "good"
    assert derived("thing", "a thing", load, make) == "good"
    assert made == [folder / "thing"]


KERNEL = """
import sys, warnings
import numpy as np
warnings.simplefilter("always")
from captious.kernels import kernel

@kernel
def total(values):
    out = 0.0
    for value in values:
        out += value
    return out

print(total.compiled(np.arange(4.0)), "compiled" if "numba" in sys.modules else "found")
"""


def run_kernel(script: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return subprocess.run(
        [sys.executable, "-B", str(script)], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )  # fmt: skip


def test_damaged_compiled_code_is_compiled_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(KERNEL)
    kept = tmp_path / "kept"
    kept.mkdir()
    assert run_kernel(script, CAPTIOUS_CACHE=str(kept)).stdout == "6.0 compiled\n"
    # A file that was only touched has the same code in it.
    os.utime(script, (1_000_000_000, 1_000_000_000))
    assert run_kernel(script, CAPTIOUS_CACHE=str(kept)).stdout == "6.0 found\n"
    (file,) = kept.rglob("*.kernel")
    whole = file.read_bytes()
    for damaged in (b"", whole[:10], whole[: len(whole) // 2], whole[:-200] + bytes(100) + whole[-100:], b"another format" + whole):
        file.write_bytes(damaged)
        done = run_kernel(script, CAPTIOUS_CACHE=str(kept))
        assert done.stdout == "6.0 compiled\n", done.stderr
        assert run_kernel(script, CAPTIOUS_CACHE=str(kept)).stdout == "6.0 found\n"


SECOND = """
@kernel
def first(values):
    return values[0]

first.compiled(np.arange(4.0))
"""


def test_compiled_code_that_cannot_be_kept(tmp_path: Path) -> None:
    """There is no folder to keep it in: it works, and says so once."""
    script = tmp_path / "script.py"
    script.write_text(KERNEL + "\nother = kernel(total.plain).compiled(np.arange(4.0))\n" + SECOND)
    done = run_kernel(script, CAPTIOUS_CACHE="/dev/null/nowhere")
    assert done.stdout == "6.0 compiled\n", done.stderr
    assert done.stderr.count("compiled code cannot be kept") == 1
    assert "CAPTIOUS_CACHE" in done.stderr


def _synonyms() -> object:
    from captious.text import synonyms

    synonyms.shipped.cache_clear()
    found = synonyms.shipped()
    return found.digest, found.synsets("dogs"), found.synsets("geese"), len(found)


def _weights() -> object:
    from captious.language import model

    model.shipped_model.cache_clear()
    words, inputs = model.shipped_model().number(["dogs", "run"])
    return words.tolist(), inputs[words].tolist(), model.shipped_model().tags


@pytest.mark.parametrize(("pattern", "read"), [("synonyms-*.table", _synonyms), ("parser-*.model", _weights)], ids=["synonyms", "weights"])
def test_damaged_tables_are_made_again(pattern: str, read: Callable[[], object], folder: Path) -> None:
    from captious.language.model import shipped_model
    from captious.text.synonyms import shipped

    try:
        expected = read()
        (kept,) = folder.glob(pattern)
        whole = kept.read_bytes()
        for place in (0, 30, len(whole) // 2, len(whole) - 1):
            before = kept.stat()
            kept.write_bytes(whole[:place] + bytes([whole[place] ^ 0x11]) + whole[place + 1 :])
            os.utime(kept, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert read() == expected
            assert kept.read_bytes() == whole
        kept.write_bytes(whole[:-64])
        assert read() == expected
    finally:
        shipped.cache_clear()
        shipped_model.cache_clear()
