"""Read captions from any source, and save prepared references. The format is detected from the content.

Spreadsheets (XLSX, as VLMEvalKit writes its predictions) need the package openpyxl.
"""

from __future__ import annotations

import io
import os
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from captious.core import container
from captious.core.container import Grouped
from captious.core.errors import InputError, printable, require, some
from captious.core.limits import CONTENT
from captious.core.memo import Arrays, Memo, ProductKey
from captious.core.threads import collector_paused
from captious.core.writing import is_standard
from captious.corpus import Captions
from captious.corpus.encoding import Encoding
from captious.io import json_formats, json_reader
from captious.io import table_files as tables
from captious.io.caption_files import BY_PLACE, CaptionFile, Records, Role, columns, gather, kind, show
from captious.io.content import (
    check_bytes,
    content_of_pipe,
    decode,
    read_bytes,
    read_raw,
    shown_name,
    split_lines,
)
from captious.io.table_files import has_both, pick_columns
from captious.text.vocabulary import Vocabulary


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


def read(
    source: object,
    role: Role,
    several: bool | None = None,
    *,
    caption_column: str | Sequence[str] | None = None,
    id_column: str | Sequence[str] | None = None,
) -> CaptionFile:
    """Read captions from a path or a Python object.

    Parameters
    ----------
    source
        A path (`str` or `Path`; ``-`` is standard input) to COCO annotations, COCO results, Karpathy's
        splits, a JSON object ``{id: caption(s)}``, JSON lines, CSV, TSV, Flickr's lists or Parquet, each also
        as gzip; or a dict, a list of rows, a data frame (pandas, Polars, Arrow) or a Hugging Face data set of
        the same shapes; or a list of captions (or of lists of captions), whose images are known by their
        place.
    role
        ``"references"`` or ``"predictions"``: which captions to take when a row has both, and what to refuse.
    several
        Whether several rows of one image are several captions (`True`) or a mistake (`False`). By default
        decided by whether most images have several rows. Only predictions are checked: references may always
        have several.
    caption_column, id_column
        Which column (or key of a row) holds the captions and the ids, if captious does not know their names;
        of several names, the first that exists is used.
    """
    if role not in ("references", "predictions"):
        raise InputError(f"the role of a caption file is 'references' or 'predictions', not {role!r}")
    with collector_paused(), columns(caption_column, id_column):
        if isinstance(source, str | os.PathLike):
            path = Path(source)
            if is_prepared(path):
                records = _prepared(*open_prepared(path))
                return gather(records, shown_name(path), role, several, _place(path))
            return _from_content(read_content_bytes(path), path, role, several)
        records, name = _from_object(source, role)
        return gather(records, name, role, several)


def read_content(data: bytes, path: Path, role: Role) -> CaptionFile:
    """Read captions from the content of a file."""
    with collector_paused():
        return _from_content(data, path, role, None)


def read_named_captions(path: Path) -> tuple[list[str], list[str]]:
    """Return the names and texts of the captions in a caption file, or in a file with one caption per line.

    A caption is named after its image and its number there (``12.1``), or after its line.
    """
    data, name = read_bytes(path), shown_name(path)
    if data[:4] == b"PAR1" or data.lstrip()[:1] in (b"{", b"[") or path.suffix in (".csv", ".tsv"):
        file = read_content(data, path, "references")
        names = [
            f"{image}.{number}"
            for image, captions in zip(file.ids, file.captions)
            for number in range(1, len(captions) + 1)
        ]
        return names, [caption for captions in file.captions for caption in captions]
    lines = split_lines(decode(data, name), name)
    return [str(number) for number in range(1, len(lines) + 1)], lines


def read_content_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a caption file, unpacked if it is gzip."""
    data = read_raw(path)
    return data if is_spreadsheet(data) else check_bytes(data, shown_name(path))


def _place(path: Path) -> Path | None:
    return None if is_standard(path) else path


def _from_content(data: bytes, path: Path, role: Role, several: bool | None) -> CaptionFile:
    name, place = shown_name(path), _place(path)
    captions = json_reader.read_rows(data, name, role, several, place)
    return captions or gather(_records(data, name, role), name, role, several, place)


def _prepared(captions: Captions, _: str) -> Records:
    groups: list[object] = list(Grouped(captions.texts, captions.image_offsets))
    return Records(list(captions.ids), groups, lambda i: f"image {i + 1}", "prepared references")


def records_of(source: object, name: str, role: Role) -> Records:
    """Return the rows of a file's content or of a Python object, not checked yet."""
    return _records(source, name, role) if isinstance(source, bytes) else _from_object(source, role)[0]


