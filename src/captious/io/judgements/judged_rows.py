"""Rows of a table of any kind (JSON lines, a JSON array, CSV, TSV, Parquet) as dictionaries that know where
they stand."""

from __future__ import annotations

import ast
import csv
import io
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, MissingExtraError, some
from captious.io.content import check_lines, decode, loads, read_bytes, shown_name


@dataclass(frozen=True)
class Row:
    """One row, its fields checked where they are read."""

    values: Mapping[str, Any]
    #: "file, line 3".
    where: str

    def has(self, name: str) -> bool:
        """Whether the field is there and not empty."""
        return self.values.get(name) not in (None, "")

    def get(self, *names: str) -> Any:
        """The first of these fields that is there."""
        for name in names:
            if self.values.get(name) is not None:
                return self.values[name]
        raise InputError(f"{self.where}: no field '{names[0]}'; found {some(map(repr, self.values), 12)}")

    def text(self, *names: str) -> str:
        """A field with text."""
        value = self.get(*names)
        if not isinstance(value, str):
            raise InputError(f"{self.where}: '{names[0]}' must be text, found {_show(value)}")
        return value

    def name(self, *names: str) -> str:
        """A field with an id: text or a whole number."""
        value = self.get(*names)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise InputError(f"{self.where}: '{names[0]}' must be a name or a number, found {_show(value)}")
        return str(value)

    def number(self, *names: str) -> float:
        """A field with a finite number."""
        return number(self.get(*names), f"{self.where}: '{names[0]}'")

    def numbers(self, *names: str) -> list[float]:
        """A field with one number or a list of them."""
        value = self._list(self.get(*names))
        items = value if isinstance(value, list) else [value]
        if not items:
            raise InputError(f"{self.where}: '{names[0]}' is empty")
        return [number(item, f"{self.where}: '{names[0]}'") for item in items]

    def texts(self, *names: str) -> list[str]:
        """A field with a list of captions; in a table the list is written as JSON or as Python writes it."""
        value = self._list(self.get(*names))
        items = value if isinstance(value, list) else [value]
        if not items or not all(isinstance(item, str) for item in items):
            raise InputError(f"{self.where}: '{names[0]}' must be a list of captions, found {_show(value)}")
        return items

    def flag(self, name: str) -> bool:
        """A field that is true or false; false where it is not there."""
        value = self.values.get(name, False)
        if isinstance(value, str) and value.casefold() in ("true", "false", "0", "1", ""):
            return value.casefold() in ("true", "1")
        if not isinstance(value, bool | int) or value not in (0, 1):
            raise InputError(f"{self.where}: '{name}' must be true or false, found {_show(value)}")
        return bool(value)

    def _list(self, value: Any) -> Any:
        if hasattr(value, "tolist"):
            value = value.tolist()
        if not (isinstance(value, str) and value.lstrip().startswith("[")):
            return value
        # Only literals: nothing in the cell is run.
        text = value.strip()
        try:
            found = loads(text, self.where)
        except json.JSONDecodeError:
            try:
                found = ast.literal_eval(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                raise InputError(f"{self.where}: not a list: {_show(value)}") from None
        return list(found) if isinstance(found, list | tuple) else found


def number(value: object, where: str) -> float:
    """A finite number, or an error that names the place."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise InputError(f"{where} must be a number, found {_show(value)}") from None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{where} must be a finite number, found {_show(value)}")
    return float(value)


def read_rows(path: Path) -> list[Row]:
    """All rows of a file, whatever its format; recognised by content."""
    return rows_of(read_bytes(path), Path(shown_name(path)))


def rows_of(data: bytes, path: Path) -> list[Row]:
    """All rows of the content of a file."""
    if data.startswith(b"PAR1"):
        return list(_from_parquet(data, path))
    if data.startswith(b"MATLAB"):
        raise InputError(
            f"{path} is a MATLAB file; give the folder it is in, or its set as NAME={path.parent}"
        )
    text = decode(data, str(path))
    if text.lstrip()[0] == "[":
        rows = list(_from_array(text, path))
    elif text.lstrip()[0] == "{":
        rows = list(_from_lines(text, path))
    else:
        rows = list(_from_table(text, path))
    if not rows:
        raise InputError(f"{path} has no rows")
    return rows


def _from_lines(text: str, path: Path) -> Iterator[Row]:
    lines = text.split("\n")
    check_lines(lines, str(path))
    for line_number, line in enumerate(lines, start=1):
        if line.strip():
            where = f"{path}, line {line_number:,}"
            try:
                value = loads(line, where)
            except json.JSONDecodeError as problem:
                raise InputError(f"{where}: not valid JSON ({problem})") from None
            yield _row(value, where)


def _from_array(text: str, path: Path) -> Iterator[Row]:
    try:
        values = loads(text, str(path))
    except json.JSONDecodeError as problem:
        raise InputError(f"{path}: not valid JSON ({problem})") from None
    for place, value in enumerate(values, start=1):
        yield _row(value, f"{path}, row {place:,}")


def _row(value: object, where: str) -> Row:
    if not isinstance(value, dict):
        raise InputError(f"{where}: a row must be an object with named fields, found {_show(value)}")
    return Row(value, where)


def _from_table(text: str, path: Path) -> Iterator[Row]:
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max("\t,;", key=first.count)
    rows = table_cells(text, path, delimiter)
    _, header = next(rows)
    names = [name.strip() for name in header]
    if len(names) < 2:
        raise InputError(f"{path}: neither JSON nor a table with a header; it begins with {_show(first)}")
    if len(set(names)) != len(names):
        raise InputError(f"{path}: a column name occurs twice in {some(map(repr, names), 12)}")
    for line, cells in rows:
        if len(cells) != len(names):
            raise InputError(f"{path}, line {line:,}: {len(cells)} fields, but the header has {len(names)}")
        yield Row(dict(zip(names, cells)), f"{path}, line {line:,}")


def table_cells(
    text: str, path: Path, delimiter: str, quoting: int = csv.QUOTE_MINIMAL
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that is not blank, with the number of the line."""
    check_lines(text.split("\n"), str(path))
    limit = csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)  # type: ignore[arg-type]
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as problem:
        raise InputError(f"{path}, line {reader.line_num:,}: not a valid table ({problem})") from None
    finally:
        csv.field_size_limit(limit)


def _from_parquet(data: bytes, path: Path) -> Iterator[Row]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", f"{path} is a Parquet file; reading it") from None
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
        # Pictures, where a set carries them, are large and never needed.
        plain = [
            f.name
            for f in file.schema_arrow
            if not pyarrow.types.is_struct(f.type) and not pyarrow.types.is_binary(f.type)
        ]
        values: Sequence[Any] = file.read(columns=plain).to_pylist()
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: the Parquet file is damaged ({str(problem).splitlines()[0]})") from None
    for place, value in enumerate(values, start=1):
        yield Row(value, f"{path}, row {place:,}")


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "…"
