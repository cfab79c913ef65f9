"""Mutations of file content. A mutation depends only on the content, the seed and its number."""

from __future__ import annotations

import random
import struct
import zlib

#: Texts that parsers treat specially.
_TEXTS = [
    b"{", b"}", b"[", b"]", b'"', b"'", b",", b":", b"\n", b"\r", b"\t", b"|", b"\\", b"\\ud800", b"null", b"NaN",
    b"1e999", b"-1", b"0", b"9" * 40, b"-9223372036854775809", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3(", b"\0", b"%s",
    b"\\data\\", b"PAR1", b"PK\x03\x04", b"\x1f\x8b", b"\x93NUMPY", b"[" * 300, b"../../x", b"#0\t",
]  # fmt: skip
#: Extreme values of binary fields.
_FIELDS = [
    struct.pack(form, value)
    for form, value in [
        ("<i", -1), ("<i", 2**31 - 1), ("<i", -(2**31)), ("<q", -1), ("<q", 2**63 - 1), ("<q", -(2**63)), ("<q", 2**40),
        ("<H", 0xFFFF), ("<I", 0x7FFFFFF0), ("<f", float("nan")), ("<f", float("inf")), ("<d", float("nan")), ("<q", 0),
    ]
]  # fmt: skip
#: Bytes at either end that hold the headers of most formats.
_EDGE = 512


def mutated(content: bytes, seed: int, number: int) -> bytes:
    """Return mutation ``number`` of a file, which differs from the file."""
    draw = random.Random(f"{seed} {number} {zlib.crc32(content)}")
    while True:
        data = bytearray(content)
        for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
            _damage(data, draw)
        if data != content:
            return bytes(data)


def _place(data: bytearray, draw: random.Random) -> int:
    """Return an index: anywhere, or as often near one of the ends."""
    size = len(data)
    kind = draw.random()
    if kind < 0.25:
        return draw.randint(0, min(size, _EDGE))
    if kind < 0.5:
        return draw.randint(max(size - _EDGE, 0), size)
    return draw.randint(0, size)


def _damage(data: bytearray, draw: random.Random) -> None:
    """Apply one random operation in place."""
    at = _place(data, draw)
    length = draw.choice((1, 2, 4, 16, 64, 1024))
    kind = draw.randrange(9)
    if kind == 0 and at < len(data):
        data[at] ^= 1 << draw.randrange(8)
    elif kind == 1 and at < len(data):
        data[at] = draw.choice((0, 0xFF, 0x80, 0x7F, draw.randrange(256)))
    elif kind == 2:
        data[at : at + length] = b""
    elif kind == 3:
        data[at:at] = data[at : at + length]
    elif kind == 4:
        data[at:at] = draw.randbytes(length)
    elif kind == 5:
        text = draw.choice(_TEXTS)
        data[at : at + (len(text) if draw.random() < 0.5 else 0)] = text
    elif kind == 6:
        field = draw.choice(_FIELDS)
        data[at : at + len(field)] = field
    elif kind == 7:
        other = _place(data, draw)
        data[at : at + length] = data[other : other + length]
    elif draw.random() < 0.3:
        del data[at:]
    else:
        data[at : at + 1] = b""
