"""Does the suite notice a defect? ``python -m tests.mutants [NAME…] [--list] [--named] [--jobs N] [--fresh]``

Each mutant is a defect of one line (:mod:`tests.mutants.defects`). One at a time they are put into a copy of the package,
and the tests run against the copy: first those that ought to notice, then, where they do not, all of them. The public data
sets are hidden, so what is noticed here is noticed on every machine. The test that noticed must pass without the mutant. A mutant that no test notices, or whose text is no
longer in the package, fails the run (exit code 1).

NAME chooses mutants by name, by room ("scene") or by the beginning of either. ``--named`` leaves it at the tests that ought
to notice. Results are written as they come
(``.pytest_cache/mutants.json``): a run that was stopped goes on where it was, as long as neither the package nor the tests
that were to notice have changed. ``--fresh`` forgets them. ``--jobs`` runs several copies side by side.

Nothing compiled can hide a mutant: byte code names its source by content, and a mutant in what fills the package's cache
folder gets an empty one. The library of kernels is built again for a mutant in a file with kernels. A kernel that cannot be
built then runs in its plain form. Forks are needed, so this runs on Linux and macOS, not on Windows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
#: Within a copy of the repository.
PACKAGE = Path("src") / "captious"
#: What writes to the cache folder. A mutant in it gets an empty one; others cannot change what is kept there.
MAKERS = (
    "core/cache.py",
    "core/cache_files.py",
    "cli/listings.py",
    "core/container.py",
    "vectors/",
    "meteor/meteor_tables.py",
    "meteor/paraphrase_index.py",
)


class Mutant(NamedTuple):
    """A defect: in a file of the package, the text ``old``, which stands there once, becomes ``new``."""

    name: str
    file: str
    old: str
    new: str
    #: Those that ought to notice, as pytest takes them, without the leading ``tests/``.
    tests: tuple[str, ...]

    @property
    def room(self) -> str:
        """The folder or module of the package that it is in."""
        return Path(self.file).parts[0].removesuffix(".py")

    def applied(self, text: str) -> str:
        """Return the text of the file with the defect. Line breaks and trailing commas, as a formatter sets them, do not count."""
        if text.count(self.old) == 1:
            return text.replace(self.old, self.new)
        matches = list(re.finditer(_any_layout(self.old), text))
        if len(matches) != 1:
            raise StaleError(
                f"{self.name}: the text to change stands {len(matches)} times in {self.file}, not once: {self.old!r}"
            )
        return text[: matches[0].start()] + (self.new.strip() or "pass") + text[matches[0].end() :]


def _any_layout(code: str) -> str:
    """Return a pattern for code however it is broken into lines."""
    tokens = re.findall(r"\w+|[^\w\s]", code)
    return r"\s*".join((r",?\s*" if token in ")]}" else "") + re.escape(token) for token in tokens)


class StaleError(Exception):
    """The package has changed, and the mutant no longer fits it."""
