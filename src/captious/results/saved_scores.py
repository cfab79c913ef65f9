"""Scores in files ``NAME.scores``, which reproduce the numbers bit for bit.

``docs/reference/saved-scores.md`` describes the format.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from captious._version import __version__
from captious.core import container
from captious.core import digests as digest
from captious.core.errors import InputError
from captious.core.memo import Arrays
from captious.core.ragged import IntArray
from captious.core.writing import is_standard
from captious.corpus import Corpus
from captious.io.content import content_of_pipe
from captious.metrics import base
from captious.metrics.base import Measure, Rows
from captious.metrics.recipes import describe, restore
from captious.results.caption_lengths import CaptionLengths
from captious.results.references import distinct

KIND = "scores"
VERSION = 1
SUFFIX = ".scores"
_HOW = "'captious score … -o NAME.scores' makes one"


def is_saved(source: Any) -> bool:
    """Return whether a path names saved scores. By name, so that a damaged file is not read as captions."""
    return isinstance(source, str | os.PathLike) and os.fspath(source).endswith(SUFFIX)


def check_target(target: Path | None, systems: int) -> None:
    """Refuse a target that cannot hold the scores of this number of systems, before any work."""
    if target is None:
        return
    if is_standard(target) and systems > 1:
        raise InputError(
            f"standard output ('-') takes the scores of one system, and there are {systems}; give a folder"
        )
    if "=" in target.name and not is_saved(target):
        raise InputError(
            f"-o names the file or folder for the scores; an option of a metric is written --option {target}"
        )
    if is_saved(target) and systems > 1:
        raise InputError(
            f"{target} is one file, and there are {systems} systems; "
            f"give a folder, which gets NAME{SUFFIX} for each"
        )


def target_paths(target: Path, systems: Sequence[str]) -> list[Path]:
    """Return the file of each system: the target itself if it is ``NAME.scores``, else files in a folder."""
    if is_saved(target) or is_standard(target):
        return [target]
    # Replace characters that a file name may not contain.
    names = distinct([re.sub(r"[^\w.+() -]", "_", name).strip(". ") or "system" for name in systems])
    return [target / f"{name}{SUFFIX}" for name in names]


class Record(NamedTuple):
    """One measure of one system: the content of a :class:`captious.results.scores.Score`."""

    measure: Measure
    statistics: Rows
    ids: tuple[str, ...]
    image_offsets: IntArray
    signature: str
    #: The score, with which a reader checks that its formula is the writer's.
    value: float


@dataclass(frozen=True)
class ScoredCaptions:
    """The captions that were scored."""

    ids: tuple[str, ...]
    #: The captions of image j are ``texts[image_offsets[j]:image_offsets[j + 1]]``.
    image_offsets: IntArray
    texts: Sequence[str] | None
    #: Position of each image among the references, and the order of the references (their ids, or a digest of
    #: these). None without references.
    places: IntArray | None
    ordered: tuple[str, ...] | str | None

    @classmethod
    def of(cls, corpus: Corpus) -> ScoredCaptions:
        """Return the candidates of a corpus."""
        captions, references = corpus.candidates, corpus.references
        with_references = corpus.has_references
        return cls(
            captions.ids,
            captions.image_offsets,
            captions.texts,
            corpus.images if with_references else None,
            references.ids if with_references else None,
        )

    @property
    def order(self) -> str | None:
        """Digest of the order of the references' images. Computed only when scores are saved."""
        return digest.of_lines(self.ordered) if isinstance(self.ordered, tuple) else self.ordered


class Saved(NamedTuple):
    """Content of a file."""

    system: str
    records: list[Record]
    captions: ScoredCaptions | None
    #: Lengths of captions and references. Files of versions before 0.9 have none.
    lengths: CaptionLengths | None = None


def write(path: str | Path, saved: Saved, *, texts: bool = True) -> None:
    """Write a file atomically, with the texts of the captions if ``texts`` is true."""
    arrays: dict[str, Any] = {}
    frames: dict[tuple[tuple[str, ...], bytes], int] = {}
    tables: dict[int, int] = {}

    def frame(ids: tuple[str, ...], offsets: IntArray) -> int:
        """Store ids once for all measures of the same captions, and return their number."""
        key = (ids, offsets.tobytes())
        if key not in frames:
            number = frames[key] = len(frames)
            arrays.update(container.text_arrays(f"frame/{number}/ids", ids))
            arrays[f"frame/{number}/captions"] = np.asarray(offsets, dtype=np.int64)
        return frames[key]

    def table(rows: Rows) -> int:
        """Store a table of statistics once (BLEU-1 to BLEU-4 share one), and return its number."""
        if id(rows) not in tables:
            number = tables[id(rows)] = len(tables)
            arrays.update({f"statistics/{number}/{name}": values for name, values in base.pack(rows).items()})
        return tables[id(rows)]

    rows = [
        {
            **describe(record.measure),
            "signature": str(record.signature),
            "value": record.value if math.isfinite(record.value) else None,
            "frame": frame(record.ids, record.image_offsets),
            "statistics": table(record.statistics),
        }
        for record in saved.records
    ]
    meta: dict[str, Any] = {"captious": __version__, "system": saved.system, "scores": rows}
    captions = saved.captions
    if captions is not None:
        meta["captions"] = {"frame": frame(captions.ids, captions.image_offsets), "order": captions.order}
        if saved.lengths is not None and len(saved.lengths.per_caption) == captions.image_offsets[-1]:
            arrays["captions/words"] = saved.lengths.per_caption
            theirs = saved.lengths.references
            meta["captions"]["reference_words"] = theirs if math.isfinite(theirs) else None
        if captions.places is not None:
            arrays["captions/places"] = captions.places
        if texts and captions.texts is not None:
            arrays.update(container.text_arrays("captions/texts", captions.texts))
    container.write(path, KIND, VERSION, meta, arrays)


