"""Measures from names and options. A measure that cannot run is an error if named, or left out of a group."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, MissingExtraError, MissingInputError, did_you_mean
from captious.io import CaptionWarning
from captious.io.frequency_files import read_frequencies
from captious.metrics import registry
from captious.metrics.base import Measure
from captious.metrics.registry import Wanted


def make_measures(metrics: Wanted, options: Mapping[str, Any]) -> list[Measure]:
    """Create measures from names, groups and options. An option that no measure has is an error."""
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
            # A measure requested by name must run. A member of a group is left out with a warning.
            if wanted in named:
                raise
            left_out.setdefault(str(error), []).append(str(wanted))
            continue
        made.append(measure)
    if "CIDEr" in named and not any(measure.name == "CIDEr-D" for measure in made):
        _hint_at_cider_d()
    for reason, names in left_out.items():
        warnings.warn(CaptionWarning(f"left out {', '.join(names)}: {reason}"), stacklevel=3)
    return made


@lru_cache(maxsize=1)
def _hint_at_cider_d() -> None:
    """Warn once per process that the COCO tools and most papers use the name CIDEr for CIDEr-D."""
    warnings.warn(
        CaptionWarning(
            "CIDEr is the form without clipping; the COCO tools and most papers say CIDEr for CIDEr-D "
            "(-m CIDEr-D)"
        ),
        stacklevel=4,
    )
