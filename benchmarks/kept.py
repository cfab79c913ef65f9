"""What was measured, in one JSON file, step by step: a run that was stopped goes on where it was, and what is there is not measured again."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT


@lru_cache(maxsize=1)
def code() -> str:
    """A digest of the package as it is here: what another state of it has measured does not count."""
    found = hashlib.sha256()
    for path in sorted((ROOT / "src" / "captious").rglob("*.py")):
        found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


class Enough(Exception):  # noqa: N818 - nothing is wrong
    """As many steps as were asked for have been measured, and there are more."""


class Kept:
    """Steps by section and name, each with the settings and the code that it was measured with. Without a file they are kept in memory.
    After ``limit`` steps that had to be measured, the next one is :class:`Enough`."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        any_code: bool = False,
        limit: int | None = None,
        say: Callable[[str], None] = lambda text: print(text, flush=True),
    ) -> None:
        self.path = path
        self.left = limit
        self.any_code = any_code
        self.say = say
        self.sections: dict[str, dict[str, Any]] = (
            json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else {}
        )

    def forget(self, section: str) -> None:
        """Measure a section again."""
        self.sections.pop(section, None)

    def step(
        self, section: str, name: str, settings: dict[str, Any], work: Callable[[], Any], *, ours: bool = True
    ) -> Any:
        """What ``work`` found, now or in an earlier run with the same settings and, where it is our code that was measured, the same code."""
        # As they come back from the file.
        settings = json.loads(json.dumps({**settings, **({"code": code()} if ours else {})}))
        there = self.sections.get(section, {}).get(name)
        if there is not None and self._same(there["settings"], settings):
            self.say(f"{section}: {name}: kept from {there['when']}")
            return there["found"]
        if self.left is not None:
            if self.left <= 0:
                raise Enough(f"{section}: {name} is next")
            self.left -= 1
        self.say(f"{section}: {name} …")
        start = time.perf_counter()
        found = json.loads(json.dumps(work()))
        spent = time.perf_counter() - start
        self.sections.setdefault(section, {})[name] = {
            "settings": settings, "when": time.strftime("%Y-%m-%d %H:%M"), "took": round(spent, 1), "found": found,
        }  # fmt: skip
        self._write()
        self.say(f"{section}: {name}: {spent:.0f} s")
        return found

    def found(self, section: str) -> dict[str, Any]:
        """All that is known of a section, by step: what tables are made of."""
        return {
            name: step["found"]
            for name, step in self.sections.get(section, {}).items()
            if self._same({"code": step["settings"].get("code", code())}, {"code": code()})
        }

    def _same(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        if self.any_code:
            old, new = ({name: value for name, value in of.items() if name != "code"} for of in (old, new))
        return old == new

    def _write(self) -> None:
        """Beside, and then renamed: a stop while it writes loses nothing."""
        if self.path is None:
            return
        beside = self.path.with_name(self.path.name + ".new")
        beside.write_text(json.dumps(self.sections, indent=1, ensure_ascii=False), encoding="utf-8")
        beside.replace(self.path)
