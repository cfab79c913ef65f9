"""Tables: CSV and TSV text, Parquet files, data frames. A column with the image's id, and one with captions."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Sequence
from typing import Any, Literal

from captious.errors import InputError, MissingExtraError, some
from captious.io.captions import CAPTION_KEYS, ID_KEYS, Records, Role, show
from captious.io.content import loads

_DELIMITERS = {"\t": "tsv", ",": "csv", ";": "csv"}


def parse_delimited(text: str, name: str, role: Role) -> Records:
    """CSV or TSV, told apart by the header."""
    header_line = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=header_line.count)
    if delimiter not in header_line:
        raise InputError(
            f"{name}: not a format captious knows; it begins with {show(header_line.strip())}, which is neither JSON "
            "nor a table's header with columns such as image_id and caption (see docs/formats.md)"
        )
    if delimiter == "\t":
        try:
            rows, lines = _rows(text, name, delimiter, csv.QUOTE_MINIMAL)
        except InputError:  # a TSV that was written without quoting: there, quotes are letters like others
            rows, lines = _rows(text, name, delimiter, csv.QUOTE_NONE)
    else:
        rows, lines = _rows(text, name, delimiter, csv.QUOTE_MINIMAL)
    header = [column.strip() for column in rows[0]]
    id_column, caption_column = pick_columns([column.lower() for column in header], header, name, role)
    ids: list[str] = []
    captions: list[object] = []
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(header):
            hint = "; a caption that contains the separator must be quoted" if len(row) > len(header) else ""
            raise InputError(
                f"{name}, line {lines[number]}: {len(row)} fields, but the header has {len(header)} "
                f"({some(map(show, header))}){hint}"
            )
        ids.append(row[id_column])
        captions.append(row[caption_column])
    if header[caption_column].lower() != "caption":
        captions = [_cell(str(cell), name, lines[number]) for number, cell in enumerate(captions, 1)]
    return Records(ids, captions, lambda row: f"line {lines[row + 1]}", _DELIMITERS[delimiter], text_ids=True)


def pick_columns(columns: Sequence[str], shown: Sequence[str], name: str, role: Role) -> tuple[int, int]:
    """Positions of the id and caption columns among names in lower case."""
    found = f"the columns are {some(map(show, shown), 12)}"
    id_column = next((columns.index(key) for key in ID_KEYS if key in columns), None)
    caption_column = next((columns.index(key) for key in CAPTION_KEYS[role] if key in columns), None)
    if id_column is None:
        raise InputError(
            f"{name}: there is no column with the image id ('image_id', 'image' or 'id'); {found}"
        )
    if caption_column is None:
        if "references" in columns:
            raise InputError(
                f"{name} has a column 'references' and no 'caption': it holds references, but predictions were "
                "expected; give the references first, then the predictions"
            )
        raise InputError(
            f"{name}: there is no column with captions ('caption', 'captions' or 'references'); {found}"
        )
    for picked in (id_column, caption_column):
        if columns.count(columns[picked]) > 1:
            raise InputError(f"{name}: the column {show(shown[picked])} occurs twice; {found}")
    return id_column, caption_column


def from_parquet(data: bytes, name: str, role: Role) -> Records:
    """A Parquet file. Only the two columns that matter are read."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", f"{name} is a Parquet file; reading it") from None
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(data))
        columns = list(file.schema_arrow.names)
        picked = pick_columns([column.lower() for column in columns], columns, name, role)
        table = file.read(columns=[columns[place] for place in picked])
        ids, captions = (table.column(columns[place]).to_pylist() for place in picked)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{name}: the Parquet file is damaged ({str(problem).splitlines()[0]})") from None
    return Records(ids, captions, lambda row: f"row {row + 1}", "parquet")


def is_frame(source: object) -> bool:
    """A data frame of pandas or Polars, or an Arrow table; recognised without importing any of them."""
    return hasattr(source, "columns") and hasattr(source, "shape") and hasattr(source, "__getitem__")


def from_frame(frame: Any, name: str, role: Role) -> Records:
    """A data frame; in pandas the index may hold the ids."""
    if hasattr(frame, "reset_index") and getattr(frame.index, "name", None) in ID_KEYS:
        frame = frame.reset_index()
    names = list(getattr(frame, "column_names", frame.columns))
    columns = [str(column) for column in names]
    id_column, caption_column = pick_columns([column.lower() for column in columns], columns, name, role)
    ids, captions = (_column(frame, names[place]) for place in (id_column, caption_column))
    return Records(ids, captions, lambda row: f"row {row + 1}", "data frame")


def _column(frame: Any, column: Any) -> list[object]:
    values = frame[column]
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, Polars and pandas, anything array-like
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def _rows(text: str, name: str, delimiter: str, quoting: Literal[0, 3]) -> tuple[list[list[str]], list[int]]:
    """The rows of the text that are not blank, and the line each one ends on."""
    rows: list[list[str]] = []
    lines: list[int] = []
    limit = csv.field_size_limit(sys.maxsize)  # the default refuses captions of 131,072 letters
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as problem:
        raise InputError(
            f"{name}, line {reader.line_num}: not valid {_DELIMITERS[delimiter].upper()}: {problem}"
        ) from None
    finally:
        csv.field_size_limit(limit)
    return rows, lines


def _cell(cell: str, name: str, line: int) -> object:
    """A cell of a `captions` or `references` column: one caption, or a JSON list of them."""
    if not cell.startswith("["):
        return cell
    try:
        found = loads(cell, f"{name}, line {line}")
    except json.JSONDecodeError:
        raise InputError(
            f"{name}, line {line}: a list of captions in a table must be JSON, such as "
            f'["a dog", "a brown dog"]; found {show(cell)}'
        ) from None
    return found
