"""densevid_eval (Krishna et al. 2017): captions of events that overlap enough, and detection of events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from captious.dense.matching import overlaps
from captious.dense.pair_scores import SentencePair, pair_rows
from captious.io.event_files import Event
from captious.metrics.base import FloatArray, Measure

#: Thresholds of overlap over which the program takes the mean.
THRESHOLDS = (0.3, 0.5, 0.7, 0.9)
#: The program compares a prediction that overlaps with nothing with random letters. Any unknown word gives
#: the same number.
UNKNOWN = "qzxvjkwqxzvjk"


class Video(NamedTuple):
    """A video's predictions, and its reference events by annotator."""

    predictions: list[Event]
    annotators: list[list[Event]]


def caption_scores(
    videos: Sequence[Video], measure: Measure, thresholds: Sequence[float], tokenizer: str
) -> FloatArray:
    """Return the score of each video (rows) at each threshold (columns).

    All pairs of a prediction and a reference with at least this overlap form a corpus. A video without
    predictions has 0.
    """
    ratios = [
        [overlaps(events, video.predictions) for events in video.annotators] if video.predictions else []
        for video in videos
    ]
    values = np.zeros((len(videos), len(thresholds)))
    for column, threshold in enumerate(thresholds):
        groups = [_pairs(video, own, threshold) for video, own in zip(videos, ratios)]
        for row, rows in enumerate(pair_rows(measure, groups, tokenizer)):
            if len(rows):
                values[row, column] = float(measure.value(rows.sum(axis=0)))
    return values


def _pairs(video: Video, ratios: Sequence[FloatArray], threshold: float) -> list[SentencePair]:
    pairs: list[SentencePair] = []
    for column, prediction in enumerate(video.predictions):
        matched = [
            (prediction.sentence, events[row].sentence)
            for events, ratio in zip(video.annotators, ratios)
            for row in np.flatnonzero(ratio[:, column] >= threshold)
        ]
        pairs += matched or [(prediction.sentence, UNKNOWN)]
    return pairs


def detection(videos: Sequence[Video], thresholds: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Return precision and recall of each video (rows) at each threshold (columns), of the best annotator.

    An event is detected if the overlap exceeds the threshold. Precision and recall are the best of the
    annotators separately.
    """
    precision, recall = np.zeros((2, len(videos), len(thresholds)))
    for row, video in enumerate(videos):
        if not video.predictions:
            continue
        for events in video.annotators:
            ratio = overlaps(events, video.predictions)
            for column, threshold in enumerate(thresholds):
                covered = ratio > threshold
                precision[row, column] = max(precision[row, column], covered.any(axis=0).mean())
                recall[row, column] = max(recall[row, column], covered.any(axis=1).mean())
    return precision, recall
