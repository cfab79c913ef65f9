"""Names of the columns (or keys of a row) that hold the image id and the captions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase

from captious.core.errors import InputError, some
from captious.io.caption_files import CAPTION_KEYS, ID_KEYS, Role, show

#: Further names of the image id and the captions, from other tools and data sets.
OTHER_IDS = (
    "imageid", "img_id", "imgid", "cocoid", "filename", "file_name", "image_name", "img_name", "image_path",
    "filepath",
    "img", "file", "key",
    "videoID", "video_id", "videoid", "video", "video_name", "clip_id",  # VATEX, MSR-VTT, MSVD
    "youtube_id", "fname", "sound_id", "audio_id",  # AudioCaps, Clotho, aac-metrics
    "question_id", "index",  # LLaVA, VLMEvalKit
)  # fmt: skip
OTHER_CAPTIONS = (
    "comment", "text", "sentence", "raw", "description", "generated_caption", "prediction", "generated",
    "hypothesis", "pred", "caption_predicted", "preds", "cands", "response", "output",
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
    "enCap",
    "reference_strs",
    "annotations_captions",
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

    Of several names, the first that exists is used; names that differ in their number only
    (``caption_1,caption_2``) are used together.
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


def id_names(present: Iterable[object] = ()) -> tuple[str, ...]:
    """Return names of the id column, in order of preference."""
    if not selected().ids and {"index", "prediction"} <= set(present):
        # VLMEvalKit: "image" is the picture itself, or the number of another row that has it.
        return ("index", *ID_KEYS, *OTHER_IDS)
    return selected().ids or (*ID_KEYS, *OTHER_IDS)


def caption_names(role: Role) -> tuple[str, ...]:
    """Return names of the caption column, in order of preference."""
    others = _OTHER_REFERENCES if role == "references" else OTHER_CAPTIONS
    return selected().captions or (*CAPTION_KEYS[role], *others)


_NUMBERED = re.compile(r"(.*?)[ _-]?(\d+)")
#: Names of columns that are numbered where each caption has its own (``caption_1`` … ``caption_5``).
_STEMS = frozenset({"caption", "reference", "ref", "sentence", "comment", "description", "text", "gt"})


def numbered_names(present: Sequence[str], role: Role) -> list[str]:
    """Return the columns that hold one caption each, in the order of their numbers.

    They are those that the caller names (``caption_1,caption_2`` or ``caption_*``), or those with a usual
    name if no other caption column is there. Empty if fewer than two are present. A pattern that matches no
    numbered columns takes all columns that it matches (``GT_Caption_*``).
    """
    wanted = selected().captions
    lowered = {name.lower(): name for name in present}
    if wanted:
        patterns = [name.lower() for name in wanted]
        names = [name for key, name in lowered.items() if any(fnmatchcase(key, p) for p in patterns)]
    elif any(name in lowered for name in caption_names(role)):
        return []
    else:
        names = list(present)
    families: dict[str, list[tuple[int, str]]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match and (wanted or match[1].lower() in _STEMS):
            families.setdefault(match[1], []).append((int(match[2][:9]), name))
    largest = max(families.values(), key=len, default=[])
    if len(largest) > 1:
        return [name for _, name in sorted(largest)]
    has_pattern = any("*" in name for name in wanted)
    return names if has_pattern and len(names) > 1 and not largest else []


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
