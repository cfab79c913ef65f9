"""Machine code as one block that works anywhere in memory.

A compiler's object files are put together once, when a kernel is compiled. Loading the block is then a matter of copying it
and adding the place where it stands to the addresses within it, which takes a fraction of a millisecond: the compiler's
library takes a tenth of a second to start. For Linux on x86-64, where what the compiler makes refers to places by
their whole addresses; for anything else there is :class:`UnlinkableError`, and the library does it.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_HEADER = np.dtype({"names": ["magic", "type", "machine", "sections", "count"], "formats": ["S4", "<u2", "<u2", "<u8", "<u2"], "offsets": [0, 16, 18, 40, 60], "itemsize": 64})
_SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"), ("link", "<u4"), ("info", "<u4"), ("align", "<u8"), ("entry", "<u8")])
_SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")])
_RELOCATION = np.dtype([("offset", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])

_RELOCATABLE, _X86_64 = 1, 62
_CONTENT, _SYMBOLS, _RELOCATIONS, _UNWINDING, _EMPTY = 1, 2, 4, 0x70000001, 8
_WRITTEN, _LOADED = 1, 2
#: The only kind of reference that this module knows: the whole address, 64 bits of it.
_ADDRESS = 1
_UNDEFINED, _RESERVED = 0, 0xFF00
_ALIGN = 64


class UnlinkableError(Exception):
    """Object files with something in them that this module does not know."""


class Block(NamedTuple):
    """Code and constants, and what has to be added where."""

    content: bytes
    #: Where the function starts.
    entry: int
    #: Places that hold an address within the block, counted from its start.
    own: NDArray[np.int64]
    #: Functions of C that it calls, and for each of ``places`` the number of the one whose address it holds.
    names: tuple[str, ...]
    places: NDArray[np.int64]
    which: NDArray[np.int64]


def usable() -> bool:
    """Whether blocks can be made and loaded here."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.byteorder == "little"


class _Object(NamedTuple):
    data: bytes
    sections: NDArray[Any]
    #: Where each section stands in the block; -1 if it is left out.
    starts: list[int]

    def of(self, section: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
        return np.frombuffer(self.data, dtype, int(section["size"]) // dtype.itemsize, int(section["offset"]))

    def text(self, table: int, at: int) -> str:
        start = int(self.sections[table]["offset"]) + at
        return self.data[start : self.data.index(b"\0", start)].decode()


def link(objects: Sequence[bytes], entry: str) -> Block:
    """Put object files together; ``entry`` is the function to call."""
    if not usable():
        raise UnlinkableError("only code for Linux on x86-64 is known")
    content = bytearray()
    placed = [_place(data, content) for data in objects]
    known = {name: at for each in placed for name, at in _defined(each)}
    if entry not in known:
        raise UnlinkableError(f"{entry} is not defined")
    own: list[int] = []
    names: dict[str, int] = {}
    others: list[tuple[int, int]] = []
    for each in placed:
        for at, name, target in _references(each):
            if name in known:
                target += known[name]
            elif name:
                if target:
                    raise UnlinkableError(f"a place {target} bytes behind {name}")
                others.append((at, names.setdefault(name, len(names))))
                continue
            own.append(at)
            content[at : at + 8] = target.to_bytes(8, "little", signed=True)
    pairs = np.array(others, np.int64).reshape(-1, 2)
    return Block(bytes(content), known[entry], np.array(own, np.int64), tuple(names), pairs[:, 0].copy(), pairs[:, 1].copy())


def _place(data: bytes, content: bytearray) -> _Object:
    """Append what has to be in memory to the block."""
    if len(data) < _HEADER.itemsize:
        raise UnlinkableError("no object file")
    head = np.frombuffer(data, _HEADER, 1)[0]
    if head["magic"] != b"\x7fELF" or head["type"] != _RELOCATABLE or head["machine"] != _X86_64:
        raise UnlinkableError("no object file of x86-64")
    sections = np.frombuffer(data, _SECTION, int(head["count"]), int(head["sections"]))
    starts = []
    for section in sections:
        # How to unwind the stack is for exceptions of C++, and there are none.
        if not section["flags"] & _LOADED or not section["size"] or section["type"] == _UNWINDING:
            starts.append(-1)
            continue
        if section["type"] != _CONTENT or section["flags"] & _WRITTEN or section["align"] > _ALIGN:
            raise UnlinkableError(f"a section of type {section['type']} with flags {section['flags']}")
        content.extend(bytes(-len(content) % _ALIGN))
        starts.append(len(content))
        content.extend(data[int(section["offset"]) : int(section["offset"] + section["size"])])
    return _Object(data, sections, starts)


def _symbols(each: _Object) -> tuple[NDArray[Any], int]:
    table = next(section for section in each.sections if section["type"] == _SYMBOLS)
    return each.of(table, _SYMBOL), int(table["link"])


def _defined(each: _Object) -> Iterable[tuple[str, int]]:
    """Names that other object files may use, and where they are."""
    symbols, names = _symbols(each)
    for symbol in symbols:
        local, section = symbol["info"] >> 4 == 0, int(symbol["section"])
        if not local and _UNDEFINED < section < _RESERVED and each.starts[section] >= 0:
            yield each.text(names, int(symbol["name"])), each.starts[section] + int(symbol["value"])


def _references(each: _Object) -> Iterable[tuple[int, str, int]]:
    """Places that hold an address: of a name, or (where that is empty) within the block."""
    symbols, names = _symbols(each)
    for section in each.sections:
        if section["type"] != _RELOCATIONS or each.starts[int(section["info"])] < 0:
            continue
        for reference in each.of(section, _RELOCATION):
            if reference["kind"] != _ADDRESS:
                raise UnlinkableError(f"a reference of kind {reference['kind']}")
            at, target = each.starts[int(section["info"])] + int(reference["offset"]), int(reference["addend"])
            symbol = symbols[int(reference["symbol"])]
            where = int(symbol["section"])
            if where == _UNDEFINED or symbol["info"] >> 4:
                yield at, each.text(names, int(symbol["name"])), target
            elif where < _RESERVED and each.starts[where] >= 0:
                yield at, "", target + each.starts[where] + int(symbol["value"])
            else:
                raise UnlinkableError(f"a symbol in section {where}")


#: Memory with code lives as long as the process.
_blocks: list[mmap.mmap] = []


def load(block: Block, address: Callable[[str], int]) -> int:
    """Put a block into memory; where its function starts. ``address`` finds functions of C."""
    memory = mmap.mmap(-1, max(len(block.content), 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[: len(block.content)] = block.content
    view = np.frombuffer(memory, np.uint8)
    start = view.ctypes.data
    _add(view, block.own, np.uint64(start))
    if block.names:
        found = np.array([address(name) for name in block.names], np.uint64)
        _add(view, block.places, found[block.which])
    # Memory is written to or run, never both.
    if _libc().mprotect(ctypes.c_void_p(start), ctypes.c_size_t(len(memory)), mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError(ctypes.get_errno(), "memory cannot be made executable")
    _blocks.append(memory)
    return start + block.entry


def _add(view: NDArray[np.uint8], places: NDArray[np.int64], what: Any) -> None:
    """Add to numbers of 64 bits, wherever they stand."""
    where = places[:, None] + np.arange(8)
    view[where] = (view[where].view(np.uint64)[:, 0] + what)[:, None].view(np.uint8)


@cache
def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)
