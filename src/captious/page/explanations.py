"""Why a caption has its score: what metrics matched and what they missed, for the panel of that name.

An explanation is a function of the systems that gives a block of data for the page, or nothing where it has nothing to say.
Its name is that of the renderer in ``assets/why.js``. A new one is a function here, a line in :data:`EXPLANATIONS`, and a
renderer there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from captious.corpus import Corpus
from captious.errors import CaptiousError
from captious.io import CaptionWarning
from captious.learned.composite import Composite
from captious.learned.explain import draw
from captious.measures import registry
from captious.measures.base import Measure
from captious.measures.making import make_measures
from captious.metrics.chair import ChairI
from captious.metrics.cider import Cider, frequencies_of
from captious.metrics.meteor import Meteor
from captious.metrics.spice import Spice
from captious.page.content import Entry, Images, frequencies, grouped, listed, rounded
from captious.page.people import feature_words
from captious.progress import track
from captious.scene.match import match_both
from captious.signature import sign

M = TypeVar("M", bound=Measure)

Block = dict[str, Any]
#: From the images and the options of measures to a block.
Explanation = Callable[[Images, Mapping[str, Any]], Block | None]


def explained(images: Images, options: Mapping[str, Any]) -> dict[str, Block]:
    """All blocks that there is something in."""
    found = {}
    for name, explanation in EXPLANATIONS.items():
        block = explanation(images, options)
        if block is not None:
            found[name] = block
    return found


def measure_of(
    entry: Entry, kind: type[M], names: tuple[str, ...], options: Mapping[str, Any]
) -> tuple[M, Corpus] | None:
    """The measure behind one of a system's scores, if it can be made again: explanations must be of the numbers shown."""
    if entry.corpus is None or not entry.corpus.has_references:
        return None
    for name in names:
        if name not in entry.scores:
            continue
        score = entry.scores[name]
        try:
            (fresh,) = make_measures([name], options)
        except CaptiousError:
            continue
        for measure in (score.measure, fresh):
            # What was read from a file has the formula, but not the rest.
            if isinstance(measure, kind) and sign(measure, entry.corpus) == score.signature:
                return measure, entry.corpus
        warnings.warn(CaptionWarning(f"{entry.name}: {name} was made differently, so it is shown without explanations"), stacklevel=2)
    return None


def ngrams(images: Images, options: Mapping[str, Any]) -> Block | None:
    """Document frequencies, by which the page weighs the n-grams of any caption."""
    for entry in images.entries:
        found = measure_of(entry, Cider, ("CIDEr-D", "CIDEr"), options)
        if found is not None:
            return frequencies(images, found[0].prepare(found[1].references))
    for entry in images.entries:
        if entry.corpus is not None and entry.corpus.has_references:
            return frequencies(images, frequencies_of(entry.corpus.references))
    return None


def meteor(images: Images, options: Mapping[str, Any]) -> Block | None:
    """For each caption the reference that METEOR took, and the matches as numbers: start and length in the caption, start
    and length in the reference, module. Words are listed where they are not those of the caption."""
    systems: list[Any] = []
    for entry in images.entries:
        found = measure_of(entry, Meteor, ("METEOR",), options)
        if found is None:
            systems.append(None)
            continue
        measure, corpus = found
        candidates, references = corpus.candidates, corpus.references
        firsts = references.image_offsets[corpus.images[candidates.image_of]].tolist()
        rows: list[Any] = []
        for i, alignment in enumerate(measure.alignments(corpus, measure.prepare(references))):
            if alignment is None:
                rows.append(None)
                continue
            row: list[Any] = [alignment.reference - firsts[i], alignment.matches[:, [2, 3, 0, 1, 4]].ravel().tolist()]
            own, theirs = " ".join(alignment.words), " ".join(alignment.reference_words)
            if own != candidates.sentences[i] or theirs != references.sentences[alignment.reference]:
                row += [own, theirs]
            rows.append(row)
        systems.append(images.place(candidates.ids, listed(rows, candidates.image_offsets)))
    return {"systems": systems} if any(systems) else None


def scenes(images: Images, options: Mapping[str, Any]) -> Block | None:
    """Tuples of every caption, each a hit or not, and those of its references, each found in the caption or not."""
    numbers: dict[tuple[str, ...], int] = {}
    references: list[Any] = [None] * len(images)
    systems: list[Any] = []

    def numbered(tuples: Any) -> list[int]:
        return [numbers.setdefault(item, len(numbers)) for item in tuples]

    for entry in images.entries:
        found = measure_of(entry, Spice, ("SPICE",), options)
        if found is None:
            systems.append(None)
            continue
        measure, corpus = found
        own, theirs, image_of = measure.prepare(corpus.references).of(corpus)
        rows = []
        for graph, image in track(zip(own, image_of), "explaining scenes", total=len(own)):
            known = theirs[image]
            place = images.number[corpus.references.ids[image]]
            if references[place] is None:
                references[place] = numbered(known.tuples)
            own_hits, their_hits = match_both(graph, known)
            rows.append([numbered(graph.tuples), _bits(own_hits.hits), _bits(their_hits.hits)])
        systems.append(images.place(corpus.ids, listed(rows, corpus.candidates.image_offsets)))
    return {"tuples": list(numbers), "refs": references, "systems": systems} if any(systems) else None


