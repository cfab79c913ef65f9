"""The scanner's table of all states, kept: to make it takes a second, to reach only the states that some captions need a twentieth."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from captious import container
from captious.cache import cache_directory, lock
from captious.errors import WriteError
from captious.text.ptb.automaton import Table

_KIND, _VERSION = "tokenizer", 1
#: All that the table follows from.
_SOURCES = ("automaton.py", "characters.py", "grammar.py")


def open_table() -> Table | None:
    """The table, if it is kept already."""
    path = _path()
    arrays = container.open_kept(path, _KIND, _VERSION) if path is not None and path.exists() else None
    return None if arrays is None else Table(arrays["classes"], arrays["steps"], arrays["accepts"])


def keep_table(make: Callable[[], Table]) -> Table | None:
    """The table, made first if there is none; nothing where it cannot be kept."""
    path = _path()
    found = open_table()
    if path is None or found is not None:
        return found
    try:
        with lock(path.with_name(path.name + ".lock")):
            # Another process may have made it while this one waited.
            found = open_table()
            if found is None:
                made = make()
                container.write(path, _KIND, _VERSION, {}, {"classes": made.class_of, "steps": made.steps, "accepts": made.accepted})
                found = open_table()
    except (OSError, WriteError):
        return None
    return found


@lru_cache(maxsize=1)
def _named() -> str | None:
    state = hashlib.blake2b(digest_size=8)
    try:
        for name in _SOURCES:
            state.update(Path(__file__).with_name(name).read_bytes())
    except OSError:  # packed into an archive, say
        return None
    return f"ptb-v{_VERSION}-{state.hexdigest()}.table"


def _path() -> Path | None:
    folder, name = cache_directory(), _named()
    return None if folder is None or name is None else folder / name
