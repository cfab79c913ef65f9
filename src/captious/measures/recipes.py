"""Formulas of measures, made again from a description: what saved scores need to be more than a number.

Only what is registered here or in the registry of measures can be made; a file never says what to import.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, Protocol

from captious.corpus import Corpus
from captious.errors import CaptiousError, InputError
from captious.measures import registry
from captious.measures.base import FloatArray, Measure, Unit

#: Formulas that are composed of others: name → ``module:class`` with a ``from_recipe``.
COMPOSED = {"F-measure": "captious.variety.sets.accuracy:FFormula"}


class Formula(Protocol):
    """From summed statistics to a score, and from each row to its own."""

    def value(self, sums: Any) -> FloatArray:
        """Scores from sums of shape (…, k)."""
        ...

    def per_row(self, statistics: Any) -> FloatArray:
        """The score of each row by itself."""
        ...


def formula(recipe: Mapping[str, Any]) -> Formula:
    """The formula that a recipe (:meth:`captious.measures.base.Measure.recipe`) describes."""
    kind = recipe["formula"]
    if kind == "mean":
        return _Mean()
    if kind in COMPOSED:
        module, _, attribute = COMPOSED[kind].partition(":")
        made: Formula = getattr(import_module(module), attribute).from_recipe(recipe)
        return made
    if kind != "measure":
        raise InputError(f"the formula '{kind}' is not known here; a newer captious knows it")
    name, package = recipe["measure"], recipe["package"]
    if name not in registry.entries():
        raise InputError(
            f"the measure '{name}' is not known here: "
            + ("a newer captious has it" if package == "captious" else f"install the package that brings it ('{package}')")
        )
    # Settings alone: a file does not say which other files to open.
    settings = {option.name for option in registry.measure_class(name).options if option.setting}
    try:
        return registry.create(name, {key: value for key, value in recipe["settings"].items() if key in settings})
    except CaptiousError as error:
        raise InputError(f"the formula of '{name}' cannot be made again: {error}") from error


class SavedMeasure(Measure):
    """The measure of saved scores: its description and its formula, without what it takes to score captions anew."""

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
        raise InputError(f"{self.name} comes from saved scores and cannot score captions; name the metric to score anew")

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
    """The default formula, by itself."""

    def __init__(self) -> None:
        self.name = "mean"

    value = Measure.value
    per_row = Measure.per_row


_KINDS: dict[str, type[SavedMeasure]] = {"caption": SavedMeasure, "image": _OfImages, "corpus": _OfCorpora}


def describe(measure: Measure) -> dict[str, Any]:
    """JSON from which :func:`restore` makes the measure of saved scores."""
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
    """The measure of saved scores."""
    return _KINDS[described["rows"]](described)
