"""Learned metrics: other metrics and features of captions, combined into one number by a trained model."""
