"""Training of the caption grammar: annotation of trees, extraction of rules, learning of weights, export."""
