"""Explanations of the scores of single captions: what a metric matched and missed.

``captious explain`` prints them. The report takes its data from the same methods of the measures
(:mod:`captious.reporting.explanations`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from captious.core.errors import InputError, did_you_mean, some
from captious.corpus import Corpus
from captious.corpus.paragraphs import sentences_of
from captious.meteor.matches import MODULES
from captious.metrics import registry
from captious.metrics.base import Measure
from captious.metrics.captions.aloha import Aloha
from captious.metrics.captions.amber import AmberMeasure
from captious.metrics.captions.capture import Capture
from captious.metrics.captions.chair import Chair
from captious.metrics.captions.cider import Cider
from captious.metrics.captions.fact_coverage import FactMeasure, FactRecall
from captious.metrics.captions.meteor import Alignment, Meteor
from captious.metrics.captions.spice import Spice
from captious.metrics.learned.composite import Composite
from captious.metrics.learned.composite_network import explain as contributions
from captious.metrics.sets.selection import of_images
from captious.results.explanation_html import explanation_html
from captious.results.references import Source, load
from captious.results.scores import json_number

#: Status of a part: in the caption and in the references, only in the references, only in the caption.
MATCHED, MISSED, EXTRA = "matched", "missed", "extra"


@dataclass(frozen=True)
class Explanation:
    """Score of one caption, and the parts that it consists of.

    ``parts`` are rows with the same keys, the most important first. ``kind`` names them: ngrams, matches,
    tuples, objects, facts or features.
    """

    metric: str
    image: str
    caption: str
    #: Score of the caption alone, NaN where it is undefined.
    score: float
    #: The score in words.
    summary: str
    kind: str
    parts: list[dict[str, Any]]
    #: Further values, such as METEOR's reference.
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def sentences(self) -> list[tuple[str, str]]:
        """Sentences of the caption with their status, if the metric judges sentences (else empty)."""
        rows = [(row["sentence"], row["status"]) for row in self.details.get("sentences", ())]
        return rows if any(status != "neutral" for _, status in rows) else []

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description. NaN becomes null."""
        return {
            "image_id": self.image,
            "caption": self.caption,
            "score": json_number(self.score),
            "summary": self.summary,
            **self.details,
            self.kind: [
                {
                    key: json_number(value) if isinstance(value, float) else value
                    for key, value in part.items()
                }
                for part in self.parts
            ],
        }

    def __str__(self) -> str:
        return f"{self.image}: {self.caption}\n{self.metric} {self.score:.4f}: {self.summary}"

    def _repr_html_(self) -> str:
        return explanation_html(self)


def explain(
    references: Source | None,
    predictions: Source | None = None,
    metric: str | Measure = "CIDEr-D",
    *,
    images: Iterable[object] | None = None,
    tokenizer: str | None = None,
    subset: bool = False,
    several: bool | None = None,
    **options: Any,
) -> list[Explanation]:
    """Explain the scores of captions: what the metric matched, missed and found nowhere.

    Parameters
    ----------
    references, predictions
        As for :func:`captious.load`; or a corpus that was loaded before, in place of both.
    metric
        CIDEr-D, CIDEr or CIDEr-R (n-grams), METEOR (its alignment), SPICE and its categories or CAPTURE
        (tuples), CHAIRi, CHAIRs or ALOHa (objects), FactRecall or FactPrecision (facts), or a learned metric
        (features).
    images
        Ids of the images whose captions are explained (default: all).
    tokenizer, subset, several
        As for :func:`captious.load`.
    options
        Options of the metric.

    Returns
    -------
    list of Explanation
        One for each caption of the images.

    Examples
    --------
    >>> refs = {1: ["a brown dog runs", "the dog is running"], 2: ["a cat"]}
    >>> [one] = explain(refs, {1: "a dog runs", 2: "a cat"}, "SPICE", images=[1])
    >>> [(part["tuple"], part["status"]) for part in one.parts]
    [('dog', 'matched'), ('dog, run', 'matched'), ('dog, brown', 'missed')]
    """
    measure = check_metric(metric, options)
    if isinstance(references, Corpus):
        corpus = references
    else:
        corpus = load(references, predictions, tokenizer=tokenizer, subset=subset, several=several)
    return explain_corpus(corpus, measure, images)


