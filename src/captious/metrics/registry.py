"""The metrics by name. A metric's module is imported when the metric is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from captious.errors import InputError, did_you_mean
from captious.metrics.base import Metric


class Entry(NamedTuple):
    """Where a metric lives: ``module:class``, and the fixed arguments that make this member of a family."""

    path: str
    arguments: Mapping[str, Any] = {}


_METRICS = "captious.metrics."

#: In the order of tables. One line per metric.
ENTRIES: dict[str, Entry] = {
    "BLEU-1": Entry(_METRICS + "bleu:BLEU", {"n": 1}),
    "BLEU-2": Entry(_METRICS + "bleu:BLEU", {"n": 2}),
    "BLEU-3": Entry(_METRICS + "bleu:BLEU", {"n": 3}),
    "BLEU-4": Entry(_METRICS + "bleu:BLEU", {"n": 4}),
    "METEOR": Entry(_METRICS + "meteor:Meteor"),
    "ROUGE-L": Entry(_METRICS + "rouge:RougeL"),
    "CIDEr-D": Entry(_METRICS + "cider:CiderD"),
    "CIDEr": Entry(_METRICS + "cider:Cider"),
    "SPICE": Entry(_METRICS + "spice:Spice"),
    "SPICE-Object": Entry(_METRICS + "spice:Spice", {"category": "Object"}),
    "SPICE-Attribute": Entry(_METRICS + "spice:Spice", {"category": "Attribute"}),
    "SPICE-Relation": Entry(_METRICS + "spice:Spice", {"category": "Relation"}),
    "SPICE-Cardinality": Entry(_METRICS + "spice:Spice", {"category": "Cardinality"}),
    "SPICE-Color": Entry(_METRICS + "spice:Spice", {"category": "Color"}),
    "SPICE-Size": Entry(_METRICS + "spice:Spice", {"category": "Size"}),
    "SPIDEr": Entry(_METRICS + "spider:Spider"),
    "SPICE-U": Entry(_METRICS + "spice_u:SpiceU"),
    "Uniq": Entry(_METRICS + "spice_u:Uniq"),
    "CHAIRs": Entry(_METRICS + "chair:ChairS"),
    "CHAIRi": Entry(_METRICS + "chair:ChairI"),
    "Precision-1": Entry(_METRICS + "ngram_precision:NgramPrecision", {"n": 1}),
    "Precision-2": Entry(_METRICS + "ngram_precision:NgramPrecision", {"n": 2}),
    "Precision-3": Entry(_METRICS + "ngram_precision:NgramPrecision", {"n": 3}),
    "Precision-4": Entry(_METRICS + "ngram_precision:NgramPrecision", {"n": 4}),
    "Recall-1": Entry(_METRICS + "unigram_recall:UnigramRecall"),
    "WMD": Entry(_METRICS + "wmd:WMD"),
    "WEmbSim": Entry(_METRICS + "wembsim:WEmbSim"),
    "MOWE": Entry(_METRICS + "mowe:MOWE"),
    "SentenceSim": Entry(_METRICS + "sentence_sim:SentenceSim"),
    "HWCM-1": Entry(_METRICS + "hwcm:HWCM", {"n": 1}),
    "HWCM-2": Entry(_METRICS + "hwcm:HWCM", {"n": 2}),
    "HWCM-3": Entry(_METRICS + "hwcm:HWCM", {"n": 3}),
    "HWCM-4": Entry(_METRICS + "hwcm:HWCM", {"n": 4}),
}

#: Names for several metrics at once.
GROUPS: dict[str, tuple[str, ...]] = {
    "coco": ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D", "SPICE"),
    "lexical": ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "ROUGE-L", "CIDEr-D"),
    "bleu": ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"),
    "spice-all": ("SPICE", "SPICE-Object", "SPICE-Attribute", "SPICE-Relation", "SPICE-Cardinality", "SPICE-Color", "SPICE-Size"),
    "precision": ("Precision-1", "Precision-2", "Precision-3", "Precision-4"),
}

#: Metrics that need a file or an option to mean anything, so "all" leaves them out.
ON_REQUEST: frozenset[str] = frozenset()


def names() -> list[str]:
    """All metric names, in the order of tables."""
    return list(ENTRIES)


def named(wanted: str | Metric | Iterable[str | Metric]) -> list[str | Metric]:
    """Those metrics that are asked for by their own name (or as objects), not as members of a group."""
    by_fold = {name.casefold(): name for name in ENTRIES}
    parts = _parts(wanted)
    return [p if isinstance(p, Metric) else by_fold[p.casefold()] for p in parts if isinstance(p, Metric) or p.casefold() in by_fold]


def _parts(wanted: str | Metric | Iterable[str | Metric]) -> list[str | Metric]:
    parts: list[str | Metric] = []
    for item in [wanted] if isinstance(wanted, str | Metric) else wanted:
        if isinstance(item, str):
            parts.extend(part.strip() for part in item.split(","))
        else:
            parts.append(item)
    return parts


def resolve(wanted: str | Metric | Iterable[str | Metric]) -> list[str | Metric]:
    """Metric names from names, groups ("coco", "all") and comma-separated lists; metric objects pass through."""
    by_fold = {name.casefold(): name for name in ENTRIES}
    found: list[str | Metric] = []
    for part in _parts(wanted):
        if isinstance(part, Metric):
            found.append(part)
        elif part.casefold() in by_fold:
            found.append(by_fold[part.casefold()])
        elif part.casefold() == "all":
            found.extend(name for name in ENTRIES if name not in ON_REQUEST)
        elif part.casefold() in GROUPS:
            found.extend(GROUPS[part.casefold()])
        elif part:
            hint = did_you_mean(part, [*ENTRIES, *GROUPS, "all"])
            raise InputError(f"unknown metric '{part}'{hint} ('captious metrics' lists them all)")
    if not found:
        raise InputError("no metric was named ('captious metrics' lists them all)")
    return list(dict.fromkeys(found))


def metric_class(name: str) -> type[Metric]:
    """The class of a metric, with its self-description."""
    module, _, attribute = ENTRIES[name].path.partition(":")
    kind: type[Metric] = getattr(import_module(module), attribute)
    return kind


def option_names() -> list[str]:
    """All options that some metric takes."""
    return sorted({option for name in ENTRIES for option in metric_class(name).options})


def create(name: str, options: Mapping[str, Any] | None = None) -> Metric:
    """The metric of that name, given those of the options that it takes."""
    kind = metric_class(name)
    given = {key: value for key, value in (options or {}).items() if key in kind.options and value is not None}
    return kind(**ENTRIES[name].arguments, **given)
