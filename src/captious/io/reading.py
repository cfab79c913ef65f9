"""`read`: any source of captions, recognised by its content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from captious.collector import collector_paused
from captious.errors import InputError
from captious.io import json_formats, tables
from captious.io.captions import CaptionFile, Records, Role, gather, kind
from captious.io.content import decode, read_bytes
from captious.io.prepared import Grouped, is_prepared, open_captions


def read(source: object, role: Role, several: bool | None = None) -> CaptionFile:
    """Read captions from a path or a Python object.

    Parameters
    ----------
    source
        A path (`str` or `Path`) to COCO annotations, COCO results, a JSON object ``{id: caption(s)}``, JSON lines, CSV,
        TSV or Parquet, each also as gzip; or a dict, a list of rows or a data frame of the same shapes.
    role
        ``"references"`` or ``"predictions"``: which captions to take when a row has both, and what to refuse.
    several
        Whether several rows of one image are several captions (`True`) or a mistake (`False`). By default decided by
        whether most images have several rows. Only predictions are checked: references may always have several.
    """
    if role not in ("references", "predictions"):
        raise InputError(f"the role of a caption file is 'references' or 'predictions', not {role!r}")
    with collector_paused():
        if isinstance(source, str | os.PathLike):
            path = Path(source)
            return gather(_from_file(path, role), str(path), role, several, path)
        records, name = _from_object(source, role)
        return gather(records, name, role, several)


def _from_file(path: Path, role: Role) -> Records:
    if is_prepared(path):
        captions, _ = open_captions(path)
        groups: list[object] = list(Grouped(captions.texts, captions.image_offsets))
        return Records(list(captions.ids), groups, lambda i: f"image {i + 1}", "prepared references")
    data = read_bytes(path)
    name = str(path)
    if data.startswith(b"PAR1"):
        return tables.from_parquet(data, name, role)
    text = decode(data, name)
    if text.lstrip()[0] in "{[":
        return json_formats.parse(text, name, role)
    return tables.parse_delimited(text, name, role)


def _from_object(source: object, role: Role) -> tuple[Records, str]:
    if isinstance(source, Mapping):
        return json_formats.from_value(source, "<dict>", role), "<dict>"
    if tables.is_frame(source):
        return tables.from_frame(source, "<data frame>", role), "<data frame>"
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return json_formats.from_rows(list(source), "<rows>", role, "rows"), "<rows>"
    raise InputError(
        f"captions come from a path, a dict {{id: caption(s)}}, rows or a data frame, but this is {kind(source)}"
    )