def check_metric(metric: str | Measure, options: Mapping[str, Any]) -> Measure:
    """Return the measure to explain, and refuse one that cannot be explained."""
    measures = registry.make_measures(metric, options)
    if len(measures) != 1 or not isinstance(measures[0], tuple(EXPLAINERS)):
        raise InputError(
            f"{metric if isinstance(metric, str) else metric.name} cannot be explained; name one of CIDEr-D, "
            "CIDEr, CIDEr-R, METEOR, SPICE, ParaSPICE and their categories, CHAIRi, CHAIRs, CHAIR-Cover, "
            "AMBER-CHAIR, Cover, Hal, Cog, ALOHa, CAPTURE, "
            "FactRecall, FactPrecision, LCEval, NNEval, CaptiousScore, "
            "CaptiousScore-lite and Learned"
        )
    return measures[0]


def explain_corpus(
    corpus: Corpus, measure: Measure, images: Iterable[object] | None = None
) -> list[Explanation]:
    """Explain the scores of a corpus, or of some of its images."""
    measure.check(corpus)
    state = measure.prepare(corpus.references)
    if images is not None:
        corpus = _only(corpus, list(map(str, images)))
    values = measure.per_row(measure.statistics(corpus, state)).tolist()
    explainer = next(function for kind, function in EXPLAINERS.items() if isinstance(measure, kind))
    return explainer(measure, corpus, state, values)


def _only(corpus: Corpus, images: Sequence[str]) -> Corpus:
    """Return a corpus of the images named, against the references of all."""
    place = {image: i for i, image in enumerate(corpus.ids)}
    for image in images:
        if image not in place:
            raise InputError(
                f"image '{image}' is not among the {len(corpus):,} images of {corpus.name}"
                f"{did_you_mean(image, corpus.ids)} (the first are {some(corpus.ids[:3])})"
            )
    return of_images(corpus, np.array([place[image] for image in dict.fromkeys(images)], dtype=np.int64))


def _explanations(
    measure: Measure, corpus: Corpus, values: Sequence[float], kind: str, rows: Iterable[tuple[Any, ...]]
) -> list[Explanation]:
    """Combine summaries, parts and details with their captions."""
    candidates = corpus.candidates
    return [
        Explanation(measure.name, corpus.ids[image], text, value, row[0], kind, *row[1:])
        for image, text, value, row in zip(candidates.image_of.tolist(), candidates.texts, values, rows)
    ]


