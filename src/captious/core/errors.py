"""Errors with messages for users.

Each message says what is wrong, where, and what to do. The command line prints it and exits with code 2.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any


class CaptiousError(Exception):
    """Base class of all errors that captious raises on purpose."""


class InputError(CaptiousError, ValueError):
    """A file, caption, id, name or option that cannot be used."""


class WriteError(InputError):
    """A file that cannot be written."""


class MissingInputError(InputError):
    """A measure lacks an input, such as a file. Groups of measures skip such a measure."""


class MissingExtraError(CaptiousError, ImportError):
    """A feature that needs an optional dependency which is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}', which is not installed: pip install "
            f"'captious[{extra}]'"
        )
        self.package = package
        self.extra = extra


def require(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional dependency, or raise an error that names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(module.partition(".")[0], extra, purpose) from error


@contextmanager
def one_message() -> Iterator[None]:
    """Print a `CaptiousError` to standard error as one message and exit the program with code 2."""
    try:
        yield
    except CaptiousError as error:
        print(f"captious: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint such as ``; did you mean 'CIDEr-D'?``, or an empty text if no known name is similar.

    Case and separators do not count, a swapped pair of letters counts once, and the beginning of a name
    suggests the name. Failing that, names with the same first word are suggested.
    """
    word, known = _letters(name), list(dict.fromkeys(known))
    allowed = min(max((len(word) + 1) // 3, 1), 3)
    near: list[tuple[int, str]] = []
    for candidate in known:
        other = _letters(candidate)
        if min(len(word), len(other)) >= 3 and (other.startswith(word) or word.startswith(other)):
            near.append((min(abs(len(word) - len(other)), 1), candidate))
        elif abs(len(word) - len(other)) <= allowed and len(set(word) ^ set(other)) <= 2 * allowed:
            edits = _edits(word, other)
            # Typing errors rarely hit the first letter: 'bertscore' is no slip for 'ParaScore'.
            if edits <= (allowed if word[:1] == other[:1] else min(allowed, 2)):
                near.append((edits, candidate))
    if not near and len(first := _first_word(name)) >= 4:
        near = [(0, candidate) for candidate in known if _first_word(candidate) == first]
    fewest = min((edits for edits, _ in near), default=0)
    nearest = [candidate for edits, candidate in near if edits == fewest][:3]
    return "; did you mean " + " or ".join(f"'{name}'" for name in nearest) + "?" if nearest else ""


def _first_word(name: str) -> str:
    return re.split(r"[\W_]", name.casefold(), maxsplit=1)[0]


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _edits(a: str, b: str) -> int:
    """Return the number of insertions, deletions, substitutions and swaps that turn one text into another."""
    before, row = list[int](), list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        last, before, row = before, row, [i]
        for j, other in enumerate(b, 1):
            edits = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                edits = min(edits, last[j - 2] + 1)
            row.append(edits)
    return row[-1]


def printable(text: str) -> str:
    """Escape the characters of a text that control a terminal, such as ``\\x1b`` or ``\\u202e``.

    Letters, marks and spaces of all scripts stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or unicodedata.category(c) == "Zs" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if character == "\u200d":  # joins letters of Indic scripts and parts of emoji
        return character
    return character.encode("unicode_escape").decode("ascii")


def some(items: Iterable[object], limit: int = 5) -> str:
    """Return the first few items for a message: ``3, 7, 12, … (1,204 in all)``."""
    listed = [str(item) for item in items]
    if len(listed) <= limit:
        return ", ".join(listed)
    return ", ".join(listed[:limit]) + f", … ({len(listed):,} in all)"


def check_positive(settings: object, *names: str) -> None:
    """Raise InputError if a field of some settings is below 1."""
    for name in names:
        if (value := getattr(settings, name)) < 1:
            raise InputError(f"{name.replace('_', '-')} must be a positive integer, not {value}")
