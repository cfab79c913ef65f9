"""Addresses of the pictures: files in a folder, or URLs built from image ids."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from captious.core.errors import InputError, printable
from captious.io.id_matching import plain_id

ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".bmp")
#: ``{id}``, or ``{id:012}`` for a zero-padded number.
_FIELD = re.compile(r"\{id(?::0?(\d{1,2})d?)?\}")


class Pictures(NamedTuple):
    """Addresses of the images' pictures (None without one), and the source the page's policy must allow."""

    addresses: list[str | None]
    policy: str


def is_template(given: str) -> bool:
    """Return whether ``given`` is a URL pattern rather than a folder."""
    return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", given))


def find(given: str | os.PathLike[str], ids: Sequence[str], page: Path | None) -> Pictures:
    """Find the pictures of images. Files are relative to ``page``, if its path is known."""
    text = os.fspath(given)
    return _addresses(text, ids) if is_template(text) else _files(Path(text), ids, page)


def _addresses(template: str, ids: Sequence[str]) -> Pictures:
    parts = urlsplit(template)
    if (
        parts.scheme not in ("http", "https")
        or not parts.netloc
        or "{" in parts.netloc
        or re.search(r"[\s;,'\"]", parts.netloc)
    ):
        raise InputError(
            f"'{printable(template)}': pictures must be in a folder, or at an http or https address"
        )
    if not _FIELD.search(template):
        raise InputError(
            f"'{printable(template)}' has no {{id}} for the id of the image (or {{id:012}} for a number of "
            "twelve digits)"
        )
    return Pictures([_address(template, image) for image in ids], f"{parts.scheme}://{parts.netloc}")


def _address(template: str, image: str) -> str:
    return _FIELD.sub(lambda field: _id(image, field[1]), template)


def _id(image: str, width: str | None) -> str:
    filled = image.zfill(int(width)) if width and image.isascii() and image.isdecimal() else image
    return quote(filled.encode("utf-8", "replace"), safe="")


def _files(folder: Path, ids: Sequence[str], page: Path | None) -> Pictures:
    addresses = [None if path is None else _relative(path, page) for path in find_files(folder, ids)]
    return Pictures(addresses, "file: 'self'")


def find_files(folder: Path, ids: Sequence[str]) -> list[Path | None]:
    """Return the picture of each image in a folder, by its id, its file name or its number."""
    if not folder.is_dir():
        raise InputError(
            f"{printable(str(folder))}: pictures are in a folder, or given as 'https://…/{{id}}.jpg'; there "
            "is no such folder"
        )
    by_name: dict[str, Path] = {}
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.lower().endswith(ENDINGS) and entry.is_file():
                by_name.setdefault(entry.name, Path(entry.path))
    by_stem = {Path(name).stem: path for name, path in by_name.items()}
    by_number = {plain_id(name): path for name, path in by_name.items()}
    paths = [by_name.get(image) or by_stem.get(image) or by_number.get(plain_id(image)) for image in ids]
    if not any(paths):
        raise InputError(
            f"{printable(str(folder))} has {len(by_name):,} pictures, but none is named like an image "
            f"(such as {printable(str(ids[0]))}{ENDINGS[0]})"
        )
    return paths


def _relative(path: Path, page: Path | None) -> str:
    if page is None:
        return path.resolve().as_uri()
    try:
        relative = os.path.relpath(path.resolve(), page.resolve().parent)
    except ValueError:  # another drive
        return path.resolve().as_uri()
    return "/".join(quote(part.encode("utf-8", "surrogateescape")) for part in Path(relative).parts)
