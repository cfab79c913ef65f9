"""Limits on input files.

Each has a default far above the needs of captions and an environment variable that changes it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from captious.core.errors import InputError, printable

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_NUMBER = re.compile(r"(\d{1,18})\s*([kmgt]?)b?", re.IGNORECASE)


@dataclass(frozen=True)
class Limit:
    """One limit. Messages read "``what`` than 100 ``unit``"; ``variable`` is the environment variable."""

    what: str
    default: int
    variable: str
    unit: str

    def value(self) -> int:
        """Return the limit in force."""
        setting = os.environ.get(self.variable, "").strip()
        if not setting:
            return self.default
        match = _NUMBER.fullmatch(setting)
        if not match or not int(match[1]):
            raise InputError(
                f"{self.variable} is a number of {self.unit}, such as {self.default} or 4G, not {setting!r}"
            )
        return int(match[1]) * _UNITS[match[2].lower()]

    def exceeded(self, where: str) -> InputError:
        """Return the error for an input beyond the limit."""
        return InputError(
            f"{printable(where)}: {self.what} than {self.value():,} {self.unit}, a limit that protects "
            "against files "
            f"made to fill the memory; if the file is right, set the environment variable {self.variable} to "
            "a larger number"
        )

    def check(self, value: int, where: str) -> None:
        """Raise an error if a value is beyond the limit."""
        if value > self.value():
            raise self.exceeded(where)


#: Content of a file, decompressed.
CONTENT = Limit("it holds (or unpacks to) more", 2 * 10**9, "CAPTIOUS_MAX_BYTES", "bytes")
#: A caption, a line of text or a cell of a table. The longest caption of COCO has 250 characters.
LINE = Limit("a caption or line is longer", 10**7, "CAPTIOUS_MAX_LINE", "characters")
#: Total size of cached files. Beyond it, the least recently used are removed.
CACHE = Limit("the cache takes more", 2 * 10**9, "CAPTIOUS_CACHE_LIMIT", "bytes")
#: Distinct content words of a caption for WMD, whose time and memory grow with their square: 5,000 words
#: against 5,000 take 200 MB and some ten seconds.
WMD_WORDS = Limit("WMD compares captions of more", 5_000, "CAPTIOUS_MAX_WMD_WORDS", "distinct words")
#: Objects of a scene graph. SPICE compares all objects of two graphs: 20,000 with 20,000 take 400 MB.
SCENE_OBJECTS = Limit("SPICE compares scene graphs of more", 20_000, "CAPTIOUS_MAX_OBJECTS", "objects")
#: Nesting of JSON objects and lists. Caption files need four levels.
DEPTH = Limit("JSON is nested deeper", 100, "CAPTIOUS_MAX_DEPTH", "levels")
