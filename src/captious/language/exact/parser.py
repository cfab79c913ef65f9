"""CoreNLP's own analyses without Java: an exact search over the grammar in the user's copy of CoreNLP's models."""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.collector import collector_paused
from captious.errors import InputError
from captious.language.exact.dependencies import convert
from captious.language.exact.grammar import Floats, Grammar, Ints
from captious.language.exact.grammar_cache import load_grammar
from captious.language.exact.lanes import LANES
from captious.language.exact.lexicon import Lexicon
from captious.language.exact.rules import arrange
from captious.language.exact.search import Workspace, derivations
from captious.language.exact.trees import Node
from captious.language.lemmas import lemma
from captious.language.model import shipped_model
from captious.language.parse_types import Parse, Sentence
from captious.language.sentences import cut, split, terminators
from captious.progress import track
from captious.threads import side_by_side, threads

LONGEST = 70  # words of a sentence that is parsed as a whole; time grows with the cube of the length, memory with its square
_SHORT = 30  # longer sentences are parsed by one thread at a time, because of the memory they take
BEAM = 20.0  # natural logarithms below the best state of a stretch of words
UNSEEN = 0.1  # the count of a state that did not occur
_Result = TypeVar("_Result")
_LABEL = re.compile(r"(-[LR]RB-|NP-TMP|[^-^|]+)")


def label(state: str) -> str:
    """The category that CoreNLP prints for a state; empty for a part of a phrase, which it does not print."""
    match = _LABEL.match(state)
    return "" if state.startswith("@") or match is None else match[1]


class ExactParser:
    """Parses tokenized sentences as CoreNLP 3.6.0 does; `name` and `digest` say which grammar it has."""

    name = "exact"

    def __init__(self, grammar: str | Path | Grammar | None = None) -> None:
        if isinstance(grammar, Grammar):
            self.digest = "given"
        else:
            grammar, self.digest = load_grammar(grammar)
        self.lexicon = Lexicon(grammar)
        self.rules = arrange(grammar)
        self.labels = [label(name) for name in self.rules.names]
        self.beam = np.inf
        self._spaces = threading.local()
        self._long = threading.Lock()

    def parse_tokens(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> list[Parse]:
        """Parse captions that are tokenized already, in Penn Treebank style: for each its sentences."""
        ends = terminators(itertools.chain.from_iterable(captions))
        numbers: dict[tuple[str, ...], int] = {}
        parts = [
            [numbers.setdefault(tuple(piece), len(numbers)) for sentence in split(caption, ends) for piece in cut(sentence, LONGEST)]
            for caption in captions
        ]
        sentences = self.sentences(list(numbers), jobs=jobs)
        return [[sentences[number] for number in caption] for caption in parts]

    def sentences(self, sentences: Sequence[Sequence[str]], *, jobs: int | None = None) -> list[Sentence]:
        """Tags, lemmas and basic trees of distinct sentences of at most `LONGEST` words."""
        return self._map(sentences, self._sentence, jobs)

    def trees(self, sentences: Sequence[Sequence[str]], *, jobs: int | None = None) -> list[Node]:
        """The phrase structure of distinct sentences of at most `LONGEST` words."""
        return self._map(sentences, lambda forms, tree: tree, jobs)

    def narrow(self, sentences: Sequence[Sequence[str]], beam: float = BEAM) -> None:
        """From now on, search almost exactly and faster, for labels to train on; the sentences show how common states are."""
        counts: NDArray[np.int64] = np.zeros(len(self.labels), np.int64)
        table, words = self._numbered(sentences)
        for start in range(0, len(words), LANES):
            for derivation in self._derivations(table, words[start : start + LANES]):
                counts += np.bincount(derivation[:, 0], minlength=len(counts))
        self.rules.prior[:] = np.log(np.maximum(counts, UNSEEN) / len(words))
        self.beam = beam

    def _map(self, sentences: Sequence[Sequence[str]], finish: Callable[[Sequence[str], Node], _Result], jobs: int | None) -> list[_Result]:
        for sentence in sentences:
            if not 1 <= len(sentence) <= LONGEST:
                raise InputError(f"a sentence of {len(sentence)} words; expected 1 to {LONGEST}")
        with collector_paused():
            table, words = self._numbered(sentences)
            # Sentences of one length, and like ones together: the search goes through all that any of them needs.
            order = sorted(range(len(words)), key=lambda i: (len(words[i]), tuple(sentences[i])))
            groups = [order[start : start + LANES] for start in range(0, len(order), LANES)]
            groups.reverse()  # the longest first: the threads end together, and a workspace grows once
            found: list[_Result | None] = [None] * len(words)

            def run(group: list[int]) -> None:
                for i, derivation in zip(group, self._derivations(table, [words[i] for i in group])):
                    found[i] = finish(sentences[i], self._tree(sentences[i], derivation))

            for _ in track(side_by_side(run, groups, threads(jobs)), "Parsing", total=len(groups)):
                pass
        return [result for result in found if result is not None]

    def _numbered(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, list[Ints]]:
        """Scores of words by tag, distinct ones once, and the sentences as rows of them; each ends with the boundary."""
        rows: list[Floats] = [self.lexicon.boundary]
        places: dict[tuple[str, bool], int] = {}
        same: dict[int, int] = {}
        words: list[Ints] = []
        for sentence in sentences:
            numbers: list[int] = []
            for i, form in enumerate(sentence):
                place = places.get((form, i == 0))
                if place is None:
                    row = self.lexicon.scores(form, i == 0)
                    place = places[form, i == 0] = same.setdefault(id(row), len(rows))
                    if place == len(rows):
                        rows.append(row)
                numbers.append(place)
            words.append(np.array([*numbers, 0], np.int32))
        return np.stack(rows), words

    def _derivations(self, table: Floats, words: list[Ints]) -> list[Ints]:
        length = max(map(len, words))
        if length > _SHORT:
            with self._long:
                return derivations(self.rules, table, words, Workspace(self.rules, length), beam=self.beam)
        space: Workspace | None = getattr(self._spaces, "space", None)
        if space is None or space.length < length:
            space = self._spaces.space = Workspace(self.rules, length)
        return derivations(self.rules, table, words, space, beam=self.beam)

    def _tree(self, forms: Sequence[str], derivation: Ints) -> Node:
        """The tree of a derivation without the parts of phrases and without the boundary."""
        if not len(derivation):
            return Node("X", [Node("XX", word=form) for form in forms])
        steps: Iterator[list[int]] = iter(derivation.tolist())
        words = iter(forms)
        labels = self.labels

        def build() -> list[Node]:
            state, daughters = next(steps)
            name = labels[state]
            if daughters == 0:
                word = next(words, None)
                return [] if word is None else [Node(name, word=word)]
            children = build()
            if daughters == 2:
                children += build()
            return [Node(name, children)] if name else children

        [tree] = build()
        return tree

    def _sentence(self, forms: Sequence[str], tree: Node) -> Sentence:
        tags = [leaf.label for leaf in tree.leaves()]
        heads, relations = convert(tree)
        exceptions = shipped_model().exceptions
        lemmas = [lemma(form, tag, exceptions) for form, tag in zip(forms, tags)]
        return Sentence(list(forms), tags, lemmas, heads, relations)
