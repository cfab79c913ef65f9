"""What the grammar's lexicon gives a word with a tag: log P(word | tag), to the last bit of Java's floats.

A word seen more than a hundred times in training has its own distribution over tags; a rarer one is smoothed by that of rare words; an unknown one has that of
its way of writing (`spelling.signature`), smoothed likewise, and only tags that many different words have.
The formulas are Klein and Manning's; the details were found by comparing scores: 24 million of known words, 1.1 million of unknown ones.
"""

from __future__ import annotations

import numpy as np

from captious.language.exact.grammar import BOUNDARY_TAG, Doubles, Floats, Grammar
from captious.language.exact.spelling import american, signature

ENOUGH = 100  # a word counted more often needs no smoothing
OPEN_CLASS = 50  # unknown words have tags that more than this many rare words had
SMOOTH_UNKNOWN = 1.0
SMOOTH_KNOWN = 0.2
_MARKER = "UNK"  # a word of this name has all the tags of rare words


class Lexicon:
    """Scores of words by tag; what was asked once is kept."""

    def __init__(self, grammar: Grammar) -> None:
        tags = len(grammar.tags)
        self.tags = tags
        self.numbers = {word: i for i, word in enumerate(grammar.words)}
        words, tag = grammar.seen[:, 0], grammar.seen[:, 1]
        both = (words >= 0) & (tag >= 0)
        order = np.argsort(words[both], kind="stable")
        self._tags = tag[both][order]
        self._counts = grammar.seen_counts[both][order]
        self._starts = np.searchsorted(words[both][order], np.arange(len(grammar.words) + 1))
        self.word_counts = np.zeros(len(grammar.words))
        alone = (words >= 0) & (tag < 0)
        self.word_counts[words[alone]] = grammar.seen_counts[alone]
        self.tag_counts = np.zeros(tags)
        alone = (words < 0) & (tag >= 0)
        self.tag_counts[tag[alone]] = grammar.seen_counts[alone]
        self.total = float(grammar.seen_counts[(words < 0) & (tag < 0)].sum())
        words, tag = grammar.unseen[:, 0], grammar.unseen[:, 1]
        alone = (words < 0) & (tag >= 0)
        rare = np.zeros(tags)
        rare[tag[alone]] = grammar.unseen_counts[alone]
        self.is_rare_tag = np.zeros(tags, bool)
        self.is_rare_tag[tag[alone]] = True
        self.is_open = rare > OPEN_CLASS
        self.rare_share = rare / float(grammar.unseen_counts[(words < 0) & (tag < 0)].sum())
        self._kinds: dict[str, tuple[Doubles, float]] = {}
        for number in np.unique(words[words >= 0]).tolist():
            mine = words == number
            counts = np.zeros(tags)
            chosen = mine & (tag >= 0)
            counts[tag[chosen]] = grammar.unseen_counts[chosen]
            self._kinds[grammar.words[number]] = counts, float(grammar.unseen_counts[mine & (tag < 0)].sum())
        self._kept: dict[tuple[str, bool], Floats] = {}
        self.boundary = np.full(tags, -np.inf, np.float32)
        self.boundary[grammar.tags.index(BOUNDARY_TAG)] = 0

    def scores(self, form: str, first: bool) -> Floats:
        """A score for every tag, minus infinity where the word cannot have it; `first` in the sentence."""
        word = american(form)
        number = self.numbers.get(word, -1)
        known = number >= 0 and self.word_counts[number] > 0
        key = (word, False) if known else (signature(word, first), word == _MARKER)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = self._known(number) if known else self._unknown(*key)
        return found

    def _known(self, number: int) -> Floats:
        span = slice(self._starts[number], self._starts[number + 1])
        counts = np.zeros(self.tags)
        counts[self._tags[span]] = self._counts[span]
        mine = float(self.word_counts[number])
        if mine > ENOUGH:
            share = counts / mine
        else:
            share = (counts + SMOOTH_KNOWN * self.rare_share) / (mine + SMOOTH_KNOWN)
        return self._score(share, mine)

    def _unknown(self, kind: str, all_tags: bool) -> Floats:
        counts, total = self._kinds.get(kind, (np.zeros(self.tags), 0.0))
        share = (counts + SMOOTH_UNKNOWN * self.rare_share) / (total + SMOOTH_UNKNOWN)
        return self._score(np.where(self.is_rare_tag if all_tags else self.is_open, share, 0), 1.0)

    def _score(self, share: Doubles, mine: float) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.log(share * (mine / self.total) / (self.tag_counts / self.total)).astype(np.float32)
        scores[~(share > 0)] = -np.inf
        return scores
