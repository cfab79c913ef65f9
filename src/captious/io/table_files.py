"""Tables with a column of image ids and one of captions: CSV, TSV, Parquet, data frames."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from captious.core.errors import InputError, printable, require, some
from captious.io.caption_files import (
    CaptionWarning,
    Records,
    Role,
    caption_names,
    id_names,
    no_caption,
    no_id,
    numbered_names,
    printed_list,
    show,
)
from captious.io.content import loads
from captious.io.line_files import MSVD, is_header, msvd_clips, parse_lines

_DELIMITERS = {"\t": "tsv", ",": "csv", ";": "csv", "|": "bars"}


def parse_delimited(text: str, name: str, role: Role) -> Records:
    """Parse CSV, TSV or text with bars, detected from the header, or Flickr's lists, which have none."""
    header_line = text.lstrip("\r\n").partition("\n")[0]
    if (records := parse_lines(text, name, role)) is not None:
        return records
    delimiter = max(_DELIMITERS, key=header_line.count)
    if delimiter not in header_line:
        if is_header([header_line.strip().lower()]):
            raise InputError(
                f"{name}: the first line, {show(header_line.strip())}, names a column, but there is no "
                "column of ids; remove that line to read one caption per line"
            )
        raise InputError(
            f"{name}: not a format captious knows; it begins with {show(header_line.strip())}, which is "
            "neither JSON "
            "nor a table's header with columns such as image_id and caption (see docs/reference/formats.md)"
        )
    try:
        header = [column.strip() for column in next(csv.reader([header_line], delimiter=delimiter), [])]
    except csv.Error as problem:
        kind = _DELIMITERS[delimiter].upper()
        raise InputError(f"{name}, line 1: not valid {kind}: {problem}; end lines with a line feed") from None
    lowered = [column.lower() for column in header]
    id_column, picked = pick_columns(lowered, header, name, role, rows_are_images=has_both(lowered))
    caption_column = picked[0]
    last = (
        id_column is not None
        and len(picked) == 1
        and caption_column == len(header) - 1
        and id_column < caption_column
    )
    if delimiter == "|":
        rows, lines = _plain_rows(text, delimiter, len(header))
    else:
        try:
            rows, lines = read_cells(text, name, delimiter, csv.QUOTE_MINIMAL)
        except InputError as error:
            if delimiter == "\t":  # a TSV without quoting, where quotes are ordinary characters
                rows, lines = read_cells(text, name, delimiter, csv.QUOTE_NONE)
            elif (
                last
                and "unexpected end of data" not in str(error)
                and _looks_unquoted(text, delimiter, len(header))
            ):
                rows, lines = _unquoted_rows(text, delimiter, len(header), name)
            else:
                raise
        else:
            if delimiter == "," and last and any(len(row) > len(header) for row in rows):
                rows, lines = _unquoted_rows(text, delimiter, len(header), name)
    ids: list[str] = []
    captions: list[object] = []
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(header):
            hint = "; a caption that contains the separator must be quoted" if len(row) > len(header) else ""
            raise InputError(
                f"{name}, line {lines[number]}: {len(row)} fields, but the header has {len(header)} "
                f"({some(map(show, header))}){hint}"
            )
        ids.append(str(number - 1) if id_column is None else row[id_column])
        # Of several columns, an empty cell is no caption, as where an image has fewer references.
        captions.append(
            row[caption_column]
            if len(picked) == 1
            else [row[place] for place in picked if row[place].strip()]
        )
    if header[caption_column].lower() in ("captions", "references"):
        captions = [_cell(str(cell), name, lines[number]) for number, cell in enumerate(captions, 1)]
    records = Records(
        ids,
        captions,
        lambda row: f"line {lines[row + 1]}",
        _DELIMITERS[delimiter],
        text_ids=True,
        id_field="number of the row" if id_column is None else header[id_column],
        caption_field=", ".join(header[place] for place in picked),
        fields=tuple(header),
    )
    return msvd_clips(records, rows[1:], lowered) if set(MSVD) <= set(lowered) else records


