"""Dependency graphs written by hand, for tests of the rules without a parser."""

from __future__ import annotations

import re

from captious.parser import Sentence
from captious.scene import Dependencies

_ARC = re.compile(r"([a-z:_]+)\(([\d.]+),([\d.]+)\)")


def sentence(words: str, arcs: str) -> Sentence:
    """Words are "form/TAG" or "form/TAG/lemma", arcs "relation(governor,dependent)" with words from 1."""
    rows = [word.split("/") for word in words.split()]
    graph = [(float(g), float(d), relation) for relation, g, d in _ARC.findall(arcs)]
    size = len(rows)
    lemmas = [row[2] if len(row) > 2 else row[0] for row in rows]
    return Sentence(
        [row[0] for row in rows], [row[1] for row in rows], lemmas, [0] * size, ["dep"] * size, graph
    )


def graph(words: str, arcs: str) -> Dependencies:
    return Dependencies.of(sentence(words, arcs))
