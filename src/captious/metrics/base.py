"""Base class of measures: a state prepared from references, a table of statistics, a formula for the score.

    state = measure.prepare(references)               # once; frozen, and can be sent to another process
    rows = measure.statistics(corpus, state)          # pure; any thread, any part of the candidates
    measure.value(rows.sum(axis=0))                   # the score

Everything else (per-caption values, intervals, tests, files, tables) is derived in
:mod:`captious.results.scores`.

Most measures store numbers that add up: a matrix with one row per caption or image, whose sum goes to the
measure's formula. Measures of a whole text (number of different words, type-token ratios) store the words
themselves, as :class:`Sequences`. The "sum" of such rows is the text that results from reading them one after
another (:class:`Texts`), and a resample of images is another text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError
from captious.core.ragged import IntArray, offsets_of, runs
from captious.corpus import Captions, Corpus
from captious.kernels import kernel
from captious.kernels.types import Float64x2, Int32, Int32x2, Int64, Out
from captious.metrics.options import Option

FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint64]


@kernel
def _count(items: Int32, offsets: Int64, orders: Int32x2, out: Out[Float64x2]) -> None:
    """Count each item in each text."""
    for t in range(orders.shape[0]):
        for k in range(orders.shape[1]):
            row = orders[t, k]
            for j in range(offsets[row], offsets[row + 1]):
                out[t, items[j]] += 1.0


class Sequences:
    """Rows of items in order: row i is ``items[offsets[i]:offsets[i + 1]]``.

    Items are numbered from 0. ``keys`` identifies each number by 64 bits derived from the word itself, so
    that tables of different runs can be concatenated. ``known`` holds external values of the items where the
    measure uses any, for example how often people use a word.
    """

    def __init__(
        self, items: NDArray[np.int32], offsets: IntArray, keys: Keys, known: FloatArray | None = None
    ) -> None:
        self.items = items
        self.offsets = offsets
        self.keys = keys
        self.known = known

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: IntArray | NDArray[np.bool_] | slice) -> Sequences:
        """Return some rows, in the order of ``rows``."""
        positions, offsets = runs(self.offsets, np.arange(len(self), dtype=np.int64)[rows])
        return Sequences(self.items[positions], offsets, self.keys, self.known)

    def sum(self, axis: int = 0) -> Texts:
        """Return all rows as one text, the counterpart of a sum of numbers."""
        if axis != 0:
            raise ValueError("only whole rows can be joined")
        return Texts(self, np.arange(len(self), dtype=np.int32))

    def read(self, orders: NDArray[np.int32]) -> Texts:
        """Return texts that consist of some rows: one order of rows, or one per line."""
        return Texts(self, orders)

    def grouped(self, offsets: IntArray) -> Sequences:
        """Join runs of rows: rows ``offsets[j]:offsets[j + 1]`` become row j."""
        return Sequences(self.items, self.offsets[offsets], self.keys, self.known)

    @classmethod
    def concatenate(cls, tables: Sequence[Sequences]) -> Sequences:
        """Concatenate the rows of several tables. Items with equal keys get one number."""
        first = tables[0]
        if all(np.array_equal(table.keys, first.keys) for table in tables[1:]):
            keys, numbers = first.keys, [np.arange(len(first.keys))] * len(tables)
        else:
            keys, flat = np.unique(np.concatenate([table.keys for table in tables]), return_inverse=True)
            numbers = np.split(flat, np.cumsum([len(table.keys) for table in tables])[:-1])
        known = None
        if first.known is not None:
            known = np.zeros(len(keys))
            for table, number in zip(tables, numbers):
                known[number] = table.known
        items = [number[table.items].astype(np.int32) for table, number in zip(tables, numbers)]
        lengths = np.concatenate([np.diff(table.offsets) for table in tables])
        return cls(np.concatenate(items), offsets_of(lengths), keys, known)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return plain arrays, for files."""
        arrays: dict[str, NDArray[Any]] = {"items": self.items, "offsets": self.offsets, "keys": self.keys}
        return arrays if self.known is None else {**arrays, "known": self.known}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Sequences:
        """Restore rows from :meth:`to_arrays`."""
        return cls(arrays["items"], arrays["offsets"], arrays["keys"], arrays.get("known"))


