"""The measures of the table: their names, how they are shown, what they mean."""

from __future__ import annotations

from typing import NamedTuple


class Measure(NamedTuple):
    """One column of the table."""

    key: str
    title: str
    #: How a value is written.
    format: str
    summary: str


MEASURES = (
    Measure("asl", "ASL", ".1f", "average sentence length in tokens"),
    Measure("sdsl", "SDSL", ".2f", "standard deviation of sentence length"),
    Measure("types", "Types", ",.0f", "different words"),
    Measure("ttr1", "TTR1", ".2f", "mean type-token ratio of segments of 1,000 words"),
    Measure("ttr2", "TTR2", ".2f", "mean type-token ratio of segments of 1,000 bigrams"),
    Measure("novel", "Novel", ".1%", "captions that are not among the training captions"),
    Measure("coverage", "Cov", ".3f", "share of the learnable words of the references that are used"),
    Measure("local_recall", "Loc{n}", ".3f", "share of the words in class {n} (all {n} people use them) that the caption has"),
    Measure("local_precision", "Prec", ".3f", "share of a caption's content words that some reference of the image has"),
    Measure("hapax_share", "Hapax", ".1%", "share of the types that occur once"),
    Measure("mtld", "MTLD", ".1f", "mean length of runs with a type-token ratio of 0.72 or more"),
    Measure("compound_ratio", "Comp", ".2f", "nominal compounds per caption"),
    Measure("compound_types_2", "Comp-2", ",.0f", "different compounds of two nouns"),
    Measure("preposition_ratio", "Prep", ".2f", "prepositions per caption"),
    Measure("pp_types_1", "PP-1", ",.0f", "different prepositional phrases without another inside"),
    Measure("yngve", "Yngve", ".2f", "mean Yngve depth of the words, on phrases derived from dependencies"),
    Measure("frazier", "Frazier", ".2f", "mean Frazier score of the words, on phrases derived from dependencies"),
    Measure("frazier_peak", "Frazier3", ".2f", "largest Frazier score of three adjacent words, mean over captions"),
    Measure("negations", "Neg", ".2%", "captions with a negation"),
    Measure("concreteness", "Concr", ".2f", "mean concreteness of the words that the norms rate"),
    Measure("pos_distance", "POS-JSD", ".3f", "Jensen–Shannon distance of the tag distribution to that of the references"),
)


def title(measure: Measure, n: int) -> str:
    """The column's title, with the number of parallel references filled in."""
    return measure.title.format(n=n)
