"""Does the suite notice a defect? ``python -m tests.mutants [NAME…] [--list] [--named] [--jobs N] [--fresh]``

Each mutant is a defect of one line (:mod:`tests.mutants.defects`). Each is applied to a copy of the package, one at a
time, and the tests run against the copy: first the tests named for the mutant, then, if none of them fails, all tests.
The public data sets are hidden, so the result is the same on every machine. The test that noticed a mutant must pass
without it. A mutant that no test notices, or whose text is no longer in the package, fails the run (exit code 1).

NAME selects mutants by name, by room ("scene") or by the beginning of either. ``--named`` runs only the named tests.
Results are stored after each mutant (``.pytest_cache/mutants.json``). A stopped run continues, unless the package or
the named tests have changed. ``--fresh`` drops stored results. ``--jobs`` uses several copies side by side. The last
line has the digest of the package. Tests that use 100 seconds of processor time are ended: some mutants never end.

Nothing compiled can hide a mutant. Bytecode is checked by the content of its source, and a mutant in a module that
fills the cache folder starts with an empty one. The library of kernels is built again for a mutant in a file with
kernels. A kernel that cannot be built then runs in its plain form. The runner forks, so it needs Linux or macOS.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
#: Path of the package in the repository.
PACKAGE = Path("src") / "captious"
#: Modules that write to the cache folder. A mutant in one of them starts with an empty cache.
MAKERS = (
    "core/cache.py",
    "cli/listings.py",
    "core/container.py",
    "vectors/",
    "meteor/meteor_tables.py",
    "meteor/paraphrase_index.py",
)


class Mutant(NamedTuple):
    """A defect: in one file of the package, the text ``old``, which occurs once, becomes ``new``."""

    name: str
    file: str
    old: str
    new: str
    #: Tests that should notice, in pytest's notation, without the leading ``tests/``.
    tests: tuple[str, ...]

    @property
    def room(self) -> str:
        """Folder or module at the top of the package."""
        return Path(self.file).parts[0].removesuffix(".py")

    def applied(self, text: str) -> str:
        """Return the text of the file with the defect. Line breaks and trailing commas of ``old`` do not matter."""
        if text.count(self.old) == 1:
            return text.replace(self.old, self.new)
        matches = list(re.finditer(_any_layout(self.old), text))
        if len(matches) != 1:
            raise StaleError(
                f"{self.name}: the text to change occurs {len(matches)} times in {self.file}, not once: {self.old!r}"
            )
        return text[: matches[0].start()] + (self.new.strip() or "pass") + text[matches[0].end() :]


def _any_layout(code: str) -> str:
    """Return a pattern for code with any line breaks."""
    tokens = re.findall(r"\w+|[^\w\s]", code)
    return r"\s*".join((r",?\s*" if token in ")]}" else "") + re.escape(token) for token in tokens)


class StaleError(Exception):
    """The package has changed, and the mutant's text is not in it."""
