"""Training of models that ship with captious or that users train. Scoring never imports it."""

from __future__ import annotations

from captious.training.composite_recipe import TrainedComposite, train_composite
from captious.training.critic_recipe import CriticTraining, train_critic
from captious.training.network_recipes import (
    CaptionerTraining,
    TrainedLanguageModel,
    train_captioner,
    train_language_model,
)

__all__ = [
    "CaptionerTraining",
    "CriticTraining",
    "TrainedComposite",
    "TrainedLanguageModel",
    "train_captioner",
    "train_composite",
    "train_critic",
    "train_language_model",
]
