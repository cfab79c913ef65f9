"""Text files with one caption per line: lists of Flickr and MSVD, Oscar's TSV, plain lines."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from captious.core.errors import InputError
from captious.io.caption_files import BY_PLACE, Records, Role, caption_names, id_names, numbered_names, show
from captious.io.content import loads, split_lines

#: Line of Flickr's lists: image file, number of the caption, a tab, the caption.
_TOKEN = re.compile(r"([^\t#]+)#\d+[a-z]*\t")
#: Line of Oscar's predictions: key of the image, a tab, a JSON list of captions with their confidence.
_OSCAR = re.compile(r"([^\t]+)\t(\[\s*\{.*\}\s*\]\s*)")
#: Line of AllVideoDescriptions.txt: id of the video with start and end, a space, the caption. Lists of splits
#: (sents_test_lc_nopunc.txt) have numbered videos and a tab.
_CLIP = re.compile(r"(\S{11}_\d+_\d+(?= )|vid\d+(?=\t))[ \t](.*)")


def parse_lines(text: str, name: str, role: Role) -> Records | None:
    """Parse a file without a header, or return None for a table."""
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "")
    if _TOKEN.match(first):
        return _flickr(text, name)
    if _OSCAR.fullmatch(first):
        return _oscar(text, name)
    if _CLIP.fullmatch(first.rstrip("\r")):
        return _clips(text, name)
    return _plain(text, name) if _is_plain(text) else None


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


def _oscar(text: str, name: str) -> Records:
    """Parse Oscar's TSV. Of several captions, the first counts, as in Oscar's own evaluation."""
    ids: list[str] = []
    captions: list[object] = []
    numbers: list[int] = []
    several = False
    for number, line in enumerate(split_lines(text, name), 1):
        if not line.strip():
            continue
        match = _OSCAR.fullmatch(line)
        try:
            listed = loads(match[2], f"{name}, line {number}") if match else []
            caption = listed[0]["caption"] if listed else None
        except (json.JSONDecodeError, TypeError, KeyError):
            caption = None
        if match is None or caption is None:
            raise InputError(
                f'{name}, line {number}: expected a key, a tab and [{{"caption": …}}], found {show(line)}'
            )
        several = several or len(listed) > 1
        ids.append(match[1])
        captions.append(caption)
        numbers.append(number)
    left_out = ("captions after the first of an image",) if several else ()
    return Records(
        ids, captions, lambda row: f"line {numbers[row]}", "Oscar TSV", text_ids=True, id_field="key",
        caption_field="caption", fields=("caption", "conf"), left_out=("conf", *left_out),
    )  # fmt: skip


def _clips(text: str, name: str) -> Records:
    """Parse MSVD's AllVideoDescriptions.txt, or the list of a split with numbered videos."""
    ids: list[str] = []
    captions: list[object] = []
    numbers: list[int] = []
    for number, line in enumerate(split_lines(text, name), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _CLIP.fullmatch(line)
        if match is None:
            raise InputError(
                f"{name}, line {number}: expected a clip (VIDEO_START_END), a space and a caption, or "
                f"'vid' with a number, a tab and a caption, found {show(line)}"
            )
        ids.append(match[1])
        captions.append(match[2])
        numbers.append(number)
    return Records(
        ids, captions, lambda row: f"line {numbers[row]}", "MSVD descriptions", text_ids=True,
        id_field="VIDEO_START_END, or vidNUMBER", caption_field="rest of the line",
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


def _flickr(text: str, name: str) -> Records:
    """Parse Flickr8k.token.txt, results_20130124.token and similar lists."""
    ids: list[str] = []
    captions: list[object] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if not line.strip():
            continue
        match = _TOKEN.match(line)
        if match is None:
            raise InputError(
                f"{name}, line {number}: expected 'image#number', a tab and a caption, found {show(line)}"
            )
        ids.append(match[1])
        captions.append(line[match.end() :])
        lines.append(number)
    return Records(ids, captions, lambda row: f"line {lines[row]}", "token", text_ids=True)
