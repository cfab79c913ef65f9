"""Names of columns, and records of all readers, checked and grouped into a `CaptionFile`."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from numbers import Integral, Real
from pathlib import Path
from typing import Literal

from captious.core.errors import InputError, some
from captious.core.limits import LINE

Role = Literal["references", "predictions"]

#: Names of the image id, in order of preference. In COCO files `id` is the id of the caption, so it is last.
ID_KEYS = ("image_id", "image", "id")

#: Names of the captions, in order of preference. Rows with a caption and references serve in both roles.
CAPTION_KEYS: dict[Role, tuple[str, ...]] = {
    "references": ("references", "captions", "caption"),
    "predictions": ("caption", "captions"),
}


#: Format of lists without ids. The id of an image is its index.
BY_PLACE = "list"


class CaptionWarning(UserWarning):
    """The input was accepted, but something in it looks wrong."""


@dataclass(frozen=True)
class CaptionFile:
    """The captions of one file (or Python object): per image id, in order of first appearance, a list
    of captions."""

    name: str
    ids: list[str]
    captions: Sequence[Sequence[str]]
    format: str
    #: Whether the source has several captions per image (lists, or several rows per image).
    several: bool
    role: Role
    #: File that was read, or None for a Python object.
    path: Path | None = None
    #: Whether the caller asked for several captions per image.
    several_stated: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def label(self) -> str:
        """Name in messages: the path, because files of two systems often share a name."""
        return self.name if self.path is None else str(self.path)

    @property
    def system_name(self) -> str:
        """Name of the system in tables: the file name without its extensions."""
        name = Path(self.name).name
        for ending in (".gz", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".token", ".parquet", ".xlsx"):
            name = name.removesuffix(ending)
        return name


@dataclass(frozen=True)
class Records:
    """Rows of a reader, not checked yet."""

    ids: Sequence[object]
    #: One caption or a list of captions per row.
    captions: Sequence[object]
    #: Position of row i for messages, such as ``line 12``.
    place: Callable[[int], str]
    format: str
    #: Whether the format has no numbers (a table), so that the id ``42.0`` means 42.
    text_ids: bool = False
    #: Fields that were taken as ids and captions, and all fields, where rows have fields.
    id_field: str = ""
    caption_field: str = ""
    fields: tuple[str, ...] = ()
    #: Content that was not read, for descriptions of files.
    left_out: tuple[str, ...] = ()


def show(value: object, limit: int = 60) -> str:
    """Return a value of the input for a message, on one line and shortened."""
    try:
        shown = repr(value)
    except RecursionError:
        return "…"
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


def kind(value: object) -> str:
    """Describe a value without Python's type names."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the truth value {str(value).lower()}"
    if isinstance(value, Real):
        return "not a number (NaN, a missing value)" if value != value else f"the number {show(value)}"
    if isinstance(value, str):
        return f"the text {show(value)}"
    if isinstance(value, dict):
        return f"an object with the keys {some(map(show, value))}" if value else "an empty object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if type(value).__name__ in ("NAType", "NaTType"):
        return "a missing value"
    return f"a value of type {type(value).__name__}"


_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_PRINTED = re.compile(rf"\[\s*{_QUOTED}(?:(?:\s*,\s*|\s+){_QUOTED})*\s*,?\s*\]", re.DOTALL)
_ITEM = re.compile(_QUOTED, re.DOTALL)


def printed_list(text: str) -> list[str] | None:
    """Return the items of a list of texts that was printed into one text, else None.

    Tools that keep tables print lists as Python does (``['a dog', "a dog's toy"]``), as JSON, or as NumPy
    does, without commas.
    """
    if not text.startswith("[") or not text.endswith("]") or _PRINTED.fullmatch(text) is None:
        return None
    try:
        value = json.loads(text)
    except ValueError:
        pass
    else:
        return value
    try:
        return [str(ast.literal_eval(item.replace("\n", "\\n"))) for item in _ITEM.findall(text)]
    except (ValueError, SyntaxError):  # such as an incomplete escape
        return None


def gather(
    records: Records, name: str, role: Role, several: bool | None = None, path: Path | None = None
) -> CaptionFile:
    """Check ids and captions and group the rows by image. `name` names the source in messages."""
    if not len(records.ids):
        raise InputError(f"{name}: there is no caption in it ({records.format}, no rows)")
    ids = id_texts(records, name)
    captions, has_lists = _captions(records, ids, name)
    _refuse_half_characters(records, ids, captions, name)
    _refuse_long(records, ids, captions, name)

    rows: dict[str, list[int]] = {}
    for row, image in enumerate(ids):
        rows.setdefault(image, []).append(row)
    if role == "predictions" and len(rows) < len(ids):
        _check_repeats(rows, captions, records, name, several)
    grouped = [
        captions[of_image[0]] if len(of_image) == 1 else [text for row in of_image for text in captions[row]]
        for of_image in rows.values()
    ]
    return CaptionFile(
        name=name if path is None else path.name,
        ids=list(rows),
        captions=grouped,
        format=records.format,
        several=has_lists or any(len(of_image) > 1 for of_image in rows.values()),
        role=role,
        path=path,
        several_stated=bool(several),
    )


def id_texts(records: Records, name: str) -> list[str]:
    """Return the id of each row as text."""
    kinds = set(map(type, records.ids))
    if kinds == {int}:
        # One string per image, not per row: discarded strings would fragment the memory.
        names = {number: str(number) for number in dict.fromkeys(records.ids)}
        return [names[number] for number in records.ids]
    if kinds == {str}:
        ids = [image.strip() for image in records.ids]  # type: ignore[attr-defined]
        if records.text_ids and all(image.endswith(".0") and image[:-2].isdigit() for image in ids):
            ids = [image[:-2] for image in ids]
        if "" not in ids:
            return ids
    return [_id(image, row, records, name) for row, image in enumerate(records.ids)]


