"""One message for every kind of bad input: the problem, its place, and the remedy."""

from __future__ import annotations

import builtins
import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from captious.core.errors import CaptiousError, InputError, MissingExtraError
from captious.io import read

GOOD = json.dumps([{"image_id": i, "caption": f"a dog {i}"} for i in range(50)]).encode()
COCO = json.dumps({"images": [{"id": 1}], "annotations": [{"id": 5, "image_id": 1, "caption": "a"}]}).encode()
OBJECTS = json.dumps(
    {"images": [], "annotations": [{"id": 5, "image_id": 1, "bbox": [], "category_id": 3}]}
).encode()

# name: (content, text of the message)
FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b" \n\t\r\n", "is empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "is empty"),
    "gzip of nothing": (gzip.compress(b""), "is empty"),
    "truncated gzip": (gzip.compress(GOOD)[:-20], "ends too early (truncated)"),
    "gzip header only": (gzip.compress(GOOD)[:5], "ends too early (truncated)"),
    "damaged gzip": (
        gzip.compress(GOOD)[:20] + b"\xff" * 20 + gzip.compress(GOOD)[40:],
        "gzip file is damaged",
    ),
    "zip": (b"PK\x03\x04rest", "ZIP archive"),
    "pickle": (b"\x80\x04\x95\x0f\x00", "pickle, which is not read because it could run code"),
    "utf-16": ("image_id,caption\n1,a\n".encode("utf-16"), "UTF-16"),
    "latin-1": (
        "id,caption\n1,a dog\n2,a café\n".encode("latin-1"),
        "not valid UTF-8 at byte 26 (0xe9, line 3)",
    ),
    "latin-1 in gzip": (
        gzip.compress("id,caption\n1,é\n".encode("latin-1")),
        "not valid UTF-8 at byte 13 (0xe9, line 2)",
    ),
    "truncated JSON": (GOOD[:-5], "truncated"),
    "JSON with a comma too many": (
        b'[\n {"image_id": 1, "caption": "a"},\n {"image_id": 2, "caption": "b",}\n]',
        "invalid JSON at line 3, column 3",
    ),
    "JSON with single quotes": (b"[{'image_id': 1, 'caption': 'a'}]", "invalid JSON at line 1, column 3"),
    "two values": (b'[{"image_id": 1, "caption": "a"}] []', "invalid JSON at line 1, column 35: Extra data"),
    "JSONL with a broken line": (
        b'{"id": 1, "caption": "a"}\n\n{"id": 2, "caption": }\n',
        "invalid JSON at line 3, column 22",
    ),
    "JSONL with a broken first line": (
        b'{"id": 1, "caption": }\n{"id": 2, "caption": "b"}\n',
        "invalid JSON at line 1, column 22",
    ),
    "JSONL with a line cut short": (
        b'{"id": 1, "caption": "a"}\n{"id": 2, "cap',
        "invalid JSON at line 2, column 11",
    ),
    "JSONL with another value": (
        b'{"id": 1, "caption": "a"}\n7\n',
        "line 2: an object was expected, but this is the number 7",
    ),
    "JSONL without a key": (
        b'{"id": 1, "caption": "a"}\n{"id": 2, "text": "b"}\n',
        "line 2: 'caption' is missing; this row has 'id', 'text'",
    ),
    "deep nesting": (b"[" * 200_000, "nested deeper than 100 levels"),
    "a number of 5,000 digits": (b'[{"image_id": ' + b"9" * 5000 + b', "caption": "a"}]', "cannot be read"),
    "null caption": (
        b'[{"image_id": 1, "caption": "a"}, {"image_id": 7, "caption": null}]',
        "row 2: the caption of image '7' is null",
    ),
    "number as caption": (
        b'{"id": 1, "caption": "a"}\n{"id": 2, "caption": 12}',
        "line 2: the caption of image '2' is the number 12",
    ),
    "truth value as caption": (b'{"1": true}', "entry '1': the caption of image '1' is the truth value true"),
    "NaN as caption": (b'{"1": NaN}', "missing value"),
    "object as caption": (b'{"1": {"text": "a"}}', "an object with the keys 'text'"),
    "null among captions": (b'{"1": ["a", null]}', "the caption of image '1' is null"),
    "nested list": (b'{"1": [["a"]]}', "is a list of 1"),
    "no captions": (b'{"5": []}', "image '5' has an empty list of captions"),
    "empty list": (b"[]", "an empty list"),
    "empty object": (b"{}", "an empty object"),
    "null": (b"[null]", "row 1: an object such as"),
    "list of strings": (b'["a dog", "a cat"]', "captions without ids cannot be matched"),
    "list of lists": (b'[["1", "a dog"]]', "captions without ids cannot be matched"),
    "null id": (b'[{"image_id": null, "caption": "a"}]', "row 1: the image id is null"),
    "empty id": (b'[{"image_id": " ", "caption": "a"}]', "row 1: the image id is empty"),
    "fraction as id": (b'[{"image_id": 1.5, "caption": "a"}]', "the image id is the number 1.5"),
    "truth value as id": (b'[{"image_id": true, "caption": "a"}]', "the image id is the truth value true"),
    "no id": (
        b'[{"picture": 1, "caption": "a"}]',
        "there is no image id ('image_id', 'image', 'id', 'filename', …); found: 'picture', 'caption'",
    ),
    "no caption": (
        b'[{"image_id": 1, "words": "a"}]',
        "there is no caption ('caption', 'captions' or 'references', …); found: 'image_id', 'words'",
    ),
    "rows in a wrapper": (
        b'{"results": [{"image_id": 1, "caption": "a"}]}',
        "filed under image 'results' says it belongs to image 1",
    ),
    "key twice": (
        b'{"1": "a dog", "1": "a cat"}',
        "'1' occurs twice in one object, with different values ('a dog' and 'a cat')",
    ),
    "half a character": (
        b'{"1": "a \\ud83d dog"}',
        "half a character (\\ud83d, one half of a surrogate pair, at position 2)",
    ),
    "objects, not captions": (OBJECTS, "references|COCO's object annotations, not captions"),
    "annotations as predictions": (
        COCO,
        "COCO annotations file, which holds references, but predictions were expected",
    ),
    "references as predictions": (
        b'{"image_id": 1, "references": ["a", "b"]}\n' * 2,
        "'references' and no 'caption'",
    ),
    "references table as predictions": (b"image_id,references\n1,a\n", "'references' and no 'caption'"),
    "plain text": (b"a dog on a sofa\n", "neither JSON nor a table's header"),
    "table without captions": (
        b"image_id,words\n1,a\n",
        "no caption ('caption', 'captions' or 'references', …); found: 'image_id', 'words'; name the column "
        "with --caption-column",
    ),
    "table without ids": (
        b"name\tcaption\n1\ta\n",
        "no image id ('image_id', 'image', 'id', 'filename', …); found: 'name', 'caption'; name the column "
        "with --id-column",
    ),
    "table without header": (b"1,a dog\n2,a cat\n", "found: '1', 'a dog'"),
    "table without rows": (b"image_id,caption\n", "no rows"),
    "column twice": (b"id,caption,caption\n1,a,b\n", "the column 'caption' occurs twice"),
    "comma in a caption": (
        b"caption,id\na dog,1\na dog, sleeping,2\n",
        "line 3: 3 fields, but the header has 2 ('caption', 'id'); a caption that contains the separator "
        "must be quoted",
    ),
    "field missing": (b"id,caption\n1\n", "line 2: 1 fields, but the header has 2"),
    "open quote": (b'id,caption\n1,"a dog\n2,a cat\n', "not valid CSV"),
    "list that is not JSON": (
        b'id,captions\n1,"[a, b]"\n',
        "line 2: a list of captions in a table must be JSON",
    ),
    "damaged Parquet": (b"PAR1" + b"\0" * 40 + b"PAR1", "the Parquet file is damaged"),
}


