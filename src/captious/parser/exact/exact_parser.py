"""CoreNLP's analyses without Java: an exact search over the grammar in the user's copy of its models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.parser.exact.chart_parser import LONGEST, ChartParser
from captious.parser.exact.lanes import LANES
from captious.parser.exact.lexicon import Lexicon
from captious.parser.exact.pcfg import Floats, Grammar, Ints, load_grammar
from captious.parser.exact.rule_arrays import arrange

__all__ = ["LONGEST", "ExactParser", "label"]

BEAM = 20.0  # natural logarithms below the best state of a span
UNSEEN = 0.1  # count of a state that did not occur
_LABEL = re.compile(r"(-[LR]RB-|NP-TMP|[^-^|]+)")


def label(state: str) -> str:
    """Return the category that CoreNLP prints for a state, empty for unfinished phrases."""
    match = _LABEL.match(state)
    return "" if state.startswith("@") or match is None else match[1]


class ExactParser(ChartParser):
    """A parser of tokenized sentences that returns the analyses of CoreNLP 3.6.0.

    Parameters
    ----------
    grammar
        CoreNLP's models (a jar), a file englishPCFG.ser.gz, or a `Grammar`. By default installed packages are
        searched.
    """

    def __init__(self, grammar: str | Path | Grammar | None = None) -> None:
        if isinstance(grammar, Grammar):
            self.digest = "custom"
        else:
            grammar, self.digest = load_grammar(grammar)
        self.lexicon = Lexicon(grammar)
        rules = arrange(grammar)
        super().__init__(rules, [label(name) for name in rules.names])

    def narrow(self, sentences: Sequence[Sequence[str]], beam: float = BEAM) -> None:
        """Switch to a faster beam search, to label training data.

        State frequencies are counted in the sentences.
        """
        counts: NDArray[np.int64] = np.zeros(len(self.labels), np.int64)
        table, words = self._numbered(sentences)
        for start in range(0, len(words), LANES):
            for derivation in self._derivations(table, words[start : start + LANES]):
                counts += np.bincount(derivation[:, 0], minlength=len(counts))
        self.rules.prior[:] = np.log(np.maximum(counts, UNSEEN) / len(words))
        self.beam = beam

    def _numbered(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, list[Ints]]:
        """Return the table of words' scores by tag, and each sentence as rows of it, with the boundary."""
        rows: list[Floats] = [self.lexicon.boundary]
        places: dict[tuple[str, bool], int] = {}
        place_of_row: dict[int, int] = {}
        words: list[Ints] = []
        for sentence in sentences:
            numbers: list[int] = []
            for i, form in enumerate(sentence):
                place = places.get((form, i == 0))
                if place is None:
                    row = self.lexicon.scores(form, i == 0)
                    place = places[form, i == 0] = place_of_row.setdefault(id(row), len(rows))
                    if place == len(rows):
                        rows.append(row)
                numbers.append(place)
            words.append(np.array([*numbers, 0], np.int32))
        return np.stack(rows), words
