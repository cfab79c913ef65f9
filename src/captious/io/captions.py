"""What every reader produces: records as found, checked and grouped into one `CaptionFile`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Literal

from captious.errors import InputError, some
from captious.limits import LINE

Role = Literal["references", "predictions"]

#: The image's id, first one present wins. In COCO files `id` is the caption's own number, so it comes last.
ID_KEYS = ("image_id", "image", "id")

#: The captions, first one present wins. Rows that hold a caption *and* its references serve in both roles.
CAPTION_KEYS: dict[Role, tuple[str, ...]] = {
    "references": ("references", "captions", "caption"),
    "predictions": ("caption", "captions"),
}


#: The format of lists of captions without ids: an image is known by its place.
BY_PLACE = "list"


class CaptionWarning(UserWarning):
    """Something in the input that was accepted, and that the person should know."""


@dataclass(frozen=True)
class CaptionFile:
    """The captions of one file (or Python object): per image id, in order of first appearance, a list of captions."""

    name: str
    ids: list[str]
    captions: Sequence[Sequence[str]]
    format: str
    #: The source as such offers several captions per image (lists, or several rows per image).
    several: bool
    role: Role
    #: Where it was read from, unless it was handed over in Python.
    path: Path | None = None
    #: The caller said that several captions per image are meant.
    several_stated: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def label(self) -> str:
        """How messages call it: the path as it was given, since two systems' files often share a name."""
        return self.name if self.path is None else str(self.path)

    @property
    def system_name(self) -> str:
        """What tables call a system: the file's name without its endings."""
        name = Path(self.name).name
        for ending in (".gz", ".json", ".jsonl", ".csv", ".tsv", ".txt", ".token", ".parquet"):
            name = name.removesuffix(ending)
        return name


@dataclass(frozen=True)
class Records:
    """Rows as a format's reader found them: nothing is checked yet."""

    ids: Sequence[object]
    #: A caption, or a list of captions, per row.
    captions: Sequence[object]
    #: Where row i is, for messages: ``line 12``.
    place: Callable[[int], str]
    format: str
    #: Whether ids are text only because the format has nothing else (a table): there ``42.0`` means 42.
    text_ids: bool = False


def show(value: object, limit: int = 60) -> str:
    """A value from the input inside a message: on one line, and not for pages."""
    try:
        shown = repr(value)
    except RecursionError:
        return "…"
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


def kind(value: object) -> str:
    """What a value is, in words a person without Python knows."""
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


def gather(
    records: Records, name: str, role: Role, several: bool | None = None, path: Path | None = None
) -> CaptionFile:
    """Check ids and captions, and group the rows by image; `name` is what messages call the source."""
    if not len(records.ids):
        raise InputError(f"{name}: there is no caption in it ({records.format}, no rows)")
    ids = _ids(records, name)
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


def _ids(records: Records, name: str) -> list[str]:
    kinds = set(map(type, records.ids))
    if kinds == {int}:
        # One text for an image, however many rows it has. Texts that are thrown away would leave holes all over the memory.
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
    """42, "42", 42.0 and NumPy's 42 are all the image "42"."""
    if isinstance(image, str) and image.strip():
        return image.strip()
    if isinstance(image, Integral) and not isinstance(image, bool):
        return str(int(image))
    if isinstance(image, Real) and not isinstance(image, bool) and float(image).is_integer():
        return str(int(float(image)))
    found = "empty" if isinstance(image, str) else kind(image)
    raise InputError(f"{name}, {records.place(row)}: the image id is {found}; ids are whole numbers or text")


def _captions(records: Records, ids: list[str], name: str) -> tuple[list[list[str]], bool]:
    """A list of captions per row, and whether the rows as found held lists."""
    if set(map(type, records.captions)) == {str}:
        return [[text] for text in records.captions], False  # type: ignore[list-item]
    checked: list[list[str]] = []
    has_lists = False
    for row, found in enumerate(records.captions):
        if isinstance(found, str):
            checked.append([found])
            continue
        if hasattr(found, "tolist"):  # a NumPy array in a data frame, or a NumPy scalar
            found = found.tolist()
        if isinstance(found, list | tuple):
            has_lists = True
            if not found:
                raise InputError(
                    f"{name}, {records.place(row)}: image {show(ids[row])} has an empty list of captions; "
                    'leave the image out, or write [""] for an empty caption'
                )
            if set(map(type, found)) == {str}:
                checked.append(list(found))
            else:
                checked.append([_caption(item, ids[row], records.place(row), name) for item in found])
        else:
            checked.append([_caption(found, ids[row], records.place(row), name)])
    return checked, has_lists


def _caption(found: object, image: str, place: str, name: str) -> str:
    if isinstance(found, str):
        return str(found)
    if isinstance(found, dict) and "caption" in found:  # the COCO tools' own {id: [{"caption": …}]}
        inner = found.get("image_id", image)
        if str(inner) != image:
            raise InputError(
                f"{name}, {place}: a caption filed under image {show(image)} says it belongs to image {show(inner)}; "
                "give the rows themselves as a list, or file each caption under its own image"
            )
        return _caption(found["caption"], image, place, name)
    raise InputError(
        f"{name}, {place}: the caption of image {show(image)} is {kind(found)}; "
        'captions are text (write "" for an empty caption)'
    )


def _refuse_half_characters(records: Records, ids: list[str], captions: list[list[str]], name: str) -> None:
    """Half a surrogate pair (``"\\ud83d"`` alone in JSON) is no text: no file, terminal or tokenizer can take it."""
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
                        f"(\\u{ord(text[problem.start]):04x}, one half of a surrogate pair, at position {problem.start}); "
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
    """Several rows of one image: several captions, or one file too many?

    When most images have several rows, the file holds several captions per image and every row counts. When only
    some have, it is a file with one caption per image in which something went wrong: rows that say the same twice
    are kept once, with a warning, and rows that differ are an error. `several` overrides the guess.
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
                    f"{name}: {len(differing):,} of {len(rows):,} images have more than one row with different captions: "
                    f"{some(map(show, differing))} (image {show(image)}: {records.place(of_image[0])} {show(first[0])}, "
                    f"{records.place(row)} {show(captions[row][0])}). Keep one row per image, or say that several "
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
