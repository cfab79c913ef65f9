"""Training of learned metrics: examples and trainers."""
