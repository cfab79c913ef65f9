"""Errors whose message is meant for the person at the keyboard.

Each says what was found, where, and what to do; the command line prints it as one message and exits with code 2.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class CaptiousError(Exception):
    """Anything that is wrong with what captious was given."""


class InputError(CaptiousError, ValueError):
    """A file, caption, id, name or option that cannot be used."""


class MissingInputError(InputError):
    """Something a measure needs that was not given (a file, say); a group leaves such a measure out."""


class MissingExtraError(CaptiousError, ImportError):
    """A feature that needs an optional dependency which is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package '{package}', which is not installed: pip install 'captious[{extra}]'"
        )
        self.package = package
        self.extra = extra


@contextmanager
def one_message() -> Iterator[None]:
    """For programs: every foreseeable mistake ends in one clear message on standard error and exit code 2."""
    try:
        yield
    except CaptiousError as error:
        print(f"captious: {error}", file=sys.stderr)
        sys.exit(2)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint such as ``; did you mean 'CIDEr-D'?``, or nothing when no known name is near."""
    by_fold = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(name.casefold(), list(by_fold), n=2, cutoff=0.5)
    if not near:
        return ""
    return "; did you mean " + " or ".join(f"'{by_fold[fold]}'" for fold in near) + "?"


def some(items: Iterable[object], limit: int = 5) -> str:
    """The first few items, for a message: ``3, 7, 12, … (1,204 in all)``."""
    listed = [str(item) for item in items]
    if len(listed) <= limit:
        return ", ".join(listed)
    return ", ".join(listed[:limit]) + f", … ({len(listed):,} in all)"
