"""What a measure is: a state prepared from references once, a table of statistics, and a formula from sums to a score.

    state = measure.prepare(references)               # once; frozen, and can be sent to another process
    rows = measure.statistics(corpus, state)          # a pure function; any thread, any part of the candidates
    measure.value(rows.sum(axis=0))                   # the score

Everything else (value, per-caption values, intervals, tests, files, tables) is derived in :mod:`captious.scores`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions, Corpus
from captious.errors import InputError
from captious.measures.options import Option
from captious.measures.resources import Resource
from captious.statistics import Rows

FloatArray = NDArray[np.float64]

#: What a value belongs to. Statistics have one row per caption, or per image; those of a corpus measure have one per image
#: too, but an image by itself has no value: the measure is of all of them together.
Unit = Literal["caption", "image", "corpus"]
#: What the captions must have: references; more than one image; more than one caption per image.
Need = Literal["references", "images", "sets"]


class Measure(ABC):
    """Base of all measures. A measure never reads captions from a file, never tokenizes, never prints."""

    #: The name people know, as in the papers.
    name: str
    #: One line for tables of measures.
    summary: str = ""
    rows: ClassVar[Unit] = "caption"
    higher_is_better: bool = True
    #: Smallest and largest possible value; ``None`` where there is none.
    bounds: tuple[float | None, float | None] = (0.0, 1.0)
    needs: frozenset[Need] = frozenset({"references"})
    #: Options, which reach Python, the command line and the signature from here.
    options: ClassVar[tuple[Option, ...]] = ()
    #: What is built into the measure and tells its numbers from those of a variant.
    fixed: Mapping[str, str] = {}
    #: Whether a caption equal to one of its references gets the upper bound.
    perfect_is_maximum: bool = True
    #: How values are written in tables.
    format: str = ".4f"

    def prepare(self, references: Captions) -> Any:
        """What this measure needs from the references (and its resources) before it sees a candidate.

        The result never changes afterwards. What several measures derive from references is kept with
        the references (:meth:`captious.corpus.Captions.product`), so preparing twice costs nothing.
        """
        return None

    @abstractmethod
    def statistics(self, corpus: Corpus, state: Any) -> Rows:
        """One row of sufficient statistics per caption of the candidates (per image, unless ``rows`` is "caption")."""

    def value(self, sums: Any) -> FloatArray:
        """Scores from summed (or averaged) statistics of shape (…, k), or from texts, where statistics are words (see
        :mod:`captious.statistics`). By default the mean: column 0 over column 1."""
        count: FloatArray = sums[..., 1]
        mean: FloatArray = np.divide(sums[..., 0], count, out=np.full_like(count, np.nan), where=count > 0)
        return mean

    def per_row(self, statistics: Any) -> FloatArray:
        """The score of each row (caption or image) by itself."""
        return self.value(statistics)

    def check(self, corpus: Corpus | None = None) -> None:
        """If something this measure needs is missing, raise an error that says what to install or provide."""
        self.resources()
        if corpus is not None:
            check_needs(self, corpus)

    def resources(self) -> dict[str, Resource]:
        """Tables and models that the numbers depend on, by their names in the signature."""
        return {}

    def parameters(self) -> dict[str, str]:
        """What is built in, and the options that are settings (those that are resources are named by their content)."""
        found = dict(self.fixed)
        named = self.resources()
        for option in self.options:
            if option.name not in named and option.setting:
                found[option.name] = f"{getattr(self, option.name)}"
        return found

    def uses_references(self) -> bool:
        """Whether references, where there are any, change the numbers."""
        return "references" in self.needs

    def data_fields(self, corpus: Corpus) -> dict[str, str]:
        """For the signature: what else of the corpus the numbers depend on, where it is decided by the corpus."""
        return {}

    def recipe(self) -> dict[str, Any]:
        """How the formula (:meth:`value`, :meth:`per_row`) is made again for scores that were kept in a file: JSON.

        A mean needs no more than that word; any other formula is that of the measure of this name, with its settings
        (:mod:`captious.measures.recipes`). What is composed of other measures says how.
        """
        kind = type(self)
        if kind.value is Measure.value and kind.per_row is Measure.per_row:
            return {"formula": "mean"}
        settings = {option.name: getattr(self, option.name) for option in self.options if option.setting}
        package = kind.__module__.partition(".")[0]
        return {"formula": "measure", "measure": self.name, "settings": settings, "package": package}


def as_statistics(values: FloatArray) -> FloatArray:
    """The statistics of a measure that is a mean of values: (value, 1), and (0, 0) where it is undefined."""
    defined = ~np.isnan(values)
    return np.stack([np.where(defined, values, 0.0), defined.astype(np.float64)], axis=1)


def check_needs(measure: Measure, corpus: Corpus) -> None:
    """Refuse captions that lack what a measure needs."""
    if "references" in measure.needs and not corpus.has_references:
        raise InputError(f"{measure.name} compares captions with references, and there are none; give reference captions")
    if "sets" in measure.needs and not (corpus.candidates.per_image > 1).any():
        raise InputError(
            f"{measure.name} measures sets of captions, and every image of {corpus.name} has only one; "
            "give several captions per image"
        )
