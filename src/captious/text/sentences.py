"""Sentences of a description as people and models write it: prose, lists, headings, Markdown.

Time is linear in the length of a text: every decision looks at a limited number of characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

#: Abbreviations that are followed by the rest of their sentence.
_NEVER_LAST = frozenset(
    [
        "mr",
        "mrs",
        "ms",
        "mx",
        "dr",
        "prof",
        "rev",
        "hon",
        "st",
        "mt",
        "ft",
        "gen",
        "col",
        "capt",
        "lt",
        "sgt",
        "sen",
        "rep",
        "gov",
        "pres",
        "messrs",
        "vs",
        "e.g",
        "eg",
        "i.e",
        "ie",
        "cf",
        "approx",
        "ca",
        "no",
        "nos",
        "fig",
        "figs",
        "vol",
        "est",
        "viz",
        "al",
        "dept",
        "univ",
        "ave",
        "blvd",
        "rd",
    ]
)
#: Abbreviations that may also end a sentence, which a capital letter after them shows.
_MAY_BE_LAST = frozenset(
    [
        "etc",
        "a.m",
        "p.m",
        "am",
        "pm",
        "u.s",
        "u.s.a",
        "u.k",
        "e.u",
        "inc",
        "ltd",
        "co",
        "corp",
        "jr",
        "sr",
        "sq",
        "in",
        "lb",
        "lbs",
        "oz",
        "km",
        "cm",
        "mm",
        "kg",
        "min",
        "max",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
    ]
)
#: Words that are only abbreviations beside a number or a name, as "12 in." and "Ford Motor Co.".
_AFTER_NUMBER = frozenset(
    ["in", "am", "pm", "lb", "lbs", "oz", "km", "cm", "mm", "kg", "min", "max", "sq", "ft", "no", "mar"]
)
_LONGEST = 12

_END = re.compile(r"[.!?…。！？]+")
_CLOSING = re.compile(r"[\"'”’»)\]*_]{0,4}")
_OPENING = "\"'“‘«([*_"

_RULE = re.compile(r"\s*([-*_=~]\s*){3,}$")
_TABLE_RULE = re.compile(r"\s*\|?(\s*:?-+:?\s*\|)+\s*:?-*:?\s*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+")
_ITEM = re.compile(r"\s*(?:[-*+•‣▪◦·–—]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\))\s+")
_QUOTE = re.compile(r"\s*>+\s?")
_LABEL = re.compile(r"\s*(?:\*\*|__)([^*_\n]{1,80}?)(?::\s*(?:\*\*|__)|(?:\*\*|__)\s*:)\s+")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,500}\)")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>")
_EMPHASIS = re.compile(
    r"(?<![A-Za-z0-9])(\*\*\*|\*\*|\*|___|__|_|`+)(?=\S)|(?<=\S)(\*\*\*|\*\*|\*|___|__|_|`+)(?![A-Za-z0-9])"
)


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences, without the marks of Markdown.

    Headings, list items and the bold label of an item are sentences of their own. A line break ends a
    sentence if the next line starts a new one, and a break inside a sentence is a space.

    Parameters
    ----------
    text
        A caption, a description of several paragraphs, or Markdown.

    Returns
    -------
    list of str
        The sentences in order, none of them empty.

    Examples
    --------
    >>> split_sentences("Mr. Smith walks. **His dog:**\\n- is brown\\n- sleeps")
    ['Mr. Smith walks.', 'His dog:', 'is brown', 'sleeps']
    """
    return list(_split(text))


@lru_cache(maxsize=1 << 12)
def _split(text: str) -> tuple[str, ...]:
    return tuple(sentence for block in _blocks(text) for sentence in _sentences(block) if sentence)