def _records(data: bytes, name: str, role: Role) -> Records:
    if container.begins(data):
        return _prepared(*open_prepared(name, data))
    if is_spreadsheet(data):
        return read_spreadsheet(data, name, role)
    if data.startswith(b"PAR1"):
        return tables.from_parquet(data, name, role)
    text = decode(data, name)
    if text.lstrip()[0] in "{[":
        return json_formats.parse(text, name, role)
    return tables.parse_delimited(text, name, role)


def _from_object(source: object, role: Role) -> tuple[Records, str]:
    if hasattr(source, "column_names") and isinstance(source, dict):  # a Hugging Face DatasetDict
        raise InputError(
            f"this data set has the parts {some(map(show, source))}; "
            f"give one of them, such as dataset[{next(iter(source), '')!r}]"
        )
    if isinstance(source, Mapping):
        return json_formats.from_value(source, "<dict>", role), "<dict>"
    if tables.is_frame(source):
        return tables.from_frame(source, "<data frame>", role), "<data frame>"
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        rows = list(source)
        if rows and all(isinstance(row, str | list | tuple) for row in rows):
            numbers = list(range(len(rows)))
            return Records(numbers, rows, lambda row: f"item {row}", BY_PLACE), "<list>"
        return json_formats.from_rows(rows, "<rows>", role, "rows"), "<rows>"
    raise InputError(
        f"captions come from a path, a dict {{id: caption(s)}}, rows or a data frame, but this is "
        f"{kind(source)}"
    )


# Prepared references ------------------------------------------------------------------------------


KIND = "prepared references"
#: Files of version 1 (captious 0.4) hold a larger n-gram index, which is read still.
VERSION, OLDEST = 2, 1
_HOW = "'captious prepare REFS -o FILE' makes one"

#: Whether a file can hold prepared references.
is_prepared = container.is_container


def save_prepared(path: str | Path, captions: Captions, name: str) -> None:
    """Write encoded references with all products they have."""
    if captions.rows is not None or captions.encoding.base is not None:
        raise ValueError("only captions that were encoded by themselves can be kept")
    encoding = captions.encoding
    arrays: dict[str, NDArray[Any]] = {
        **container.text_arrays("ids", captions.ids),
        **container.text_arrays("texts", encoding.texts),
        **container.text_arrays("words", encoding.vocabulary.words),
        "image_offsets": captions.image_offsets,
        "tokens": encoding.tokens,
        "token_offsets": encoding.offsets,
    }
    listed: list[dict[str, Any]] = []
    for owner, memo in (("encoding", encoding.memo), ("captions", captions.memo)):
        for key, parts in memo.products():
            names = {}
            for part, values in parts.items():
                names[part] = f"product {len(listed)}/{part}"
                arrays[names[part]] = values
            listed.append({"of": owner, "key": list(key), "arrays": names})
    meta = {
        "name": name, "tokenizer": encoding.tokenizer, "digest": captions.digest, "products": listed,
    }  # fmt: skip
    container.write(path, KIND, VERSION, meta, arrays)


def open_prepared(path: str | Path, content: bytes | None = None) -> tuple[Captions, str]:
    """Return the captions, mapped from the file or from its content, and the name of their source."""
    content = content_of_pipe(path) if content is None else content
    opened = container.read(path, KIND, VERSION, _HOW, content, oldest=OLDEST)
    if content is None and opened.path.is_file():
        container.vouch(opened)
    meta, arrays = opened.meta, opened.arrays
    memos: dict[str, dict[ProductKey, Arrays]] = {"encoding": {}, "captions": {}}
    for row in meta["products"]:
        memos[row["of"]][tuple(row["key"])] = _Parts(arrays, row["arrays"])
    encoding = Encoding(
        opened.texts("texts"),
        arrays["tokens"],
        arrays["token_offsets"],
        Vocabulary(opened.texts("words")),
        meta["tokenizer"],
        memo=Memo(memos["encoding"]),
    )
    ids = list(opened.texts("ids"))
    captions = Captions(
        ids, arrays["image_offsets"], encoding, memo=Memo(memos["captions"]), digest=meta["digest"]
    )
    return captions, meta["name"]


def caption_file(captions: Captions, name: str, path: Path | None) -> CaptionFile:
    """Return encoded references as a `CaptionFile`."""
    groups = Grouped(captions.texts, captions.image_offsets)
    return CaptionFile(name, list(captions.ids), groups, KIND, several=True, role="references", path=path)


class _Parts(Mapping[str, NDArray[Any]]):
    """Arrays of one product, read when it is unpacked."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], names: Mapping[str, str]) -> None:
        self._arrays, self._names = arrays, names

    def __getitem__(self, part: str) -> NDArray[Any]:
        return self._arrays[self._names[part]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
