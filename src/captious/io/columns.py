"""Names of the columns (or keys of a row) that hold the image id and the captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from captious.core.errors import InputError, some
from captious.io.caption_files import CAPTION_KEYS, ID_KEYS, Role, show

#: Further names of the image id and the captions, from other tools and data sets.
OTHER_IDS = (
    "imageid", "img_id", "imgid", "cocoid", "filename", "file_name", "image_name", "img_name", "image_path",
    "filepath",
    "img", "file", "key",
)  # fmt: skip
OTHER_CAPTIONS = (
    "comment", "text", "sentence", "raw", "description", "generated_caption", "prediction", "generated",
    "hypothesis", "pred",
)  # fmt: skip
_OTHER_REFERENCES = (
    "sentences",
    "refs",
    "reference",
    "ground_truth",
    "answer",
    "comment",
    "text",
    "sentence",
    "raw",
    "description",
)


@dataclass(frozen=True)
class Columns:
    """Column names set by the caller. The first name that exists is used; empty means the default names."""

    ids: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()


_DEFAULT = Columns()
_SELECTED: ContextVar[Columns] = ContextVar("columns", default=_DEFAULT)


def split_names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return names from a list or from a comma-separated text."""
    parts = names.split(",") if isinstance(names, str) else names or ()
    return tuple(part.strip() for part in parts if part.strip())


@contextmanager
def columns(
    caption: str | Sequence[str] | None = None, id: str | Sequence[str] | None = None
) -> Iterator[None]:
    """Read files and rows by these columns inside the block.

    Of several names, the first that exists is used.
    """
    before = _SELECTED.get()
    token = _SELECTED.set(Columns(split_names(id) or before.ids, split_names(caption) or before.captions))
    try:
        yield
    finally:
        _SELECTED.reset(token)


@contextmanager
def known_columns() -> Iterator[None]:
    """Read files by the default names inside the block, whatever the caller set."""
    token = _SELECTED.set(_DEFAULT)
    try:
        yield
    finally:
        _SELECTED.reset(token)


def selected() -> Columns:
    """Return the names in force."""
    return _SELECTED.get()


def id_names() -> tuple[str, ...]:
    """Return names of the id column, in order of preference."""
    return selected().ids or (*ID_KEYS, *OTHER_IDS)


def caption_names(role: Role) -> tuple[str, ...]:
    """Return names of the caption column, in order of preference."""
    others = _OTHER_REFERENCES if role == "references" else OTHER_CAPTIONS
    return selected().captions or (*CAPTION_KEYS[role], *others)


def no_id(name: str, place: str, present: Sequence[str]) -> InputError:
    """Return the error for rows without an id."""
    known = ", ".join(f"'{key}'" for key in selected().ids) or "'image_id', 'image', 'id', 'filename', …"
    return InputError(
        f"{name}{place}: there is no image id ({known}); found: {some(map(show, present), 12) or 'nothing'}; "
        "name the column with --id-column (id_column=)"
    )


def no_caption(name: str, place: str, present: Sequence[str]) -> InputError:
    """Return the error for rows without a caption."""
    known = (
        " or ".join(f"'{key}'" for key in selected().captions) or "'caption', 'captions' or 'references', …"
    )
    return InputError(
        f"{name}{place}: there is no caption ({known}); found: {some(map(show, present), 12) or 'nothing'}; "
        "name the column with --caption-column (caption_column=)"
    )