class Texts(NamedTuple):
    """Texts that consist of rows of a table: ``orders`` lists the rows of one text, or one line per text."""

    table: Sequences
    orders: NDArray[np.int32]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values of these texts: () for one text, (n,) for several."""
        return self.orders.shape[:-1]

    @property
    def lines(self) -> NDArray[np.int32]:
        """The orders as one line per text, also for a single text."""
        return np.atleast_2d(self.orders)

    @property
    def work(self) -> float:
        """Approximate number of items read."""
        return float(
            len(self.lines) * len(self.table.items) * (int(self.orders.shape[-1]) / max(len(self.table), 1))
        )

    def counts(self) -> FloatArray:
        """Count each item in each text: shape (…, items)."""
        out = np.zeros((len(self.lines), len(self.table.keys)))
        _count(self.table.items, self.table.offsets, self.lines, out)
        return out.reshape(*self.shape, len(self.table.keys))


#: Statistics of a measure: a matrix of numbers that add up, or the words themselves.
Rows = FloatArray | Sequences
#: Summed statistics, the argument of the measure's formula.
Sums = FloatArray | Texts


def arranged(rows: Rows) -> Rows:
    """Return rows in C order, so that sums do not depend on the memory layout."""
    return rows if isinstance(rows, Sequences) else np.ascontiguousarray(rows, dtype=np.float64)


def pack(rows: Rows) -> dict[str, NDArray[Any]]:
    """Return rows of any kind as plain arrays, for files."""
    return rows.to_arrays() if isinstance(rows, Sequences) else {"numbers": rows}


def unpack(arrays: Mapping[str, NDArray[Any]]) -> Rows:
    """Restore rows from :func:`pack`."""
    return arrays["numbers"] if "numbers" in arrays else Sequences.from_arrays(arrays)


def concatenate(tables: Sequence[Rows]) -> Rows:
    """Concatenate the rows of several tables of one measure."""
    ragged = [table for table in tables if isinstance(table, Sequences)]
    if len(ragged) == len(tables):
        return Sequences.concatenate(ragged)
    return np.concatenate([table for table in tables if not isinstance(table, Sequences)])


def contained(keys: NDArray[Any], among: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which keys occur in the sorted array ``among``."""
    if not len(among):
        return np.zeros(len(keys), dtype=np.bool_)
    present: NDArray[np.bool_] = among[np.minimum(np.searchsorted(among, keys), len(among) - 1)] == keys
    return present


def ratio(part: Any, whole: Any, otherwise: float = 0.0) -> FloatArray:
    """Return quotients, and ``otherwise`` where there is nothing to divide by (the denominator is 0)."""
    whole = np.asarray(whole)
    out = np.full(np.broadcast_shapes(np.shape(part), whole.shape), otherwise)
    quotient: FloatArray = np.divide(part, whole, out=out, where=whole > 0)
    return quotient


def mid_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value from 1; equal values share the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return ranks


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

        Measures whose statistics are words receive texts instead (see :mod:`captious.metrics.base`).
        """
        return ratio(sums[..., 0], sums[..., 1], np.nan)

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


@runtime_checkable
class NamesWrongWords(Protocol):
    """Optional ability of a measure: it can name the words of a caption that lower its score most.

    ``captious agreement`` asks for it on sets that mark wrong words (HAT, nocaps-FOIL).
    """

    def wrong_words(self, corpus: Corpus, state: Any) -> list[str]:
        """Return the words to blame in each candidate, as its text writes them, or "" where there are none.

        The answer names one thing: a noun with or without its modifiers ("traffic light"). ``state`` comes
        from :meth:`Measure.prepare`, as for :meth:`Measure.statistics`.
        """
        ...


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
