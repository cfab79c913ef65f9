"""The compiled JSON reader returns the same as the plain reader, or leaves the file to it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import captious
from captious.core.errors import InputError
from captious.io import json_reader, read
from captious.io.caption_files import CaptionFile, Role, columns, gather
from captious.io.reading import _records
from captious.kernels import plain_forms
from tests.forms import both_forms, running


def plain(file: CaptionFile) -> Any:
    return (
        file.name,
        file.ids,
        [list(group) for group in file.captions],
        file.format,
        file.several,
        file.role,
        file.path,
        file.several_stated,
    )


def read_plainly(data: bytes, role: Role, several: bool | None = None) -> CaptionFile:
    return gather(_records(data, "file", role), "file", role, several)


def same(data: bytes, role: Role = "references", several: bool | None = None) -> CaptionFile | None:
    """Return the result of the compiled reader, after a check that the plain reader agrees and does not
    warn."""
    found = json_reader.read_rows(data, "file", role, several)
    if found is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert plain(found) == plain(read_plainly(data, role, several))
    return found


ROWS = [
    {"image_id": 7, "caption": "a dog"},
    {"image_id": -3, "caption": "Ein Hündchen 🐶"},
    {"image_id": 7, "caption": ""},
]
COCO = {
    "info": {"year": 2014, "x": [None, True, False, -1.5e-3]},
    "images": [{"id": 7}, {"id": -3}],
    "annotations": ROWS,
    "licenses": [],
}


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("indent", [None, 1])
def test_the_common_shapes_are_read(ascii_only: bool, indent: int | None) -> None:
    def dumped(value: object) -> bytes:
        return json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()

    annotations = same(dumped(COCO))
    assert annotations is not None and annotations.format == "coco-annotations" and annotations.several
    assert annotations.ids == ["7", "-3"] and list(annotations.captions) == [
        ["a dog", ""],
        ["Ein Hündchen 🐶"],
    ]
    results = same(dumped(ROWS[:2]), "predictions")
    assert results is not None and results.format == "coco-results" and not results.several
    lines = same(b"\n".join(json.dumps(row, ensure_ascii=ascii_only).encode() for row in ROWS))
    assert lines is not None and lines.format == "jsonl" and lines.several
    lists = same(
        dumped(
            [
                {"image": "a.jpg", "captions": ["x", "y"], "more": {"k": [{}]}},
                {"more": 1, "captions": ["z"], "image": "b.jpg"},
            ]
        )
    )
    assert lists is not None and lists.several and list(lists.captions) == [["x", "y"], ["z"]]


def test_files_are_read_by_the_compiled_reader(tmp_path: Path) -> None:
    rows = [
        {"id": i, "image_id": f"im {i % 997}", "caption": f"caption “{i}” of\tmany\\ \u00e9 {'x' * (i % 70)}"}
        for i in range(5000)
    ]
    data = json.dumps({"images": [], "annotations": rows}).encode()
    assert same(data) is not None
    (tmp_path / "large.json").write_bytes(data)
    found = read(tmp_path / "large.json", "references")
    assert (
        plain(found)[1:3] == plain(read_plainly(data, "references"))[1:3]
        and found.path == tmp_path / "large.json"
    )


def test_there_is_room_for_any_number_of_rows_and_captions() -> None:
    data = json.dumps(
        [{"id": i, "captions": ["a"] * (1 + 40 * (i % 9 == 5))} for i in range(300)], separators=(",", ":")
    ).encode()
    assert same(data) is not None


REFUSED = {
    "an empty file": b"",
    "nothing in it": b"[]",
    "an empty object": b"{}",
    "no row": b'{"annotations": []}',
    "a key that is not UTF-8": b'{"annotations": [{"image_id": 1, "caption": "a"}], "inf\xff": 1}',
    "a key in a row that is not UTF-8": b'[{"image_id": 1, "caption": "a", "\xc3(": 1}]',
    "rows of another kind": b'["a dog"]',
    "another kind of row later": b'[{"image_id": 1, "caption": "a"}, 5]',
    "no caption": b'[{"image_id": 1}]',
    "no caption later": b'[{"image_id": 1, "caption": "a"}, {"image_id": 2}]',
    "no id later": b'[{"image_id": 1, "caption": "a"}, {"caption": "b"}]',
    "an empty row later": b'[{"image_id": 1, "caption": "a"}, {}]',
    "a key twice": b'[{"image_id": 1, "caption": "a", "caption": "b"}]',
    "a key twice later": b'[{"image_id": 1, "caption": "a"}, {"image_id": 2, "x": 1, "caption": "b", "x": '
    rb"2}]",
    "a key twice far inside": b'[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": "b", "y": '
    rb'[{"z": {"x": 1, "v": [], "x": 2}}]}]',
    "a key twice in the file": b'{"annotations": [{"image_id": 1, "caption": "a"}], "info": 1, "info": 2}',
    "the rows twice": b'{"annotations": [{"image_id": 1, "caption": "a"}], "annotations": [{"image_id": 2, '
    rb'"caption": "b"}]}',
    "a key twice, once with an escape": rb'[{"image_id": 1, "caption": "a"}, {"image_id": 2, "x": 1, '
    rb'"caption": "b", "\u0078": 2}]',
    "a number that is none": b'[{"image_id": 1, "caption": "a", "x": NaN}]',
    "a number without end": b'[{"image_id": 1, "caption": "a", "x": -Infinity}]',
    "a number of many digits": b'[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": "a", "x": '
    + b"9" * 5000
    + b"}]",
    "an id of more digits": b'[{"image_id": 12345678901234567890123, "caption": "a"}]',
    "an id of many digits": b'[{"image_id": 1234567890123456789, "caption": "a"}]',
    "an id with a fraction": b'[{"image_id": 1, "caption": "a"}, {"image_id": 2.0, "caption": "b"}]',
    "an id with an exponent": b'[{"image_id": 1, "caption": "a"}, {"image_id": 2e1, "caption": "b"}]',
    "an id of minus zero": b'[{"image_id": -0, "caption": "a"}]',
    "an id filled with zeros": b'[{"image_id": 1, "caption": "a"}, {"image_id": 007, "caption": "b"}]',
    "no id": b'[{"image_id": null, "caption": "a"}]',
    "ids of two kinds": b'[{"image_id": 1, "caption": "a"}, {"image_id": "1", "caption": "b"}]',
    "an id with an escape": rb'[{"image_id": "a\/b", "caption": "a"}]',
    "an id with space around it": b'[{"image_id": "a", "caption": "a"}, {"image_id": "a ", "caption": "b"}]',
    "an empty id": b'[{"image_id": "", "caption": "a"}]',
    "a caption that is none": b'[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": null}]',
    "a list of no captions": b'[{"image_id": 1, "captions": []}]',
    "a list with something else": b'[{"image_id": 1, "captions": ["a", 5]}]',
    "half a character": rb'[{"image_id": 1, "caption": "a \ud83d dog"}]',
    "the second half of a character": rb'[{"image_id": 1, "caption": "a \udc36"}]',
    "two first halves": rb'[{"image_id": 1, "caption": "\ud83d\ud83d"}]',
    "a half at the end": rb'[{"image_id": 1, "caption": "\ud83d"}]',
    "an escape that is none": rb'[{"image_id": 1, "caption": "\x"}]',
    "digits that are none": rb'[{"image_id": 1, "caption": "\u12g4"}]',
    "a line break in a text": b'[{"image_id": 1, "caption": "a\nb"}]',
    "no UTF-8": b'[{"image_id": 1, "caption": "\xff"}]',
    "a byte order mark": b'\xef\xbb\xbf[{"image_id": 1, "caption": "a"}]',
    "deep nesting": b'[{"image_id": 1, "caption": "a"}, {"image_id": 2, "caption": "a", "x": '
    + b"[" * 40
    + b"]" * 40
    + b"}]",
    "many keys": json.dumps([{"image_id": 1, "caption": "a", **{f"k{i}": i for i in range(300)}}]).encode(),
    "something behind": b'[{"image_id": 1, "caption": "a"}] x',
    "something behind annotations": b'{"annotations": [{"image_id": 1, "caption": "a"}]} x',
    "an end too early": b'[{"image_id": 1, "caption": "a"}',
    "a comma too many": b'[{"image_id": 1, "caption": "a"},]',
    "a comma too many in a row": b'[{"image_id": 1, "caption": "a",}]',
    "a comma too few": b'[{"image_id": 1, "caption": "a"} {"image_id": 2, "caption": "b"}]',
    "a colon too few": b'[{"image_id" 1, "caption": "a"}]',
    "a bracket that closes another": b'[{"image_id": 1, "caption": "a", "x": [1}]',
    "a word that is none": b'[{"image_id": 1, "caption": "a", "x": nul}]',
    "a truth that is none": b'[{"image_id": 1, "caption": "a", "x": truth}]',
    "a falsehood that is none": b'[{"image_id": 1, "caption": "a", "x": fals}]',
    "a fraction without digits": b'[{"image_id": 1, "caption": "a", "x": 1.}]',
    "an exponent without digits": b'[{"image_id": 1, "caption": "a", "x": 1e+}]',
    "a sign without digits": b'[{"image_id": 1, "caption": "a", "x": -}]',
    "a table": b"image_id,caption\n1,a\n",
    "captions by id": b'{"1": ["a"], "2": ["b"]}',
    "one object": b'{"image_id": 1, "caption": "a"}',
    "Karpathy's file": b'{"images": [{"cocoid": 1, "sentences": [{"raw": "a"}]}], "annotations": '
    rb'[{"image_id": 2, "caption": "b"}]}',
    "annotations that are an image": b'{"annotations": [{"caption": "a", "id": 5}], "2": ["b"]}',
    "lines, one of which is none": b'{"image_id": 1, "caption": "a"}\n{"image_id": 2, "caption": "b"\n}',
    "lines with two rows in one": b'{"image_id": 1, "caption": "a"}\n{"image_id": 2, "caption": "b"} '
    rb'{"image_id": 3, "caption": "c"}',
}


@pytest.mark.parametrize("why", REFUSED)
def test_unusual_files_are_left_to_the_plain_reader(why: str) -> None:
    assert json_reader.read_rows(REFUSED[why], "file", "references") is None


@pytest.mark.parametrize("why", [why for why in REFUSED if why != "an empty file"])
def test_messages_are_those_of_the_plain_reader(
    why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(REFUSED[why])

    def outcome() -> Any:
        try:
            return plain(read(path, "references"))
        except InputError as error:
            return str(error)

    compiled = outcome()
    monkeypatch.setattr(json_reader, "read_rows", lambda *_: None)
    assert compiled == outcome()


def test_suspicious_predictions_are_left_to_the_plain_reader() -> None:
    once_too_many = json.dumps([{"image_id": i % 5, "caption": "a"} for i in range(6)]).encode()
    assert same(once_too_many) is not None
    assert json_reader.read_rows(once_too_many, "file", "predictions") is None
    assert same(once_too_many, "predictions", several=True) is not None
    twice = json.dumps([{"image_id": i % 3, "caption": "a"} for i in range(6)]).encode()
    assert same(twice, "predictions") is not None
    assert json_reader.read_rows(twice, "file", "predictions", several=False) is None
    assert json_reader.read_rows(json.dumps(COCO).encode(), "file", "predictions") is None
    assert json_reader.read_rows(b'[{"image_id": 1, "references": ["a"]}]', "file", "predictions") is None


def test_limits_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"image_id": 1, "caption": "a", "y": {"z": []}}, {"image_id": 1, "caption": "x" * 70_000}]
    data = json.dumps(rows).encode()
    assert same(data) is not None
    monkeypatch.setenv("CAPTIOUS_MAX_LINE", "69999")
    assert json_reader.read_rows(data, "file", "references") is None
    monkeypatch.setenv("CAPTIOUS_MAX_LINE", "70000")
    assert same(data) is not None
    monkeypatch.setenv("CAPTIOUS_MAX_DEPTH", "4")
    assert same(data) is not None
    monkeypatch.setenv("CAPTIOUS_MAX_DEPTH", "3")
    assert json_reader.read_rows(data, "file", "references") is None
    annotations = json.dumps({"annotations": rows}).encode()
    monkeypatch.setenv("CAPTIOUS_MAX_DEPTH", "5")
    assert same(annotations) is not None
    monkeypatch.setenv("CAPTIOUS_MAX_DEPTH", "4")
    assert json_reader.read_rows(annotations, "file", "references") is None


def test_columns_that_are_named_are_read() -> None:
    data = json.dumps([{"image_id": 1, "caption": "a", "mine": "b", "key": "k"}]).encode()
    with columns("mine", "key"):
        found = same(data)
    assert found is not None and found.ids == ["k"] and list(found.captions) == [["b"]]


def test_systems_in_another_order_are_aligned(tmp_path: Path) -> None:
    rows = [{"image_id": i, "caption": f"a dog and {i} cats"} for i in range(40)]
    (tmp_path / "r.json").write_text(
        json.dumps({"annotations": rows + [{**row, "caption": "some dogs"} for row in rows[::-1]]})
    )
    (tmp_path / "p.json").write_text(
        json.dumps([{**row, "caption": f"the dog {row['image_id']} é"} for row in rows[::-1]])
    )
    corpus = captious.load(tmp_path / "r.json", tmp_path / "p.json")
    assert list(corpus.candidates.texts) == [f"the dog {i} é" for i in range(40)]
    assert list(corpus.references.texts)[:2] == ["a dog and 0 cats", "some dogs"]
    part = captious.load(tmp_path / "r.json", {"39": "x", "3": "y"}, subset=True)
    assert part.ids == ("3", "39") and list(part.references.texts)[2:] == ["a dog and 39 cats", "some dogs"]


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ['"', "\\", "\\u0041", "a\\", "\x7f", "\U0001f436", "]}", ""]
)
ids = st.one_of(
    st.lists(st.integers(-(10**17), 10**17) | st.integers(0, 3), min_size=1, max_size=6),
    st.lists(st.text("abcé ", min_size=1, max_size=2).map(lambda text: f"x{text}x"), min_size=1, max_size=6),
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    rows: list[dict[str, Any]] = []
    lists = draw(st.booleans())
    for image in draw(ids):
        row = {
            "image_id": image,
            "captions" if lists else "caption": draw(
                st.lists(texts, min_size=1, max_size=3) if lists else texts
            ),
        }
        others = draw(st.dictionaries(st.sampled_from(["id", "x", "ü", "y z"]), json_values, max_size=2))
        rows.append(dict(draw(st.permutations([*row.items(), *others.items()]))))
    style: dict[str, Any] = {"ensure_ascii": draw(st.booleans())}
    shape = draw(st.sampled_from(["list", "lines", "annotations"]))
    if shape == "lines" and len(rows) > 1:
        return ("\n" * draw(st.integers(1, 2))).join(json.dumps(row, **style) for row in rows).encode()
    style |= {
        "indent": draw(st.sampled_from([None, 0, 2])),
        "separators": draw(st.sampled_from([None, (",", ":")])),
    }
    if shape == "annotations":
        around = [
            ("annotations", rows),
            *draw(
                st.dictionaries(st.sampled_from(["info", "images", "licenses"]), json_values, max_size=2)
            ).items(),
        ]
        return json.dumps(dict(draw(st.permutations(around))), **style).encode()
    return json.dumps(rows, **style).encode()


@settings(max_examples=300, deadline=None)
@given(files())
def test_any_file_is_read_alike(data: bytes) -> None:
    found = same(data)
    # Other members can be unusual: escapes in keys, long numbers, images of unknown shape.
    assert found is not None or b"\\" in data or b"images" in data or len(data) > 300


@settings(max_examples=400, deadline=None)
@given(files(), st.data())
def test_a_file_with_a_defect_is_read_alike_or_not_at_all(data: bytes, draw: st.DataObject) -> None:
    at = draw.draw(st.integers(0, len(data) - 1))
    piece = draw.draw(
        st.sampled_from(
            [
                b"",
                b'"',
                b"\\",
                b"{",
                b"}",
                b"[",
                b"]",
                b",",
                b":",
                b"0",
                b"-",
                b".",
                b"e",
                b" ",
                b"\n",
                b"\xc3",
                b"x",
                b"null",
                b"\x00",
            ]
        )
    )
    broken = data[:at] + piece + data[at + draw.draw(st.integers(0, 2)) :]
    found = json_reader.read_rows(broken, "file", "references")
    if found is not None:
        assert plain(found) == plain(read_plainly(broken, "references"))


@settings(max_examples=30, deadline=None)
@given(files())
def test_both_forms_read_alike(data: bytes) -> None:
    found = json_reader.read_rows(data, "file", "references")
    with plain_forms():
        plainly = json_reader.read_rows(data, "file", "references")
    assert (plainly is None) == (found is None)
    assert plainly is None or found is None or plain(plainly) == plain(found)


@both_forms
@pytest.mark.parametrize("ids", [[5, -1, 5, 2**40, -1], ["b", "", "b", "ba", ""], ["é", "e", "é", "eé", "e"]])
def test_images_come_in_the_order_of_their_first_rows(ids: list[object], form: str) -> None:
    rows = [{"image_id": image or "x", "caption": str(row)} for row, image in enumerate(ids)]
    with running(form):
        file = json_reader.read_rows(json.dumps(rows, ensure_ascii=False).encode(), "file", "references")
    assert file is not None
    assert list(file.ids) == [str(ids[0]), str(ids[1] or "x"), str(ids[3])]
    assert list(file.captions) == [["0", "2"], ["1", "4"], ["3"]]
