"""Learned metrics: scores of other metrics, and what else can be seen of a caption and its references, made one number."""
