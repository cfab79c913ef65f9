"""Words by which a description leaves open whether a statement is true."""

from __future__ import annotations

#: Cues of uncertainty, lowercased tokens.
HEDGES = frozenset(
    [
        "possibly",
        "probably",
        "perhaps",
        "maybe",
        "likely",
        "seemingly",
        "apparently",
        "presumably",
        "potentially",
        "supposedly",
        "might",
        "may",
        "could",
        "appears",
        "appear",
        "appearing",
        "seems",
        "seem",
        "suggests",
        "suggest",
        "suggesting",
        "suggestive",
        "resembles",
        "resemble",
        "resembling",
        "unclear",
        "uncertain",
        "either",
        "whether",
    ]
)
#: Conjunctions of alternatives.
ALTERNATIVES = frozenset(("or",))
