"""The cache folder: its files, which of them are removed and which never are, and damaged or forged files."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from captious.cli.app import app
from captious.core import cache, container
from captious.core.cache import (
    DIGESTS,
    ENCODERS,
    GRAMMAR,
    KINDS,
    OLD,
    PARAPHRASES,
    VECTORS,
    clear,
    content_digest,
    derived,
    entries,
)
from captious.meteor import meteor_tables
from captious.parser.exact import pcfg as grammar_cache
from captious.vectors import sentence_vectors as sentences
from captious.vectors import vector_files as store
from tests.parser.exact.test_grammar import equal, small

KEY = "0123456789abcdef"

OURS = {
    "paraphrases/af15bede-1039771e2-v5": PARAPHRASES,
    f"vectors/{2 * KEY}-v4": VECTORS,
    f"sentences/{KEY}-v2": ENCODERS,
    f"grammar/{2 * KEY}-v2": GRAMMAR,
    "digests/a0f.json": DIGESTS,
    "kernels/join_rows-0123456789abcdef-0123456789abcdef.kernel": OLD,
    "meteor-paraphrases-v4-af15bede-272201058.index": OLD,
    f"meteor-lists-v1-{2 * KEY}.table": OLD,
    f"synonyms-v1-{2 * KEY}.table": OLD,
    f"parser-v2-{2 * KEY}.model": OLD,
    f"ptb-v1-{KEY}.table": OLD,
    f"grammar-{KEY}.bin": OLD,
    f"vectors/{2 * KEY}-v3": OLD,
    "digests/0123456789abcdef01234567.json": OLD,
    f"vectors/.{2 * KEY}-v4.0123456789ab.tmp": OLD,
    "digests/.a0f.json.0123456789ab.tmp": OLD,
}

OTHERS = [
    "notes.txt", "a.kernel", "paraphrases.index", "kernels/a.kernel",
    "kernels/join_rows-0123456789abcdef-0123456789abcdef.kernel.txt", "vectors/glove.txt",
    "vectors/glove-v3", "sentences/thesis-v2.docx", "digests/abc.txt", "digests/mine.json",
    "papers/synonyms-v1-0123456789abcdef0123456789abcdef.table",
    f"papers/{KEY}-v4", ".vectors.0123456789ab.tmp", f"vectors/deeper/{2 * KEY}-v4",
    "my-synonyms-v1-0123456789abcdef0123456789abcdef.table",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_issued", set())
    meteor_tables._open_index.cache_clear()
    return tmp_path / "cache"


def put(folder: Path, *names: str, size: int = 10) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(size))


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_files_are_known_by_their_names(folder: Path) -> None:
    put(folder, *OURS, *OTHERS, f"sentences/{KEY}-v2.lock")
    assert {entry.path.relative_to(folder).as_posix(): entry.kind for entry in entries(folder)} == OURS


def test_files_of_others_are_never_removed(folder: Path, tmp_path: Path) -> None:
    put(folder, *OURS, *OTHERS, f"sentences/{KEY}-v2.lock")
    put(tmp_path, f"elsewhere/{2 * KEY}-v2", "mine")
    (folder / f"vectors/{'f' * 32}-v4").symlink_to(tmp_path / "mine")
    (folder / f"ptb-v1-{'0' * 16}.table").mkdir()
    clear(folder, [GRAMMAR])
    (folder / "grammar").symlink_to(tmp_path / "elsewhere")
    assert len(clear(folder)) == len(OURS) - 1
    assert files(folder) == {*OTHERS, f"vectors/{'f' * 32}-v4"} and (folder / "grammar").is_symlink()
    assert files(tmp_path / "elsewhere") == {f"{2 * KEY}-v2"} and (tmp_path / "mine").exists()
    assert clear(folder) == [] and clear(tmp_path / "nowhere") == []


def make(folder: Path, key: str, size: int = 100) -> None:
    """Create a cached file, or read the existing one."""
    derived(
        VECTORS,
        key,
        "a thing",
        lambda path: path.exists() or None,
        lambda path: path.write_bytes(bytes(size)) and None,
    )


def test_what_was_used_least_recently_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE_LIMIT", "250")
    for age, key in enumerate(("aaaaaaaa", "bbbbbbbb")):
        make(folder, key)
        for name in (VECTORS.file(key), VECTORS.file(key) + ".lock"):
            os.utime(folder / name, (1e9 + age, 1e9 + age))
    make(folder, "aaaaaaaa")
    make(folder, "cccccccc")
    assert files(folder) == {
        VECTORS.file(key) + end for key in ("aaaaaaaa", "cccccccc") for end in ("", ".lock")
    }
    # A new file stays, however large.
    make(folder, "dddddddd", 1000)
    assert files(folder) == {VECTORS.file("dddddddd"), VECTORS.file("dddddddd") + ".lock"}


def test_files_of_earlier_versions_go_when_something_is_made(folder: Path) -> None:
    put(folder, *OURS, *OTHERS)
    make(folder, "aaaaaaaa")
    assert files(folder) == {
        *OTHERS,
        *(name for name, kind in OURS.items() if kind is not OLD),
        VECTORS.file("aaaaaaaa"),
        VECTORS.file("aaaaaaaa") + ".lock",
    }
    assert not (folder / "papers").is_symlink()


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_a_file_that_is_being_written_stays(folder: Path) -> None:
    from captious.core.writing import atomic_write

    target = folder / VECTORS.file(KEY)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as temporary:
        temporary.write_bytes(b"half")
        assert [entry.kind for entry in entries(folder)] == [OLD]
        clear(folder)
        assert temporary.exists()
    assert files(folder) == {VECTORS.file(KEY)}


def test_notes_are_bounded(tmp_path: Path, folder: Path) -> None:
    from hashlib import blake2b

    # Two files that share a note: each digest is right, whichever was noted last.
    seen: dict[str, Path] = {}
    number = 0
    while True:
        path = tmp_path / f"{number}"
        name = blake2b(os.fsencode(path.resolve()), digest_size=2).hexdigest()[:3]
        if name in seen:
            break
        seen[name] = path
        number += 1
    path.write_bytes(b"one")
    seen[name].write_bytes(b"other")
    one, other = content_digest(path), content_digest(seen[name])
    assert one != other
    assert (content_digest(path), content_digest(seen[name])) == (one, other)
    assert files(folder) == {f"digests/{name}.json"}


# Damaged and forged files ---------------------------------------------------------------------------


class Bomb:
    """Object that shows whether it was unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (os.environ["CAPTIOUS_CACHE"] + "/exploded",)


