"""Distillation of the shipped word vectors."""