def _blocks(text: str) -> Iterator[str]:
    """Yield runs of text without a forced break, as one line each, without Markdown."""
    open_block: list[str] = []

    def closed() -> Iterator[str]:
        if open_block:
            yield _plain(" ".join(open_block))
            open_block.clear()

    for line in text.splitlines():
        if not line.strip() or _RULE.match(line) or _TABLE_RULE.match(line) or _FENCE.match(line):
            yield from closed()
            continue
        line = _QUOTE.sub("", line, count=1)
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading:
            yield from closed()
            yield _plain(line[heading.end() :].rstrip("# \t"))
            continue
        if item and (open_block or item.end() < len(line)):
            yield from closed()
            line = line[item.end() :]
        elif open_block and _starts_anew(open_block[-1], line):
            yield from closed()
        label = _LABEL.match(line)
        if label:
            yield from closed()
            yield _plain(label[1].strip() + ":")
            line = line[label.end() :]
        if line.count("|") > 1:
            line = line.replace("|", " ")
        open_block.append(line.strip())
    yield from closed()


def _starts_anew(before: str, line: str) -> bool:
    """Whether a line starts a sentence after the line before it."""
    last = before.rstrip("\"'”’»)]*_ ")[-1:]
    first = line.lstrip(_OPENING + " \t")[:1]
    return last in (*".!?…:;",) or first.isupper()


def _plain(block: str) -> str:
    """Remove links, tags and emphasis."""
    if "](" in block:
        block = _LINK.sub(r"\1", block)
    if "<" in block:
        block = _TAG.sub(" ", block)
    if "*" in block or "_" in block or "`" in block:
        block = _EMPHASIS.sub("", block)
    return block


def _sentences(block: str) -> Iterator[str]:
    start = 0
    for mark in _END.finditer(block):
        if mark.start() < start:
            continue
        closing = _CLOSING.match(block, mark.end())
        end = closing.end() if closing else mark.end()
        # "2." at the start is the number of an item.
        is_number = block[start : mark.start()].strip().isdigit() and end < len(block)
        if not is_number and _is_end(block, mark, end):
            yield " ".join(block[start:end].split())
            start = end
    yield " ".join(block[start:].split())


def _is_end(block: str, mark: re.Match[str], end: int) -> bool:
    """Whether a full stop or another mark, with quotes and brackets up to ``end``, ends a sentence."""
    text = mark[0]
    if text[-1] in "。！？":
        return True
    if end == len(block):
        return True
    after = block[end : end + 6].lstrip()
    if not block[end].isspace():
        # No space after the full stop: "a dog.The dog runs", but not "3.5", "v.2" or a web address.
        before = block[max(mark.start() - 3, 0) : mark.start()]
        return (
            text == "."
            and end == mark.end()
            and len(after) > 1
            and after[0].isupper()
            and after[1:2].islower()
            and before[-2:].isalpha()
            and before[-2:].islower()
        )
    first = after.lstrip(_OPENING)[:1]
    is_low = first.islower()
    if text != ".":
        # "Stop!" and "..." inside a sentence.
        return not (is_low and (end > mark.end() or text[0] in ".…"))
    word = _word_before(block, mark.start())
    low = word.lower()
    if low in _NEVER_LAST and not (low in _AFTER_NUMBER and not _after_number(block, mark.start(), word)):
        return False
    if low in _MAY_BE_LAST and (low not in _AFTER_NUMBER or _after_number(block, mark.start(), word)):
        return not is_low and bool(first)
    if len(word) == 1 and word.isupper() and word != "I":
        # An initial, as in "John F. Kennedy".
        return is_low
    return True


def _word_before(block: str, end: int) -> str:
    """Return the word before a place, without opening brackets and quotes."""
    window = block[max(end - _LONGEST, 0) : end]
    words = window.rsplit(None, 1)
    return words[-1].lstrip(_OPENING) if words and not window[-1:].isspace() else ""


def _after_number(block: str, end: int, word: str) -> bool:
    """Whether the word that ends at a place follows a number (for "No.", precedes one)."""
    if word.lower() == "no":
        return block[end + 1 : end + 8].lstrip()[:1].isdigit()
    before = block[max(end - len(word) - _LONGEST, 0) : end - len(word)].rstrip()
    return before[-1:].isdigit()
