"""Shards: finding, distinguishing, lazy reading, names by content."""

from __future__ import annotations

import gzip
import tarfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.core.errors import InputError
from captious.io.caption_files import Columns
from captious.scale.shard_rows import Bad, batches
from captious.scale.shards import ShardError, digest, find
from tests.scale import making

ANY = Columns()
ROWS = making.rows()


def read(path: Path, columns: Columns = ANY, size: int = 7) -> list[tuple[object, object]]:
    found = []
    for batch in batches(find(path)[0], columns, size):
        assert batch.start == len(found) and 0 < len(batch.captions) <= size
        ids = batch.ids if batch.ids is not None else [None] * len(batch.captions)
        found += list(zip(ids, batch.captions))
    return found


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    for path in (
        making.parquet(tmp_path / "a.parquet", ROWS), making.jsonl(tmp_path / "b.jsonl", ROWS), making.jsonl(tmp_path / "c.jsonl.gz", ROWS),
        making.tar(tmp_path / "d.tar", ROWS), making.tar(tmp_path / "e.tar", ROWS, as_text=False),
    ):  # fmt: skip
        assert read(path) == ROWS, path
    packed = tmp_path / "f.tar.gz"
    packed.write_bytes(gzip.compress((tmp_path / "d.tar").read_bytes()))
    assert read(packed) == ROWS


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**12) | st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
            st.text(st.characters(exclude_categories=["Cs"])),
        ),
        max_size=20,
    )
)
def test_hostile_text_comes_through(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[object, str]]
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    assert read(making.jsonl(folder / "a.jsonl", rows)) == rows
    texts = [(str(image), caption) for image, caption in rows]
    assert read(making.parquet(folder / "a.parquet", texts)) == texts


def test_columns_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(
        pyarrow.table({"picture": [1], "caption": ["plain"], "long": ["a long one"]}), path
    )
    assert read(path, Columns(("picture",), ("long",))) == [(1, "a long one")]
    assert read(path) == [(None, "plain")]
    with pytest.raises(ShardError, match=r"no column 'none'.*picture, caption, long"):
        read(path, Columns(("none",), ()))
    with pytest.raises(ShardError, match="no caption"):
        read(path, Columns((), ("none",)))
    both = making.tar(tmp_path / "b.tar", [(1, "the text")])
    assert read(both, Columns((), ("image_id",))) == [(1, 1)]


def test_a_parquet_shard_is_read_row_group_by_row_group(tmp_path: Path) -> None:
    shard = find(making.parquet(tmp_path / "a.parquet", ROWS))[0]
    # Damage after the first row group does not reach its rows.
    data = bytearray(Path(shard.path).read_bytes())
    second = pyarrow.parquet.ParquetFile(shard.path).metadata.row_group(1).column(0).data_page_offset
    data[second : second + 20] = bytes(20)
    Path(shard.path).write_bytes(data)
    rows = batches(shard, ANY, 50)
    assert next(rows).captions == [caption for _, caption in ROWS[:50]]
    with pytest.raises(ShardError, match=r"a\.parquet is damaged"):
        list(rows)


def test_bad_lines_are_rows_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'{"image_id": 1, "caption": "a"}\n{"image_id":\n\n[1]\n\xff\xfe\n{"id": 5}\n{"image_id": 6, "caption": "b"}\n'
    )
    found = read(path)
    assert [isinstance(caption, Bad) for _, caption in found] == [False, True, True, True, True, False]
    assert "not JSON" in found[1][1].why and "UTF-8" in found[3][1].why and "no caption" in found[4][1].why  # type: ignore[attr-defined]


def test_what_is_empty_and_what_is_broken(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_bytes(b"")
    assert read(tmp_path / "none.jsonl") == []
    assert read(making.parquet(tmp_path / "rows.parquet", [])) == []
    with tarfile.open(tmp_path / "none.tar", "w"):
        pass
    assert read(tmp_path / "none.tar") == []
    (tmp_path / "none.parquet").write_bytes(b"")
    cut = making.parquet(tmp_path / "cut.parquet", ROWS)
    cut.write_bytes(cut.read_bytes()[:-100])
    packed = making.jsonl(tmp_path / "cut.jsonl.gz", ROWS)
    packed.write_bytes(packed.read_bytes()[:-100])
    short = making.tar(tmp_path / "cut.tar", ROWS)
    short.write_bytes(short.read_bytes()[:2600])
    for path in (tmp_path / "none.parquet", cut, packed, short):
        with pytest.raises(ShardError, match=path.name):
            read(path)


def test_names_and_folders(tmp_path: Path) -> None:
    for name in ("a/x.parquet", "b/x.parquet", "b/y.jsonl", "b/y.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (making.jsonl if name.endswith("jsonl") else making.parquet)(tmp_path / name, ROWS[:2])
    making.parquet(tmp_path / "a/x.scores.parquet", ROWS[:2])
    (tmp_path / "b/readme.md").write_text("no shard")
    found = find(tmp_path)
    assert [shard.name for shard in found] == ["a/x", "b/x", "b/y.jsonl", "b/y.parquet"]
    assert [shard.kind for shard in found] == ["parquet", "parquet", "jsonl", "parquet"]
    assert find(str(tmp_path / "*" / "x*.parquet")) == found[:2]
    with pytest.raises(InputError, match="twice"):
        find([tmp_path / "a/x.parquet", tmp_path / "a/../a/x.parquet"])
    with pytest.raises(InputError, match="no such file"):
        find(tmp_path / "z*.parquet")


def test_digests_name_what_is_scored(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"

    def made(caption: str, other: str) -> str:
        table = pyarrow.table({"image_id": [1], "caption": [caption], "other": [other]})
        pyarrow.parquet.write_table(table, path, write_statistics=False)
        return digest(find(path)[0], ANY)

    assert made("a dog", "x") == made("a dog", "x")
    assert made("a dog", "x") != made("a cat", "x")
    assert made("a dog", "x") == made("a dog", "y"), "columns that are never read"
    archive = find(making.tar(tmp_path / "a.tar", ROWS[:3]))[0]
    before = digest(archive, ANY)
    data = Path(archive.path).read_bytes()
    Path(archive.path).write_bytes(data.replace(b"a picture", b"A PICTURE"))
    assert digest(archive, ANY) == before, "pictures do not count"
    Path(archive.path).write_bytes(data.replace(ROWS[0][1].encode(), ROWS[0][1].upper().encode()))
    assert digest(archive, ANY) != before
