"""Scores of dense captions: one value per video, so that intervals and paired tests resample videos."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from captious._version import __version__
from captious.core import digests
from captious.core.errors import InputError, did_you_mean, some
from captious.core.memo import cached_property
from captious.corpus import Captions, Corpus
from captious.dense import densevid, soda
from captious.dense.densevid import THRESHOLDS, Video
from captious.io.caption_files import CaptionWarning, show
from captious.io.event_files import Event, Events, Source, check_ends, read_events
from captious.metrics.base import FloatArray, Measure, Unit, as_statistics
from captious.metrics.captions.cider import CiderD
from captious.metrics.registry import Wanted, make_measures, measure_class, resolve
from captious.results.references import tell_apart
from captious.results.scores import Score, Scores
from captious.results.signatures import Signature, described

PROTOCOLS = ("densevid", "soda")
#: Predictions of a video that densevid_eval reads.
MOST_PREDICTIONS = 1000


class DenseMeasure(Measure):
    """A value per video. It is computed by :func:`score_dense`, not from a corpus of captions."""

    rows: ClassVar[Unit] = "image"
    needs = frozenset()

    def __init__(self, name: str, summary: str, bounds: tuple[float | None, float | None]) -> None:
        self.name, self.summary, self.bounds = name, summary, bounds

    def statistics(self, corpus: Corpus, state: Any) -> FloatArray:
        raise InputError(f"{self.name} scores events of videos; use captious.score_dense")


@dataclass(frozen=True)
class DenseSettings:
    """Settings of a run."""

    protocols: tuple[str, ...] = PROTOCOLS
    kinds: tuple[str, ...] = ("c",)
    thresholds: tuple[float, ...] = THRESHOLDS
    merge_references: bool = False
    as_published: bool = False
    tokenizer: str = "ptb"

    def __post_init__(self) -> None:
        for values, allowed, label in (
            (self.protocols, PROTOCOLS, "protocol"),
            (self.kinds, soda.KINDS, "kind of SODA"),
        ):
            unknown = next((value for value in values if value not in allowed), None)
            if unknown is not None or not values:
                raise InputError(
                    f"unknown {label} '{unknown or ''}'{did_you_mean(unknown or '', allowed)} "
                    f"(choose from {', '.join(allowed)})"
                )
        if not self.thresholds or not all(0 < value < 1 for value in self.thresholds):
            raise InputError(f"thresholds of overlap lie between 0 and 1, not {self.thresholds}")


class DenseReferences:
    """Reference events of one or more annotators."""

    def __init__(self, annotators: Sequence[Events]) -> None:
        if not annotators:
            raise InputError("references are missing; give a file of events per annotator")
        self.annotators = list(annotators)
        self.durations = {video: s for one in reversed(self.annotators) for video, s in one.durations.items()}
        for one in self.annotators:
            check_ends(one, self.durations)
        self.videos = tuple(dict.fromkeys(video for one in self.annotators for video in one.videos))

    def events(self, video: str) -> list[list[Event]]:
        """Return the events of each annotator who described the video."""
        return [one.videos[video] for one in self.annotators if video in one.videos]

    @cached_property
    def digest(self) -> str:
        """Digest of all events."""
        lines = (
            f"{number}\t{video}\t{event.start!r}\t{event.end!r}\t{event.sentence}"
            for number, one in enumerate(self.annotators)
            for video, events in sorted(one.videos.items())
            for event in events
        )
        return digests.of_lines(lines)


def score_dense(
    references: Source | Iterable[Source],
    predictions: Source,
    metrics: Wanted = "METEOR",
    *,
    protocols: Iterable[str] = PROTOCOLS,
    kinds: Iterable[str] = ("c",),
    thresholds: Iterable[float] = THRESHOLDS,
    merge_references: bool = False,
    as_published: bool = False,
    tokenizer: str | None = None,
    name: str | None = None,
    **options: Any,
) -> Scores:
    """Score dense captions: events with times, by densevid_eval's and SODA's protocols.

    Parameters
    ----------
    references
        Files of ActivityNet captions, one per annotator, or their content.
    predictions
        A file of results (``results``: video → rows with ``timestamp`` and ``sentence``), or its content.
    metrics
        Metrics of single captions, used inside both protocols.
    protocols
        "densevid" and "soda".
    kinds
        Kinds of SODA: "a", "b", "c", "d".
    thresholds
        Overlaps at which densevid scores. The value is the mean over them.
    merge_references
        SODA takes the events of all annotators as those of one, instead of the best annotator.
    as_published
        SODA as its program computes it: the caption metric gets its two sentences in the wrong order, videos
        without predictions are dropped, letters outside ASCII are removed, and events of separate annotators
        stay in the order of their file.
    tokenizer
        Tokenizer (default: ptb).
    name
        Name of the system (default: that of the file).
    options
        Options of metrics.

    Returns
    -------
    Scores
        A value per video. Intervals and :func:`captious.compare` resample videos.

    Examples
    --------
    >>> references = {"v1": {"timestamps": [[0, 10]], "sentences": ["a dog runs"]}}
    >>> predictions = {"results": {"v1": [{"timestamp": [0, 5], "sentence": "a dog runs"}]}}
    >>> score_dense(references, predictions, "ROUGE-L")["SODA_c ROUGE-L"].value > 0.49
    True
    """
    return score_dense_systems(
        references, [predictions], metrics, protocols=protocols, kinds=kinds, thresholds=thresholds,
        merge_references=merge_references, as_published=as_published, tokenizer=tokenizer,
        names=None if name is None else [name], **options,
    )[0]  # fmt: skip


def score_dense_systems(
    references: Source | Iterable[Source],
    predictions: Iterable[Source],
    metrics: Wanted = "METEOR",
    *,
    protocols: Iterable[str] = PROTOCOLS,
    kinds: Iterable[str] = ("c",),
    thresholds: Iterable[float] = THRESHOLDS,
    merge_references: bool = False,
    as_published: bool = False,
    tokenizer: str | None = None,
    names: Sequence[str] | None = None,
    **options: Any,
) -> list[Scores]:
    """Score the dense captions of several systems on the same references (see :func:`score_dense`).

    Parameters
    ----------
    references, predictions
        Files or mappings as for :func:`score_dense`; predictions are a list, one for each system.
    metrics
        Metrics of the captions of matched events.
    protocols, kinds, thresholds, merge_references, as_published, tokenizer, options
        See :func:`score_dense`.
    names
        Names of the systems (default: those of the files).

    Examples
    --------
    >>> references = {"v": {"duration": 9, "timestamps": [[0, 5]], "sentences": ["a man cuts wood"]}}
    >>> right = {"results": {"v": [{"timestamp": [0, 5], "sentence": "a man cuts wood"}]}}
    >>> wrong = {"results": {"v": [{"timestamp": [0, 5], "sentence": "a dog sleeps"}]}}
    >>> systems = score_dense_systems(references, [right, wrong], "ROUGE-L", protocols=["densevid"])
    >>> len(systems)
    2
    """
    settings = DenseSettings(
        tuple(protocols), tuple(kinds), tuple(thresholds), merge_references, as_published, tokenizer or "ptb"
    )
    make_measures(metrics, options)  # a misspelt name is reported before files are read
    known = read_references(references, as_published=as_published)
    sources = list(predictions)
    systems = [read_predictions(source, known, as_published=as_published) for source in sources]
    labels = (
        list(names)
        if names
        else tell_apart([_stem(one.name) for one in systems], [Path(one.name) for one in systems])
    )
    if len(labels) != len(systems):
        raise InputError(f"{len(labels)} names for {len(systems)} systems; give one --name for each")
    return [
        _scored(label, known, one, _measures(metrics, options, known, settings), settings)
        for label, one in zip(labels, systems)
    ]


def _stem(name: str) -> str:
    return Path(name).name.partition(".")[0] or name


def read_references(references: Source | Iterable[Source], *, as_published: bool = False) -> DenseReferences:
    """Read the events of one or more annotators."""
    sources: list[Source] = (
        [references] if isinstance(references, str | os.PathLike | Mapping) else list(references)
    )
    labels = (
        ["the references"] if len(sources) == 1 else [f"references {n}" for n in range(1, len(sources) + 1)]
    )
    return DenseReferences(
        [
            read_events(source, label=label, allow_reversed=as_published)
            for source, label in zip(sources, labels)
        ]
    )


def read_predictions(source: Source, references: DenseReferences, *, as_published: bool = False) -> Events:
    """Read predictions. Videos without references are left out with a warning, or refused if all are."""
    events = read_events(source, label="the predictions", allow_reversed=as_published)
    if not events.is_prediction and all(one.is_prediction for one in references.annotators):
        raise InputError(
            f"{events.name} has the format of references, and {references.annotators[0].name} that of "
            "predictions; references come first"
        )
    unknown = [video for video in events.videos if video not in set(references.videos)]
    if len(unknown) == len(events.videos):
        raise InputError(
            f"{events.name}: none of its {len(unknown):,} videos is in the references "
            f"({some(map(show, unknown), 3)}; the references have {some(map(show, references.videos), 3)}); "
            "check the ids, which include 'v_' in ActivityNet"
        )
    if unknown:
        warnings.warn(
            CaptionWarning(
                f"{events.name}: left out {len(unknown):,} videos without references "
                f"({some(map(show, unknown), 3)})"
            ),
            stacklevel=3,
        )
    chosen = {video: own for video, own in events.videos.items() if video not in set(unknown)}
    check_ends(events._replace(videos=chosen), references.durations)
    return events._replace(videos=chosen)


def _measures(
    metrics: Wanted, options: Mapping[str, Any], references: DenseReferences, settings: DenseSettings
) -> dict[str, list[Measure]]:
    """Return the measures of each protocol.

    SODA in the right order counts document frequencies over all reference events. Inside its program, and in
    densevid_eval, each small group of sentences is a corpus of its own.
    """
    plain = make_measures(metrics, options)
    named = [one for one in resolve(metrics) if isinstance(one, str)]
    takes_df = any(option.name == "df" for one in named for option in measure_class(one).options)
    if settings.as_published or "df" in options or not takes_df:
        return dict.fromkeys(PROTOCOLS, plain)
    sentences = [
        [event.sentence]
        for one in references.annotators
        for events in one.videos.values()
        for event in events
    ]
    captions = Captions.of(sentences, settings.tokenizer, ids=[str(k) for k in range(len(sentences))])
    table = CiderD().prepare(captions)
    return {"densevid": plain, "soda": make_measures(metrics, {**options, "df": table})}


def _scored(
    name: str,
    references: DenseReferences,
    predictions: Events,
    measures: Mapping[str, Sequence[Measure]],
    settings: DenseSettings,
) -> Scores:
    videos = {
        video: Video(predictions.videos.get(video, []), references.events(video))
        for video in references.videos
    }
    if settings.as_published:
        videos = {video: _in_ascii(one) for video, one in videos.items()}
    scores: list[Score] = []
    if "densevid" in settings.protocols:
        scores += _densevid(videos, references, measures["densevid"], settings)
    if "soda" in settings.protocols:
        if settings.as_published:
            videos = {video: one for video, one in videos.items() if video in predictions.videos}
        scores += _soda(videos, references, measures["soda"], settings)
    return Scores(name, scores)


def _in_ascii(video: Video) -> Video:
    def plain(events: Sequence[Event]) -> list[Event]:
        return [
            event._replace(sentence="".join(c if c < "\x80" else " " for c in event.sentence))
            for event in events
        ]

    return Video(plain(video.predictions), [plain(events) for events in video.annotators])


def _densevid(
    videos: Mapping[str, Video],
    references: DenseReferences,
    measures: Sequence[Measure],
    settings: DenseSettings,
) -> Iterator[Score]:
    rows = [one._replace(predictions=one.predictions[:MOST_PREDICTIONS]) for one in videos.values()]
    fields = {"tiou": ",".join(f"{value:g}" for value in settings.thresholds)}
    for measure in measures:
        values = densevid.caption_scores(rows, measure, settings.thresholds, settings.tokenizer)
        yield from _by_threshold(
            f"densevid {measure.name}", measure, values, videos, references, settings, fields
        )
    precision, recall = densevid.detection(rows, settings.thresholds)
    for label, values in (("precision", precision), ("recall", recall)):
        yield from _by_threshold(f"densevid {label}", None, values, videos, references, settings, fields)


def _by_threshold(
    name: str,
    measure: Measure | None,
    values: FloatArray,
    videos: Mapping[str, Video],
    references: DenseReferences,
    settings: DenseSettings,
    fields: Mapping[str, str],
) -> Iterator[Score]:
    """Yield the mean over thresholds, then the score at each."""
    yield _score(name, measure, values.mean(axis=1), videos, references, settings, fields)
    for column, threshold in enumerate(settings.thresholds):
        yield _score(
            f"{name}@{threshold:g}", measure, values[:, column], videos, references, settings,
            {**fields, "tiou": f"{threshold:g}"},
        )  # fmt: skip


def _soda(
    videos: Mapping[str, Video],
    references: DenseReferences,
    measures: Sequence[Measure],
    settings: DenseSettings,
) -> Iterator[Score]:
    ordered = [soda.in_order(one, as_published=settings.as_published) for one in videos.values()]
    if settings.merge_references:
        ordered = [replace_annotators(one) for one in ordered]
    fields = {
        "annotators": "merged" if settings.merge_references else "best",
        "as": "published" if settings.as_published else "paper",
    }

    def of(
        kind: str, measure: Measure | None, matrices: Sequence[Sequence[FloatArray]] | None
    ) -> Iterator[Score]:
        name = f"SODA_{kind}" + (f" {measure.name}" if measure is not None else "")
        table = np.array(
            [
                soda.video_scores(
                    video,
                    kind,
                    None if matrices is None else matrices[row],
                    as_published=settings.as_published,
                )
                for row, video in enumerate(ordered)
            ]
        ).reshape(-1, 3)
        for label, column in (("", 2), (" P", 0), (" R", 1)):
            yield _score(f"{name}{label}", measure, table[:, column], videos, references, settings, fields)

    for measure in measures if set(settings.kinds) - {"d"} else []:
        matrices = soda.caption_matrices(ordered, measure, settings.tokenizer, swapped=settings.as_published)
        for kind in settings.kinds:
            if kind != "d":
                yield from of(kind, measure, matrices)
    if "d" in settings.kinds:
        yield from of("d", None, None)


def replace_annotators(video: Video) -> Video:
    """Return the video with the events of all annotators as those of one."""
    return video._replace(annotators=[soda.merge_annotators(video.annotators)])


def _score(
    name: str,
    measure: Measure | None,
    values: FloatArray,
    videos: Mapping[str, Video],
    references: DenseReferences,
    settings: DenseSettings,
    fields: Mapping[str, str],
) -> Score:
    bounds = measure.bounds if measure is not None else (0.0, 1.0)
    summary = f"{name.partition(' ')[0]} of dense captions, mean over videos"
    size = f"{len(references.videos)}x{len(references.annotators)}@{references.digest}"
    signature = Signature.of(
        name,
        {
            **fields,
            **({} if measure is None else described(measure)),
            "refs": size,
            "tok": settings.tokenizer,
            "captious": __version__,
        },
    )
    return Score.of_images(
        DenseMeasure(name, summary, bounds), as_statistics(values), tuple(videos), signature
    )
