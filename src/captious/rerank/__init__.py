"""Choosing among the captions of an n-best list: by mutual information, by consensus, by any scores (Wang et al. 2020).

    nbest = read_nbest("beam.jsonl")
    prior = Prior.of(nbest, [load_model("unigram.npz")])
    rerank(nbest, MutualInformation(prior, Weights(0.3))).captions
"""

from __future__ import annotations

from captious.rerank.choosing import Criterion, Likelihood, Reranked, rerank
from captious.rerank.consensus import Consensus
from captious.rerank.given import Given, read_given
from captious.rerank.information import MutualInformation, Prior, Weights
from captious.rerank.models.files import load as load_model
from captious.rerank.nbest import NBest, read_nbest
from captious.rerank.tuning import Tuned, judge, tune

__all__ = [
    "Consensus", "Criterion", "Given", "Likelihood", "MutualInformation", "NBest", "Prior", "Reranked", "Tuned", "Weights", "judge",
    "load_model", "read_given", "read_nbest", "rerank", "tune",
]  # fmt: skip
