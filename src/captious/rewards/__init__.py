"""Metrics as rewards for training loops."""

from __future__ import annotations

from captious.rewards.reward import Reward, reward

__all__ = ["Reward", "reward"]
