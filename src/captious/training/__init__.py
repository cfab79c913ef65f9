"""Training of models that ship with captious or that users train. Scoring never imports it."""

from __future__ import annotations

from captious.training.captioner_recipe import CaptionerTraining, train_captioner
from captious.training.composite_recipe import TrainedComposite, train_composite
from captious.training.language_model_recipe import TrainedLanguageModel, train_language_model

__all__ = [
    "CaptionerTraining",
    "TrainedComposite",
    "TrainedLanguageModel",
    "train_captioner",
    "train_composite",
    "train_language_model",
]
