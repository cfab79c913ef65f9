"""The job to run on every shard, small enough to be sent with each of them.

The references are a file that workers map into memory, once in each process.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from captious._version import __version__
from captious.core import digests as digest
from captious.core.errors import InputError
from captious.corpus import Captions, Corpus
from captious.io.columns import Columns
from captious.metrics.base import Measure
from captious.metrics.registry import make_measures
from captious.metrics.statistics import Sequences
from captious.results.references import DEFAULT_TOKENIZER, References
from captious.results.signatures import sign
from captious.scale.shard_checks import Images
from captious.scale.shard_novelty import NgramNovelty
from captious.scale.shard_reading import BATCH
from captious.scale.whole_corpus import GROUPS

OnError = Literal["stop", "skip"]

#: Measures of the whole that this room counts in its own way, because their usual statistics are all words of
#: all captions.
WHOLE = ("Types", "Hapax", "TTR1", "TTR2", "Distinct")
_NOVEL = tuple(f"Novel-{n}" for n in range(1, 5))


@dataclass(frozen=True)
class Job:
    """Settings of a run.

    ``metrics`` are names of measures with a row for each caption, ``whole`` those of :data:`WHOLE`.
    """

    metrics: tuple[str, ...]
    whole: tuple[str, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    #: A file of prepared references.
    references: str | None = None
    tokenizer: str = DEFAULT_TOKENIZER
    columns: Columns = field(default_factory=Columns)
    on_error: OnError = "stop"
    batch: int = BATCH
    #: The filter of training n-grams, a file.
    filter: str | None = None
    #: Keep so many counters where exact counts would take a place for each word, and sketch where they would
    #: for each caption.
    top: int | None = None
    #: Captions kept for type-token curves.
    sample: int = 10_000
    seed: int = 0
    #: Names everything that decides the numbers; set by :meth:`identified`.
    key: str = ""

    def identified(self, made: Ready) -> Job:
        """The same job with its key, which is made from the signatures of all measures."""
        parts = [
            *made.signatures,
            *self.whole,
            repr(self.columns),
            self.tokenizer,
            self.on_error,
            str(self.batch),
            str(self.top),
            str(self.sample),
            str(self.seed),
            str(GROUPS),
            __version__,
        ]
        return replace(self, key=digest.of_lines(parts) + digest.of_lines(reversed(parts)))


class Ready:
    """A job made ready in one process: references mapped, measures made, their states prepared."""

    def __init__(self, job: Job, references: Captions | None = None) -> None:
        """``references`` are those of the job, if they have been read already."""
        self.job = job
        if job.references is not None:
            self.references = (
                references if references is not None else References.read(job.references).captions
            )
            self.images = Images(
                self.references.cached(
                    "places", lambda: {image: i for i, image in enumerate(self.references.ids)}
                )
            )
        else:
            # One image without a caption stands for all: no measure reads references, and states are prepared
            # once.
            self.references = Captions.of([[]], job.tokenizer, ids=[""])
            self.images = Images(None)
        self.measures = measures_of(job)
        self._states: list[Any] | None = None

    @property
    def states(self) -> list[Any]:
        """States that measures prepared from the references."""
        if self._states is None:
            self._states = [measure.prepare(self.references) for measure in self.measures]
        return self._states

    def corpus(self, ids: Sequence[str], captions: Sequence[str]) -> Corpus:
        """Rows as a corpus: each caption stands for itself, though images may repeat."""
        candidates = Captions.of(
            [[text] for text in captions], self.references.tokenizer, ids=ids, over=self.references
        )
        places = self.images.places
        if places is None:
            found = np.zeros(len(captions), dtype=np.int64)
        else:
            found = np.fromiter(map(places.__getitem__, ids), np.int64, len(ids))
        return Corpus(candidates, self.references, images=found)

    def groups(self, corpus: Corpus) -> NDArray[np.int64]:
        """The group of each caption's image."""
        if self.images.places is not None:
            return self._groups_of_references[corpus.images]
        return group_of(corpus.ids)

    @cached_property
    def _groups_of_references(self) -> NDArray[np.int64]:
        return group_of(self.references.ids)

    @property
    def signatures(self) -> list[str]:
        """How each number is made."""
        first = self.references.ids[0] if len(self.references.ids) else ""
        corpus = self.corpus([first], ["a"])
        return [str(sign(measure, corpus)) for measure in self.measures]


def group_of(ids: Sequence[str]) -> NDArray[np.int64]:
    """The groups of images, the same everywhere."""
    return (
        np.fromiter((zlib.crc32(image.encode("utf-8", "surrogatepass")) for image in ids), np.int64, len(ids))
        % GROUPS
    )


_lock = threading.Lock()


_made: dict[str, Ready] = {}


def ready(job: Job) -> Ready:
    """The job of this process, made once."""
    with _lock:
        if job.key not in _made:
            # One at a time: the references of another job are given back.
            _made.clear()
            made = Ready(job)
            made.states  # noqa: B018 - prepared now, before the first batch
            _made[job.key] = made
        return _made[job.key]


def split(metrics: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of measures of captions, and of the whole."""
    from captious.metrics import registry

    found: list[str] = []
    whole: list[str] = []
    for part in registry.parts(metrics):
        if isinstance(part, Measure):
            raise InputError(
                f"workers make their measures themselves: give {part.name} by its name, and its settings as "
                "options"
            )
        fold = part.casefold()
        own = next((name for name in (*WHOLE, *_NOVEL) if name.casefold() == fold), None)
        if own is not None:
            (whole if own in WHOLE else found).append(own)
            continue
        for name in registry.resolve(part):
            (whole if name in WHOLE else found).append(str(name))
    if not found and not whole:
        raise InputError("no metric was named ('captious metrics' lists them all)")
    return tuple(dict.fromkeys(found)), tuple(dict.fromkeys(whole))


def measures_of(job: Job) -> list[Measure]:
    """The measures of captions; what cannot be measured caption by caption is refused."""
    options = dict(job.options)
    made: list[Measure] = []
    for name in job.metrics:
        if name in _NOVEL:
            made.append(NgramNovelty(int(name[-1]), job.filter))
        else:
            made += make_measures(name, options)
    for measure in made:
        measure.check()
        if measure.rows == "image":
            raise InputError(
                f"{measure.name} measures the set of captions of an image, and an image's captions may lie "
                "in several shards; use 'captious diversity'"
            )
        if "references" in measure.needs and job.references is None:
            raise InputError(
                f"{measure.name} compares captions with references, and there are none; give them "
                "(--references FILE)"
            )
    return made


def is_countable(statistics: Any) -> bool:
    """Whether rows of statistics are numbers that add up."""
    return not isinstance(statistics, Sequences)
