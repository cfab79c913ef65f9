"""SODA (Fujita et al. 2020): predictions and reference events assigned in order of time.

==== ======================================= ==============================================
kind assignment by                           score
==== ======================================= ==============================================
a    overlap, from a threshold (four, mean)  caption score of the assigned pairs
b    overlap                                 caption score of the assigned pairs
c    overlap × caption score                 overlap × caption score of the assigned pairs
d    overlap                                 overlap of the assigned pairs
==== ======================================= ==============================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from captious.dense.densevid import THRESHOLDS, Video
from captious.dense.matching import assign, assign_as_published, overlaps
from captious.dense.pair_scores import pair_rows
from captious.io.event_files import Event
from captious.metrics.base import FloatArray, Measure

KINDS = ("a", "b", "c", "d")


def caption_matrices(
    videos: Sequence[Video], measure: Measure, tokenizer: str, *, swapped: bool
) -> list[list[FloatArray]]:
    """Return, for each video and annotator, the caption score of each reference (row) and prediction.

    ``swapped`` makes references the candidates, and all predictions against one reference a corpus of its
    own, as SODA's program does.
    """
    groups = []
    for video in videos:
        for events in video.annotators if video.predictions else []:
            for reference in events:
                pairs = [(prediction.sentence, reference.sentence) for prediction in video.predictions]
                groups.append([(b, a) for a, b in pairs] if swapped else pairs)
    rows = iter(pair_rows(measure, groups, tokenizer))
    matrices: list[list[FloatArray]] = []
    for video in videos:
        own = []
        for events in video.annotators if video.predictions else []:
            lines = [measure.per_row(next(rows)) for _ in events]
            own.append(np.nan_to_num(np.stack(lines)))
        matrices.append(own)
    return matrices


def merge_annotators(annotators: Sequence[Sequence[Event]]) -> list[Event]:
    """Return the events of all annotators as those of one, in order of their starts."""
    return sorted((event for events in annotators for event in events), key=lambda event: event.start)


def in_order(video: Video, *, as_published: bool = False) -> Video:
    """Return the video with all events in order of their starts.

    SODA's program sorts predictions and merged references. It takes the events of separate annotators in the
    order of their files, which ``as_published`` keeps.
    """
    annotators = video.annotators
    if not as_published:
        annotators = [sorted(events, key=lambda event: event.start) for events in annotators]
    return Video(sorted(video.predictions, key=lambda event: event.start), annotators)


def video_scores(
    video: Video, kind: str, captions: Sequence[FloatArray] | None, *, as_published: bool = False
) -> tuple[float, float, float]:
    """Return precision, recall and F of a video, by the annotator with the best F.

    ``captions`` has a matrix per annotator. Kind d needs none. A video without predictions has 0.
    """
    if not video.predictions:
        return 0.0, 0.0, 0.0
    find = assign_as_published if as_published else assign
    means = []
    for threshold in THRESHOLDS if kind == "a" else (0.0,):
        by_annotator = []
        for number, events in enumerate(video.annotators):
            ratio = overlaps(events, video.predictions)
            ratio[ratio < threshold] = 0.0
            if kind == "d":
                total = find(ratio).total
            else:
                assert captions is not None
                matrix = captions[number]
                if kind == "c":
                    total = find(ratio * matrix).total
                else:
                    pairs = find(ratio).pairs
                    total = float(sum(matrix[pair] for pair in pairs))
            precision, recall = total / len(video.predictions), total / len(events)
            both = precision + recall
            by_annotator.append((precision, recall, 2 * precision * recall / both if both > 0 else 0.0))
        means.append(max(by_annotator, key=lambda values: values[2]))
    precision, recall, f = np.mean(means, axis=0)
    return float(precision), float(recall), float(f)
