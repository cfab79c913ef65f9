"""Settings of a run, small enough to be sent with every shard.

The references are a file that workers map into memory, once in each process.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from captious._version import __version__
from captious.core import digests as digest
from captious.core.errors import InputError
from captious.core.memo import Lock, cached_property
from captious.corpus import Captions, Corpus
from captious.io.caption_files import Columns
from captious.metrics import registry
from captious.metrics.base import Measure
from captious.metrics.registry import make_measures
from captious.results.references import DEFAULT_TOKENIZER, References
from captious.results.signatures import sign
from captious.scale.ngram_novelty import NgramNovelty
from captious.scale.shard_rows import BATCH, Images
from captious.scale.whole_corpus import GROUPS

OnError = Literal["stop", "skip"]

#: Measures of the whole that this room counts itself, because their usual statistics are all words of all
#: captions.
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
    #: File of prepared references.
    references: str | None = None
    tokenizer: str = DEFAULT_TOKENIZER
    columns: Columns = field(default_factory=Columns)
    on_error: OnError = "stop"
    batch: int = BATCH
    #: File with the filter of training n-grams.
    filter: str | None = None
    #: Number of counters for approximate counts, or None for exact ones.
    top: int | None = None
    #: Captions in the sample for type-token curves.
    sample: int = 10_000
    seed: int = 0
    #: Whether the scores of each caption are written.
    columns_saved: bool = True
    #: Digest of everything that decides the numbers, set by :meth:`identified`.
    key: str = ""

    def identified(self, prepared: PreparedJob) -> Job:
        """Return the same job with its key, which includes the signatures of all measures."""
        parts = [
            *prepared.signatures,
            *self.whole,
            repr(self.columns),
            self.tokenizer,
            self.on_error,
            str(self.batch),
            str(self.top),
            str(self.sample),
            str(self.seed),
            str(GROUPS),
            str(self.columns_saved),
            # Parts list the images that they cover by their places.
            digest.of_lines(prepared.references.ids),
            __version__,
        ]
        return replace(self, key=digest.of_lines(parts) + digest.of_lines(reversed(parts)))


class PreparedJob:
    """References, measures and prepared states of a job in this process."""

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
            # One image without a caption replaces all: no measure reads references.
            self.references = Captions.of([[]], job.tokenizer, ids=[""])
            self.images = Images(None)
        self.measures = measures_of(job)

    @property
    def n_images(self) -> int:
        """Number of images with references, or 0 without references."""
        return 0 if self.images.places is None else len(self.images.places)

    @cached_property
    def states(self) -> list[Any]:
        """States that measures prepared from the references."""
        return [measure.prepare(self.references) for measure in self.measures]

    def corpus(self, ids: Sequence[str], captions: Sequence[str]) -> Corpus:
        """Return rows as a corpus in which every caption is a row, though images may repeat."""
        candidates = Captions.of(
            [[text] for text in captions], self.references.tokenizer, ids=ids, over=self.references
        )
        places = self.images.places
        if places is None:
            images = np.zeros(len(captions), dtype=np.int64)
        else:
            images = np.fromiter(map(places.__getitem__, ids), np.int64, len(ids))
        return Corpus(candidates, self.references, images=images)

    def groups(self, corpus: Corpus) -> NDArray[np.int64]:
        """Return the group of each caption's image."""
        if self.images.places is not None:
            return self._reference_groups[corpus.images]
        return _group_of(corpus.ids)

    @cached_property
    def _reference_groups(self) -> NDArray[np.int64]:
        return _group_of(self.references.ids)

    @cached_property
    def signatures(self) -> list[str]:
        """Signature of each measure."""
        first = self.references.ids[0] if len(self.references.ids) else ""
        corpus = self.corpus([first], ["a"])
        return [str(sign(measure, corpus)) for measure in self.measures]


def _group_of(ids: Sequence[str]) -> NDArray[np.int64]:
    """Return the groups of images, the same on every machine."""
    hashes = (zlib.crc32(image.encode("utf-8", "surrogatepass")) for image in ids)
    return np.fromiter(hashes, np.int64, len(ids)) % GROUPS


_lock = Lock()
_prepared: dict[str, PreparedJob] = {}


def prepared_job(job: Job) -> PreparedJob:
    """Return the job as prepared in this process, once. The references of an earlier job are released."""
    with _lock:
        if job.key not in _prepared:
            _prepared.clear()
            prepared = PreparedJob(job)
            prepared.states  # noqa: B018 - before the first batch
            _prepared[job.key] = prepared
        return _prepared[job.key]


def split_metrics(metrics: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of measures of captions, and of the whole."""
    captions: list[str] = []
    whole: list[str] = []
    for part in registry.parts(metrics):
        if isinstance(part, Measure):
            raise InputError(
                f"workers create measures themselves: give {part.name} by its name, and its settings as "
                "options"
            )
        fold = part.casefold()
        own = next((name for name in (*WHOLE, *_NOVEL) if name.casefold() == fold), None)
        for name in [own] if own is not None else registry.resolve(part):
            (whole if name in WHOLE else captions).append(str(name))
    if not captions and not whole:
        raise InputError("no metric was named ('captious metrics' lists them all)")
    return tuple(dict.fromkeys(captions)), tuple(dict.fromkeys(whole))


def measures_of(job: Job) -> list[Measure]:
    """Return the measures of captions. Measures without a value per caption are refused."""
    options = dict(job.options)
    measures: list[Measure] = []
    named = [name for name in job.metrics if name not in _NOVEL]
    if named:
        registry.check_options(named, options)
    for name in job.metrics:
        if name in _NOVEL:
            measures.append(NgramNovelty(int(name[-1]), job.filter))
        else:
            measures += make_measures(name, options, spare=options)
    for measure in measures:
        measure.check()
        if measure.rows == "image":
            raise InputError(
                f"{measure.name} measures the set of captions of an image, and an image's captions may be "
                "in several shards; use 'captious diversity'"
            )
        if "references" in measure.needs and job.references is None:
            raise InputError(
                f"{measure.name} compares captions with references, and there are none; give them "
                "(--references FILE)"
            )
    return measures
