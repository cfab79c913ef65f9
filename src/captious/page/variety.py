"""Diversity on the page: sets of sampled captions beside people, and the language of whole corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from captious.corpus import Corpus
from captious.frequencies import DocumentFrequencies
from captious.page.content import Images, grouped, odd_words, rounded
from captious.page.people import words_of
from captious.progress import track
from captious.scores import json_number
from captious.significance import Bootstrap
from captious.variety.corpus import CorpusDiversity, Report, corpus_diversity
from captious.variety.corpus.result import plain
from captious.variety.sets import SetDiversity, diversity, human

#: Measures of sets in the table, and those whose values of every image are kept.
MEASURES = ("Self-CIDEr", "LSA", "1-mBLEU-4", "1-mBLEU-mix", "Div-1", "Div-2", "Unique", "mean CIDEr-D", "oracle CIDEr-D", "F-measure")
PER_IMAGE = ("Self-CIDEr", "LSA", "mean CIDEr-D")
#: Words in each ranking.
WORDS = 30


def sets(samples: Sequence[Corpus], df: DocumentFrequencies | None, bootstrap: Bootstrap) -> tuple[dict[str, Any], list[SetDiversity]]:
    """Measures of each system's sets, people last."""
    found = [diversity(corpus, df=df) for corpus in track(samples, "measuring diversity")]
    everyone = [*found, human(samples[0], df=df)]
    measures = []
    for name in MEASURES:
        # A measure that was left out is an error when it is asked for.
        known = [one[name] if name in one else None for one in everyone]  # noqa: SIM401
        first = next((score for score in known if score is not None), None)
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
                "values": [None if score is None else json_number(score.value) for score in known],
                "intervals": [None if score is None or len(score.ids) < 2 else [json_number(b) for b in score.interval(*bootstrap)] for score in known],
                "signatures": [None if score is None else score.signature for score in known],
            }
        )
    systems = [{"name": one.system, "captions": one.corpus.candidates.sizes, "human": one is everyone[-1]} for one in everyone]
    return {"systems": systems, "measures": measures}, everyone


def set_captions(images: Images, found: Sequence[SetDiversity]) -> dict[str, Any]:
    """The sampled captions of every image and what they were measured to be; people's are the references."""
    texts, words, values = [], [], []
    for one in found:
        ours = one.corpus.candidates
        people = one is found[-1]
        texts.append(None if people else _placed(images, ours.ids, grouped(list(ours.texts), ours.image_offsets)))
        words.append(None if people else _placed(images, ours.ids, grouped(odd_words(ours), ours.image_offsets)))
        values.append([_placed(images, one[name].ids, rounded(one[name].per_caption, 5)) if name in one else None for name in PER_IMAGE])
    return {"texts": texts, "words": words, "measures": list(PER_IMAGE), "values": values}


def _placed(images: Images, ids: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """One value per image of the page; images of the samples that no system has are left out."""
    known = [(image, value) for image, value in zip(ids, values) if image in images.number]
    return images.place([image for image, _ in known], [value for _, value in known])


def language(references: Mapping[str, Sequence[str]], systems: Mapping[str, Mapping[str, Sequence[str]]], *, subset: bool) -> dict[str, Any]:
    """The language of whole corpora: what :func:`captious.corpus_diversity` finds, thinned out for the page."""
    found = corpus_diversity(dict(references), [dict(own) for own in systems.values()], names=list(systems), several=True, subset=subset)
    columns = [
        {"key": measure.key, "title": measure.title(found.n), "summary": measure.summary, "format": measure.format}
        for measure in found.columns()
    ]
    described: dict[str, Any] = plain(
        {
            "signature": found.signature,
            "n": found.n,
            "columns": columns,
            "reports": [_report(report, found) for report in [*found.systems, found.humans]],
        }
    )
    return described


def _report(report: Report, found: CorpusDiversity) -> dict[str, Any]:
    recall: Any = report.local_recall.mean[: found.n] if report.local_recall is not None else report.leave_one_out.get("mean")
    captions = max(report.values.get("captions", 1.0), 1.0)
    made = report.composition
    return {
        "name": report.name,
        "human": report is found.humans,
        "values": {measure.key: report.values.get(measure.key) for measure in found.columns()},
        "tokens": report.curve.tokens if report.curve is not None else None,
        "types": [round(value, 1) for value in report.curve.types.tolist()] if report.curve is not None else None,
        "deciles": report.global_recall.deciles if report.global_recall is not None else None,
        "recall": recall,
        "compounds": 1000 * made.compound_lengths / captions if made is not None else None,
        "prepositions": 1000 * made.pp_depths / captions if made is not None else None,
        "tags": report.parts_of_speech,
        "omitted": [list(row) for row in report.omitted_globally.get("validation", [])[:WORDS]],
        "missed": [list(row) for row in report.omitted_locally.get("absolute", [])[:WORDS]],
        "over": _used(report.over_used),
        "under": _used(report.under_used),
    }


def _used(rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    return [[row["word"], row["system"], row["references"], row["ratio"]] for row in rows[:WORDS]]
