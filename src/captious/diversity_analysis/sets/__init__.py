"""Diversity of the set of captions of each image (Wang & Chan 2019)."""

from __future__ import annotations

from captious.diversity_analysis.sets.accuracy_diversity import (
    BETA_SQUARED,
    FMeasure,
    LeaveOneOut,
    SetAccuracy,
    f_measure,
)
from captious.diversity_analysis.sets.best_of_m import SIZES, BestOfM, best
from captious.diversity_analysis.sets.diversity_study import (
    DiversityStudy,
    JudgementCorrelation,
    correlate_judgements,
    measure_diversity,
)
from captious.diversity_analysis.sets.semantic_space import Latent, Placed, caption_map, latent_space, mds
from captious.diversity_analysis.sets.set_diversity import SetDiversity, diversity, human
from captious.metrics.sets.distinct import Div, Novel, Unique, VocabularySize
from captious.metrics.sets.lsa import LSA
from captious.metrics.sets.mbleu import InverseMBleu, MBleu
from captious.metrics.sets.self_cider import SelfCider
from captious.metrics.sets.set_measure import SetMeasure
from captious.metrics.sets.similarity_kernels import CaptionKernel, CiderDKernel, CiderKernel, MetricKernel

__all__ = [
    "BETA_SQUARED",
    "LSA",
    "SIZES",
    "BestOfM",
    "CaptionKernel",
    "CiderDKernel",
    "CiderKernel",
    "Div",
    "DiversityStudy",
    "FMeasure",
    "InverseMBleu",
    "JudgementCorrelation",
    "Latent",
    "LeaveOneOut",
    "MBleu",
    "MetricKernel",
    "Novel",
    "Placed",
    "SelfCider",
    "SetAccuracy",
    "SetDiversity",
    "SetMeasure",
    "Unique",
    "VocabularySize",
    "best",
    "caption_map",
    "correlate_judgements",
    "diversity",
    "f_measure",
    "human",
    "latent_space",
    "mds",
    "measure_diversity",
]
