"""Ends of texts: marks that end a sentence, and words that end none."""

from __future__ import annotations

import re

#: Marks that end a text.
ENDS = (".", "!", "?", '"', "\u201d", ")", "\u3002")
#: Words that end no caption.
OPEN_WORDS = frozenset(
    ("a", "an", "the", "of", "and", "with", "in", "at", "to", "by", "for", "from", "or", "is", "are")
)  # fmt: skip
#: Words that also end no sentence; others do, as in "the field they are in".
_ALSO_OPEN = frozenset(
    ("as", "but", "that", "which", "while", "their", "its", "his", "my", "your", "our", "very", "into")
) | frozenset(("this", "these", "those", "was", "were", "has", "have", "be", "because", "than", "if", "near"))
_MARK = re.compile(r"[.!?…。](?=[\"'”’»)\]*_]{0,4}\s)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\(?\d{1,3}[.)])\s|\s*#|.*:\s*$|.*\|")
_CLOSING = " \t\r\n*_`'’»]"


def is_cut_off(text: str) -> bool:
    """Return whether a text ends in the middle of a sentence.

    A text of several sentences is cut off if no mark ends it and its last line is no list item, heading or
    row of a table. Any text is cut off after a comma, a hyphen, or a word that ends no sentence, such as
    "the".
    """
    stripped = text.rstrip(_CLOSING)
    if not stripped:
        return False
    if stripped.endswith((",", ";", " -", "(", "\u2013", "\u2014")):
        return True
    if stripped.endswith(("...", "\u2026")):
        return False
    words = stripped.split()
    if words[-1].lower() in OPEN_WORDS | _ALSO_OPEN:
        return True
    if stripped.endswith((*ENDS, "!", ":", "\uff01", "\uff1f")):
        return False
    last_line = stripped.rsplit("\n", 1)[-1]
    return bool(_MARK.search(stripped)) and not _ITEM.match(last_line)
