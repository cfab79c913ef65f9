"""Parsing with the caption grammar: CoreNLP's analyses of captions, closely imitated without its grammar."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np

from captious.parser.exact.chart_parser import ChartParser
from captious.parser.exact.pcfg import Floats, Ints
from captious.parser.exact.search import Workspace, derivations
from captious.parser.fast_parser import ParsedBatch
from captious.parser.grammar.grammar_model import SHIPPED, GrammarModel, read_grammar_model
from captious.parser.parsed_sentences import Parse

BEAM = 13.0  # natural logarithms below the best state of a span at which states are dropped
_BLOCK = 50_000  # captions parsed at a time, which bounds the table of words


@lru_cache(maxsize=2)
def _model(path: Path) -> GrammarModel:
    return read_grammar_model(path)


class GrammarParser(ChartParser):
    """A parser of tokenized sentences that searches the caption grammar.

    Parameters
    ----------
    model
        A grammar, or the path of its file. By default the one that is part of the package.

    Examples
    --------
    >>> [sentence] = GrammarParser().parse_tokens([["a", "dog", "runs"]])[0]
    >>> sentence.tags
    ['DT', 'NN', 'VBZ']
    """

    label = "captious-grammar"

    def __init__(self, model: GrammarModel | str | Path | None = None) -> None:
        if not isinstance(model, GrammarModel):
            model = _model(SHIPPED if model is None else Path(model))
        super().__init__(model.rules, model.labels)
        self.lexicon = model.lexicon
        self.beam = BEAM
        self.digest = model.digest[:8]

    def parse_batch(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> ParsedBatch:
        """Parse tokenized captions. Equal sentences are parsed once."""
        parses: list[Parse] = []
        for start in range(0, len(captions), _BLOCK):
            parses += self.parse_tokens(captions[start : start + _BLOCK], jobs=jobs)
        return ParsedBatch.of(parses)

    def _derivations(self, table: Floats, words: list[Ints]) -> list[Ints]:
        """Return the best derivations. Where the beam leaves none, the search is repeated without it."""
        results = super()._derivations(table, words)
        failed = [i for i, derivation in enumerate(results) if not len(derivation)]
        if failed and self.beam < np.inf:
            own = [words[i] for i in failed]
            space = Workspace(self.rules, max(map(len, own)))
            for i, derivation in zip(failed, derivations(self.rules, table, own, space)):
                results[i] = derivation
        return results

    def _numbered(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, list[Ints]]:
        """Return the scores of words by tag, and each sentence as rows of them, with the boundary."""
        forms = sorted(set(chain.from_iterable(sentences)))
        row = {form: i for i, form in enumerate(forms, start=1)}
        words = [np.array([*(row[form] for form in sentence), 0], np.int32) for sentence in sentences]
        return self.lexicon.table(forms), words