def read(path: str | Path) -> Saved:
    """Read a file. Any damage raises one InputError."""
    file = container.read(path, KIND, VERSION, _HOW, content_of_pipe(path))
    for name in file.arrays:
        file.arrays[name]  # checks every array now, so that no number comes from a damaged file
    try:
        return _saved(file)
    except InputError as error:
        raise InputError(f"{file.path}: {error}") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise InputError(f"{file.path}: its description cannot be understood ({error!r}); {_HOW}") from error


def _saved(file: container.Container) -> Saved:
    meta, arrays = file.meta, file.arrays
    frames: dict[int, tuple[tuple[str, ...], IntArray]] = {}

    def frame(number: int) -> tuple[tuple[str, ...], IntArray]:
        if number not in frames:
            ids = tuple(_texts(file, f"frame/{number}/ids"))
            offsets = arrays[f"frame/{number}/captions"]
            if (
                offsets.dtype != np.int64
                or len(offsets) != len(ids) + 1
                or offsets[0] != 0
                or (np.diff(offsets) < 0).any()
            ):
                raise ValueError(f"invalid numbers of captions in frame {number}")
            frames[number] = ids, offsets
        return frames[number]

    records = list(_records(meta["scores"], arrays, frame))
    captions = None
    if "captions" in meta:
        ids, offsets = frame(meta["captions"]["frame"])
        texts = _texts(file, "captions/texts") if "captions/texts" in arrays else None
        if texts is not None and len(texts) != offsets[-1]:
            raise ValueError(f"{len(texts)} captions where {offsets[-1]} were scored")
        captions = ScoredCaptions(
            ids, offsets, texts, arrays.get("captions/places"), meta["captions"]["order"]
        )
    lengths = None
    if captions is not None and "captions/words" in arrays:
        words = arrays["captions/words"]
        if words.dtype != np.int64 or len(words) != captions.image_offsets[-1] or (words < 0).any():
            raise ValueError("lengths that do not fit the captions")
        theirs = meta["captions"]["reference_words"]
        lengths = CaptionLengths(words, math.nan if theirs is None else float(theirs))
    return Saved(str(meta["system"]), records, captions, lengths)


def _texts(file: container.Container, name: str) -> container.StoredTexts:
    """Return texts whose offsets are valid."""
    data, offsets = file.arrays[name], file.arrays[name + "/offsets"]
    if (
        offsets.dtype != np.int64
        or offsets[0] != 0
        or offsets[-1] != len(data)
        or (np.diff(offsets) < 0).any()
    ):
        raise ValueError(f"texts '{name}' that overlap or end elsewhere")
    return file.texts(name)


def _records(
    rows: Sequence[Mapping[str, Any]],
    arrays: Arrays,
    frame: Callable[[int], tuple[tuple[str, ...], IntArray]],
) -> Iterator[Record]:
    tables: dict[int, Rows] = {}
    for row in rows:
        ids, offsets = frame(row["frame"])
        number = int(row["statistics"])
        if number not in tables:
            start = f"statistics/{number}/"
            tables[number] = _table(
                {name[len(start) :]: arrays[name] for name in arrays if name.startswith(start)}
            )
        if len(tables[number]) != offsets[-1]:
            raise ValueError(f"statistics of {row['name']} that do not fit the captions")
        value = math.nan if row["value"] is None else float(row["value"])
        yield Record(restore(row), tables[number], ids, offsets, str(row["signature"]), value)


def _table(arrays: Arrays) -> Rows:
    """Unpack and check rows of statistics."""
    rows = base.unpack(arrays)
    if isinstance(rows, base.Sequences):
        offsets, items = rows.offsets, rows.items
        is_contiguous = (
            len(offsets)
            and offsets[0] == 0
            and offsets[-1] == len(items)
            and not (np.diff(offsets) < 0).any()
        )
        in_range = not len(items) or (items.min() >= 0 and items.max() < len(rows.keys))
        if not (is_contiguous and in_range and (rows.known is None or len(rows.known) == len(rows.keys))):
            raise ValueError("invalid rows of words")
    elif rows.dtype != np.float64 or rows.ndim != 2:
        raise ValueError("rows of statistics that are not numbers")
    return rows
