"""Training of models that ship with captious or that users train. Scoring never imports it."""

from __future__ import annotations

from captious.training.composite_recipe import TrainedComposite, train_composite
from captious.training.recipes import (
    CaptionerTraining,
    TrainedLanguageModel,
    train_captioner,
    train_language_model,
)

__all__ = [
    "CaptionerTraining",
    "TrainedComposite",
    "TrainedLanguageModel",
    "train_captioner",
    "train_composite",
    "train_language_model",
]