def paraphrase_table(path: Path, *pairs: tuple[str, str]) -> Path:
    path.write_bytes(gzip.compress("".join(f"0.5\n{one}\n{other}\n" for one, other in pairs).encode()))
    return path


def open_paraphrases(tmp_path: Path, which: int) -> object:
    pairs = (
        [("a dog", "one dog"), ("big", "large")]
        if which == 0
        else [("a cat", "one cat"), ("small", "little")]
    )
    meteor_tables._open_index.cache_clear()
    index = meteor_tables.open_index(paraphrase_table(tmp_path / f"{which}.gz", *pairs))
    return index.number_of(), [part.tolist() for part in index[1:]]


def open_vectors(tmp_path: Path, which: int) -> object:
    source = tmp_path / f"{which}.txt"
    source.write_text(f"{which}")

    def convert(path: Path, out: Any) -> tuple[list[bytes], int]:
        out.write(np.full(3, which, np.float32).tobytes())
        return [b"dog"], 3

    found = store.converted(source, convert)
    return found.words.find(["dog", "cat"]).tolist(), found.rows.take(np.array([0])).tolist(), found.digest


def open_encoder(tmp_path: Path, which: int) -> object:
    with zipfile.ZipFile(tmp_path / f"{which}.zip", "w") as packed:
        for name in ("config.json", "tokenizer.json", "model.safetensors"):
            packed.writestr(name, f"{name} {which}")
    return {name: data.tobytes() for name, data in sentences._unpacked(tmp_path / f"{which}.zip").items()}


