"""Weights of words by tag during training, as dense arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from captious.parser.exact.pcfg import BOUNDARY_TAG, Floats
from captious.parser.grammar.grammar_model import label_of
from captious.parser.grammar.spelling import spelling_class, suffixes
from captious.training.grammar.adagrad import AveragedWeights

Integers = NDArray[np.int64]
SMOOTHING = 0.2  # weight of the spelling's distribution in that of a word
PROPER = 2  # occurrences from which on a group has weights of its own
RARE = 100  # groups seen less often also take the weights of their spelling, and may have any open tag
OPEN = 0.0005  # share of the rare words' occurrences from which on a tag is open


class LexiconWeights:
    """Scores of words by tag state: the sum of the weights of group, plain tag, spelling and suffixes.

    Parameters
    ----------
    tags
        Names of the tag states. The boundary is one of them.
    forms
        Words.
    groups
        Group of each word, as numbers from 0 on. Words of a group share their weights.
    pairs, counts
        Word and tag of each pair that occurs, and its occurrences.
    """

    def __init__(
        self, tags: list[str], forms: list[str], groups: Integers, pairs: Integers, counts: Integers
    ) -> None:
        self.tags, self.forms, self.groups = tags, forms, groups
        size_groups = int(groups.max()) + 1
        size = len(tags)
        self.plain_tags = sorted({label_of(tag) for tag in tags})
        self.plain_of = np.array([self.plain_tags.index(label_of(tag)) for tag in tags], np.int64)
        classes = [spelling_class(form) for form in forms]
        self.class_names = sorted(set(classes))
        index = {name: i for i, name in enumerate(self.class_names)}
        self.class_of = np.array([index[name] for name in classes], np.int64)
        endings = [suffixes(form) for form in forms]
        self.suffix_names = ["", *sorted({part for parts in endings for part in parts} - {""})]
        index = {name: i for i, name in enumerate(self.suffix_names)}
        self.suffixes_of = np.array([[index[part] for part in parts] for parts in endings], np.int64)
        word, tag = pairs.T
        group = groups[word]
        occurrences = np.bincount(group, counts, size_groups)
        #: By group: rare, with weights of its own, and the row of these weights. Row 0 is not used.
        self.is_rare = occurrences < RARE
        self.is_proper = occurrences >= PROPER
        self.row_of = np.where(self.is_proper, np.cumsum(self.is_proper), 0)
        rows = int(self.is_proper.sum()) + 1
        self.is_seen: NDArray[np.bool_] = np.zeros((size_groups, size), np.bool_)
        self.is_seen[group, tag] = True
        tag_counts = np.bincount(tag, counts, size)
        few = self.is_rare[group]
        by_class: NDArray[np.float64] = np.zeros((len(self.class_names), size))
        np.add.at(by_class, (self.class_of[word[few]], tag[few]), counts[few])
        rare_counts = by_class.sum(0)
        self.is_open = rare_counts > OPEN * rare_counts.sum()
        plain_seen: NDArray[np.bool_] = np.zeros((size_groups, len(self.plain_tags)), np.bool_)
        plain_seen[group, self.plain_of[tag]] = True
        self.is_common = tag_counts > 1e-5 * tag_counts.sum()
        self.is_allowed = self.is_seen | (plain_seen[:, self.plain_of] & self.is_common)
        self.is_allowed |= self.is_rare[:, None] & self.is_open
        self.is_allowed[:, tags.index(BOUNDARY_TAG)] = False
        # Start: log P(word | tag) up to a constant, from relative frequencies.
        total = counts.sum()
        share = (rare_counts + 0.1) / (rare_counts.sum() + 0.1 * size)
        share = (by_class + 10 * share) / (by_class.sum(1, keepdims=True) + 10)
        prior = (tag_counts + 1) / total
        class_start = np.log(share / prior)
        start: Floats = np.zeros((rows, size), np.float32)
        frequent = ~self.is_rare
        own: NDArray[np.float64] = np.zeros((rows, size))
        np.add.at(own, (self.row_of[group], tag), counts)
        own[0] = 0
        # The spelling of a group's most frequent word stands for the group.
        row_class = np.zeros(rows, np.int64)
        order = np.argsort(np.bincount(word, counts, len(forms)), kind="stable")
        row_class[self.row_of[groups[order]]] = self.class_of[order]
        row_count = own.sum(1, keepdims=True)
        row_count[0] = 1
        row_is_frequent = np.zeros(rows, np.bool_)
        row_is_frequent[self.row_of[frequent & self.is_proper]] = True
        smoothed = (own + SMOOTHING * share[row_class]) / (row_count + SMOOTHING)
        start = np.log(smoothed / prior).astype(np.float32)
        start[~row_is_frequent] -= class_start[row_class[~row_is_frequent]].astype(np.float32)
        start[0] = 0
        self.word_tag = AveragedWeights(start.reshape(-1))
        self.word_plain = AveragedWeights(np.zeros(rows * len(self.plain_tags), np.float32))
        self.class_tag = AveragedWeights(class_start.astype(np.float32).reshape(-1))
        self.suffix_plain = AveragedWeights(
            np.zeros(len(self.suffix_names) * len(self.plain_tags), np.float32)
        )

    @property
    def blocks(self) -> dict[str, AveragedWeights]:
        """The weights by name."""
        return {
            "word_tag": self.word_tag,
            "word_plain": self.word_plain,
            "class_tag": self.class_tag,
            "suffix_plain": self.suffix_plain,
        }

    def table(self, words: Integers) -> Floats:
        """Return the scores of words by tag, with the boundary as row 0."""
        size, plain = len(self.tags), len(self.plain_tags)
        groups = self.groups[words]
        rows, few = self.row_of[groups], self.is_rare[groups]
        by_plain = self.word_plain.values.reshape(-1, plain)[rows]
        by_plain[few] += self.suffix_plain.values.reshape(-1, plain)[self.suffixes_of[words[few]]].sum(1)
        scores: Floats = np.empty((len(words) + 1, size), np.float32)
        body = scores[1:]
        np.add(self.word_tag.values.reshape(-1, size)[rows], by_plain[:, self.plain_of], out=body)
        body[few] += self.class_tag.values.reshape(-1, size)[self.class_of[words[few]]]
        body[~self.is_allowed[groups]] = -np.inf
        scores[0] = -np.inf
        scores[0, self.tags.index(BOUNDARY_TAG)] = 0
        return scores

    def add(self, words: Integers, right: Integers, wrong: Integers) -> None:
        """Add to the gradient: `words` have the tags `right` but got the tags `wrong`."""
        size, plain = len(self.tags), len(self.plain_tags)
        groups = self.groups[words]
        rows, few = self.row_of[groups], self.is_rare[groups]
        endings = self.suffixes_of[words[few]]
        own = rows > 0
        for tags, sign in ((right, 1.0), (wrong, -1.0)):
            self.word_tag.add(rows[own] * size + tags[own], sign)
            plains = self.plain_of[tags]
            self.word_plain.add(rows[own] * plain + plains[own], sign)
            self.class_tag.add(self.class_of[words[few]] * size + tags[few], sign)
            features = endings * plain + plains[few, None]
            self.suffix_plain.add(features[endings > 0], sign)
