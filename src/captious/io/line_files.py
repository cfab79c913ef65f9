"""Text files with one caption per line: lists of Flickr and MSVD, Oscar's TSV, plain lines."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

from captious.core.errors import InputError
from captious.io.caption_files import BY_PLACE, Records, Role, caption_names, id_names, numbered_names, show
from captious.io.content import loads, split_lines


class _LineFormat(NamedTuple):
    """Lines with an id and a caption, or several of which the first counts."""

    #: The id and the text of the captions.
    pattern: re.Pattern[str]
    #: Description of a line, for messages.
    expected: str
    name: str
    #: Captions in the text of a line, or none if the text is wrong.
    captions: Callable[[str, str], list[object]] = lambda text, place: [text]
    skips_comments: bool = False
    id_field: str = ""
    caption_field: str = ""
    fields: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def _oscar_captions(text: str, place: str) -> list[object]:
    """Return the first caption of a JSON list and whatever follows it. Their confidence is not used."""
    try:
        first, *others = loads(text, place)
        return [] if first["caption"] is None else [first["caption"], *others]
    except (json.JSONDecodeError, TypeError, KeyError):
        return []


_FORMATS = (
    # Flickr8k.token.txt, results_20130124.token and similar lists.
    _LineFormat(re.compile(r"([^\t#]+)#\d+[a-z]*\t(.*)"), "'image#number', a tab and a caption", "token"),
    # Oscar's predictions. Of several captions, the first counts, as in Oscar's own evaluation.
    _LineFormat(
        re.compile(r"([^\t]+)\t(\[\s*\{.*\}\s*\]\s*)"),
        'a key, a tab and [{"caption": …}]',
        "Oscar TSV",
        _oscar_captions,
        id_field="key",
        caption_field="caption",
        fields=("caption", "conf"),
        left_out=("conf",),
    ),
    # MSVD's AllVideoDescriptions.txt: id of the video with start and end, a space, the caption. Lists of
    # splits (sents_test_lc_nopunc.txt) have numbered videos and a tab.
    _LineFormat(
        re.compile(r"(\S{11}_\d+_\d+(?= )|vid\d+(?=\t))[ \t](.*)"),
        "a clip (VIDEO_START_END), a space and a caption, or 'vid' with a number, a tab and a caption",
        "MSVD descriptions",
        skips_comments=True,
        id_field="VIDEO_START_END, or vidNUMBER",
        caption_field="rest of the line",
    ),
)


def parse_lines(text: str, name: str, role: Role) -> Records | None:
    """Parse a file without a header, or return None for a table."""
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    form = next((form for form in _FORMATS if form.pattern.fullmatch(first.rstrip("\r"))), None)
    if form is not None:
        return _parse(text, name, form)
    return _plain(text, name) if _is_plain(text) else None


def _parse(text: str, name: str, form: _LineFormat) -> Records:
    ids: list[str] = []
    captions: list[object] = []
    numbers: list[int] = []
    is_several = False
    for number, line in enumerate(split_lines(text, name), 1):
        if not line.strip() or (form.skips_comments and line.startswith("#")):
            continue
        match = form.pattern.fullmatch(line)
        listed = form.captions(match[2], f"{name}, line {number}") if match else []
        if match is None or not listed:
            raise InputError(f"{name}, line {number}: expected {form.expected}, found {show(line)}")
        ids.append(match[1])
        captions.append(listed[0])
        numbers.append(number)
        is_several = is_several or len(listed) > 1
    left_out = (*form.left_out, *(("captions after the first of an image",) if is_several else ()))
    return Records(
        ids, captions, lambda row: f"line {numbers[row]}", form.name, text_ids=True, id_field=form.id_field,
        caption_field=form.caption_field, fields=form.fields, left_out=left_out,
    )  # fmt: skip


def _is_plain(text: str) -> bool:
    """Whether lines are captions: several words, no separator that could divide columns, no markup.

    A comma is no separator if lines have different numbers of them.
    """
    lines = [line for line in text.split("\n")[:200] if line.strip()]
    if any(mark in line for line in lines for mark in "\t|;<{") or len(lines) < 2:
        return False
    if is_header([cell.strip().lower() for cell in lines[0].split(",")]):
        return False
    words = [len(line.split()) for line in lines]
    return sum(words) >= 3 * len(words) and (
        "," not in lines[0] or len({line.count(",") for line in lines}) > 1
    )


def is_header(cells: Sequence[str]) -> bool:
    """Whether cells name a column of ids, or are single words that name columns of captions (aac-metrics)."""
    if not {*map(str.lower, id_names())}.isdisjoint(cells):
        return True
    if any(len(cell.split()) != 1 for cell in cells):
        return False
    return any(
        not {*map(str.lower, caption_names(role))}.isdisjoint(cells) or numbered_names(cells, role)
        for role in get_args(Role)
    )


def _plain(text: str, name: str) -> Records:
    """Return captions by their line. An empty line is an empty caption."""
    lines = split_lines(text, name)
    return Records(
        list(range(len(lines))), lines, lambda row: f"line {row + 1}", BY_PLACE,
        id_field="number of the line", caption_field="line",
    )  # fmt: skip


#: Columns of MSVD's table, in lower case.
MSVD = ("videoid", "start", "end", "language", "description")


def msvd_clips(records: Records, rows: Sequence[Sequence[str]], columns: Sequence[str]) -> Records:
    """Return the English descriptions of MSVD's table, by clip (VIDEO_START_END)."""
    video, start, end, language, text = (columns.index(name) for name in MSVD)
    kept = [number for number, row in enumerate(rows) if row[language].strip().lower() == "english"]
    if not kept:
        return records
    return replace(
        records,
        ids=[f"{rows[i][video]}_{rows[i][start]}_{rows[i][end]}" for i in kept],
        captions=[rows[i][text] for i in kept],
        place=lambda row: records.place(kept[row]),
        format="MSVD table",
        id_field="VideoID, Start, End",
        caption_field="Description",
        left_out=(f"{len(rows) - len(kept):,} descriptions in other languages",),
    )