def _id(image: object, row: int, records: Records, name: str) -> str:
    """Return the id of a row as text. 42, "42", 42.0 and NumPy's 42 are all the image "42"."""
    if isinstance(image, str) and image.strip():
        return image.strip()
    if isinstance(image, Integral) and not isinstance(image, bool):
        return str(int(image))
    if isinstance(image, Real) and not isinstance(image, bool) and float(image).is_integer():
        return str(int(float(image)))
    problem = "empty" if isinstance(image, str) else kind(image)
    raise InputError(
        f"{name}, {records.place(row)}: the image id is {problem}; ids are whole numbers or text"
    )


def _captions(records: Records, ids: list[str], name: str) -> tuple[list[list[str]], bool]:
    """Return the captions of each row as a list, and whether the source has lists."""
    if set(map(type, records.captions)) == {str}:
        texts: list[str] = records.captions  # type: ignore[assignment]
        if not any(text.startswith("[") for text in texts):
            return [[text] for text in texts], False
        lists = [printed_list(text) for text in texts]
        return [items or [text] for items, text in zip(lists, texts)], any(lists)
    checked: list[list[str]] = []
    has_lists = False
    for row, value in enumerate(records.captions):
        if isinstance(value, str):
            items = printed_list(value)
            has_lists = has_lists or items is not None
            checked.append(items or [value])
            continue
        if hasattr(value, "tolist"):  # a NumPy array in a data frame, or a NumPy scalar
            value = value.tolist()
        if isinstance(value, list | tuple):
            has_lists = True
            if not value:
                raise InputError(
                    f"{name}, {records.place(row)}: image {show(ids[row])} has an empty list of captions; "
                    'leave the image out, or write [""] for an empty caption'
                )
            if set(map(type, value)) == {str}:
                checked.append(list(value))
            else:
                checked.append([_caption(item, ids[row], records.place(row), name) for item in value])
        else:
            checked.append([_caption(value, ids[row], records.place(row), name)])
    return checked, has_lists


def _caption(value: object, image: str, place: str, name: str) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict) and "caption" in value:  # the COCO tools' own {id: [{"caption": …}]}
        inner = value.get("image_id", image)
        if str(inner) != image:
            raise InputError(
                f"{name}, {place}: a caption filed under image {show(image)} says it belongs to image "
                f"{show(inner)}; "
                "give the rows themselves as a list, or file each caption under its own image"
            )
        return _caption(value["caption"], image, place, name)
    raise InputError(
        f"{name}, {place}: the caption of image {show(image)} is {kind(value)}; "
        'captions are text (write "" for an empty caption)'
    )


def _refuse_half_characters(records: Records, ids: list[str], captions: list[list[str]], name: str) -> None:
    """Refuse unpaired surrogates (``"\\ud83d"`` alone in JSON), which cannot be encoded."""
    try:
        "".join(map("".join, captions)).encode()
        "".join(ids).encode()
    except UnicodeEncodeError:
        for row, texts in enumerate(captions):
            for text in (*texts, ids[row]):
                try:
                    text.encode()
                except UnicodeEncodeError as problem:
                    raise InputError(
                        f"{name}, {records.place(row)}: {show(text)} holds half a character "
                        f"(\\u{ord(text[problem.start]):04x}, one half of a surrogate pair, at position "
                        f"{problem.start}); "
                        "write the file again from the original text"
                    ) from None


def _refuse_long(records: Records, ids: list[str], captions: list[list[str]], name: str) -> None:
    limit = LINE.value()
    if max(max(map(len, ids)), max(len(text) for texts in captions for text in texts)) <= limit:
        return
    for row, texts in enumerate(captions):
        if max(len(text) for text in (*texts, ids[row])) > limit:
            raise LINE.exceeded(f"{name}, {records.place(row)}")


def _check_repeats(
    rows: dict[str, list[int]], captions: list[list[str]], records: Records, name: str, several: bool | None
) -> None:
    """Decide whether several rows of one image are several captions or an error.

    When most images have several rows, the file holds several captions per image and every row counts.
    Otherwise, the file has one caption per image and the repeated rows are a mistake: equal rows count
    once, with a warning, and different ones raise an error. `several` overrides the guess.
    """
    repeated = {image: of_image for image, of_image in rows.items() if len(of_image) > 1}
    if several is None:
        several = 2 * len(repeated) > len(rows)
    if several:
        return
    for image, of_image in repeated.items():
        first = captions[of_image[0]]
        for row in of_image[1:]:
            if captions[row] != first:
                differing = [
                    which
                    for which, its_rows in repeated.items()
                    if any(captions[i] != captions[its_rows[0]] for i in its_rows[1:])
                ]
                raise InputError(
                    f"{name}: {len(differing):,} of {len(rows):,} images have more than one row with "
                    "different captions: "
                    f"{some(map(show, differing))} (image {show(image)}: {records.place(of_image[0])} "
                    f"{show(first[0])}, "
                    f"{records.place(row)} {show(captions[row][0])}). Keep one row per image, or say that "
                    "several "
                    "captions per image are meant (--allow-several, several=True)"
                )
    warnings.warn(
        CaptionWarning(
            f"{name}: {len(repeated):,} images have the same caption in several rows; each is counted once "
            f"({some(map(show, repeated))})"
        ),
        stacklevel=4,
    )
    for of_image in repeated.values():
        del of_image[1:]


# Names of columns ------------------------------------------------------------------------------------------


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
