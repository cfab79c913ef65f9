"""Tables of features: metrics of the registry and features of our own, with a row per caption."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from captious.core.errors import InputError, did_you_mean
from captious.corpus import Captions, Corpus
from captious.io import CaptionWarning
from captious.metrics import registry
from captious.metrics.base import FloatArray, Measure, Resource
from captious.metrics.learned.feature_tools import OPTIONS, Tools
from captious.metrics.learned.own_features import OWN
from captious.metrics.options import TRUTH, TRUTH_NAMES, Option

#: LCEval's features by group (Sharif et al. 2019).
LEXICAL = (
    "Precision-1",
    "Precision-2",
    "Precision-3",
    "Precision-4",
    "Recall-1",
    "ROUGE-L",
    "METEOR",
    "CIDEr-D",
)
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
    """Return feature names from names and groups. Metrics get our names."""
    resolved: list[str] = []
    for name in names:
        if name.casefold() in GROUPS:
            resolved.extend(GROUPS[name.casefold()])
        elif name in OWN:
            resolved.append(name)
        elif (metric := registry.canonical(name)) is not None and registry.measure_class(
            metric
        ).rows == "caption":
            resolved.append(metric)
        else:
            choices = [*GROUPS, *OWN, *registry.of_family("all")]
            raise InputError(
                f"unknown feature '{name}'{did_you_mean(name, choices)} "
                f"(a metric of captions, or one of {', '.join(GROUPS)})"
            )
    return list(dict.fromkeys(resolved))


class Features:
    """Named features under some options: their requirements and their table."""

    def __init__(self, names: Sequence[str], options: Mapping[str, Any] | None = None) -> None:
        self.names = tuple(resolve(names))
        taken = {option.name for option in self.options_of(self.names)}
        chosen = {name: value for name, value in (options or {}).items() if name in taken}
        self.tools = Tools(chosen)
        self.measures: dict[str, Measure] = {
            name: registry.create(name, chosen) for name in self.names if name not in OWN
        }
        self.uses: frozenset[str] = frozenset().union(*(OWN[name].uses for name in self.names if name in OWN))

    @staticmethod
    def options_of(names: Sequence[str]) -> tuple[Option, ...]:
        """Return the options of the features that are resources (vectors, a parser).

        Settings are fixed by the weights.
        """
        options: dict[str, Option] = {}
        for name in names:
            taken = (
                registry.measure_class(name).options
                if name not in OWN
                else tuple(o for tool in sorted(OWN[name].uses) for o in OPTIONS[tool])
            )
            # Weights were learned with captions as references, so concepts cannot replace them.
            options.update(
                {
                    option.name: option
                    for option in taken
                    if not option.setting and option not in (TRUTH, TRUTH_NAMES)
                }
            )
        return tuple(options.values())

    def check(self, corpus: Corpus | None = None) -> None:
        """Raise an error that says what to install or to pass if a requirement of a feature is missing."""
        self.tools.check(self.uses)
        for measure in self.measures.values():
            measure.check(corpus)

    def resources(self) -> dict[str, Resource]:
        """Return the tables and models that the features depend on."""
        resources: dict[str, Resource] = self.tools.resources(self.uses)
        for measure in self.measures.values():
            resources.update(measure.resources())
        return resources

    def prepare(self, references: Captions) -> dict[str, Any]:
        """Derive the data that the features need from the references."""
        self.tools.prepare(references, self.uses)
        return {name: measure.prepare(references) for name, measure in self.measures.items()}

    def table(self, corpus: Corpus, states: Mapping[str, Any] | None = None) -> FloatArray:
        """Return one row per caption and one column per feature, higher for better, NaN where undefined."""
        table = np.empty((len(corpus.candidates), len(self.names)))
        prepared = states if states is not None else self.prepare(corpus.references)
        with warnings.catch_warnings():
            # The metrics themselves warn about words without vectors when they are requested.
            warnings.simplefilter("ignore", CaptionWarning)
            for place, name in enumerate(self.names):
                if name in OWN:
                    table[:, place] = OWN[name].values(self.tools, corpus)
                else:
                    measure = self.measures[name]
                    values = measure.per_row(measure.statistics(corpus, prepared[name]))
                    table[:, place] = values if measure.higher_is_better else -values
        return table

    def rises(self) -> tuple[int, ...]:
        """Return 1 for each feature of which more is better, −1 if less is, 0 if neither."""
        return tuple(OWN[name].rises if name in OWN else 1 for name in self.names)
