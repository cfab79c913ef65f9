"""Every reader returns content or one message for damaged files. ``python -m tests.fuzz`` tries many more."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
from pathlib import Path

import pytest

from captious.core.errors import InputError
from captious.io import read
from tests.fuzz.damage import mutated
from tests.fuzz.formats import FORMATS, captions
from tests.fuzz.run_reader import CHANGED, FAILED, REFUSED, digest_of, outcomes, prepared

#: Mutations of each format in the suite, and their seed, which differs from that of ``python -m tests.fuzz``.
FEW, SEED = 20, 5
#: Modules of optional dependencies that a format needs.
NEEDS = {
    "Parquet": ("pyarrow",), "parquet": ("pyarrow",), "safetensors": ("safetensors",), "captioner": ("torch",),
    "ONNX": ("onnx", "onnxruntime", "PIL"), "h5": ("h5py",), "MATLAB": ("scipy",),
    "sentence encoder": ("tokenizers",),
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    for word, modules in NEEDS.items():
        for module in modules:
            if word in name:
                pytest.importorskip(module)
    results = list(outcomes(FORMATS[name], tmp_path, SEED, 0, FEW))
    assert len(results) == FEW
    assert [result for result in results if result.kind == FAILED] == []
    assert all(result.detail for result in results if result.kind == REFUSED)


@pytest.mark.parametrize(
    "name",
    [
        "prepared references",
        "saved scores",
        "seen n-grams",
        "COCO results, gzip",
        "concepts",
        "shard, tar and gzip",
    ],
)
def test_files_with_checksums_never_change_in_silence(name: str, tmp_path: Path) -> None:
    results = outcomes(FORMATS[name], tmp_path, SEED, 0, 3 * FEW)
    assert [result for result in results if result.kind in (CHANGED, FAILED)] == []


def test_mutations_can_be_repeated(tmp_path: Path) -> None:
    content = bytes(range(256)) * 8
    listed = [mutated(content, 1, number) for number in range(200)]
    assert listed == [mutated(content, 1, number) for number in range(200)]
    assert content not in listed and len(set(listed)) > 190
    assert listed != [mutated(content, 2, number) for number in range(200)]


def test_digests_tell_content_apart() -> None:
    assert digest_of(["ab", "c"]) != digest_of(["a", "bc"]) != digest_of([["a"], "bc"])
    assert digest_of({"a": 1}) != digest_of({"a": 2}) and digest_of((1, 2)) == digest_of([1, 2])


# Parquet ----------------------------------------------------------------------------------------------------


def parquet_pages(path: Path) -> list[int]:
    """Return the position of a byte inside the last page of each column and row group."""
    pyarrow = pytest.importorskip("pyarrow.parquet")
    metadata = pyarrow.ParquetFile(path).metadata
    columns = [
        metadata.row_group(g).column(c)
        for g in range(metadata.num_row_groups)
        for c in range(metadata.num_columns)
    ]
    starts = [min(filter(None, (c.dictionary_page_offset, c.data_page_offset))) for c in columns]
    return [start + column.total_compressed_size - 5 for start, column in zip(starts, columns)]


@pytest.mark.parametrize("name", ["Parquet, checksums", "shard, Parquet"])
def test_damaged_pages_of_parquet_are_refused(name: str, tmp_path: Path) -> None:
    path, content, _ = prepared(FORMATS[name], tmp_path)
    for at in parquet_pages(path):
        for bit in range(8):
            damaged = bytearray(content)
            damaged[at] ^= 1 << bit
            path.write_bytes(damaged)
            with pytest.raises(InputError, match="damaged"):
                FORMATS[name].read(path)


def test_a_damaged_start_of_parquet_is_refused(tmp_path: Path) -> None:
    path, content, _ = prepared(FORMATS["shard, Parquet"], tmp_path)
    path.write_bytes(b"PAR" + content[4:])
    with pytest.raises(InputError, match="damaged"):
        FORMATS["shard, Parquet"].read(path)


def test_parquet_without_checksums_is_read(tmp_path: Path) -> None:
    path, _, expected = prepared(FORMATS["Parquet, no checksums"], tmp_path)
    assert digest_of(FORMATS["Parquet, checksums"].read(path)) == expected


# Tar --------------------------------------------------------------------------------------------------------


def archive(count: int) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for number, text in enumerate(captions(count)):
            member = tarfile.TarInfo(f"{number:04}.txt")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


def test_an_archive_that_ends_too_early_is_refused(tmp_path: Path) -> None:
    """Python's tarfile takes all of these for the end of the archive."""
    whole, read_shard = archive(6), FORMATS["shard, tar"].read
    path = tmp_path / "part.tar"
    path.write_bytes(whole)
    assert len(read_shard(path)[0][1]) == 6  # type: ignore[index]
    for damaged, message in (
        (whole[: 4 * 1024], "the end mark is missing"),
        (whole[: 4 * 1024 + 100], "truncated header"),
        (whole[: 4 * 1024] + b"\xff" + whole[4 * 1024 + 1 :], "the header at byte 4,096: bad checksum"),
        (whole + whole, "more data follows the end of the archive"),
    ):
        for content in (damaged, gzip.compress(damaged)):
            path.write_bytes(content)
            with pytest.raises(InputError, match=message):
                read_shard(path)
    packed = bytearray(gzip.compress(whole))
    packed[-8] ^= 1  # the checksum, which comes after the end of the archive
    path.write_bytes(packed)
    with pytest.raises(InputError, match="CRC check failed"):
        read_shard(path)


# Carriage returns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", "\t"])
@pytest.mark.parametrize(
    "lines", ["image_id{0}caption\r1{0}a dog\r", "image_id{0}caption\n1{0}a\rdog\n2{0}a cat\n", "\r\r\n"]
)
def test_bare_carriage_returns_are_one_message(separator: str, lines: str, tmp_path: Path) -> None:
    path = tmp_path / "mac.csv"
    path.write_bytes(lines.format(separator).encode())
    with pytest.raises(InputError) as caught:
        read(path, "predictions")
    assert "mac.csv" in str(caught.value) and "\n" not in str(caught.value)


# Numbers beyond the range of floats -------------------------------------------------------------------------

HUGE = "9" * 400


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        (
            "judgements, JSON lines",
            "f.jsonl",
            '{"image": "1", "caption": "a", "references": ["b"], "ratings": [%s]}',
        ),
        ("n-best lists", "f.jsonl", '{"image_id": 1, "captions": ["a"], "logprobs": [%s]}'),
        ("detected objects", "f.jsonl", '{"image_id": 1, "objects": ["dog"], "scores": [%s]}'),
        ("document frequencies, list", "f.txt", "a\\t%s\n"),
        ("word norms", "f.csv", "word,concreteness\ndog,%s\n"),
        ("human scores", "f.json", '{"system": {"1": %s}}'),
    ],
)
def test_huge_numbers_are_one_message(name: str, file: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / file
    path.write_text(content.replace("\\t", "\t") % HUGE)
    with pytest.raises(InputError, match=file):
        FORMATS[name].read(path)


def test_huge_counts_in_a_pickle_are_one_message(tmp_path: Path) -> None:
    path = tmp_path / "df.p"
    for table in ({("a",): 10**400}, {"document_frequency": {("a",): 10**5000}, "ref_len": 10**400}):
        path.write_bytes(pickle.dumps(table, 2))
        with pytest.raises(InputError, match=r"the count of .* is too large"):
            FORMATS["document frequencies, pickle"].read(path)
