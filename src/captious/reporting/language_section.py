"""Diversity sections of the page: sets of sampled captions, and the language of whole corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from captious.core.progress import track
from captious.corpus import Corpus
from captious.corpus.frequencies import DocumentFrequencies
from captious.diversity_analysis.corpus import CorpusDiversity, CorpusReport, corpus_diversity
from captious.diversity_analysis.corpus.corpus_result import plain
from captious.diversity_analysis.sets import SetDiversity, diversity, human
from captious.reporting.metric_descriptions import words_of
from captious.reporting.report_data import ReportImages, grouped, odd_words, rounded
from captious.results.scores import json_number
from captious.results.significance import Bootstrap

#: Measures of sets in the table, and those with values per image.
MEASURES = (
    "Self-CIDEr",
    "LSA",
    "1-mBLEU-4",
    "1-mBLEU-mix",
    "Div-1",
    "Div-2",
    "Unique",
    "mean CIDEr-D",
    "oracle CIDEr-D",
    "F-measure",
)
PER_IMAGE = ("Self-CIDEr", "LSA", "mean CIDEr-D")
#: Number of words in each ranking.
WORDS = 30


def sets(
    samples: Sequence[Corpus], df: DocumentFrequencies | None, bootstrap: Bootstrap
) -> tuple[dict[str, Any], list[SetDiversity]]:
    """Measure each system's sets, and people's last."""
    system_sets = [diversity(corpus, df=df) for corpus in track(samples, "measuring diversity")]
    everyone = [*system_sets, human(samples[0], df=df)]
    measures = []
    for name in MEASURES:
        # Not .get(): indexing a skipped measure raises InputError.
        scores = [measured[name] if name in measured else None for measured in everyone]  # noqa: SIM401
        first = next((score for score in scores if score is not None), None)
        if first is None:
            continue
        sees, misses = words_of(first.measure)
        measures.append(
            {
                "name": name,
                "sees": sees,
                "misses": misses,
                "higher": first.measure.higher_is_better,
                "format": first.measure.format,
                "values": [None if score is None else json_number(score.value) for score in scores],
                "intervals": [
                    None
                    if score is None or len(score.ids) < 2
                    else [json_number(b) for b in score.interval(*bootstrap)]
                    for score in scores
                ],
                "signatures": [None if score is None else score.signature for score in scores],
            }
        )
    systems = [
        {
            "name": measured.system,
            "captions": measured.corpus.candidates.sizes,
            "human": measured is everyone[-1],
        }
        for measured in everyone
    ]
    return {"systems": systems, "measures": measures}, everyone


def set_captions(images: ReportImages, measured_sets: Sequence[SetDiversity]) -> dict[str, Any]:
    """Return the sampled captions of every image with their measures.

    People's captions are the references, so they are not repeated.
    """
    texts, words, values = [], [], []
    for measured in measured_sets:
        captions = measured.corpus.candidates
        is_human = measured is measured_sets[-1]
        texts.append(
            None
            if is_human
            else _placed(images, captions.ids, grouped(list(captions.texts), captions.image_offsets))
        )
        words.append(
            None
            if is_human
            else _placed(images, captions.ids, grouped(odd_words(captions), captions.image_offsets))
        )
        values.append(
            [
                _placed(images, measured[name].ids, rounded(measured[name].per_caption, 5))
                if name in measured
                else None
                for name in PER_IMAGE
            ]
        )
    return {"texts": texts, "words": words, "measures": list(PER_IMAGE), "values": values}


def _placed(images: ReportImages, ids: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """Arrange values by image of the page, skipping images that no system has."""
    on_page = [(image, value) for image, value in zip(ids, values) if image in images.number]
    return images.place([image for image, _ in on_page], [value for _, value in on_page])


def language(
    references: Mapping[str, Sequence[str]],
    systems: Mapping[str, Mapping[str, Sequence[str]]],
    *,
    subset: bool,
) -> dict[str, Any]:
    """Return the results of :func:`captious.corpus_diversity`, reduced for the page."""
    result = corpus_diversity(
        dict(references),
        [dict(own) for own in systems.values()],
        names=list(systems),
        several=True,
        subset=subset,
    )
    columns = [
        {
            "key": measure.key,
            "title": measure.title(result.n),
            "summary": measure.summary,
            "format": measure.format,
        }
        for measure in result.columns()
    ]
    described: dict[str, Any] = plain(
        {
            "signature": result.signature,
            "n": result.n,
            "columns": columns,
            "reports": [_report(report, result) for report in [*result.systems, result.humans]],
        }
    )
    return described


def _report(report: CorpusReport, result: CorpusDiversity) -> dict[str, Any]:
    captions = max(report.values.get("captions", 1.0), 1.0)
    composition = report.composition
    return {
        "name": report.name,
        "human": report is result.humans,
        "values": {measure.key: report.values.get(measure.key) for measure in result.columns()},
        "tokens": report.curve.tokens if report.curve is not None else None,
        "types": [round(value, 1) for value in report.curve.types.tolist()]
        if report.curve is not None
        else None,
        "deciles": report.global_recall.deciles if report.global_recall is not None else None,
        "recall": result.recall_by_class(report),
        "compounds": 1000 * composition.compound_lengths / captions if composition is not None else None,
        "prepositions": 1000 * composition.pp_depths / captions if composition is not None else None,
        "tags": report.parts_of_speech,
        "omitted": [list(row) for row in report.omitted_globally.get("validation", [])[:WORDS]],
        "missed": [list(row) for row in report.omitted_locally.get("absolute", [])[:WORDS]],
        "over": _used(report.over_used),
        "under": _used(report.under_used),
    }


def _used(rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    return [[row["word"], row["system"], row["references"], row["ratio"]] for row in rows[:WORDS]]
