"""Values of options without Pydantic.

From version 0.29 on, Typer has Pydantic make texts, paths and numbers of what was typed, and importing that takes longer than
scoring some hundred captions. What is simple is made here, to the same values. Whatever is not, mistakes included, is left to
Typer, so that its messages stay; versions of Typer that work otherwise are left alone.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, get_args, get_origin

#: What an option can say of its values that Typer would have to look at.
_MORE = ("parser", "exists", "writable", "resolve_path", "allow_dash", "path_type", "clamp")
_DIGITS = re.compile(r"0|[1-9][0-9]{0,8}")
_NOTHING = object()


class Plain:
    """Stands in for what Typer makes a parameter's values with, until there is one that is not simple."""

    def __init__(self, kind: Any, several: bool, low: float | None, high: float | None) -> None:
        self._kind, self._several = kind, several
        self._low, self._high = low, high

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        made = self._made(value)
        if made is not _NOTHING:
            return made
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)

    def _made(self, value: Any) -> Any:
        if not self._several:
            return self._one(value)
        if value is None:
            return ()
        made = [self._one(item) for item in value] if isinstance(value, list | tuple) else [_NOTHING]
        return _NOTHING if _NOTHING in made or None in made else made

    def _one(self, value: Any) -> Any:
        if value is None or type(value) is self._kind:
            return value
        if not isinstance(value, str):
            return _NOTHING
        if self._kind is Path:
            # Typer says so when a file is there and cannot be read.
            return Path(value) if os.access(value, os.R_OK) or not os.path.lexists(value) else _NOTHING
        if self._kind is int and _DIGITS.fullmatch(value):
            number = int(value)
            inside = (self._low is None or number >= self._low) and (self._high is None or number <= self._high)
            return number if inside else _NOTHING
        return _NOTHING


def simplify(parameter: Any) -> None:
    """Let a parameter of a command make its simple values itself."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None or getattr(parameter, "_runtime_param", _NOTHING) is not None or not hasattr(parameter, "get_runtime_param"):
        return
    kind, about = getattr(described, "annotation", None), getattr(described, "parameter_info", None)
    several = bool(getattr(parameter, "multiple", False)) or getattr(parameter, "nargs", 1) == -1
    if several != (get_origin(kind) is list):
        return
    if several:
        kind = get_args(kind)[0]
    if about is None or any(getattr(about, name, None) for name in _MORE) or not (about.file_okay and about.dir_okay):
        return
    if kind in (str, Path, int, float, bool):
        parameter._runtime_param = Plain(kind, several, about.min, about.max)