def has_both(columns: Sequence[str]) -> bool:
    """Whether a table holds predictions and numbered references, so that it needs no ids (aac-metrics)."""
    return any(name in columns for name in ("caption_predicted", "preds", "cands"))


#: One row of the common copy of Flickr30k's table lacks the bar between number and caption.
_NO_BAR = re.compile(r"\s*(\d+)\s+(\D.*)")


def _plain_rows(text: str, delimiter: str, width: int) -> tuple[list[list[str]], list[int]]:
    """Return the rows of a table without quoting. The text after the last separator is the caption."""
    rows: list[list[str]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            row = [cell.strip() for cell in line.rstrip("\r").split(delimiter, width - 1)]
            if len(row) == width - 1 and (match := _NO_BAR.fullmatch(row[-1])):
                row[-1:] = [match[1], match[2]]
            rows.append(row)
            lines.append(number)
    return rows, lines


def _looks_unquoted(text: str, delimiter: str, width: int) -> bool:
    """Whether every line has enough separators, so that captions were not quoted on purpose."""
    return all(line.count(delimiter) >= width - 1 for line in text.split("\n") if line.strip())


def _unquoted_rows(text: str, delimiter: str, width: int, name: str) -> tuple[list[list[str]], list[int]]:
    """Return the rows of a table with unquoted separators in the last column, the captions (captions.txt)."""
    rows: list[list[str]] = []
    lines: list[int] = []
    odd: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        row = line.rstrip("\r").split(delimiter, width - 1)
        cell = row[-1]
        if (
            len(cell) >= 2
            and cell[0] == cell[-1] == '"'
            and cell[1:-1].count('"') == 2 * cell[1:-1].count('""')
        ):
            row[-1] = cell[1:-1].replace('""', '"')
        elif delimiter in cell:
            odd.append(number)
        rows.append(row)
        lines.append(number)
    if odd:
        warnings.warn(
            CaptionWarning(
                f"{name}: {len(odd):,} captions hold '{delimiter}' without being quoted (line "
                f"{some(odd, 3)}); "
                "everything to the end of the line is the caption"
            ),
            stacklevel=2,
        )
    return rows, lines


def pick_columns(
    columns: Sequence[str],
    shown: Sequence[str],
    name: str,
    role: Role,
    usable: Callable[[str], bool] = lambda _: True,
    rows_are_images: bool = False,
) -> tuple[int | None, list[int]]:
    """Return the indices of the id column and of the caption column, or of several that are numbered.

    ``columns`` are lower case; ``usable`` filters them. If each row is an image, there may be no id column.
    """

    def first(names: Sequence[str]) -> int | None:
        return next(
            (columns.index(key.lower()) for key in names if key.lower() in columns and usable(key.lower())),
            None,
        )

    id_column, caption_column = first(id_names(columns)), first(caption_names(role))
    if id_column is None and not rows_are_images:
        raise no_id(name, "", shown)
    if numbered := numbered_names(columns, role):
        return id_column, [columns.index(column) for column in numbered]
    if caption_column is None:
        if "references" in columns:
            raise InputError(
                f"{name} has a column 'references' and no 'caption': it holds references, but predictions "
                "were "
                "expected; give the references first, then the predictions"
            )
        raise no_caption(name, "", shown)
    for picked in (id_column, caption_column):
        if picked is not None and columns.count(columns[picked]) > 1:
            raise InputError(
                f"{name}: the column {show(shown[picked])} occurs twice; "
                f"the columns are {some(map(show, shown), 12)}"
            )
    return id_column, [caption_column]


def _joined(columns: list[list[object]]) -> list[object]:
    """Return the captions of each row: those of one column, or of several without missing values."""
    if len(columns) == 1:
        return columns[0]
    return [[text for text in row if text is not None and text == text] for row in zip(*columns)]


def from_parquet(data: bytes, name: str, role: Role) -> Records:
    """Read the id and caption columns of a Parquet file."""
    with parquet_file(data, name) as file:
        columns = list(file.schema_arrow.names)
        id_column, picked = pick_columns([column.lower() for column in columns], columns, name, role)
        assert id_column is not None
        table = file.read(columns=[columns[place] for place in (id_column, *picked)])
        ids, *captions = (table.column(columns[place]).to_pylist() for place in (id_column, *picked))
    return _described(ids, captions, "parquet", columns, id_column, picked)


def _described(
    ids: list[object],
    captions: list[list[object]],
    form: str,
    columns: Sequence[str],
    id_column: int,
    picked: Sequence[int],
) -> Records:
    return Records(
        ids,
        _joined(captions),
        lambda row: f"row {row + 1}",
        form,
        id_field=columns[id_column],
        caption_field=", ".join(columns[place] for place in picked),
        fields=tuple(columns),
    )


@contextmanager
def parquet_file(data: bytes, name: str) -> Iterator[Any]:
    """Open the content of a Parquet file. Damage is one `InputError`."""
    pyarrow = require("pyarrow", "parquet", f"{name} is a Parquet file; reading it")
    try:
        yield open_parquet(pyarrow.BufferReader(data), name)
    except InputError:
        raise
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as problem:
        reason = printable((str(problem).strip() or type(problem).__name__).splitlines()[0])[:200]
        raise InputError(f"{name}: the Parquet file is damaged ({reason}); write it again") from None


def open_parquet(source: Any, name: str, **options: Any) -> Any:
    """Return a `pyarrow.parquet.ParquetFile`. Checksums of pages are verified if the file has them."""
    pyarrow = require("pyarrow.parquet", "parquet", f"{name} is a Parquet file; reading it")
    return pyarrow.ParquetFile(source, page_checksum_verification=True, **options)


def is_frame(source: object) -> bool:
    """Whether an object is a data frame of pandas or Polars, an Arrow table or a Hugging Face data set.

    None of these packages is imported.
    """
    named = hasattr(source, "columns") or hasattr(source, "column_names")
    return named and hasattr(source, "shape") and hasattr(source, "__getitem__")


def from_frame(frame: Any, name: str, role: Role) -> Records:
    """Read a data frame. In pandas, the index can hold the ids."""
    if hasattr(frame, "collect") and not hasattr(frame, "iloc") and type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    if hasattr(frame, "reset_index") and getattr(frame.index, "name", None) in id_names():
        frame = frame.reset_index()
    names = list(getattr(frame, "column_names", None) or frame.columns)
    shown = [str(column) for column in names]
    lowered = [column.lower() for column in shown]
    features = getattr(frame, "features", None)

    def usable(column: str) -> bool:
        # A column of a Hugging Face data set can hold images, which must not be decoded as ids.
        kind = features.get(names[lowered.index(column)]) if isinstance(features, dict) else None
        return type(kind).__name__ not in ("Image", "Audio", "Video")

    id_column, picked = pick_columns(lowered, shown, name, role, usable)
    assert id_column is not None
    ids, *captions = (_column(frame, names[place]) for place in (id_column, *picked))
    return _described(ids, captions, "data frame", shown, id_column, picked)


def _column(frame: Any, column: Any) -> list[object]:
    values = frame[column]
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, Polars and pandas, anything array-like
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def read_cells(
    text: str, name: str, delimiter: str, quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
) -> tuple[list[list[str]], list[int]]:
    """Return the cells of each row that is not blank, and the line on which the row ends."""
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
            f"{name}, line {reader.line_num:,}: not valid {_DELIMITERS[delimiter].upper()}: {problem}"
        ) from None
    finally:
        csv.field_size_limit(limit)
    return rows, lines


def _cell(cell: str, name: str, line: int) -> object:
    """Return the value of a cell of a `captions` or `references` column: a caption or a JSON list of
    captions.
    """
    if not cell.startswith("[") or printed_list(cell) is not None:
        return cell
    try:
        return loads(cell, f"{name}, line {line}")
    except json.JSONDecodeError:
        raise InputError(
            f"{name}, line {line}: a list of captions in a table must be JSON, such as "
            f'["a dog", "a brown dog"]; found {show(cell)}'
        ) from None
