"""Every format returns the captions that were written."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from captious.io import CaptionFile, read

Captions = dict[str, list[str]]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    [
        "",
        "a dog|||a cat",
        'say "cheese", please',
        "two\nlines",
        "tab\there",
        "<b>bold</b> \U0001f436",
        "\u2028",
        "[1]",
        "{}",
    ]
)
ids = st.integers(0, 10**12).map(str) | st.text("abcXYZ_./-é犬", min_size=1, max_size=12)
single = st.dictionaries(ids, texts.map(lambda text: [text]), min_size=1, max_size=8)
several = st.dictionaries(ids, st.lists(texts, min_size=2, max_size=4), min_size=1, max_size=8)


def number_if_possible(image: str) -> int | str:
    return int(image) if image.isdecimal() and image.isascii() and str(int(image)) == image else image


def rows(captions: Captions, numbers: bool) -> list[dict[str, Any]]:
    convert: Callable[[str], int | str] = number_if_possible if numbers else str
    return [{"image_id": convert(image), "caption": text} for image, its in captions.items() for text in its]


def delimited(captions: Captions, delimiter: str, quoting: Any = csv.QUOTE_MINIMAL) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting)
    writer.writerow(["split", "Image_ID", "caption"])
    for row in rows(captions, False):
        writer.writerow(["val", row["image_id"], row["caption"]])
    return out.getvalue().encode()


def parquet(captions: Captions) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"id": list(captions), "captions": list(captions.values())}), out)
    return out.getvalue()


def coco(captions: Captions) -> bytes:
    annotations = [{"id": 10_000 + n, **row} for n, row in enumerate(rows(captions, True))]
    return json.dumps({"images": [{"id": i} for i in captions], "annotations": annotations}).encode()


FORMATS: dict[str, Callable[[Captions], bytes]] = {
    "coco-annotations": coco,
    "coco-results": lambda c: json.dumps(rows(c, True)).encode(),
    "coco-results indented": lambda c: json.dumps(rows(c, False), indent=2, ensure_ascii=False).encode(),
    "dict": lambda c: json.dumps(c).encode(),
    "dict indented": lambda c: json.dumps(c, indent=1, ensure_ascii=False).encode(),
    "dict of objects": lambda c: json.dumps(
        {i: [{"image_id": i, "caption": t} for t in its] for i, its in c.items()}
    ).encode(),
    "jsonl": lambda c: "\n".join(json.dumps(row, ensure_ascii=False) for row in rows(c, True)).encode(),
    "jsonl of lists": lambda c: "".join(
        json.dumps({"image": i, "captions": its}) + "\r\n" for i, its in c.items()
    ).encode(),
    "jsonl of references": lambda c: "\n\n".join(
        json.dumps({"id": i, "references": its}) for i, its in c.items()
    ).encode(),
    "csv": lambda c: delimited(c, ","),
    "csv with semicolons": lambda c: delimited(c, ";", csv.QUOTE_ALL),
    "tsv": lambda c: delimited(c, "\t"),
    "parquet": parquet,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("formats")


def check_file(found: CaptionFile, expected: Captions) -> None:
    assert dict(zip(found.ids, found.captions)) == expected
    assert found.ids == list(expected)


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(captions=single | several, wrap=st.sampled_from(["plain", "gzip", "bom"]))
def test_round_trip(form: str, captions: Captions, wrap: str, folder: Path) -> None:
    data = FORMATS[form](captions)
    if wrap == "gzip":
        data = gzip.compress(data, 1)
    elif wrap == "bom" and form != "parquet":
        data = b"\xef\xbb\xbf" + data
    path = folder / "named_wrongly.xml"  # the name does not tell the format
    path.write_bytes(data)
    check_file(read(path, "references"), captions)
    if form not in ("coco-annotations", "jsonl of references"):
        check_file(read(str(path), "predictions", several=True), captions)


@settings(max_examples=50, deadline=None)
@given(captions=single | several)
def test_python_objects(captions: Captions) -> None:
    numbered = {number_if_possible(image): its for image, its in captions.items()}
    for source in (
        captions,
        numbered,
        {image: tuple(its) for image, its in captions.items()},
        rows(captions, True),
        iter(rows(captions, False)),
        pd.DataFrame({"image_id": list(numbered), "captions": list(captions.values())}),
        pd.DataFrame(
            {"id": list(captions), "references": [np.array(its, dtype=object) for its in captions.values()]}
        ),
        pd.DataFrame(rows(captions, False)),
        pd.DataFrame(rows(captions, True)).set_index("image_id"),
        pa.table({"image": list(captions), "captions": list(captions.values())}),
        json.loads(coco(captions)),
    ):
        check_file(read(source, "references"), captions)


def test_ids_are_the_same_however_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "floats.csv").write_text("id,caption\n42.0,a dog\n7.0,a cat\n")
    for source in (
        {42: "a dog", 7: "a cat"},
        {"42": "a dog", " 7 ": "a cat"},
        {42.0: "a dog", np.int64(7): "a cat"},
        pd.DataFrame({"id": [42.0, 7.0], "caption": ["a dog", "a cat"]}),
        tmp_path / "floats.csv",
    ):
        assert read(source, "predictions").ids == ["42", "7"]
    # Not numbers: leading zeros and versions are names.
    assert read({"042": "a", "1.0": "b", "42": "c"}, "predictions").ids == ["042", "1.0", "42"]


def test_a_row_with_a_caption_and_its_references_serves_in_both_roles(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    path.write_text('{"image_id": 1, "caption": "p", "references": ["r", "s"]}\n' * 1)
    assert read(path, "references").captions == [["r", "s"]]
    assert read(path, "predictions").captions == [["p"]]


def test_the_annotation_id_is_not_the_image_id() -> None:
    assert read([{"id": 900, "image_id": 1, "caption": "a"}], "predictions").ids == ["1"]
    # … and the picture itself, as data sets carry it, is not an id.
    assert read([{"id": 9, "image": {"bytes": b""}, "caption": "a"}], "predictions").ids == ["9"]


def test_format_and_several_are_reported() -> None:
    assert read({"1": "a"}, "predictions").several is False
    assert read({"1": ["a"]}, "predictions").several is True
    assert read([{"image_id": 1, "caption": c} for c in "ab"], "references").several is True
    found = read([{"image_id": 1, "caption": "a"}], "predictions")
    assert (found.name, found.format, found.several, len(found)) == ("<rows>", "rows", False, 1)


def test_tsv_without_quoting(tmp_path: Path) -> None:
    path = tmp_path / "raw.tsv"
    path.write_text('image_id\tcaption\n1\t"A dog," he said\n2\t5" screen on a table\n')
    assert read(path, "predictions").captions == [['"A dog," he said'], ['5" screen on a table']]


def test_lists_in_a_table_are_json(tmp_path: Path) -> None:
    path = tmp_path / "lists.csv"
    path.write_text('image_id,captions\n1,"[""a dog"", ""a cat""]"\n2,one caption\n')
    assert read(path, "references").captions == [["a dog", "a cat"], ["one caption"]]


def test_empty_and_enormous_captions_are_kept(tmp_path: Path) -> None:
    long = "word " * 40_000
    path = tmp_path / "long.csv"
    path.write_text(f"id,caption\n1,\n2,{long}\n")
    assert read(path, "predictions").captions == [[""], [long]]
    assert csv.field_size_limit() == 131072  # as it was


def test_one_json_line_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text('{"image_id": 42, "captions": ["a", "b"]}\n')
    check_file(read(path, "references"), {"42": ["a", "b"]})


@pytest.mark.shared
def test_public_files(shared_data: Path) -> None:
    references = read(shared_data / "coco" / "references.jsonl.gz", "references")
    assert len(references) == 12_454
    assert {len(captions) for captions in references.captions} <= {5, 6, 7}
    for system in sorted((shared_data / "coco" / "systems").glob("*.jsonl.gz")):
        found = read(system, "predictions")
        assert len(found) == 40_504 and not found.several
