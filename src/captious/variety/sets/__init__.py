"""Diversity of the set of captions of each image (Wang & Chan 2019)."""

from __future__ import annotations

from captious.variety.sets.accuracy import BETA_SQUARED, FMeasure, LeaveOneOut, SetAccuracy, f_measure
from captious.variety.sets.api import SetDiversity, diversity, human
from captious.variety.sets.base import SetMeasure
from captious.variety.sets.best import SIZES, Best, best
from captious.variety.sets.caption_kernels import CaptionKernel, CiderDKernel, CiderKernel, MetricKernel
from captious.variety.sets.distinct import Div, Novel, Unique, VocabularySize
from captious.variety.sets.judgements import JudgementCorrelation, correlate_judgements
from captious.variety.sets.lsa import LSA
from captious.variety.sets.mbleu import InverseMBleu, MBleu
from captious.variety.sets.self_cider import SelfCider
from captious.variety.sets.space import Latent, Placed, caption_map, latent_space, mds

__all__ = [
    "BETA_SQUARED",
    "LSA",
    "SIZES",
    "Best",
    "CaptionKernel",
    "CiderDKernel",
    "CiderKernel",
    "Div",
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
]
