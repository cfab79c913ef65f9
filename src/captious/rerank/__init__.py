"""Re-ranking of n-best lists: by mutual information, by consensus, or by external scores (Wang et al. 2020).

Examples
--------
>>> nbest = read_nbest("beam.jsonl")  # doctest: +SKIP
>>> prior = Prior.of(nbest, [load_model("unigram.npz")])  # doctest: +SKIP
>>> rerank(nbest, MutualInformation(prior, Weights(0.3))).captions  # doctest: +SKIP
"""

from __future__ import annotations

from captious.rerank.criteria import Consensus, Criterion, Likelihood, MutualInformation, Prior, Weights
from captious.rerank.external_scores import ExternalScores, read_given
from captious.rerank.language_models.model_files import load as load_model
from captious.rerank.likelihood import GenericCaptions, LikelihoodReport, likelihood_study
from captious.rerank.nbest import NBest, read_nbest
from captious.rerank.reranking import Reranking, rerank
from captious.rerank.selection_rules import Reranked
from captious.rerank.templates import TemplateCurves, TemplatePoint, template_captions, template_curves
from captious.rerank.tuning import Tuned, judge, tune

__all__ = [
    "Consensus",
    "Criterion",
    "ExternalScores",
    "GenericCaptions",
    "Likelihood",
    "LikelihoodReport",
    "MutualInformation",
    "NBest",
    "Prior",
    "Reranked",
    "Reranking",
    "TemplateCurves",
    "TemplatePoint",
    "Tuned",
    "Weights",
    "judge",
    "likelihood_study",
    "load_model",
    "read_given",
    "read_nbest",
    "rerank",
    "template_captions",
    "template_curves",
    "tune",
]
