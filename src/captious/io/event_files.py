"""Files of dense captions: events of videos, each with a start, an end and a sentence.

References have the format of ActivityNet captions (video → ``timestamps``, ``sentences`` and perhaps
``duration``), one file per annotator. Predictions have the format of its challenge: ``results`` (video → rows
with ``timestamp`` and ``sentence``).
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

from captious.core.errors import InputError, some
from captious.io.caption_files import CaptionWarning, kind, show
from captious.io.content import is_number, read_json, shown_name

#: Seconds by which an event may end after its video. Durations are rounded in published files.
SLACK = 0.5


class Event(NamedTuple):
    """Stretch of a video and the sentence about it."""

    start: float
    end: float
    sentence: str


class Events(NamedTuple):
    """Events by video, of one annotator or one system, in the order of the file."""

    name: str
    videos: dict[str, list[Event]]
    #: Seconds, for videos whose file says so.
    durations: dict[str, float]
    #: Whether the file has the format of predictions.
    is_prediction: bool = False


Source = str | os.PathLike[str] | Mapping[str, Any]


def is_prediction_file(value: object) -> bool:
    """Whether the content of a file has the format of predictions."""
    return isinstance(value, Mapping) and isinstance(value.get("results"), Mapping)


def read_events(source: Source, *, label: str = "the mapping", allow_reversed: bool = False) -> Events:
    """Read references or predictions from a path or from the content of a file.

    Messages call content ``label``.
    Times that cannot be read are an error. So is an end before its start, unless ``allow_reversed`` is true.
    """
    if isinstance(source, Mapping):
        return parse_events(source, label, allow_reversed=allow_reversed)
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"{label}: expected a path or the content of a file, not {kind(source)}")
    name = shown_name(source)
    return parse_events(read_json(source, "dense captions"), name, allow_reversed=allow_reversed)


def parse_events(value: object, name: str, *, allow_reversed: bool = False) -> Events:
    """Return the events in the content of a file."""
    if not isinstance(value, Mapping):
        raise InputError(
            f"{name}: expected an object from videos to events, but this is {kind(value)}; see "
            "'Dense captions' in docs/reference/formats.md"
        )
    reader = _EventReader(name, allow_reversed)
    is_prediction = is_prediction_file(value)
    if is_prediction:
        videos = {str(video): reader.rows(video, rows) for video, rows in value["results"].items()}
        durations: dict[str, float] = {}
    else:
        videos = {str(video): reader.columns(video, entry) for video, entry in value.items()}
        durations = reader.durations
    if not videos:
        raise InputError(f"{name} has no videos")
    reader.warn()
    return Events(name, videos, durations, is_prediction)


class _EventReader:
    """Checks of one file. Reversed times that are allowed are counted for one warning."""

    def __init__(self, name: str, allow_reversed: bool) -> None:
        self.name, self.allow_reversed = name, allow_reversed
        self.durations: dict[str, float] = {}
        self.reversed: list[str] = []

    def rows(self, video: object, rows: object) -> list[Event]:
        if not isinstance(rows, list):
            raise InputError(f"{self.name}, video {show(video)}: expected a list of events, not {kind(rows)}")
        events = []
        for number, row in enumerate(rows):
            place = f"{self.name}, video {show(video)}, event {number}"
            if not isinstance(row, Mapping) or "timestamp" not in row or "sentence" not in row:
                raise InputError(f"{place}: expected an object with 'timestamp' and 'sentence'")
            events.append(self.event(row["timestamp"], row["sentence"], place))
        return events

    def columns(self, video: object, entry: object) -> list[Event]:
        place = f"{self.name}, video {show(video)}"
        if not isinstance(entry, Mapping) or not all(
            isinstance(entry.get(key), list) for key in ("timestamps", "sentences")
        ):
            raise InputError(
                f"{place}: expected lists 'timestamps' and 'sentences' (references), or all videos inside "
                "'results' (predictions)"
            )
        times, sentences = entry["timestamps"], entry["sentences"]
        if len(times) != len(sentences):
            raise InputError(f"{place}: {len(times)} timestamps, but {len(sentences)} sentences")
        if not times:
            raise InputError(f"{place}: no event; leave the video out")
        duration = entry.get("duration")
        if duration is not None:
            if not is_number(duration) or not math.isfinite(duration) or duration <= 0:
                raise InputError(f"{place}: 'duration' is a number of seconds above 0, not {show(duration)}")
            self.durations[str(video)] = float(duration)
        return [
            self.event(time, sentence, f"{place}, event {number}")
            for number, (time, sentence) in enumerate(zip(times, sentences))
        ]

    def event(self, time: object, sentence: object, place: str) -> Event:
        if not isinstance(sentence, str):
            raise InputError(f"{place}: the sentence is text, not {kind(sentence)}")
        if not isinstance(time, list | tuple) or len(time) != 2 or not all(map(_is_time, time)):
            raise InputError(f"{place}: expected [start, end] in seconds, found {show(time)}")
        start, end = float(time[0]), float(time[1])
        if start < 0:
            raise InputError(f"{place}: starts at {start:g} s, before the video; times are seconds from 0")
        if end < start:
            if not self.allow_reversed:
                raise InputError(
                    f"{place}: ends at {end:g} s, before its start at {start:g} s; swap the two times "
                    "(--as-published uses them as they are)"
                )
            self.reversed.append(place)
        return Event(start, end, sentence)

    def warn(self) -> None:
        if self.reversed:
            warnings.warn(
                CaptionWarning(
                    f"{len(self.reversed):,} events end before they start and overlap with nothing "
                    f"({some(self.reversed, 2)})"
                ),
                stacklevel=4,
            )


def _is_time(value: object) -> bool:
    return is_number(value) and math.isfinite(value)


def overlapping(events: Events) -> int:
    """Return the number of events that overlap another event of their video."""
    count = 0
    for own in events.videos.values():
        ordered = sorted(own)
        is_shared = [False] * len(ordered)
        latest = 0
        for place in range(1, len(ordered)):
            if ordered[place].start < ordered[latest].end and ordered[place].end > ordered[place].start:
                is_shared[place] = is_shared[latest] = True
            if ordered[place].end > ordered[latest].end:
                latest = place
        count += sum(is_shared)
    return count


def check_ends(events: Events, durations: Mapping[str, float]) -> None:
    """Warn once of events that end after their videos. They are used as they are."""
    late = [
        f"video {show(video)}: {event.end:g} s of {durations[video]:g} s"
        for video, own in events.videos.items()
        if video in durations
        for event in own
        if event.end > durations[video] + SLACK
    ]
    if late:
        warnings.warn(
            CaptionWarning(
                f"{events.name}: {len(late):,} events end after their videos ({some(late, 3)}); check the "
                "unit of the times (seconds)"
            ),
            stacklevel=3,
        )
