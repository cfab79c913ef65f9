"""Explanations of caption scores, for the panel "why": what metrics matched and missed.

An explanation is a function that returns a block of data for the page, or None. Its name is that of its
renderer in ``assets/why.js``. To add one, write a function here, a line in :data:`EXPLANATIONS`, and a
renderer.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from captious.core.errors import CaptiousError
from captious.core.progress import track
from captious.corpus import Corpus
from captious.corpus.paragraphs import sentences_of
from captious.io import CaptionWarning
from captious.metrics import registry
from captious.metrics.base import Measure
from captious.metrics.captions.aloha import Aloha
from captious.metrics.captions.chair import ChairI
from captious.metrics.captions.cider import Cider, frequencies_of
from captious.metrics.captions.fact_coverage import FactPrecision, FactRecall
from captious.metrics.captions.meteor import Meteor
from captious.metrics.captions.spice import Spice, matched_tuples
from captious.metrics.learned.composite import Composite
from captious.metrics.learned.composite_network import draw
from captious.metrics.registry import make_measures
from captious.reporting.metric_descriptions import feature_words
from captious.reporting.report_data import ReportImages, SystemEntry, frequencies, grouped, listed, rounded
from captious.results.caption_explanations import MATCHED, explain_corpus
from captious.results.caption_explanations import Explanation as CaptionExplanation
from captious.results.signatures import sign

M = TypeVar("M", bound=Measure)

Block = dict[str, Any]
#: Function from images and metric options to a block.
Explanation = Callable[[ReportImages, Mapping[str, Any]], Block | None]


def explained(images: ReportImages, options: Mapping[str, Any]) -> dict[str, Block]:
    """Return all non-empty blocks."""
    blocks = {}
    for name, explanation in EXPLANATIONS.items():
        block = explanation(images, options)
        if block is not None:
            blocks[name] = block
    return blocks


def measure_of(
    entry: SystemEntry, kind: type[M], names: tuple[str, ...], options: Mapping[str, Any]
) -> tuple[M, Corpus] | None:
    """Return the measure of one of a system's scores, if it can be rebuilt with the same signature.

    Explanations must refer to the scores shown.
    """
    if entry.corpus is None or not entry.corpus.has_references:
        return None
    for name in names:
        if name not in entry.scores:
            continue
        score = entry.scores[name]
        try:
            (rebuilt,) = make_measures([name], options, spare=options)
        except CaptiousError:
            continue
        for measure in (score.measure, rebuilt):
            # A measure loaded from a file has only its formula.
            if isinstance(measure, kind) and sign(measure, entry.corpus) == score.signature:
                return measure, entry.corpus
        warnings.warn(
            CaptionWarning(
                f"{entry.name}: {name} was computed with other settings, so it has no explanations"
            ),
            stacklevel=2,
        )
    return None


def ngrams(images: ReportImages, options: Mapping[str, Any]) -> Block | None:
    """Return document frequencies, with which the page weights the n-grams of captions."""
    for entry in images.entries:
        measured = measure_of(entry, Cider, ("CIDEr-D", "CIDEr"), options)
        if measured is not None:
            return frequencies(images, measured[0].prepare(measured[1].references))
    for entry in images.entries:
        if entry.corpus is not None and entry.corpus.has_references:
            return frequencies(images, frequencies_of(entry.corpus.references))
    return None


def meteor(images: ReportImages, options: Mapping[str, Any]) -> Block | None:
    """Return for each caption METEOR's reference and its matches.

    A match is a row of numbers: start and length in the caption, start and length in the reference, module.
    Words are listed only where they differ from the caption's tokens.
    """
    systems: list[Any] = []
    for entry in images.entries:
        measured = measure_of(entry, Meteor, ("METEOR",), options)
        if measured is None:
            systems.append(None)
            continue
        measure, corpus = measured
        candidates, references = corpus.candidates, corpus.references
        firsts = references.image_offsets[corpus.images[candidates.image_of]].tolist()
        rows: list[Any] = []
        for i, alignment in enumerate(measure.alignments(corpus, measure.prepare(references))):
            if alignment is None:
                rows.append(None)
                continue
            row: list[Any] = [
                alignment.reference - firsts[i],
                alignment.matches[:, [2, 3, 0, 1, 4]].ravel().tolist(),
            ]
            caption_words, reference_words = " ".join(alignment.words), " ".join(alignment.reference_words)
            if (
                caption_words != candidates.sentences[i]
                or reference_words != references.sentences[alignment.reference]
            ):
                row += [caption_words, reference_words]
            rows.append(row)
        systems.append(images.place(candidates.ids, listed(rows, candidates.image_offsets)))
    return {"systems": systems} if any(systems) else None


def scenes(images: ReportImages, options: Mapping[str, Any]) -> Block | None:
    """Return the tuples of every caption and of its references, with flags for the matched ones."""
    numbers: dict[tuple[str, ...], int] = {}
    references: list[Any] = [None] * len(images)
    systems: list[Any] = []

    def number_tuples(tuples: Any) -> list[int]:
        return [numbers.setdefault(item, len(numbers)) for item in tuples]

    for entry in images.entries:
        measured = measure_of(entry, Spice, ("SPICE",), options)
        if measured is None:
            systems.append(None)
            continue
        measure, corpus = measured
        matched = matched_tuples(corpus, measure.prepare(corpus.references))
        rows = []
        for i, image in enumerate(track(matched.image_of.tolist(), "explaining scenes")):
            row = images.number[corpus.references.ids[image]]
            if references[row] is None:
                references[row] = number_tuples(matched.references.tuple_table.of(image))
            tuples = number_tuples(matched.candidates.tuple_table.of(i))
            rows.append([tuples, _bits(matched.own.of(i)), _bits(matched.theirs.of(i))])
        systems.append(images.place(corpus.ids, listed(rows, corpus.candidates.image_offsets)))
    return {"tuples": list(numbers), "refs": references, "systems": systems} if any(systems) else None


def _bits(hits: list[bool]) -> str:
    return "".join("01"[hit] for hit in hits)


def objects(images: ReportImages, options: Mapping[str, Any]) -> Block | None:
    """Return the objects that each caption names, and whether the image (or its references) has them."""
    chair_options = {
        name: options[name] for name in ("objects", "chair_synonyms") if options.get(name) is not None
    }
    measure = ChairI(**chair_options)
    present: list[Any] = [None] * len(images)
    systems: list[Any] = []
    for entry in images.entries:
        if entry.corpus is None or not entry.corpus.has_references:
            systems.append(None)
            continue
        for image, kinds in zip(entry.corpus.ids, measure.truth(entry.corpus)):
            present[images.number[image]] = sorted(kinds)
        rows = []
        for row in measure.mentions(entry.corpus):
            hallucinated = {mention.object for mention in row.hallucinated}
            rows.append(
                [
                    [mention.text, mention.object, int(mention.object in hallucinated)]
                    for mention in row.mentioned
                ]
            )
        systems.append(images.place(entry.corpus.ids, listed(rows, entry.corpus.candidates.image_offsets)))
    return (
        {"given": "objects" in chair_options, "images": present, "systems": systems} if any(systems) else None
    )


#: Mean number of sentences from which captions are descriptions. Their sentences are judged even if no metric
#: of descriptions is in the report.
DESCRIPTION_SENTENCES = 1.5


def descriptions(images: ReportImages, options: Mapping[str, Any]) -> Block | None:
    """Return the sentences of descriptions with their status, their objects, and the facts of both sides.

    A row holds sentences (text, status), objects (word, sentence, status, support, nearest word), facts of
    the references (text, whether covered, sentence) and facts of the description (text, whether covered,
    worst word). Facts are there if their metrics are in the report.
    """
    systems: list[Any] = []
    for entry in images.entries:
        aloha = measure_of(entry, Aloha, ("ALOHa",), options) or _unscored(entry)
        precision = measure_of(entry, FactPrecision, ("FactPrecision",), options)
        recall = measure_of(entry, FactRecall, ("FactRecall",), options)
        judged = [one for one in (aloha, precision, recall) if one is not None]
        if not judged or entry.corpus is None:
            systems.append(None)
            continue
        explanations = [
            explain_corpus(entry.corpus, one[0]) if one is not None else None
            for one in (aloha, precision, recall)
        ]
        rows = [
            _description(*(own[i] if own is not None else None for own in explanations))
            for i in range(len(entry.corpus.candidates))
        ]
        systems.append(images.place(entry.corpus.ids, listed(rows, entry.corpus.candidates.image_offsets)))
    return {"systems": systems} if any(systems) else None


def _unscored(entry: SystemEntry) -> tuple[Measure, Corpus] | None:
    """Return ALOHa for a system that writes descriptions and was not scored with it."""
    corpus = entry.corpus
    if corpus is None or not corpus.has_references or "ALOHa" in entry.scores or not len(corpus.candidates):
        return None
    if len(sentences_of(corpus.candidates)) < DESCRIPTION_SENTENCES * len(corpus.candidates):
        return None
    return Aloha(), corpus


def _description(
    aloha: CaptionExplanation | None, precision: CaptionExplanation | None, recall: CaptionExplanation | None
) -> list[Any]:
    def facts(one: CaptionExplanation | None, key: str) -> list[Any] | None:
        if one is None:
            return None
        return [[part["fact"], int(part["status"] == MATCHED), part[key]] for part in one.parts]

    by_objects = aloha or precision or recall
    assert by_objects is not None
    objects = [
        [part["object"], part["sentence"], part["status"], rounded([part["support"]], 3)[0], part["nearest"]]
        for part in (aloha.parts if aloha is not None else ())
    ]
    sentences = [[row["sentence"], row["status"]] for row in by_objects.details["sentences"]]
    return [sentences, objects, facts(recall, "by sentence"), facts(precision, "worst word")]


#: Minimum resolution of features: steps per standard deviation.
STEPS = 500


def learned(images: ReportImages, options: Mapping[str, Any]) -> Block | None:
    """Return the networks of learned metrics, and the features of every caption.

    The page computes the contributions of features on demand. A feature is a column of integers, in units of
    ``10 ** -digits``. Columns shared by metrics or systems are stored once.
    """
    networks: dict[tuple[str, str], Block] = {}
    columns: dict[Any, tuple[int, list[Any]]] = {}
    systems: list[Any] = []
    for entry in images.entries:
        own_networks: Block = {}
        for name in entry.scores:
            measured = (
                measure_of(entry, Composite, (name,), options) if _may_be_learned(entry, name) else None
            )
            if measured is None:
                continue
            measure, corpus = measured
            network = networks.setdefault((measure.name, measure.network.digest), _network(measure))
            digits = [feature["digits"] for feature in network["features"]]
            table = measure.table(corpus, measure.prepare(corpus.references))
            offsets = corpus.candidates.image_offsets
            column_ids = []
            for values, decimals in zip(table.T, digits):
                scaled = np.where(np.isfinite(values), np.rint(values * 10.0**decimals), np.nan)
                key = (decimals, corpus.ids, offsets.tobytes(), scaled.tobytes())
                if key not in columns:
                    integers = [None if value != value else int(value) for value in scaled.tolist()]
                    columns[key] = len(columns), images.place(corpus.ids, grouped(integers, offsets))
                column_ids.append(columns[key][0])
            own_networks[name] = [list(networks).index((measure.name, measure.network.digest)), column_ids]
        systems.append(own_networks)
    return (
        {
            "networks": list(networks.values()),
            "columns": [column for _, column in columns.values()],
            "systems": systems,
        }
        if networks
        else None
    )


def _may_be_learned(entry: SystemEntry, name: str) -> bool:
    """Return whether a score may be of a learned metric. Scores from a file do not hold the measure."""
    if isinstance(entry.scores[name].measure, Composite):
        return True
    canonical = registry.canonical(name)
    return canonical is not None and issubclass(registry.measure_class(canonical), Composite)


def _network(measure: Composite) -> Block:
    """Return a network for the page: weights with 32-bit precision, and features in words."""
    network = measure.network
    features = []
    bounds = [[None, None]] * len(network.features) if network.bounds is None else network.bounds.T.tolist()
    for name, mean, scale, (low, high) in zip(
        network.features, network.means.tolist(), network.scales.tolist(), bounds
    ):
        metric = measure.features.measures.get(name)
        label, note = feature_words(name, metric)
        features.append(
            {
                "label": label,
                "note": note,
                "mean": mean,
                "scale": scale,
                **({} if low is None else {"low": low, "high": high}),
                "digits": max(0, math.ceil(math.log10(STEPS / scale))),
                # Features rise with quality, but the page shows the metric's own sign.
                "sign": -1 if metric is not None and not metric.higher_is_better else 1,
            }
        )
    layers = [[[rounded(row, 8) for row in weights], rounded(bias, 8)] for weights, bias in network.layers]
    return {"features": features, "layers": layers, "orders": [order.tolist() for order in draw(network)]}


EXPLANATIONS: dict[str, Explanation] = {
    "ngrams": ngrams,
    "meteor": meteor,
    "descriptions": descriptions,
    "scenes": scenes,
    "objects": objects,
    "learned": learned,
}
