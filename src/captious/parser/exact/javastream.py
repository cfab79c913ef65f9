"""Reader of Java's object serialisation format. It needs no Java and executes nothing.

The format is public (Java Object Serialization Specification, chapter 6). An object is returned as a
`JavaObject`: the name of its class, its fields and the data that the class wrote itself. Nothing is imported
or called by name. Streams are not trusted: too deep nesting, wrong lengths and dangling references raise an
`InputError`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from captious.core.errors import InputError

MAGIC = b"\xac\xed\x00\x05"
MAX_DEPTH = 120  # each level takes three Python frames; CoreNLP's grammars need less than 20 levels
MAX_FIELDS = 1000

_NULL, _REFERENCE, _CLASSDESC, _OBJECT, _STRING, _ARRAY, _CLASS = range(0x70, 0x77)
_BLOCKDATA, _ENDBLOCKDATA, _RESET, _BLOCKDATALONG, _EXCEPTION, _LONGSTRING, _PROXYCLASSDESC, _ENUM = range(
    0x77, 0x7F
)
_FIRST_HANDLE = 0x7E0000
_WRITE_METHOD, _SERIALIZABLE, _EXTERNALIZABLE, _BLOCK_DATA = 1, 2, 4, 8
_PRIMITIVES = {"B": "b", "C": "H", "D": "d", "F": "f", "I": "i", "J": "q", "S": "h", "Z": "?"}


class _End:
    """Marker of the end of a list of annotations."""


_END = _End()


@dataclass(slots=True)
class ClassDescription:
    """A class as the stream describes it: the names of its fields and the layout of the primitive ones."""

    name: str
    flags: int = 0
    primitive_names: list[str] = field(default_factory=list)
    primitives: struct.Struct = field(default_factory=lambda: struct.Struct(">"))
    object_names: list[str] = field(default_factory=list)
    parent: ClassDescription | None = None

    def lineage(self) -> list[ClassDescription]:
        """Return the class and its ancestors, the most general first, in the order of their data."""
        classes: list[ClassDescription] = []
        current: ClassDescription | None = self
        while current is not None:
            if len(classes) > MAX_DEPTH or current in classes:
                raise InputError(
                    f"the serialised class {self.name} extends too many others; get a fresh copy of the file"
                )
            classes.append(current)
            current = current.parent
        return classes[::-1]


@dataclass(slots=True, eq=False)
class JavaObject:
    """An object: the name of its class, its fields, and data that the class wrote itself."""

    class_name: str
    fields: dict[str, Any] = field(default_factory=dict)
    annotations: list[Any] = field(default_factory=list)


class JavaStream:
    """A reader of objects in serialised bytes."""

    def __init__(self, data: bytes, name: str = "the stream") -> None:
        self.data = data
        self.name = name
        self.position = len(MAGIC)
        self.depth = 0
        self.handles: list[Any] = []
        if data[: len(MAGIC)] != MAGIC:
            start = data[:4].hex(" ") or "nothing"
            raise InputError(
                f"{name}: not serialised Java objects (it begins with {start}, not {MAGIC.hex(' ')}); "
                "expected CoreNLP 3.6.0's englishPCFG"
            )

    def read(self) -> Any:
        """Read the next object: None, a string, a list (array), a `JavaObject`, or bytes between objects."""
        try:
            return self._content()
        except (struct.error, IndexError, UnicodeDecodeError, RecursionError) as error:
            raise self._wrong(f"damaged or cut off ({error})") from error

    def _wrong(self, problem: str) -> InputError:
        return InputError(
            f"{self.name}: byte {self.position} of {len(self.data)}: {problem}; get a fresh copy of the file"
        )

    def _take(self, count: int) -> bytes:
        taken = self.data[self.position : self.position + count]
        if count < 0 or len(taken) < count:
            raise self._wrong(f"{count} bytes are announced, {len(self.data) - self.position} are left")
        self.position += count
        return taken

    def _number(self, form: str, size: int) -> int:
        [value] = struct.unpack_from(form, self.data, self.position)
        self.position += size
        return int(value)

    def _text(self, long: bool = False) -> str:
        size = self._number(">q", 8) if long else self._number(">H", 2)
        raw = self._take(size)
        if raw.isascii():
            return raw.decode("ascii")
        # Java encodes characters beyond the basic plane as two surrogates, and NUL as two bytes.
        halves = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return halves.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _content(self) -> Any:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._wrong(f"objects are nested more than {MAX_DEPTH} deep")
        code = self.data[self.position]
        self.position += 1
        value: Any
        if code == _OBJECT:
            value = self._object()
        elif code == _REFERENCE:
            value = self._reference()
        elif code == _NULL:
            value = None
        elif code in (_STRING, _LONGSTRING):
            place = self._place()
            value = self.handles[place] = self._text(code == _LONGSTRING)
        elif code == _ARRAY:
            value = self._array()
        elif code in (_BLOCKDATA, _BLOCKDATALONG):
            value = self._take(self._number(">i", 4) if code == _BLOCKDATALONG else self._number(">B", 1))
        elif code == _ENDBLOCKDATA:
            value = _END
        elif code == _ENUM:
            description = self._description()
            place = self._place()
            value = self.handles[place] = JavaObject(description.name, {"name": self._content()})
        elif code in (_CLASSDESC, _PROXYCLASSDESC):
            self.position -= 1
            value = self._description()
        elif code == _CLASS:
            value = self._description()
            self.handles[self._place()] = value
        elif code == _RESET:
            self.handles.clear()
            value = self._content()
        else:
            raise self._wrong(f"unknown code 0x{code:02x}")
        self.depth -= 1
        return value

    def _place(self) -> int:
        self.handles.append(None)
        return len(self.handles) - 1

    def _reference(self) -> Any:
        handle = self._number(">i", 4) - _FIRST_HANDLE
        if not 0 <= handle < len(self.handles):
            raise self._wrong(f"a reference to object {handle}, but there are {len(self.handles)}")
        return self.handles[handle]

    def _description(self) -> ClassDescription:
        code = self.data[self.position]
        self.position += 1
        if code == _REFERENCE:
            described = self._reference()
            if not isinstance(described, ClassDescription):
                raise self._wrong("a reference to a class leads to another kind of object")
            return described
        if code == _PROXYCLASSDESC:
            return self._proxy()
        if code != _CLASSDESC:
            raise self._wrong(f"a class was expected, not the code 0x{code:02x}")
        description = ClassDescription(self._text())
        self.position += 8  # the version of the class, which is not needed
        self.handles[self._place()] = description
        description.flags = self._number(">B", 1)
        count = self._number(">H", 2)
        if count > MAX_FIELDS:
            raise self._wrong(f"the class {description.name} has {count} fields (at most {MAX_FIELDS})")
        form = ">"
        for _ in range(count):
            kind = chr(self.data[self.position])
            self.position += 1
            name = self._text()
            if kind in _PRIMITIVES:
                if description.object_names:
                    raise self._wrong(f"the fields of {description.name} are out of order")
                form += _PRIMITIVES[kind]
                description.primitive_names.append(name)
            elif kind in "L[":
                self._content()  # the type's name
                description.object_names.append(name)
            else:
                raise self._wrong(f"unknown kind of field {kind!r}")
        description.primitives = struct.Struct(form)
        self._annotations()
        description.parent = self._parent()
        return description

    def _proxy(self) -> ClassDescription:
        description = ClassDescription("proxy", _SERIALIZABLE)
        self.handles[self._place()] = description
        count = self._number(">i", 4)
        if not 0 <= count <= MAX_FIELDS:
            raise self._wrong(f"a proxy of {count} interfaces (at most {MAX_FIELDS})")
        for _ in range(count):
            self._text()
        self._annotations()
        description.parent = self._parent()
        return description

    def _parent(self) -> ClassDescription | None:
        if self.data[self.position] == _NULL:
            self.position += 1
            return None
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._wrong(f"classes are nested more than {MAX_DEPTH} deep")
        parent = self._description()
        self.depth -= 1
        return parent

    def _annotations(self) -> list[Any]:
        values: list[Any] = []
        while (value := self._content()) is not _END:
            values.append(value)
        return values

    def _object(self) -> JavaObject:
        description = self._description()
        place = self._place()
        result = self.handles[place] = JavaObject(description.name)
        for level in description.lineage():
            if level.flags & _EXTERNALIZABLE:
                if not level.flags & _BLOCK_DATA:
                    raise self._wrong(f"the format of {level.name} cannot be read without the class")
                result.annotations += self._annotations()
                continue
            if level.primitive_names:
                values = level.primitives.unpack_from(self.data, self.position)
                self.position += level.primitives.size
                result.fields.update(zip(level.primitive_names, values))
            for name in level.object_names:
                result.fields[name] = self._content()
            if level.flags & _WRITE_METHOD:
                result.annotations += self._annotations()
        return result

    def _array(self) -> list[Any]:
        description = self._description()
        place = self._place()
        count = self._number(">i", 4)
        kind = description.name[1:2]
        if count < 0 or count > len(self.data) - self.position:
            raise self._wrong(
                f"an array of {count} values is announced, {len(self.data) - self.position} bytes are left"
            )
        result: list[Any] = []
        self.handles[place] = result
        if kind in _PRIMITIVES:
            size = struct.calcsize(f">{_PRIMITIVES[kind]}") * count
            result.extend(struct.unpack(f">{count}{_PRIMITIVES[kind]}", self._take(size)))
        elif kind in "L[" and kind:
            for _ in range(count):
                result.append(self._content())
        else:
            raise self._wrong(f"unknown kind of array {description.name!r}")
        return result
