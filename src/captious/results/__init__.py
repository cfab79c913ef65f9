"""Results: scores with intervals, signatures, comparisons, saved scores and prepared references."""
