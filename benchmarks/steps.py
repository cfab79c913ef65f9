"""Results of benchmarks, stored step by step in a JSON file, and the targets that they are compared with.

A stopped run continues after its last finished step.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.timing import ROOT


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a digest of the package's source. Results of other sources are not used."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "captious").rglob("*.py")):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


class StepLimit(Exception):  # noqa: N818 - not an error
    """The requested number of steps has been measured, and more remain."""


class Steps:
    """Results by section and step, each with its settings and the digest of the code that was measured.

    Without a path, results stay in memory. After ``limit`` new measurements, the next one raises
    :class:`StepLimit`. ``any_code`` accepts results of other versions of the package.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        any_code: bool = False,
        limit: int | None = None,
        log: Callable[[str], None] = lambda text: print(text, flush=True),
    ) -> None:
        self.path = path
        self.remaining = limit
        self.any_code = any_code
        self.log = log
        self.sections: dict[str, dict[str, Any]] = (
            json.loads(path.read_text(encoding="utf-8")) if path is not None and path.exists() else {}
        )
        for step in (step for section in self.sections.values() for step in section.values()):
            # Files of version 0.7 and earlier name the result "found".
            if "found" in step:
                step["result"] = step.pop("found")

    def forget(self, section: str) -> None:
        """Drop the results of a section."""
        self.sections.pop(section, None)

    def measure(
        self, section: str, name: str, settings: dict[str, Any], work: Callable[[], Any], *, ours: bool = True
    ) -> Any:
        """Return the stored result of a step, or call ``work`` and store its result.

        A stored result counts if it has the same settings and, for measurements of ``ours``, the same code.
        """
        # As settings come back from the file: tuples become lists.
        settings = json.loads(json.dumps({**settings, **({"code": code_digest()} if ours else {})}))
        stored = self.sections.get(section, {}).get(name)
        if stored is not None and self._same(stored["settings"], settings):
            self.log(f"{section}: {name}: stored on {stored['when']}")
            return stored["result"]
        if self.remaining is not None:
            if self.remaining <= 0:
                raise StepLimit(f"next step: {section}: {name}")
            self.remaining -= 1
        self.log(f"{section}: {name} …")
        start = time.perf_counter()
        result = json.loads(json.dumps(work()))
        seconds = time.perf_counter() - start
        self.sections.setdefault(section, {})[name] = {
            "settings": settings,
            "when": time.strftime("%Y-%m-%d %H:%M"),
            "seconds": round(seconds, 1),
            "result": result,
        }
        self._write()
        self.log(f"{section}: {name}: {seconds:.0f} s")
        return result

    def results(self, section: str) -> dict[str, Any]:
        """Return the results of a section by step, except those of other code."""
        return {
            name: step["result"]
            for name, step in self.sections.get(section, {}).items()
            if self.any_code or step["settings"].get("code", code_digest()) == code_digest()
        }

    def _same(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        if self.any_code:
            old, new = ({name: value for name, value in of.items() if name != "code"} for of in (old, new))
        return old == new

    def _write(self) -> None:
        """Write to a second file and rename it, so that an interrupted write loses nothing."""
        if self.path is None:
            return
        temporary = self.path.with_name(self.path.name + ".new")
        temporary.write_text(json.dumps(self.sections, indent=1, ensure_ascii=False), encoding="utf-8")
        temporary.replace(self.path)


class Target(NamedTuple):
    """A target, the measured value, and whether the target is met."""

    subject: str
    target: str
    measured: str
    is_met: bool


def at_least(subject: str, ratio: float, target: float, aim: float | None = None) -> Target:
    """Compare a ratio with the smallest one accepted."""
    # Rounded down: a ratio shown as the target has reached it.
    shown = f"{math.floor(10 * ratio) / 10:.1f} ×" if ratio < 100 else f"{math.floor(ratio):,} ×"
    text = f"at least {target:g} ×" + (f" (aim {aim:g} ×)" if aim else "")
    return Target(subject, text, shown, ratio >= target)


def with_targets(table: str, targets: list[Target]) -> str:
    """Append the table of targets to a table."""
    if not targets:
        return table
    rows = [
        f"| {subject} | {target} | {measured} | {'yes' if is_met else '**no**'} |"
        for subject, target, measured, is_met in targets
    ]
    return "\n".join([table, "", "| | target | measured | met |", "|---|---|---:|---|", *rows])
