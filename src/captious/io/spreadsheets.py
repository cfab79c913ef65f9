"""Spreadsheets (XLSX), as VLMEvalKit writes its predictions. Needs the package openpyxl."""

from __future__ import annotations

import io
import warnings
import zipfile

from captious.core.errors import InputError, printable, require
from captious.core.limits import CONTENT
from captious.io.caption_files import Records, Role
from captious.io.table_files import has_both, pick_columns


def is_spreadsheet(data: bytes) -> bool:
    """Whether the content of a file is an XLSX workbook."""
    return data.startswith(b"PK\x03\x04") and b"xl/" in data


def read_spreadsheet(data: bytes, name: str, role: Role) -> Records:
    """Read the first sheet, whose first row has the names of the columns."""
    openpyxl = require("openpyxl", "xlsx", f"{name} is a spreadsheet; reading it")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            CONTENT.check(sum(member.file_size for member in archive.infolist()), name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as styles that openpyxl does not know
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            sheet = book.worksheets[0]
            sheet.reset_dimensions()
            rows = [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
            names = book.sheetnames
    except InputError:
        raise
    except Exception as problem:  # openpyxl has no error of its own: damage shows in many ways
        reason = printable((str(problem).strip() or type(problem).__name__).splitlines()[0])[:200]
        raise InputError(f"{name}: the spreadsheet is damaged ({reason}); save it again") from None
    if not rows:
        raise InputError(f"{name}: the first sheet is empty")
    header = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    lowered = [column.lower() for column in header]
    id_column, picked = pick_columns(lowered, header, name, role, rows_are_images=has_both(lowered))
    cells = [[*row, *[None] * (len(header) - len(row))] for row in rows[1:]]
    captions: list[object] = (
        [row[picked[0]] for row in cells]
        if len(picked) == 1
        else [[row[place] for place in picked if row[place] is not None] for row in cells]
    )
    return Records(
        list(range(len(cells))) if id_column is None else [row[id_column] for row in cells],
        captions,
        lambda row: f"row {row + 2}",
        "xlsx",
        id_field="number of the row" if id_column is None else header[id_column],
        caption_field=", ".join(header[place] for place in picked),
        fields=tuple(header),
        left_out=tuple(f"sheet {sheet!r}" for sheet in names[1:]),
    )
