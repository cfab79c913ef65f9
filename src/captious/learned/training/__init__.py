"""Training of learned metrics: examples, the trainer, experiments. Nothing here runs when captions are scored."""
