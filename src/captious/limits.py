"""What a file may hold before it is refused. Each limit has a name, a default far above what captions need, and a variable
of the environment that raises it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from captious.errors import InputError, printable

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_NUMBER = re.compile(r"(\d{1,18})\s*([kmgt]?)b?", re.IGNORECASE)


@dataclass(frozen=True)
class Limit:
    """One limit: how messages call it, its default, and the variable that sets it."""

    what: str
    default: int
    variable: str
    unit: str

    def value(self) -> int:
        """The limit in force."""
        given = os.environ.get(self.variable, "").strip()
        if not given:
            return self.default
        found = _NUMBER.fullmatch(given)
        if not found or not int(found[1]):
            raise InputError(f"{self.variable} is a number of {self.unit}, such as {self.default} or 4G, not {given!r}")
        return int(found[1]) * _UNITS[found[2].lower()]

    def exceeded(self, where: str) -> InputError:
        """The error for something beyond the limit."""
        return InputError(
            f"{printable(where)}: {self.what} than {self.value():,} {self.unit}, the limit that protects against files made "
            f"to fill the memory; if it is meant to be so, set the environment variable {self.variable} to a larger number"
        )

    def check(self, found: int, where: str) -> None:
        """Refuse what is beyond the limit."""
        if found > self.value():
            raise self.exceeded(where)


#: A file as it is in memory: read, and decompressed if it is gzip.
CONTENT = Limit("it holds (or unpacks to) more", 2 * 10**9, "CAPTIOUS_MAX_BYTES", "bytes")
#: A caption, a line of text, a cell of a table. The longest that COCO has is 250 letters.
LINE = Limit("a caption or line is longer", 10**7, "CAPTIOUS_MAX_LINE", "characters")
#: Objects and lists within one another. Caption files need four.
DEPTH = Limit("JSON is nested deeper", 100, "CAPTIOUS_MAX_DEPTH", "levels")
