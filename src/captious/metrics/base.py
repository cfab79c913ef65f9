"""Base class of measures: a state prepared from references, a table of statistics, a formula for the score.

    state = measure.prepare(references)               # once; frozen, and can be sent to another process
    rows = measure.statistics(corpus, state)          # pure; any thread, any part of the candidates
    measure.value(rows.sum(axis=0))                   # the score

Everything else (per-caption values, intervals, tests, files, tables) is derived in
:mod:`captious.results.scores`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.corpus import Captions, Corpus
from captious.metrics.options import Option
from captious.metrics.statistics import Rows


@runtime_checkable
class Resource(Protocol):
    """Anything whose content decides a score: document frequencies, vectors, weights, word lists, objects."""

    @property
    def digest(self) -> str:
        """Short digest of the content (:mod:`captious.core.digests`)."""
        ...

    @property
    def label(self) -> str:
        """Short name for people."""
        ...


def in_signature(resource: Resource) -> str:
    """Return ``label@digest``."""
    return f"{resource.label}@{resource.digest}"


FloatArray = NDArray[np.float64]

#: Unit that a value belongs to. Statistics have one row per caption or per image. Corpus measures also have
#: one row per image, but only all images together have a value.
Unit = Literal["caption", "image", "corpus"]
#: Requirements on the captions: references, more than one image, more than one caption per image.
Need = Literal["references", "images", "sets"]


class Measure(ABC):
    """Base of all measures. A measure never reads captions from a file, never tokenizes, never prints."""

    #: Name used in the papers.
    name: str
    #: One line for tables of measures.
    summary: str = ""
    rows: ClassVar[Unit] = "caption"
    higher_is_better: bool = True
    #: Smallest and largest possible value; ``None`` where unbounded.
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    needs: frozenset[Need] = frozenset({"references"})
    #: Options of the constructor. Python, the command line and signatures take them from here.
    options: ClassVar[tuple[Option, ...]] = ()
    #: Option that ``-m NAME=VALUE`` sets.
    value_option: ClassVar[str | None] = None
    #: Built-in settings that distinguish the numbers from those of a variant.
    fixed: Mapping[str, str] = {}
    #: Whether a caption equal to one of its references gets the upper bound.
    perfect_is_maximum: bool = True
    #: Format of values in tables.
    format: str = ".4f"

    def prepare(self, references: Captions) -> Any:
        """Return the state that the measure derives from the references and its resources.

        The state never changes. Results that several measures derive from references are cached with the
        references (:meth:`captious.corpus.Captions.product`), so preparing twice costs nothing.
        """
        return None

    @abstractmethod
    def statistics(self, corpus: Corpus, state: Any) -> Rows:
        """Return one row of sufficient statistics per candidate (per image, unless ``rows`` is "caption")."""

    def value(self, sums: Any) -> FloatArray:
        """Return scores for summed or averaged statistics of shape (…, k). The default is column 0 over 1.

        Measures whose statistics are words receive texts instead (see :mod:`captious.metrics.statistics`).
        """
        count: FloatArray = sums[..., 1]
        mean: FloatArray = np.divide(sums[..., 0], count, out=np.full_like(count, np.nan), where=count > 0)
        return mean

    def per_row(self, statistics: Any) -> FloatArray:
        """Return the score of each row (caption or image)."""
        return self.value(statistics)

    def check(self, corpus: Corpus | None = None) -> None:
        """Raise an error that says what to install or provide if a requirement is missing."""
        self.resources()
        if corpus is not None:
            check_needs(self, corpus)

    def resources(self) -> dict[str, Resource]:
        """Return the tables and models that the numbers depend on, by their names in the signature."""
        return {}

    def parameters(self) -> dict[str, str]:
        """Return built-in settings and options for the signature. Resources are listed by content instead."""
        resources = self.resources()
        settings = {
            option.name: str(getattr(self, option.name))
            for option in self.options
            if option.setting and option.name not in resources
        }
        return {**self.fixed, **settings}

    def uses_references(self) -> bool:
        """Return whether references, where present, change the numbers."""
        return "references" in self.needs

    def data_fields(self, corpus: Corpus) -> dict[str, str]:
        """Return signature fields for settings that the corpus decides."""
        return {}

    def recipe(self) -> dict[str, Any]:
        """Return JSON from which the formula (:meth:`value`, :meth:`per_row`) of saved scores is restored.

        A mean is named as such. Any other formula is identified by the measure's name and settings
        (:mod:`captious.metrics.recipes`). Composed measures override this method.
        """
        kind = type(self)
        if kind.value is Measure.value and kind.per_row is Measure.per_row:
            return {"formula": "mean"}
        settings = {option.name: getattr(self, option.name) for option in self.options if option.setting}
        package = kind.__module__.partition(".")[0]
        return {"formula": "measure", "measure": self.name, "settings": settings, "package": package}


def as_statistics(values: FloatArray) -> FloatArray:
    """Return the statistics of a mean of values: (value, 1), or (0, 0) where a value is undefined."""
    defined = ~np.isnan(values)
    return np.stack([np.where(defined, values, 0.0), defined.astype(np.float64)], axis=1)


def check_needs(measure: Measure, corpus: Corpus) -> None:
    """Raise an error if captions lack a requirement of the measure."""
    if "references" in measure.needs and not corpus.has_references:
        raise InputError(
            f"{measure.name} compares captions with references, and there are none; pass reference captions"
        )
    if "sets" in measure.needs and not (corpus.candidates.per_image > 1).any():
        raise InputError(
            f"{measure.name} measures sets of captions, and every image of {corpus.name} has only one; "
            "pass several captions per image"
        )