def open_grammar(tmp_path: Path, which: int) -> object:
    grammar = small()
    grammar.words[0] = f"dog{which}"
    key = f"{which}" * 32
    found = derived(
        GRAMMAR, key, "a grammar", grammar_cache._open, lambda path: grammar_cache._write(path, grammar)
    )
    assert equal(found, grammar)
    return found.words


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        (PARAPHRASES, open_paraphrases),
        (VECTORS, open_vectors),
        (ENCODERS, open_encoder),
        (GRAMMAR, open_grammar),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_planted_swapped_and_damaged_files_change_nothing(
    kind: cache.Kind, read: Callable[[Path, int], object], tmp_path: Path, folder: Path
) -> None:
    expected = [read(tmp_path, which) for which in (0, 1)]
    kept = sorted(
        (entry.path for entry in entries(folder) if entry.kind == kind),
        key=lambda path: path.stat().st_mtime_ns,
    )
    first, second = (path.read_bytes() for path in kept)
    assert len(kept) == 2 and first != second
    opened = container.read(kept[0], kind.name, kind.version, "")
    arrays = {name: values.copy() for name, values in opened.arrays.items()}
    planted: list[Callable[[Path], object]] = [
        lambda path: path.write_bytes(second),
        lambda path: path.write_bytes(pickle.dumps(Bomb())),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(first[:-64]),
        lambda path: path.write_bytes(
            first[: len(first) // 2] + bytes([first[len(first) // 2] ^ 1]) + first[len(first) // 2 + 1 :]
        ),
        lambda path: container.write(path, "another kind", kind.version, {"name": path.name}, arrays),
        lambda path: container.write(path, kind.name, kind.version + 1, {"name": path.name}, arrays),
        lambda path: container.write(path, kind.name, kind.version, {}, arrays),
        lambda path: container.write(path, kind.name, kind.version, {"name": path.name}, {}),
    ]
    for plant in planted:
        kept[0].unlink()
        plant(kept[0])
        assert [read(tmp_path, which) for which in (0, 1)] == expected
        assert kept[0].read_bytes() == first
    assert not (folder / "exploded").exists()


@pytest.mark.parametrize(
    "name", ["first", "phrases", "offsets", "targets", "source_offsets", "sources", "stems"]
)
def test_an_index_that_leads_out_of_itself_is_built_again(name: str, tmp_path: Path, folder: Path) -> None:
    """With checksums that are right."""
    expected = open_paraphrases(tmp_path, 0)
    (kept,) = folder.glob("paraphrases/*-v5")
    opened = container.read(kept, PARAPHRASES.name, PARAPHRASES.version, "")
    whole = {part: values.copy() for part, values in opened.arrays.items()}
    wrong = [whole[name][:-1], whole[name].astype(np.int64), whole[name][None]]
    if name != "stems":
        larger = whole[name].copy()
        larger.flat[len(larger) // 2] = 60_000
        wrong.append(larger)
    for values in wrong:
        kept.unlink()
        container.write(
            kept, PARAPHRASES.name, PARAPHRASES.version, {"name": kept.name}, {**whole, name: values}
        )
        assert open_paraphrases(tmp_path, 0) == expected


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{}", '{"path": 1, "stamp": 2, "digest": 3}', "[" * 100_000, "\udc80"]
)
def test_planted_notes_change_nothing(text: str, tmp_path: Path, folder: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    expected = content_digest(tmp_path / "file")
    (note,) = folder.glob("digests/*.json")
    note.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert content_digest(tmp_path / "file") == expected
    # A note of another file.
    noted = json.loads(note.read_text())
    note.write_text(json.dumps({**noted, "path": "/another", "digest": "0" * 32}))
    assert content_digest(tmp_path / "file") == expected


# The command --------------------------------------------------------------------------------------


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["cache", *arguments])
    if done.exception is not None:
        raise done.exception
    return done.stdout


def test_the_command_lists_and_clears(folder: Path) -> None:
    put(folder, *OURS, *OTHERS, size=1500)
    shown = run()
    assert all(kind.name in shown and kind.purpose in shown for kind in KINDS)
    assert str(folder) in shown.replace("\n", "") and "2.0 GB" in shown
    listed = json.loads(run("-f", "json"))
    assert (
        listed["path"] == str(folder) and listed["limit"] == 2 * 10**9 and listed["bytes"] == 1500 * len(OURS)
    )
    assert {row["kind"]: row["files"] for row in listed["kinds"]} == {
        kind.name: list(OURS.values()).count(kind) for kind in KINDS
    }
    (cleared,) = json.loads(run("--clear", "vectors", "-f", "json"))["kinds"]
    assert (cleared["kind"], cleared["files"], cleared["bytes"]) == ("vectors", 1, 1500)
    assert files(folder) == {*OURS, *OTHERS} - {f"vectors/{2 * KEY}-v4"}
    assert "removed" in run("--clear")
    assert files(folder) == set(OTHERS)
    assert json.loads(run("--json", "-"))["bytes"] == 0


def test_a_kind_that_there_is_not(folder: Path) -> None:
    from captious.core.errors import InputError

    with pytest.raises(
        InputError, match="there is no kind 'kernels' of cached files; there are paraphrases, vectors, "
    ):
        run("--clear", "kernels")
