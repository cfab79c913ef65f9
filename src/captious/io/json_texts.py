"""Kernels for what :mod:`captious.io.json_scan` has found: images by their ids, and captions out of the bytes of the file."""

from __future__ import annotations

import numpy as np

from captious.io.json_scan import hex_digit
from captious.kernels import kernel


@kernel
def number_ids(data, ids, text, multiplier, half, places, first, image):  # type: ignore[no-untyped-def]
    """Number the rows' ids in the order in which they appear: ``first`` has the first row of each, ``image`` each row's number.

    ``places`` is a hash table of numbers, counted from 1; 0 is free.
    """
    mask = places.shape[0] - 1
    found = 0
    for row in range(ids.shape[0]):
        key = multiplier
        if text:
            for at in range(ids[row, 0], ids[row, 1]):
                key = (key ^ np.uint64(data[at])) * multiplier
        else:
            key = (key ^ np.uint64(ids[row, 0])) * multiplier
        place = int(key >> half) & mask
        while places[place] != 0:
            other = first[places[place] - 1]
            if text:
                size = ids[row, 1] - ids[row, 0]
                same = ids[other, 1] - ids[other, 0] == size
                k = 0
                while same and k < size:
                    same = data[ids[row, 0] + k] == data[ids[other, 0] + k]
                    k += 1
            else:
                same = ids[row, 0] == ids[other, 0]
            if same:
                break
            place = (place + 1) & mask
        if places[place] == 0:
            first[found] = row
            found += 1
            places[place] = found
        image[row] = places[place] - 1
    return found


@kernel
def _unit(data, at):  # type: ignore[no-untyped-def]
    """The four hexadecimal digits at ``at``."""
    return (hex_digit(int(data[at])) << 12) | (hex_digit(int(data[at + 1])) << 8) | (hex_digit(int(data[at + 2])) << 4) | hex_digit(int(data[at + 3]))


@kernel
def copy_texts(data, spans, order, longest, out, offsets):  # type: ignore[no-untyped-def]
    """Write texts one after the other as UTF-8, their escapes resolved. How many bytes, or −1 if one is too long or has half a character.

    ``offsets`` takes where each ends.
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
            unit = _unit(data, at)
            at += 4
            if 0xD800 <= unit <= 0xDFFF:
                if unit >= 0xDC00 or at + 6 > stop or data[at] != 92 or data[at + 1] != 117:
                    return -1
                low = _unit(data, at + 2)
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
