"""Side-by-side measurements: both sides timed in one run, printed as ratios."""
