"""Kernel that extracts the captions that :mod:`captious.io.json_scan` located in a file."""

from __future__ import annotations

from captious.io.json_scan import hex_digit
from captious.kernels import inner, kernel
from captious.kernels.types import Int64, Int64x2, Out, UInt8


@inner
def _code_unit(data: UInt8, at: int) -> int:
    """Return the value of the four hexadecimal digits at ``at``."""
    return (
        (hex_digit(int(data[at])) << 12)
        | (hex_digit(int(data[at + 1])) << 8)
        | (hex_digit(int(data[at + 2])) << 4)
        | hex_digit(int(data[at + 3]))
    )


@kernel
def copy_texts(
    data: UInt8, spans: Int64x2, order: Int64, longest: int, out: Out[UInt8], offsets: Out[Int64]
) -> int:
    """Concatenate texts as UTF-8 with escapes resolved. Return the number of bytes.

    ``offsets`` receives the end of each text. Returns −1 if a text is longer than ``longest`` bytes or
    has an unpaired surrogate.
    """
    used = 0
    for i in range(order.shape[0]):
        at, stop = spans[order[i], 0], spans[order[i], 1]
        if stop - at > longest:
            return -1
        while at < stop:
            byte = data[at]
            at += 1
            if byte != 92:
                out[used] = byte
                used += 1
                continue
            byte = data[at]
            at += 1
            if byte != 117:
                if byte == 98:
                    byte = 8
                elif byte == 102:
                    byte = 12
                elif byte == 110:
                    byte = 10
                elif byte == 114:
                    byte = 13
                elif byte == 116:
                    byte = 9
                out[used] = byte
                used += 1
                continue
            unit = _code_unit(data, at)
            at += 4
            if 0xD800 <= unit <= 0xDFFF:
                if unit >= 0xDC00 or at + 6 > stop or data[at] != 92 or data[at + 1] != 117:
                    return -1
                low = _code_unit(data, at + 2)
                if not 0xDC00 <= low <= 0xDFFF:
                    return -1
                at += 6
                unit = 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00
            if unit < 0x80:
                out[used] = unit
                used += 1
                continue
            if unit < 0x800:
                out[used] = 0xC0 | (unit >> 6)
                used += 1
            else:
                if unit < 0x10000:
                    out[used] = 0xE0 | (unit >> 12)
                    used += 1
                else:
                    out[used] = 0xF0 | (unit >> 18)
                    out[used + 1] = 0x80 | ((unit >> 12) & 63)
                    used += 2
                out[used] = 0x80 | ((unit >> 6) & 63)
                used += 1
            out[used] = 0x80 | (unit & 63)
            used += 1
        offsets[i + 1] = used
    return used
