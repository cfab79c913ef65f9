"""How a command shows its results: the format of tables, digits, error bars. Options that all of them share.

A command that is wrapped by :func:`takes_look` has ``--format``, ``--percent``, ``--digits``, ``--quiet``, and with ``--ci``
also ``--level``, ``--resamples`` and ``--seed``; what was asked for is :func:`look` while it runs.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from captious.errors import InputError, did_you_mean
from captious.significance import Bootstrap

FORMATS = ("rich", "markdown", "latex", "csv", "json")

#: Formats of measures that are fractions: what --percent multiplies by 100.
_FRACTION = ".4f"


@dataclass(frozen=True)
class Look:
    """What was asked for."""

    format: str = "rich"
    percent: bool = False
    digits: int | None = None
    quiet: bool = False
    bootstrap: Bootstrap = field(default_factory=Bootstrap)


_LOOK: ContextVar[Look | None] = ContextVar("look", default=None)


def look() -> Look:
    """How the command that runs shall show its results."""
    return _LOOK.get() or Look()


def number(value: float, form: str = _FRACTION) -> str:
    """A number for a table, as it is; a dash where there is none."""
    return "–" if value != value else format(value, form)


def score(value: float, form: str = _FRACTION) -> str:
    """A score for a table: with the digits asked for, and times 100 with --percent where it is a fraction."""
    asked = look()
    fraction = form.lstrip("+") == _FRACTION
    if fraction and asked.percent:
        value *= 100
    if fraction:
        digits = asked.digits if asked.digits is not None else 1 if asked.percent else 4
        form = f"{'+' if form.startswith('+') else ''}.{digits}f"
    elif asked.digits is not None and form[-1] in "f%":
        form = f".{asked.digits}{form[-1]}"
    return number(value, form)


def interval(bounds: tuple[float, float], form: str = _FRACTION) -> str:
    """Error bars for a table; without spaces, so that a narrow table breaks before them."""
    low, high = bounds
    return f"[{score(low, form)},{score(high, form)}]"


Format = Annotated[str, typer.Option("--format", "-f", help=f"Format of tables: {', '.join(FORMATS)}.")]
Percent = Annotated[bool, typer.Option("--percent", metavar="", help="Multiply scores by 100 and show one digit.")]
Digits = Annotated[int | None, typer.Option("--digits", min=0, max=15, help="Digits of scores (default: 4, or 1 with --percent).")]
Level = Annotated[float, typer.Option("--level", help="Level of confidence intervals (--ci).")]
Resamples = Annotated[int, typer.Option("--resamples", min=10, help="Bootstrap resamples (--ci).")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the bootstrap.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help="No warnings, no progress, nothing below tables.")]

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "format": (Format, "rich"), "percent": (Percent, False), "digits": (Digits, None), "level": (Level, 0.95),
    "resamples": (Resamples, Bootstrap().resamples), "seed": (Seed, Bootstrap().seed), "quiet": (Quiet, False),
}  # fmt: skip


#: What only a command with --ci needs.
_OF_INTERVALS = ("level", "resamples", "seed")
#: What only a command needs whose tables hold scores.
_OF_SCORES = ("percent", "digits")


def takes_look(command: Callable[..., None], *, of_scores: bool = True) -> Callable[..., None]:
    """Give a command the options of this module. Options that it has itself (``--seed`` of its own tests) stay its own; those
    of intervals are for commands with ``--ci``, those of digits for commands whose numbers are scores (``of_scores``)."""
    signature = inspect.signature(command, eval_str=True)
    own = list(signature.parameters.values())
    names = [parameter.name for parameter in own]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
        if name not in names and ("ci" in names or name not in _OF_INTERVALS) and (of_scores or name not in _OF_SCORES)
    ]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        asked = {parameter.name: values.pop(parameter.name) for parameter in added if parameter.name in values}
        chosen = _look(asked)
        if chosen.format == "json":
            # The whole of the results, as --json has it.
            if values.get("json") not in (None, "-"):
                raise InputError("'--format json' prints the JSON that '--json FILE' writes; give one of them")
            values["json"] = "-"
        token = _LOOK.set(chosen)
        try:
            with warnings.catch_warnings():
                if chosen.quiet:
                    from captious import progress
                    from captious.io import CaptionWarning

                    warnings.simplefilter("ignore", CaptionWarning)
                    with progress.silenced():
                        command(**values)
                else:
                    command(**values)
        finally:
            _LOOK.reset(token)

    run.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *added]}
    return run


def _look(asked: dict[str, Any]) -> Look:
    form = str(asked.get("format", "rich")).casefold()
    form = {"md": "markdown", "tex": "latex", "table": "rich"}.get(form, form)
    if form not in FORMATS:
        raise InputError(f"unknown format '{asked['format']}'{did_you_mean(form, FORMATS)} (known: {', '.join(FORMATS)})")
    level = asked.get("level", Bootstrap().level)
    # 95 is what people write for 0.95.
    level = level / 100 if 1 < level < 100 else level
    if not 0 < level < 1:
        raise InputError(f"a level lies between 0 and 1, such as 0.95, not {level:g}")
    bootstrap = Bootstrap(level, asked.get("resamples", Bootstrap().resamples), asked.get("seed", Bootstrap().seed))
    return Look(form, bool(asked.get("percent")), asked.get("digits"), bool(asked.get("quiet")), bootstrap)
