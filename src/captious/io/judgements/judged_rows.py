"""Rows of judgement files (JSON lines, a JSON array, CSV, TSV, Parquet) with their positions."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from captious.core.errors import InputError, some
from captious.io.caption_files import show
from captious.io.content import check_lines, decode, is_number, loads, read_bytes, shown_name
from captious.io.table_files import parquet_file, read_cells


@dataclass(frozen=True)
class Row:
    """One row of a file. Fields are checked on access."""

    values: Mapping[str, Any]
    #: Position for messages, such as "file, line 3".
    where: str

    def has(self, name: str) -> bool:
        """Whether the field exists and is not empty."""
        return self.values.get(name) not in (None, "")

    def get(self, *names: str) -> Any:
        """Return the first of these fields that exists."""
        for name in names:
            if self.values.get(name) is not None:
                return self.values[name]
        raise InputError(f"{self.where}: no field '{names[0]}'; found {some(map(repr, self.values), 12)}")

    def text(self, *names: str) -> str:
        """Return a text field."""
        value = self.get(*names)
        if not isinstance(value, str):
            raise InputError(f"{self.where}: '{names[0]}' must be text, found {show(value, 80)}")
        return value

    def name(self, *names: str) -> str:
        """Return an id field as text: text or a whole number."""
        value = self.get(*names)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise InputError(
                f"{self.where}: '{names[0]}' must be a name or a number, found {show(value, 80)}"
            )
        return str(value)

    def number(self, *names: str) -> float:
        """Return a field with a finite number."""
        return number(self.get(*names), f"{self.where}: '{names[0]}'")

    def numbers(self, *names: str) -> list[float]:
        """Return a field with one number or a list of numbers."""
        value = self._list(self.get(*names))
        items = value if isinstance(value, list) else [value]
        if not items:
            raise InputError(f"{self.where}: '{names[0]}' is empty")
        return [number(item, f"{self.where}: '{names[0]}'") for item in items]

    def texts(self, *names: str) -> list[str]:
        """Return a list of captions. In a table, the list is JSON or a Python literal."""
        value = self._list(self.get(*names))
        items = value if isinstance(value, list) else [value]
        if not items or not all(isinstance(item, str) for item in items):
            raise InputError(
                f"{self.where}: '{names[0]}' must be a list of captions, found {show(value, 80)}"
            )
        return items

    def flag(self, name: str) -> bool:
        """Return a field that is true or false. A missing field is false."""
        value = self.values.get(name, False)
        if isinstance(value, str) and value.casefold() in ("true", "false", "0", "1", ""):
            return value.casefold() in ("true", "1")
        if not isinstance(value, bool | int) or value not in (0, 1):
            raise InputError(f"{self.where}: '{name}' must be true or false, found {show(value, 80)}")
        return bool(value)

    def _list(self, value: Any) -> Any:
        if hasattr(value, "tolist"):
            value = value.tolist()
        if not (isinstance(value, str) and value.lstrip().startswith("[")):
            return value
        # Only literals: nothing in the cell is run.
        text = value.strip()
        try:
            listed = loads(text, self.where)
        except json.JSONDecodeError:
            try:
                listed = ast.literal_eval(text)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                raise InputError(f"{self.where}: not a list: {show(value, 80)}") from None
        return list(listed) if isinstance(listed, list | tuple) else listed


def number(value: object, where: str) -> float:
    """Return a finite number, or raise an error that names the position."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise InputError(f"{where} must be a number, found {show(value, 80)}") from None
    if not is_number(value):
        raise InputError(f"{where} must be a finite number, found {show(value, 80)}")
    return float(value)


def read_rows(path: Path) -> list[Row]:
    """Return all rows of a file. The format is detected from the content."""
    return rows_of(read_bytes(path), Path(shown_name(path)))


def rows_of(data: bytes, path: Path) -> list[Row]:
    """Return all rows of the content of a file."""
    if data.startswith(b"PAR1"):
        return _from_parquet(data, path)
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
        raise InputError(f"{where}: a row must be an object with named fields, found {show(value, 80)}")
    return Row(value, where)


def _from_table(text: str, path: Path) -> Iterator[Row]:
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max("\t,;", key=first.count)
    rows = table_cells(text, path, delimiter)
    _, header = next(rows, (0, []))
    names = [name.strip() for name in header]
    if len(names) < 2:
        raise InputError(f"{path}: neither JSON nor a table with a header; it begins with {show(first, 80)}")
    if len(set(names)) != len(names):
        raise InputError(f"{path}: a column name occurs twice in {some(map(repr, names), 12)}")
    for line, cells in rows:
        if len(cells) != len(names):
            raise InputError(f"{path}, line {line:,}: {len(cells)} fields, but the header has {len(names)}")
        yield Row(dict(zip(names, cells)), f"{path}, line {line:,}")


def table_cells(
    text: str, path: Path, delimiter: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each row that is not blank."""
    check_lines(text.split("\n"), str(path))
    rows, lines = read_cells(text, str(path), delimiter, quoting)
    return zip(lines, rows)


def _from_parquet(data: bytes, path: Path) -> list[Row]:
    with parquet_file(data, str(path)) as file:
        # Some sets carry pictures, which are large and never needed.
        names = [
            field.name
            for field in file.schema_arrow
            if str(field.type) != "binary" and not str(field.type).startswith("struct")
        ]
        values: Sequence[Mapping[str, Any]] = file.read(columns=names).to_pylist()
    return [Row(value, f"{path}, row {place:,}") for place, value in enumerate(values, start=1)]
