"""Settings of tables: format, digits, error bars.

A command takes one of the option groups :class:`Tables`, :class:`ScoreTables` and :class:`IntervalTables`.
While it runs, :func:`look` returns the settings.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

from captious.cli.command import INTERVALS, OUTPUT, Flag, OptionGroup
from captious.core.errors import InputError, did_you_mean
from captious.results.result_rows import FRACTION, NumberStyle
from captious.results.significance import Bootstrap

FORMATS = ("rich", "markdown", "latex", "csv", "json")


@dataclass(frozen=True)
class Look:
    """Settings of tables."""

    format: str = "rich"
    percent: bool = False
    digits: int | None = None
    quiet: bool = False
    bootstrap: Bootstrap = field(default_factory=Bootstrap)

    @property
    def numbers(self) -> NumberStyle:
        """Scale and rounding of numbers in CSV and JSON."""
        return NumberStyle(self.percent, self.digits)


_LOOK: ContextVar[Look | None] = ContextVar("look", default=None)


def look() -> Look:
    """Return the settings of the running command."""
    return _LOOK.get() or Look()


def number(value: float, form: str = FRACTION) -> str:
    """Format a number for a table; a dash for NaN."""
    return "–" if value != value else format(value, form)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, such as "1 image" or "5,000 images"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def score(value: float, form: str = FRACTION) -> str:
    """Format a score for a table, with --digits, and times 100 with --percent if it is a fraction."""
    settings = look()
    fraction = form.lstrip("+") == FRACTION
    if fraction and settings.percent:
        value *= 100
    if fraction:
        digits = settings.digits if settings.digits is not None else 1 if settings.percent else 4
        form = f"{'+' if form.startswith('+') else ''}.{digits}f"
    elif settings.digits is not None and form[-1] in "f%":
        form = f".{settings.digits}{form[-1]}"
    return number(value, form)


def interval(bounds: tuple[float, float], form: str = FRACTION) -> str:
    """Format an interval for a table; without spaces, so that a narrow table breaks before it."""
    low, high = bounds
    return f"[{score(low, form)},{score(high, form)}]"


@dataclass
class Tables(OptionGroup):
    """Options of commands that print tables."""

    heading: ClassVar[str] = OUTPUT

    format: Annotated[
        str,
        Flag("--format", "-f", metavar="NAME", help=f"{', '.join(FORMATS)}.", values=FORMATS),
    ] = "rich"
    quiet: Annotated[bool, Flag("--quiet", "-q", help="No warnings, no progress, nothing below tables.")] = (
        False
    )

    def look(self) -> Look:
        """Return the settings of these options."""
        form = self.format.casefold()
        form = {"md": "markdown", "tex": "latex", "table": "rich"}.get(form, form)
        if form not in FORMATS:
            raise InputError(
                f"unknown format '{self.format}'{did_you_mean(form, FORMATS)} "
                f"(there are {', '.join(FORMATS)})"
            )
        return Look(format=form, quiet=self.quiet)

    @contextmanager
    def active(self, values: dict[str, Any]) -> Iterator[None]:
        chosen = self.look()
        if chosen.format == "json":
            # The same as --json prints.
            if values.get("json") not in (None, "-"):
                raise InputError(
                    "'--format json' prints the JSON that '--json FILE' writes; give one of them"
                )
            values["json"] = "-"
        token = _LOOK.set(chosen)
        try:
            with ExitStack() as stack:
                if chosen.quiet:
                    from captious.core import progress
                    from captious.io import CaptionWarning

                    stack.enter_context(warnings.catch_warnings())
                    warnings.simplefilter("ignore", CaptionWarning)
                    stack.enter_context(progress.silenced())
                yield
        finally:
            _LOOK.reset(token)


@dataclass
class ScoreTables(Tables):
    """Options of commands whose tables hold scores."""

    percent: Annotated[bool, Flag("--percent", help="Multiply scores by 100.")] = False
    digits: Annotated[
        int | None,
        Flag("--digits", min=0, max=15, help="Digits of scores (default: 4; 1 with --percent)."),
    ] = None

    def look(self) -> Look:
        return replace(super().look(), percent=self.percent, digits=self.digits)


@dataclass
class IntervalTables(ScoreTables):
    """Options of commands with ``--ci``."""

    level: Annotated[float, Flag("--level", help="Level of the intervals.", heading=INTERVALS)] = 0.95
    resamples: Annotated[int, Flag("--resamples", min=10, help="Bootstrap resamples.", heading=INTERVALS)] = (
        Bootstrap().resamples
    )
    seed: Annotated[int, Flag("--seed", min=0, help="Seed of the bootstrap.", heading=INTERVALS)] = (
        Bootstrap().seed
    )

    def look(self) -> Look:
        # Accept 95 for 0.95.
        level = self.level / 100 if 50 <= self.level < 100 else self.level
        if not 0 < level < 1:
            raise InputError(f"--level lies between 0 and 1, such as 0.95, not {self.level:g}")
        return replace(super().look(), bootstrap=Bootstrap(level, self.resamples, self.seed))