def _of_cider(measure: Cider, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    def rows() -> Iterable[tuple[str, list[dict[str, Any]]]]:
        n_references = np.diff(corpus.pair_offsets).tolist()
        for i, shares in enumerate(measure.ngram_shares(corpus, state)):
            # The largest share first, then the weight that references give to what the caption lacks.
            shares.sort(key=lambda share: (-share.points, -share.references * share.weight))
            parts: list[dict[str, Any]] = [
                {
                    "ngram": share.ngram,
                    "status": EXTRA if not share.references else MATCHED if share.in_caption else MISSED,
                    "weight": share.weight,
                    "references": share.references,
                    "points": share.points,
                }
                for share in shares
            ]
            matched = sum(part["status"] == MATCHED for part in parts)
            own = sum(share.in_caption for share in shares)
            yield (
                f"{matched} of {own} n-grams of the caption are in one of the {n_references[i]} references; "
                "their points add up to the score",
                parts,
            )

    return _explanations(measure, corpus, values, "ngrams", rows())


def _of_meteor(measure: Meteor, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    references = corpus.references
    firsts = references.image_offsets[corpus.images[corpus.candidates.image_of]].tolist()

    def row(i: int, alignment: Alignment | None) -> tuple[str, list[dict[str, Any]], dict[str, Any]]:
        if alignment is None:
            return "the image has no references", [], {}
        words, theirs = alignment.words, alignment.reference_words
        parts = []
        is_matched = [False] * len(words), [False] * len(theirs)
        chunks, ended = 0, (-1, -1)
        for start, length, own_start, own_length, module in alignment.matches.tolist():
            chunks += (own_start, start) != ended
            ended = own_start + own_length, start + length
            is_matched[0][own_start : own_start + own_length] = [True] * own_length
            is_matched[1][start : start + length] = [True] * length
            parts.append(
                {
                    "caption": " ".join(words[own_start : own_start + own_length]),
                    "reference": " ".join(theirs[start : start + length]),
                    "status": MATCHED,
                    "by": MODULES[module],
                }
            )
        for line, matched, status in ((words, is_matched[0], EXTRA), (theirs, is_matched[1], MISSED)):
            for word, hit in zip(line, matched):
                if not hit:
                    own, other = (word, "") if status == EXTRA else ("", word)
                    parts.append({"caption": own, "reference": other, "status": status, "by": ""})
        text = references.texts[alignment.reference]
        number = alignment.reference - firsts[i] + 1
        summary = (
            f"{sum(is_matched[0])} of {len(words)} words of the caption match {sum(is_matched[1])} of "
            f"{len(theirs)} words of reference {number}, in {chunks} chunk{'s' if chunks != 1 else ''} of "
            "adjacent words"
        )
        return summary, parts, {"reference": text, "chunks": chunks}

    rows = (row(i, alignment) for i, alignment in enumerate(measure.alignments(corpus, state)))
    return _explanations(measure, corpus, values, "matches", rows)


def _of_spice(measure: Spice, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    def rows() -> Iterable[tuple[str, list[dict[str, Any]]]]:
        for own, theirs in measure.tuples(corpus, state):
            parts = [{"tuple": ", ".join(item), "status": MATCHED} for item, is_hit in own if is_hit]
            parts += [{"tuple": ", ".join(item), "status": EXTRA} for item, is_hit in own if not is_hit]
            parts += [{"tuple": ", ".join(item), "status": MISSED} for item, is_hit in theirs if not is_hit]
            hits = sum(is_hit for _, is_hit in own)
            summary = (
                f"{hits} of {len(own)} tuples of the caption are in the references, which have {len(theirs)}"
            )
            if measure.category != "All" and not theirs:
                summary = (
                    f"the references have no tuple of the kind {measure.category.lower()}, "
                    "so the image does not count"
                )
            yield summary, parts

    return _explanations(measure, corpus, values, "tuples", rows())


def _of_chair(measure: Chair, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    truth = measure.truth(corpus)

    def rows() -> Iterable[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
        for image, row in zip(corpus.candidates.image_of.tolist(), measure.mentions(corpus)):
            wrong = {mention.object for mention in row.hallucinated}
            parts = [
                {
                    "words": mention.text,
                    "object": mention.object,
                    "status": "hallucinated" if mention.object in wrong else MATCHED,
                }
                for mention in row.mentioned
            ]
            missed = sorted(truth[image] - {mention.object for mention in row.mentioned})
            parts += [{"words": "", "object": kind, "status": MISSED} for kind in missed]
            summary = (
                f"{len(row.hallucinated)} of {len(row.mentioned)} named objects are not in the image"
                if row.mentioned
                else "the caption names no object of the table"
            )
            yield summary, parts, {"image_objects": sorted(truth[image])}

    return _explanations(measure, corpus, values, "objects", rows())


def _of_amber(measure: AmberMeasure, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    def rows() -> Iterable[tuple[str, list[dict[str, Any]]]]:
        for items in measure.objects(corpus):
            named = [item for item in items if item.status != "missed"]
            wrong = sum(item.status == "hallucinated" for item in named)
            parts = [
                {"word": item.word, "object": item.object, "status": item.status, "typical": item.is_typical}
                for item in items
            ]
            yield (
                f"{wrong} of {len(named)} named objects are not in the image, "
                f"{len(items) - len(named)} of its objects are not named",
                parts,
            )

    return _explanations(measure, corpus, values, "objects", rows())


def _sentences(corpus: Corpus, statuses: Sequence[Mapping[int, str]]) -> Iterable[list[dict[str, str]]]:
    """Yield the sentences of each candidate with their status; a sentence without one is neutral."""
    split = sentences_of(corpus.candidates)
    bounds = split.image_offsets.tolist()
    for i, own in enumerate(statuses):
        texts = split.texts[bounds[i] : bounds[i + 1]]
        yield [{"sentence": text, "status": own.get(k, "neutral")} for k, text in enumerate(texts)]


def _worst(rows: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return the status of each sentence: that of its worst part."""
    order = ("supported", "ambiguous", "unsupported")
    worst: dict[int, str] = {}
    for sentence, status in rows:
        worst[sentence] = max(worst.get(sentence, status), status, key=order.index)
    return worst


def _of_aloha(measure: Aloha, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    supports = measure.supports(corpus)
    statuses = [_worst((item.sentence, item.status) for item in items) for items in supports]

    def rows() -> Iterable[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
        for items, blamed, sentences in zip(supports, measure.blamed(corpus), _sentences(corpus, statuses)):
            parts = [
                {
                    "object": item.word,
                    "sentence": item.sentence + 1,
                    "status": item.status,
                    "support": item.support,
                    "nearest": item.nearest,
                    "references": f"{item.share:.0%}",
                }
                for item in sorted(items, key=lambda item: item.support)
            ]
            summary = (
                f"'{blamed.word}' in sentence {blamed.sentence + 1} is the least supported of {len(items)} "
                f"objects; the nearest word of the references is '{blamed.nearest}'"
                if blamed is not None
                else "the caption names no object that counts"
            )
            yield (
                summary,
                parts,
                {"blamed": None if blamed is None else blamed.word, "sentences": sentences},
            )

    return _explanations(measure, corpus, values, "objects", rows())


def _of_capture(measure: Capture, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    def rows() -> Iterable[tuple[str, list[dict[str, Any]]]]:
        for own, theirs in measure.matches(corpus):
            parts = [
                {
                    "tuple": ", ".join(item.items),
                    "status": MATCHED if item.similarity == 1 else other,
                    "similarity": item.similarity,
                    "nearest": ", ".join(item.nearest),
                }
                for matches, other in ((own, EXTRA), (theirs, MISSED))
                for item in matches
                if matches is own or item.similarity < 1
            ]
            hits = sum(item.similarity == 1 for item in own)
            yield (
                f"{hits} of {len(own)} tuples of the caption match the references; the others count by their "
                "similarity with the nearest",
                parts,
            )

    return _explanations(measure, corpus, values, "tuples", rows())


def _of_facts(measure: FactMeasure, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    is_recall = isinstance(measure, FactRecall)
    coverage = measure.coverage(corpus)
    statuses = [
        {}
        if is_recall
        else _worst((row.sentence, "supported" if row.is_covered else "unsupported") for row in facts)
        for facts in coverage
    ]

    def rows() -> Iterable[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
        for facts, sentences in zip(coverage, _sentences(corpus, statuses)):
            parts = [
                {
                    "fact": row.fact,
                    "status": MATCHED if row.is_covered else MISSED if is_recall else EXTRA,
                    "coverage": row.coverage,
                    "by sentence": row.by + 1,
                    "worst word": row.worst,
                }
                for row in sorted(facts, key=lambda row: row.is_covered)
            ]
            side = "the description" if is_recall else "the references"
            covered = sum(row.is_covered for row in facts)
            yield f"{covered} of {len(facts)} facts are covered by {side}", parts, {"sentences": sentences}

    return _explanations(measure, corpus, values, "facts", rows())


def _of_learned(measure: Composite, corpus: Corpus, state: Any, values: list[float]) -> list[Explanation]:
    def rows() -> Iterable[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
        for features in measure.table(corpus, state):
            shares = contributions(measure.network, features)
            parts = [{"name": name, "value": value, "share": own} for name, value, own in shares.ordered()]
            summary = (
                f"shares of the log odds, from the mean training example ({shares.start:.4f}) to this "
                "caption, which add up"
            )
            yield summary, parts, {"start": shares.start}

    return _explanations(measure, corpus, values, "features", rows())


#: Class of measures → function that explains its scores of all candidates of a corpus.
EXPLAINERS: dict[type[Any], Callable[[Any, Corpus, Any, list[float]], list[Explanation]]] = {
    Cider: _of_cider,
    Meteor: _of_meteor,
    Spice: _of_spice,
    Chair: _of_chair,
    AmberMeasure: _of_amber,
    Aloha: _of_aloha,
    Capture: _of_capture,
    FactMeasure: _of_facts,
    Composite: _of_learned,
}
