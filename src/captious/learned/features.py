"""A list of features: metrics of the registry and features of our own, as one table with a row per caption."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from captious.corpus import Captions, Corpus
from captious.errors import InputError, did_you_mean
from captious.io import CaptionWarning
from captious.learned.own import OWN
from captious.learned.tools import OPTIONS, Tools
from captious.measures import registry
from captious.measures.base import FloatArray, Measure
from captious.measures.options import Option
from captious.measures.resources import Resource

#: LCEval's features by group (Sharif et al. 2019).
LEXICAL = ("Precision-1", "Precision-2", "Precision-3", "Precision-4", "Recall-1", "ROUGE-L", "METEOR", "CIDEr-D")
SEMANTIC = ("SPICE", "WMD", "MOWE")
SYNTACTIC = ("HWCM-2", "HWCM-3")
GROUPS: dict[str, tuple[str, ...]] = {
    "lexical": LEXICAL,
    "semantic": SEMANTIC,
    "syntactic": SYNTACTIC,
    "lceval": (*LEXICAL, *SEMANTIC, *SYNTACTIC),
    "nneval": ("METEOR", "CIDEr", "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "WMD", "SPICE"),
}


def resolve(names: Sequence[str]) -> list[str]:
    """Feature names from names and groups; each metric by our own name of it."""
    found: list[str] = []
    for name in names:
        if name.casefold() in GROUPS:
            found.extend(GROUPS[name.casefold()])
        elif name in OWN:
            found.append(name)
        elif (metric := registry.canonical(name)) is not None and registry.measure_class(metric).rows == "caption":
            found.append(metric)
        else:
            known = [*GROUPS, *OWN, *registry.of_family("all")]
            raise InputError(f"unknown feature '{name}'{did_you_mean(name, known)} (a metric of captions, or one of {', '.join(GROUPS)})")
    return list(dict.fromkeys(found))


class Features:
    """Named features under some options: what they need, and their table."""

    def __init__(self, names: Sequence[str], options: Mapping[str, Any] | None = None) -> None:
        self.names = tuple(resolve(names))
        known = {option.name for option in self.options_of(self.names)}
        given = {name: value for name, value in (options or {}).items() if name in known and value is not None}
        self.tools = Tools(given)
        self.measures: dict[str, Measure] = {name: registry.create(name, given) for name in self.names if name not in OWN}
        self.uses: frozenset[str] = frozenset().union(*(OWN[name].uses for name in self.names if name in OWN))

    @staticmethod
    def options_of(names: Sequence[str]) -> tuple[Option, ...]:
        """The options that some of the features take: resources (vectors, a parser), not settings, which the weights were made for."""
        found: dict[str, Option] = {}
        for name in names:
            taken = registry.measure_class(name).options if name not in OWN else tuple(o for tool in sorted(OWN[name].uses) for o in OPTIONS[tool])
            found.update({option.name: option for option in taken if not option.setting})
        return tuple(found.values())

    def check(self, corpus: Corpus | None = None) -> None:
        """Raise an error that says what to install or to give, when something a feature needs is not there."""
        self.tools.check(self.uses)
        for measure in self.measures.values():
            measure.check(corpus)

    def resources(self) -> dict[str, Resource]:
        """Tables and models the features depend on."""
        found: dict[str, Resource] = self.tools.resources(self.uses)
        for measure in self.measures.values():
            found.update(measure.resources())
        return found

    def prepare(self, references: Captions) -> dict[str, Any]:
        """What the features need to know of the references."""
        self.tools.prepare(references, self.uses)
        return {name: measure.prepare(references) for name, measure in self.measures.items()}

    def table(self, corpus: Corpus, states: Mapping[str, Any] | None = None) -> FloatArray:
        """One row per caption and one column per feature, higher where the metric says better; not a number where undefined."""
        table = np.empty((len(corpus.candidates), len(self.names)))
        known = states if states is not None else self.prepare(corpus.references)
        with warnings.catch_warnings():
            # That words have no vector is said by the metrics themselves, to those who ask for them.
            warnings.simplefilter("ignore", CaptionWarning)
            for place, name in enumerate(self.names):
                if name in OWN:
                    table[:, place] = OWN[name].values(self.tools, corpus)
                else:
                    measure = self.measures[name]
                    values = measure.per_row(measure.statistics(corpus, known[name]))
                    table[:, place] = values if measure.higher_is_better else -values
        return table

    def rises(self) -> tuple[int, ...]:
        """For each feature, 1 where more is better, −1 where less is, 0 where it says nothing by itself."""
        return tuple(OWN[name].rises if name in OWN else 1 for name in self.names)
