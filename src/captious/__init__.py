"""captious, the caption critic: how good, how diverse, how unique and how human-like are image captions?

>>> import captious
>>> scores = captious.score("references.json", "predictions.json", metrics="coco")
>>> scores["CIDEr-D"].value
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from captious._version import __version__
from captious.core import moved

if TYPE_CHECKING:
    from captious.api import compute, load_scores, prepare, score, score_systems
    from captious.core.errors import CaptiousError, InputError, MissingExtraError
    from captious.corpus import Captions, Corpus
    from captious.corpus.frequencies import FrequencyTable
    from captious.dense import score_dense, score_dense_systems
    from captious.diversity_analysis.corpus import corpus_diversity
    from captious.diversity_analysis.sets import diversity
    from captious.metrics.base import Measure
    from captious.metrics.options import Option
    from captious.reporting import Report, join_reports, report
    from captious.reporting.site import Site, site
    from captious.results.caption_explanations import Explanation, explain
    from captious.results.comparison import compare
    from captious.results.comparison_result import Comparison, Comparisons
    from captious.results.length_control import LengthControl, length_control
    from captious.results.references import References, load, load_systems
    from captious.results.regression_check import CheckResult, check
    from captious.results.score_groups import GroupedScores, group_scores, read_groups
    from captious.results.scores import Score, Scores
    from captious.rewards import reward
    from captious.scene import scene_graph

#: Public name → module. Loaded on first use, so that ``import captious`` stays quick.
_WHERE = {
    "Captions": "captious.corpus",
    "CaptiousError": "captious.core.errors",
    "CheckResult": "captious.results.regression_check",
    "Comparison": "captious.results.comparison_result",
    "Comparisons": "captious.results.comparison_result",
    "Corpus": "captious.corpus",
    "Explanation": "captious.results.caption_explanations",
    "FrequencyTable": "captious.corpus.frequencies",
    "GroupedScores": "captious.results.score_groups",
    "InputError": "captious.core.errors",
    "Measure": "captious.metrics.base",
    "MissingExtraError": "captious.core.errors",
    "Option": "captious.metrics.options",
    "References": "captious.results.references",
    "Report": "captious.reporting",
    "Score": "captious.results.scores",
    "Scores": "captious.results.scores",
    "Site": "captious.reporting.site",
    "check": "captious.results.regression_check",
    "compare": "captious.results.comparison",
    "compute": "captious.api",
    "corpus_diversity": "captious.diversity_analysis.corpus",
    "diversity": "captious.diversity_analysis.sets",
    "explain": "captious.results.caption_explanations",
    "length_control": "captious.results.length_control",
    "LengthControl": "captious.results.length_control",
    "group_scores": "captious.results.score_groups",
    "join_reports": "captious.reporting",
    "load": "captious.results.references",
    "load_scores": "captious.api",
    "load_systems": "captious.results.references",
    "prepare": "captious.api",
    "read_groups": "captious.results.score_groups",
    "report": "captious.reporting",
    "reward": "captious.rewards",
    "scene_graph": "captious.scene",
    "score": "captious.api",
    "site": "captious.reporting.site",
    "score_dense": "captious.dense",
    "score_dense_systems": "captious.dense",
    "score_systems": "captious.api",
}

__all__ = [
    "Captions",
    "CaptiousError",
    "CheckResult",
    "Comparison",
    "Comparisons",
    "Corpus",
    "Explanation",
    "FrequencyTable",
    "GroupedScores",
    "InputError",
    "LengthControl",
    "Measure",
    "MissingExtraError",
    "Option",
    "References",
    "Report",
    "Score",
    "Scores",
    "Site",
    "__version__",
    "check",
    "compare",
    "compute",
    "corpus_diversity",
    "diversity",
    "explain",
    "group_scores",
    "join_reports",
    "length_control",
    "load",
    "load_scores",
    "load_systems",
    "prepare",
    "read_groups",
    "report",
    "reward",
    "scene_graph",
    "score",
    "score_dense",
    "score_dense_systems",
    "score_systems",
    "site",
]


moved.install()

#: Public modules beside the names above, imported on first use. ``tests/public_api.txt`` lists the whole
#: interface.
_MODULES = (
    "agreement",
    "compat",
    "critic",
    "generate",
    "rerank",
    "rewards",
    "robustness",
    "scale",
    "tasks",
    "torchmetrics",
    "track",
    "training",
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"captious.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'captious' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
