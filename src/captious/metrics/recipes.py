"""Formulas of measures, restored from a description. Saved scores need them for anything but the total.

Only registered formulas and measures can be restored. A file cannot name a module to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, Protocol

from captious.core.errors import CaptiousError, InputError
from captious.corpus import Corpus
from captious.metrics import registry
from captious.metrics.base import FloatArray, Measure, Unit

#: Formulas that are composed of others: name → ``module:class`` with a ``from_recipe``.
COMPOSED = {"F-measure": "captious.diversity_analysis.sets.accuracy_diversity:FFormula"}


class Formula(Protocol):
    """Mapping from summed statistics to a score, and from each row to its own score."""

    def value(self, sums: Any) -> FloatArray:
        """Return scores for sums of shape (…, k)."""
        ...

    def per_row(self, statistics: Any) -> FloatArray:
        """Return the score of each row."""
        ...


def formula(recipe: Mapping[str, Any]) -> Formula:
    """Return the formula that a recipe (:meth:`captious.metrics.base.Measure.recipe`) describes."""
    kind = recipe["formula"]
    if kind == "mean":
        return _Mean()
    if kind in COMPOSED:
        module, _, attribute = COMPOSED[kind].partition(":")
        composed: Formula = getattr(import_module(module), attribute).from_recipe(recipe)
        return composed
    if kind != "measure":
        raise InputError(f"the formula '{kind}' is not known here; upgrade captious to read these scores")
    name, package = recipe["measure"], recipe["package"]
    if name not in registry.names():
        raise InputError(
            f"the measure '{name}' is not known here: "
            + (
                "upgrade captious"
                if package == "captious"
                else f"install the package that provides it ('{package}')"
            )
        )
    # Only settings are restored, so that a file cannot name other files to open.
    settings = {option.name for option in registry.measure_class(name).options if option.setting}
    try:
        return registry.create(
            name, {key: value for key, value in recipe["settings"].items() if key in settings}
        )
    except CaptiousError as error:
        raise InputError(f"the formula of '{name}' cannot be restored: {error}") from error


class SavedMeasure(Measure):
    """Measure of saved scores: its description and its formula, without the ability to score captions."""

    needs = frozenset()

    def __init__(self, described: Mapping[str, Any]) -> None:
        low, high = described["bounds"]
        self.name = described["name"]
        self.summary = described["summary"]
        self.higher_is_better = bool(described["higher_is_better"])
        self.bounds = (low, high)
        self.format = described["format"]
        self._recipe = dict(described["recipe"])
        self._formula = formula(self._recipe)

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        raise InputError(
            f"{self.name} comes from saved scores and cannot score captions; name the metric to score anew"
        )

    def value(self, sums: Any) -> FloatArray:
        return self._formula.value(sums)

    def per_row(self, statistics: Any) -> FloatArray:
        return self._formula.per_row(statistics)

    def recipe(self) -> dict[str, Any]:
        return self._recipe


class _OfImages(SavedMeasure):
    rows: ClassVar[Unit] = "image"


class _OfCorpora(SavedMeasure):
    rows: ClassVar[Unit] = "corpus"


class _Mean(SavedMeasure):
    """Default formula: the mean."""

    def __init__(self) -> None:
        self.name = "mean"

    value = Measure.value
    per_row = Measure.per_row


_KINDS: dict[str, type[SavedMeasure]] = {"caption": SavedMeasure, "image": _OfImages, "corpus": _OfCorpora}


def describe(measure: Measure) -> dict[str, Any]:
    """Return JSON from which :func:`restore` creates the measure of saved scores."""
    return {
        "name": measure.name,
        "summary": measure.summary,
        "rows": measure.rows,
        "higher_is_better": measure.higher_is_better,
        "bounds": list(measure.bounds),
        "format": measure.format,
        "recipe": measure.recipe(),
    }


def restore(described: Mapping[str, Any]) -> SavedMeasure:
    """Create the measure of saved scores."""
    return _KINDS[described["rows"]](described)
