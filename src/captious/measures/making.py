"""Measures from names and options: what cannot run is an error where it was named, and left out of a group."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from captious.errors import InputError, MissingExtraError, MissingInputError, did_you_mean
from captious.io import CaptionWarning
from captious.io.frequencies import read_frequencies
from captious.measures import registry
from captious.measures.base import Measure
from captious.measures.registry import Wanted


def make_measures(metrics: Wanted, options: Mapping[str, Any]) -> list[Measure]:
    """Measures from names, groups and options; an option that no measure knows is an error."""
    if options:
        known = registry.option_table()
        for option in options:
            if option not in known:
                raise InputError(f"unknown option '{option}'{did_you_mean(option, known)}")
    if isinstance(options.get("df"), str | Path):
        options = {**options, "df": read_frequencies(options["df"])}
    named = set(registry.named(metrics))
    made: list[Measure] = []
    left_out: dict[str, list[str]] = {}
    for wanted in registry.resolve(metrics):
        try:
            measure = wanted if isinstance(wanted, Measure) else registry.create(wanted, options)
            measure.check()
        except (MissingExtraError, MissingInputError) as error:
            # Asked for by name, a measure that cannot run is an error; as a member of a group it is left out, and said.
            if wanted in named:
                raise
            left_out.setdefault(str(error), []).append(str(wanted))
            continue
        made.append(measure)
    for reason, names in left_out.items():
        warnings.warn(CaptionWarning(f"left out {', '.join(names)}: {reason}"), stacklevel=3)
    return made
