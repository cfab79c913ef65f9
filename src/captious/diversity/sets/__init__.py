"""Diversity of the set of captions of each image (Wang & Chan 2019)."""

from __future__ import annotations

from captious.diversity.sets.accuracy import BETA_SQUARED, FMeasure, SetAccuracy, f_measure
from captious.diversity.sets.agreement import Agreement, agreement
from captious.diversity.sets.api import SetDiversity, diversity, human
from captious.diversity.sets.base import SetMeasure
from captious.diversity.sets.best import SIZES, Best, best
from captious.diversity.sets.caption_kernels import CaptionKernel, CiderDKernel, CiderKernel, MetricKernel
from captious.diversity.sets.distinct import Div, Novel, Unique, VocabularySize
from captious.diversity.sets.human_accuracy import LeaveOneOut
from captious.diversity.sets.lsa import LSA
from captious.diversity.sets.mbleu import InverseMBleu, MBleu
from captious.diversity.sets.self_cider import SelfCider
from captious.diversity.sets.space import Latent, Placed, caption_map, latent_space, mds

__all__ = [
    "BETA_SQUARED",
    "LSA",
    "SIZES",
    "Agreement",
    "Best",
    "CaptionKernel",
    "CiderDKernel",
    "CiderKernel",
    "Div",
    "FMeasure",
    "InverseMBleu",
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
    "agreement",
    "best",
    "caption_map",
    "diversity",
    "f_measure",
    "human",
    "latent_space",
    "mds",
]
