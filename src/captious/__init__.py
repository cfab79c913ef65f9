"""captious, the caption critic: how good, how diverse, how unique and how human-like are image captions?

>>> import captious
>>> scores = captious.score("references.json", "predictions.json", metrics="coco")
>>> scores["CIDEr-D"].value
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from captious._version import __version__

if TYPE_CHECKING:
    from captious.api import compute, load_scores, prepare, score
    from captious.comparison import Comparison, Comparisons, compare
    from captious.corpus import Captions, Corpus
    from captious.errors import CaptiousError, InputError, MissingExtraError
    from captious.frequencies import FrequencyTable
    from captious.measures.base import Measure
    from captious.measures.options import Option
    from captious.page import Report, report
    from captious.references import References, load, load_systems
    from captious.rewards import reward
    from captious.scene import scene_graph
    from captious.scores import Score, Scores
    from captious.variety.corpus import corpus_diversity
    from captious.variety.sets import diversity

#: Public name → module. Loaded on first use, so that ``import captious`` stays quick.
_WHERE = {
    "Captions": "captious.corpus",
    "CaptiousError": "captious.errors",
    "Comparison": "captious.comparison",
    "Comparisons": "captious.comparison",
    "Corpus": "captious.corpus",
    "FrequencyTable": "captious.frequencies",
    "InputError": "captious.errors",
    "Measure": "captious.measures.base",
    "MissingExtraError": "captious.errors",
    "Option": "captious.measures.options",
    "References": "captious.references",
    "Report": "captious.page",
    "Score": "captious.scores",
    "Scores": "captious.scores",
    "compare": "captious.comparison",
    "compute": "captious.api",
    "corpus_diversity": "captious.variety.corpus",
    "diversity": "captious.variety.sets",
    "load": "captious.references",
    "load_scores": "captious.api",
    "load_systems": "captious.references",
    "prepare": "captious.api",
    "report": "captious.page",
    "reward": "captious.rewards",
    "scene_graph": "captious.scene",
    "score": "captious.api",
}

__all__ = [
    "Captions",
    "CaptiousError",
    "Comparison",
    "Comparisons",
    "Corpus",
    "FrequencyTable",
    "InputError",
    "Measure",
    "MissingExtraError",
    "Option",
    "References",
    "Report",
    "Score",
    "Scores",
    "__version__",
    "compare",
    "compute",
    "corpus_diversity",
    "diversity",
    "load",
    "load_scores",
    "load_systems",
    "prepare",
    "report",
    "reward",
    "scene_graph",
    "score",
]


#: Modules that can be reached without importing them by name.
_MODULES = ("compat", "scale", "torchmetrics")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"captious.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'captious' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
