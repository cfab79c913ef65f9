"""A parser that searches a grammar of phrases and converts the best trees to dependencies."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from captious.core.errors import InputError
from captious.core.memo import Lock
from captious.core.progress import track
from captious.core.threads import collector_paused, side_by_side, threads
from captious.parser.exact.derivation_scores import DerivationScores
from captious.parser.exact.lanes import LANES
from captious.parser.exact.pcfg import Floats, Ints
from captious.parser.exact.phrase_trees import Node
from captious.parser.exact.rule_arrays import Rules
from captious.parser.exact.search import Workspace, derivations
from captious.parser.exact.typed_dependencies import convert
from captious.parser.network_model import shipped_model
from captious.parser.parsed_sentences import Parse, Sentence, cut, lemma, split, terminators

LONGEST = 70  # words; longer sentences are cut, since time is cubic and memory quadratic in the length
_SHORT = 30  # words; longer sentences are parsed by one thread at a time to limit memory
_Result = TypeVar("_Result")


class ChartParser:
    """A parser of tokenized sentences.

    Parameters
    ----------
    rules
        The grammar's rules.
    labels
        The label that is printed for each state, empty for unfinished phrases.
    """

    def __init__(self, rules: Rules, labels: list[str]) -> None:
        self.rules = rules
        self.labels = labels
        self.beam = np.inf
        self._spaces = threading.local()
        self._long = Lock()

    def _numbered(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, list[Ints]]:
        """Return the table of words' scores by tag, and each sentence as rows of it, with the boundary."""
        raise NotImplementedError

    def parse_tokens(self, captions: Sequence[Sequence[str]], *, jobs: int | None = None) -> list[Parse]:
        """Return the sentences of captions that are tokenized in Penn Treebank style."""
        ends = terminators(itertools.chain.from_iterable(captions))
        numbers: dict[tuple[str, ...], int] = {}
        parts = [
            [
                numbers.setdefault(tuple(piece), len(numbers))
                for sentence in split(caption, ends)
                for piece in cut(sentence, LONGEST)
            ]
            for caption in captions
        ]
        sentences = self.sentences(list(numbers), jobs=jobs)
        return [[sentences[number] for number in caption] for caption in parts]

    def sentences(self, sentences: Sequence[Sequence[str]], *, jobs: int | None = None) -> list[Sentence]:
        """Return tags, lemmas and basic trees of distinct sentences of at most `LONGEST` words."""
        return self._map(sentences, lambda forms, d, *_: self._sentence(forms, self._tree(forms, d)), jobs)

    def trees(self, sentences: Sequence[Sequence[str]], *, jobs: int | None = None) -> list[Node]:
        """Return the phrase structure of distinct sentences of at most `LONGEST` words."""
        return self._map(sentences, lambda forms, derivation, *_: self._tree(forms, derivation), jobs)

    def scored_trees(
        self, sentences: Sequence[Sequence[str]], *, jobs: int | None = None
    ) -> list[tuple[Node, float]]:
        """Return phrase structures as `trees` does, with the logarithm of their probability."""
        scores = DerivationScores(self.rules)

        def finish(forms: Sequence[str], derivation: Ints, words: Ints, table: Floats) -> tuple[Node, float]:
            score = scores.score(derivation, words, table) if len(derivation) else -np.inf
            return self._tree(forms, derivation), score

        return self._map(sentences, finish, jobs)

    def _map(
        self,
        sentences: Sequence[Sequence[str]],
        finish: Callable[[Sequence[str], Ints, Ints, Floats], _Result],
        jobs: int | None,
    ) -> list[_Result]:
        for sentence in sentences:
            if not 1 <= len(sentence) <= LONGEST:
                raise InputError(
                    f"a sentence has {len(sentence)} words, but this parser takes 1 to {LONGEST}; cut it"
                )
        with collector_paused():
            table, words = self._numbered(sentences)
            # Similar sentences of one length together, since the search visits every state that any of them
            # needs.
            order = sorted(range(len(words)), key=lambda i: (len(words[i]), tuple(sentences[i])))
            groups = [order[start : start + LANES] for start in range(0, len(order), LANES)]
            groups.reverse()  # the longest first: threads finish together, and a workspace grows only once
            results: list[_Result | None] = [None] * len(words)

            def run(group: list[int]) -> None:
                for i, derivation in zip(group, self._derivations(table, [words[i] for i in group])):
                    results[i] = finish(sentences[i], derivation, words[i], table)

            for _ in track(side_by_side(run, groups, threads(jobs)), "Parsing", total=len(groups)):
                pass
        return [result for result in results if result is not None]

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
        """Build the tree of a derivation, without unfinished phrases and without the boundary."""
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