def _bits(hits: list[bool]) -> str:
    return "".join("01"[hit] for hit in hits)


def objects(images: Images, options: Mapping[str, Any]) -> Block | None:
    """The objects that each caption names, and whether they are in the image (or in its references)."""
    given = {name: options[name] for name in ("objects", "chair_synonyms") if options.get(name) is not None}
    measure = ChairI(**given)
    there: list[Any] = [None] * len(images)
    systems: list[Any] = []
    for entry in images.entries:
        if entry.corpus is None or not entry.corpus.has_references:
            systems.append(None)
            continue
        for image, kinds in zip(entry.corpus.ids, measure.truth(entry.corpus)):
            there[images.number[image]] = sorted(kinds)
        rows = []
        for row in measure.mentions(entry.corpus):
            wrong = {mention.object for mention in row.hallucinated}
            rows.append([[mention.text, mention.object, int(mention.object in wrong)] for mention in row.mentioned])
        systems.append(images.place(entry.corpus.ids, listed(rows, entry.corpus.candidates.image_offsets)))
    return {"given": "objects" in given, "images": there, "systems": systems} if any(systems) else None


#: Steps in which features are told: this many to a standard deviation, at least.
STEPS = 500


def learned(images: Images, options: Mapping[str, Any]) -> Block | None:
    """The networks of learned metrics, and the features of every caption; the page computes the shares of the one that is looked at.

    A feature is a column of whole numbers, in units of ``10 ** -digits``. A column that several metrics or systems have stands there once.
    """
    networks: dict[tuple[str, str], Block] = {}
    columns: dict[Any, tuple[int, list[Any]]] = {}
    systems: list[Any] = []
    for entry in images.entries:
        own: Block = {}
        for name in entry.scores:
            found = measure_of(entry, Composite, (name,), options) if _may_be_learned(entry, name) else None
            if found is None:
                continue
            measure, corpus = found
            known = networks.setdefault((measure.name, measure.network.digest), _network(measure))
            digits = [feature["digits"] for feature in known["features"]]
            table = measure.table(corpus, measure.prepare(corpus.references))
            offsets = corpus.candidates.image_offsets
            where = []
            for values, places in zip(table.T, digits):
                whole = np.where(np.isfinite(values), np.rint(values * 10.0**places), np.nan)
                key = (places, corpus.ids, offsets.tobytes(), whole.tobytes())
                if key not in columns:
                    told = [None if value != value else int(value) for value in whole.tolist()]
                    columns[key] = len(columns), images.place(corpus.ids, grouped(told, offsets))
                where.append(columns[key][0])
            own[name] = [list(networks).index((measure.name, measure.network.digest)), where]
        systems.append(own)
    return {"networks": list(networks.values()), "columns": [column for _, column in columns.values()], "systems": systems} if networks else None


def _may_be_learned(entry: Entry, name: str) -> bool:
    """Whether it is worth making the measure: scores from a file do not have it."""
    if isinstance(entry.scores[name].measure, Composite):
        return True
    found = registry.canonical(name)
    return found is not None and issubclass(registry.measure_class(found), Composite)


def _network(measure: Composite) -> Block:
    """A network as the page computes with it: numbers with as many digits as 32 bits have, and features in words."""
    network = measure.network
    features = []
    bounds = [[None, None]] * len(network.features) if network.bounds is None else network.bounds.T.tolist()
    for name, mean, scale, (low, high) in zip(network.features, network.means.tolist(), network.scales.tolist(), bounds):
        metric = measure.features.measures.get(name)
        label, note = feature_words(name, metric)
        features.append({
            "label": label, "note": note, "mean": mean, "scale": scale, **({} if low is None else {"low": low, "high": high}),
            "digits": max(0, math.ceil(math.log10(STEPS / scale))),
            # Features rise with quality; people know the metric as it is.
            "sign": -1 if metric is not None and not metric.higher_is_better else 1,
        })  # fmt: skip
    layers = [[[rounded(row, 8) for row in weights], rounded(bias, 8)] for weights, bias in network.layers]
    return {"features": features, "layers": layers, "orders": [order.tolist() for order in draw(network)]}


EXPLANATIONS: dict[str, Explanation] = {"ngrams": ngrams, "meteor": meteor, "scenes": scenes, "objects": objects, "learned": learned}
