"""Training of language models that need more than counting."""
