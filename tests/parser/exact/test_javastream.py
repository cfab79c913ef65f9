"""The reader of Java's serialisation, on streams made by hand after the published format."""

from __future__ import annotations

import struct

import pytest

from captious.core.errors import InputError
from captious.parser.exact.javastream import MAGIC, MAX_DEPTH, JavaObject, JavaStream


def text(value: str) -> bytes:
    raw = value.encode("utf-8")
    return struct.pack(">H", len(raw)) + raw


def class_description(
    name: str, fields: list[tuple[str, str]], flags: int = 2, parent: bytes = b"\x70"
) -> bytes:
    body = b"\x72" + text(name) + b"\0" * 8 + bytes([flags]) + struct.pack(">H", len(fields))
    for kind, field in fields:
        body += kind.encode() + text(field)
        if kind == "L":
            body += b"\x74" + text("Ljava/lang/Object;")
    return body + b"\x78" + parent


RULE = class_description("Rule", [("I", "child"), ("F", "score"), ("L", "name")])


def test_an_object_has_its_fields_and_references_lead_back() -> None:
    first = b"\x73" + RULE + struct.pack(">if", 7, -0.5) + b"\x74" + text("NP")
    # Handles: 0 the class, 1 the type's name, 2 the object, 3 "NP".
    second = (
        b"\x73\x71"
        + struct.pack(">i", 0x7E0000)
        + struct.pack(">if", 8, 0.25)
        + b"\x71"
        + struct.pack(">i", 0x7E0003)
    )
    stream = JavaStream(MAGIC + first + second)
    one, two = stream.read(), stream.read()
    assert (
        isinstance(one, JavaObject)
        and one.class_name == "Rule"
        and one.fields == {"child": 7, "score": -0.5, "name": "NP"}
    )
    assert two.fields == {"child": 8, "score": 0.25, "name": "NP"}


def test_fields_of_a_parent_class_come_first() -> None:
    child = class_description("Child", [("I", "b")], parent=class_description("Parent", [("I", "a")]))
    read = JavaStream(MAGIC + b"\x73" + child + struct.pack(">ii", 1, 2)).read()
    assert read.class_name == "Child" and read.fields == {"a": 1, "b": 2}


def test_what_a_class_wrote_by_hand_is_kept_in_order() -> None:
    data = b"\x73" + class_description("List", [("I", "size")], flags=3) + struct.pack(">i", 2)
    data += b"\x77\x04\0\0\0\x02" + b"\x74" + text("a") + b"\x74" + text("b") + b"\x78"
    assert JavaStream(MAGIC + data).read().annotations == [b"\0\0\0\x02", "a", "b"]


def test_arrays_of_numbers_and_of_objects() -> None:
    floats = b"\x75" + class_description("[F", []) + struct.pack(">iff", 2, 1.0, 0.2)
    assert JavaStream(MAGIC + floats).read() == pytest.approx([1.0, 0.2])
    names = (
        b"\x75"
        + class_description("[Ljava.lang.String;", [])
        + struct.pack(">i", 2)
        + b"\x74"
        + text("x")
        + b"\x70"
    )
    assert JavaStream(MAGIC + names).read() == ["x", None]


def test_characters_beyond_the_basic_plane() -> None:
    halves = "\ud83d\ude00".encode("utf-8", "surrogatepass")
    assert JavaStream(MAGIC + b"\x74" + struct.pack(">H", len(halves)) + halves).read() == "\U0001f600"


def test_a_stream_cut_off_anywhere_is_refused() -> None:
    whole = MAGIC + b"\x73" + RULE + struct.pack(">if", 7, -0.5) + b"\x74" + text("NP")
    for length in range(len(whole)):
        with pytest.raises(InputError):
            JavaStream(whole[:length]).read()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04",
        MAGIC + b"\x00",
        MAGIC + b"\x71" + struct.pack(">i", 0x7E0005),  # a reference to nothing
        MAGIC + b"\x71" + struct.pack(">i", -1),
        MAGIC + b"\x75" + class_description("[I", []) + struct.pack(">i", 2**31 - 1),  # more than is there
        MAGIC + b"\x75" + class_description("[I", []) + struct.pack(">i", -5),
        MAGIC + b"\x75" + class_description("[Q", []) + struct.pack(">i", 0),
        MAGIC + b"\x7c" + struct.pack(">q", 2**62),
        MAGIC + b"\x7a" + struct.pack(">i", -3),
        MAGIC
        + b"\x73"
        + class_description("X", [], flags=4),  # written in a way that only the class can read
        MAGIC + b"\x74\x00\x02\xff\xfe",
        MAGIC + b"\x73\x74" + text("not a class"),
    ],
)
def test_hostile_streams_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        JavaStream(data).read()


def test_nesting_has_a_limit() -> None:
    one = class_description("Node", [("L", "next")])
    nested = b"\x73" + one + (b"\x73\x71" + struct.pack(">i", 0x7E0000)) * (MAX_DEPTH + 5) + b"\x70"
    with pytest.raises(InputError, match="nested"):
        JavaStream(MAGIC + nested).read()
    arrays = b"\x75" + class_description("[[I", []) + struct.pack(">i", 1)
    arrays += (b"\x75\x71" + struct.pack(">ii", 0x7E0000, 1)) * 100_000
    with pytest.raises(InputError, match="nested"):
        JavaStream(MAGIC + arrays).read()


def test_a_class_that_extends_itself() -> None:
    circular = b"\x72" + text("X") + b"\0" * 8 + b"\x02\0\0\x78\x71" + struct.pack(">i", 0x7E0000)
    with pytest.raises(InputError, match="extends"):
        JavaStream(MAGIC + b"\x73" + circular).read()
