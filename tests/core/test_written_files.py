"""Cached files are used only if they are sound, and nothing depends on a writable cache."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from captious.core import cache
from captious.core.cache import VECTORS, CacheWarning, content_digest, derived
from captious.meteor import meteor_tables


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_issued", set())
    meteor_tables._open_index.cache_clear()
    return tmp_path / "cache"


def table(path: Path) -> Path:
    lines = ["0.5", "a dog", "one dog", "0.1", "one dog", "a dog", "0.2", "big", "large"]
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    return path


def index_of(source: Path) -> list[list[int]]:
    meteor_tables._open_index.cache_clear()
    return [part.ravel().tolist() for part in meteor_tables.open_index(source)]


def test_every_byte_of_meteors_index_is_checked(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = table(tmp_path / "paraphrase-en.gz")
    expected = index_of(source)
    (kept,) = folder.glob("paraphrases/*-v5")
    whole = kept.read_bytes()
    built: list[int] = []
    build = meteor_tables.build
    monkeypatch.setattr(meteor_tables, "build", lambda *a: built.append(1) or build(*a))  # type: ignore[func-returns-value]
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


def test_the_digest_is_remembered_until_the_file_is_touched(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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

    kept = folder / VECTORS.file("0123abcd")
    kept.parent.mkdir(parents=True)
    kept.write_text("bad")
    assert derived(VECTORS, "0123abcd", "a thing", load, make) == "good"
    assert derived(VECTORS, "0123abcd", "a thing", load, make) == "good"
    assert made == [kept]