@pytest.mark.parametrize("case", FILES)
def test_bad_files(case: str, tmp_path: Path) -> None:
    content, expected = FILES[case]
    role, _, expected = expected.rpartition("|")
    path = tmp_path / "captions.json"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path, role or "predictions")  # type: ignore[arg-type]
    message = str(caught.value)
    assert expected in message
    assert str(path) in message
    assert "\n" not in message and len(message) < 600


def test_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes(GOOD)
    with pytest.raises(InputError, match=r"no such file; did you mean 'results.json'\?"):
        read(tmp_path / "result.json", "predictions")
    with pytest.raises(InputError, match="nor a folder"):
        read(tmp_path / "nowhere" / "result.json", "predictions")
    with pytest.raises(InputError, match="is a folder"):
        read(tmp_path, "predictions")
    with pytest.raises(InputError, match="cannot be read"):
        read("a dog on a sofa " * 1000, "predictions")
    with pytest.raises(InputError, match="cannot be read"):
        read("a\0b", "predictions")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (None, "this is null"),
        (7, "this is the number 7"),
        (b"bytes", "a value of type bytes"),
        ({}, "an empty object"),
        ([], "an empty list"),
        ([1, 2], "an object such as"),
        ({"1": None}, "entry '1': the caption of image '1' is null"),
        ({(1, 2): "a"}, r"entry \(1, 2\): the image id is a list of 2"),
        (pd.DataFrame({"id": [1, 2], "caption": ["a", None]}), "row 2: the caption of image '2' is"),
        (pd.DataFrame({"id": [1.0, np.nan], "caption": ["a", "b"]}), "row 2: the image id is not a number"),
        (
            pd.DataFrame({"id": pd.array([1, None], dtype="Int64"), "caption": ["a", "b"]}),
            "row 2: the image id is a missing",
        ),
        (pd.DataFrame({"id": [1], "caption": [3]}), "row 1: the caption of image '1' is the number 3"),
        (pd.DataFrame({"id": [1], "words": ["a"]}), "<data frame>: there is no caption"),
        (pd.DataFrame([[1, "a", "b"]], columns=["id", "caption", "caption"]), "occurs twice"),
    ],
)
def test_bad_objects(source: object, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(source, "predictions")


def test_role_is_checked() -> None:
    with pytest.raises(InputError, match="'references' or 'predictions', not 'refs'"):
        read({"1": "a"}, "refs")  # type: ignore[arg-type]


def test_hostile_ids_do_not_flood_the_message() -> None:
    with pytest.raises(InputError) as caught:
        read({"x\ny" * 5000: None}, "predictions")
    assert len(str(caught.value)) < 400 and "\n" not in str(caught.value)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "captions.parquet"
    pd.DataFrame({"image_id": [1], "caption": ["a"]}).to_parquet(path)
    assert read(path, "predictions").format == "parquet"
    original = builtins.__import__

    def without_pyarrow(name: str, *rest: object, **more: object) -> object:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return original(name, *rest, **more)  # type: ignore[arg-type]

    for module in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'captious[parquet]'")):
        read(path, "predictions")


SEEDS = [
    GOOD[:300],
    COCO,
    b'{"id": 1, "caption": "a"}\n{"id": 2, "captions": ["b"]}\n',
    b'id,caption\n1,"a, b"\n',
    b"id\tcaption\n1\ta\n",
]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_are_read_or_refused(data: st.DataObject, tmp_path: Path) -> None:
    """Any file gives captions or an InputError, never another exception."""
    content = bytearray(data.draw(st.sampled_from(SEEDS) | st.binary(max_size=60)))
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, len(content)))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=3)
            | st.sampled_from([b"{", b"}", b"[", b"]", b'"', b"\n", b",", b"null", b"1e999", b"\\ud800"])
        )
    path = tmp_path / "fuzzed"
    path.write_bytes(gzip.compress(bytes(content)) if data.draw(st.booleans()) else bytes(content))
    for role in ("references", "predictions"):
        try:
            found = read(path, role)  # type: ignore[arg-type]
        except CaptiousError:
            continue
        assert found.ids and len(found.ids) == len(found.captions) == len(set(found.ids))
        assert all(captions and all(type(text) is str for text in captions) for captions in found.captions)


def test_a_header_with_bare_carriage_returns_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "mac.csv"
    path.write_bytes(b"image_id,caption\r1,a dog\r2,a cat\r")
    with pytest.raises(InputError, match=r"mac\.csv, line 1: not valid CSV: .*; end lines with a line feed"):
        read(path, "predictions")
