"""Which columns (or keys of a row) hold the image's id and the captions: names that are known, or names that are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from captious.errors import InputError, some
from captious.io.captions import CAPTION_KEYS, ID_KEYS, Role, show

#: Beside those of our own formats: what other tools and data sets call the image, and its captions.
OTHER_IDS = (
    "imageid", "img_id", "imgid", "cocoid", "filename", "file_name", "image_name", "img_name", "image_path", "filepath",
    "img", "file", "key",
)  # fmt: skip
OTHER_CAPTIONS = (
    "comment", "text", "sentence", "raw", "description", "generated_caption", "prediction", "generated", "hypothesis", "pred",
)  # fmt: skip
_OTHER_REFERENCES = ("sentences", "refs", "reference", "ground_truth", "answer", "comment", "text", "sentence", "raw", "description")


@dataclass(frozen=True)
class Columns:
    """Names that were given, each a list of which the first one present is taken; nothing means the known names."""

    ids: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()


_NOTHING = Columns()
_GIVEN: ContextVar[Columns] = ContextVar("columns", default=_NOTHING)


def split_names(names: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names from a list, or from text with commas between them."""
    parts = names.split(",") if isinstance(names, str) else names or ()
    return tuple(part.strip() for part in parts if part.strip())


@contextmanager
def columns(caption: str | Sequence[str] | None = None, id: str | Sequence[str] | None = None) -> Iterator[None]:
    """Within the block, files and rows are read by these columns: a name, or several of which the first present is taken."""
    before = _GIVEN.get()
    token = _GIVEN.set(Columns(split_names(id) or before.ids, split_names(caption) or before.captions))
    try:
        yield
    finally:
        _GIVEN.reset(token)


@contextmanager
def known_columns() -> Iterator[None]:
    """Within the block, files are read by the known names, whatever was given."""
    token = _GIVEN.set(_NOTHING)
    try:
        yield
    finally:
        _GIVEN.reset(token)


def given() -> Columns:
    """The names in force."""
    return _GIVEN.get()


def id_names() -> tuple[str, ...]:
    """Names of the id, the first one present wins."""
    return given().ids or (*ID_KEYS, *OTHER_IDS)


def caption_names(role: Role) -> tuple[str, ...]:
    """Names of the captions, the first one present wins."""
    others = _OTHER_REFERENCES if role == "references" else OTHER_CAPTIONS
    return given().captions or (*CAPTION_KEYS[role], *others)


def no_id(name: str, place: str, found: Sequence[str]) -> InputError:
    """The error for rows without an id."""
    known = ", ".join(f"'{key}'" for key in given().ids) or "'image_id', 'image', 'id', 'filename', …"
    return InputError(
        f"{name}{place}: there is no image id ({known}); found: {some(map(show, found), 12) or 'nothing'}; "
        "name the column with --id-column (id_column=)"
    )


def no_caption(name: str, place: str, found: Sequence[str]) -> InputError:
    """The error for rows without a caption."""
    known = " or ".join(f"'{key}'" for key in given().captions) or "'caption', 'captions' or 'references', …"
    return InputError(
        f"{name}{place}: there is no caption ({known}); found: {some(map(show, found), 12) or 'nothing'}; "
        "name the column with --caption-column (caption_column=)"
    )
