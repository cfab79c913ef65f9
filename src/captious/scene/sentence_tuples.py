"""Tuples of parsed sentences: the objects, attributes and relations that a sentence states.

Kernels read all sentences of a batch: trees are collapsed to graphs, graphs are repaired, and rules read
tuples from them. `enhance` and `tuples` run the same kernels on one sentence. A `TupleTable` has the tuples
of many sentences or graphs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.ragged import IntArray, offsets_of, runs
from captious.core.threads import side_by_side
from captious.corpus.corpus import distinct_runs
from captious.kernels import inner, kernel
from captious.kernels.types import Int32, Int32x2, Int64, Out
from captious.parser import Sentence
from captious.parser.dependency_graph import collapse_tree
from captious.parser.fast_parser import ParsedBatch
from captious.parser.graph_codes import (
    ARCS,
    DEPENDENT,
    FULL,
    GOVERNOR,
    HEAD,
    KIND,
    LEMMA,
    MARKER_WORD,
    MIDDLE,
    MWE,
    NODES,
    NONE,
    ONE_END,
    OTHER_END,
    PARTS,
    PHRASE,
    PHRASES,
    POOL,
    QUANTIFIER,
    RELATION,
    ROOM,
    RULE,
    STATE,
    TAG,
    TUPLES,
    WORD,
    workspace,
)
from captious.scene.codes import Codes, Dependencies, encode_batch, encode_graph
from captious.scene.repairs import repair
from captious.scene.tuple_rules import LISTS, NAMED, WRITTEN, read
from captious.text.vocabulary import Vocabulary

#: An object (noun,), an attribute (noun, word) or a relation (noun, phrase, noun).
Tuple = tuple[str, ...]
Numbers = NDArray[np.int32]


class TupleTable(NamedTuple):
    """Tuples in groups: group g has the rows ``offsets[g]:offsets[g + 1]``.

    A row holds three indices into `names`, −1 for each place that a shorter tuple does not have.
    """

    names: list[str]
    rows: Numbers
    offsets: IntArray

    @classmethod
    def from_groups(cls, groups: Iterable[Iterable[Tuple]]) -> TupleTable:
        """Number the words of tuples in the order in which they appear."""
        numbers: dict[str, int] = {}
        rows: list[list[int]] = []
        ends = [0]
        for group in groups:
            for item in group:
                rows.append(
                    [numbers.setdefault(name, len(numbers)) for name in item] + [-1] * (3 - len(item))
                )
            ends.append(len(rows))
        return cls(list(numbers), np.array(rows, np.int32).reshape(-1, 3), np.array(ends, np.int64))

    def of(self, group: int) -> list[Tuple]:
        """Return the tuples of one group."""
        return list(self._texts(self.rows[self.offsets[group] : self.offsets[group + 1]]))

    def tuples(self) -> Iterator[Tuple]:
        """Yield all tuples, group by group."""
        return self._texts(self.rows)

    def take(self, groups: IntArray) -> TupleTable:
        """Select groups, with only the names that occur in them."""
        places, offsets = runs(self.offsets, groups)
        return self._replace(rows=self.rows[places], offsets=offsets).without_unused_names()

    def without_unused_names(self) -> TupleTable:
        """Return the same tuples with only the names that occur in them."""
        used = np.zeros(len(self.names) + 1, np.bool_)
        used[self.rows] = True
        # The last element belongs to −1.
        used[-1] = False
        numbers = np.cumsum(used, dtype=np.int32) - 1
        numbers[-1] = -1
        names = [self.names[i] for i in np.flatnonzero(used).tolist()]
        return TupleTable(names, numbers[self.rows], self.offsets)

    def _texts(self, rows: Numbers) -> Iterator[Tuple]:
        return (tuple(self.names[number] for number in row if number >= 0) for row in rows.tolist())


#: Sentences per task of a thread.
_BLOCK = 4096


def read_tuples(batch: ParsedBatch, jobs: int | None = None) -> TupleTable:
    """Read the tuples of each distinct sentence of a batch, in the order of the rules.

    Repeated tuples stay repeated.
    """
    codes, texts = encode_batch(batch)
    bounds = [*range(0, len(codes.sizes), _BLOCK), len(codes.sizes)]
    width = 16 * int(codes.sizes.max(initial=0)) + 64

    def run(bound: tuple[int, int]) -> _TupleBlock:
        return _read_block(codes, *bound, True, True, workspace(width))

    return _join_blocks(list(side_by_side(run, list(itertools.pairwise(bounds)), jobs)), texts)


def tuples(sentence: Sentence | Dependencies) -> list[Tuple]:
    """Read the tuples that a sentence states.

    Parameters
    ----------
    sentence : Sentence or Dependencies
        A :class:`~captious.parser.Sentence` is enhanced first; a :class:`~captious.scene.Dependencies` is
        taken as it is.

    Returns
    -------
    list of tuple of str
        Tuples in the order of the rules. Repeated tuples stay repeated.

    Examples
    --------
    >>> from captious.parser import parse
    >>> [[sentence]] = parse(["a brown dog on a bed"])
    >>> tuples(sentence)
    [('dog', 'brown'), ('dog', 'on', 'bed'), ('dog',), ('bed',)]
    """
    is_enhanced = isinstance(sentence, Dependencies)
    graph = sentence if isinstance(sentence, Dependencies) else Dependencies.of(sentence)
    codes, texts = encode_graph(graph)
    return _join_blocks([_read_block(codes, 0, 1, False, not is_enhanced, workspace(256))], texts).of(0)


def enhance(sentence: Sentence | Dependencies) -> Dependencies:
    """Turn quantifier phrases round and resolve pronouns in the graph of a sentence.

    "a couple of men" is about men: the noun takes the quantifier's place, and the quantifier becomes its
    ``det:qmod``. A pronoun's arcs are moved to the first fitting noun of the sentence.
    """
    graph = sentence if isinstance(sentence, Dependencies) else Dependencies.of(sentence)
    codes, _ = encode_graph(graph)
    names = dict(zip(codes.relations.tolist(), (relation for _, _, relation in graph.arcs)))
    names |= {QUANTIFIER: "det:qmod", MWE: "mwe"}
    space = _read_block(codes, 0, 1, False, True, workspace(256)).space
    rows = space[[GOVERNOR, DEPENDENT, KIND], : space[STATE, ARCS]].T.tolist()
    return graph._replace(arcs=[(governor, dependent, names[kind]) for governor, dependent, kind in rows])


class _TupleBlock(NamedTuple):
    """Tuples of consecutive sentences. Phrases of several words are numbered from −2 downwards in `rows`."""

    counts: IntArray
    rows: Numbers
    #: Where each phrase starts in the pool, and the end of the pool.
    starts: IntArray
    pool: Numbers
    #: The workspace, as the last sentence left it.
    space: Numbers


def _join_blocks(blocks: Sequence[_TupleBlock], texts: Vocabulary) -> TupleTable:
    if not blocks:
        return TupleTable([], np.zeros((0, 3), np.int32), np.zeros(1, np.int64))
    rows = np.concatenate([block.rows for block in blocks])
    _name_phrases(rows, blocks, texts)
    counts = np.concatenate([block.counts for block in blocks])
    return TupleTable(texts.words, rows, offsets_of(counts)).without_unused_names()


@inner
def _load(s: int, codes: Codes, is_tree: bool, space: Out[Int32x2]) -> None:
    """Copy the nodes and arcs of a sentence into the workspace."""
    state = space[STATE]
    first, first_arc = codes.offsets[s], codes.arc_offsets[s]
    nodes = codes.offsets[s + 1] - first
    arcs = codes.arc_offsets[s + 1] - first_arc
    # Each word may get a copy, and rows by node have one element for the root and one for the end.
    if 2 * nodes + 2 > state[ROOM] or arcs > state[ROOM]:
        state[FULL] = 1
        return
    space[TAG, 0] = 0
    space[WORD, 0] = 0
    space[HEAD, 0] = -1
    space[RELATION, 0] = NONE
    for i in range(nodes):
        space[WORD, i + 1] = codes.words[first + i]
        space[LEMMA, i + 1] = codes.lemmas[first + i]
        space[TAG, i + 1] = codes.tags[first + i]
    if is_tree:
        for i in range(first_arc, first_arc + arcs):
            space[HEAD, codes.dependents[i]] = codes.governors[i]
            space[RELATION, codes.dependents[i]] = codes.relations[i]
    else:
        state[NODES] = nodes + 1
        state[ARCS] = arcs
        for i in range(arcs):
            space[GOVERNOR, i] = codes.governors[first_arc + i]
            space[DEPENDENT, i] = codes.dependents[first_arc + i]
            space[KIND, i] = codes.relations[first_arc + i]
            space[MARKER_WORD, i] = 0


@kernel
def _read(
    first: int,
    last: int,
    start: int,
    codes: Codes,
    is_tree: bool,
    repairs: bool,
    space: Out[Int32x2],
    counts: Out[Int64],
    rows: Out[Int32x2],
    phrases: Out[Int64],
    pool: Out[Int32],
    used: Out[Int64],
) -> int:
    """Read the sentences `first` to `last`; return the first one that did not fit.

    `space[STATE, FULL]` tells whether the workspace was too small for it, or else the output. `used` counts
    the rows, the phrases and the elements of the pool. Counts start with the sentence `start`.
    """
    state = space[STATE]
    places = np.zeros(LISTS + 1, np.int64)
    for s in range(first, last):
        n = codes.sizes[s]
        state[FULL] = 0
        _load(s, codes, is_tree, space)
        if is_tree and not state[FULL]:
            collapse_tree(n, space, codes.bits, codes.three, codes.nested, codes.flat)
        if repairs and not state[FULL]:
            repair(n, space, codes.bits)
        if not state[FULL]:
            read(n, space, codes.bits, codes.prepositions)
        if (
            state[FULL]
            or used[0] + state[TUPLES] > rows.shape[0]
            or used[1] + state[PHRASES] > phrases.shape[0]
            or used[2] + state[PARTS] > pool.shape[0]
        ):
            return s
        # The tuples of a rule follow those of the rule before it.
        places[:] = 0
        for i in range(state[TUPLES]):
            places[space[RULE, i] + 1] += 1
        for k in range(LISTS):
            places[k + 1] += places[k]
        for i in range(state[TUPLES]):
            at = used[0] + places[space[RULE, i]]
            places[space[RULE, i]] += 1
            rows[at, 0] = space[ONE_END, i]
            middle = space[MIDDLE, i]
            rows[at, 1] = middle if middle >= -1 else middle - used[1]
            rows[at, 2] = space[OTHER_END, i]
        for i in range(state[PHRASES]):
            phrases[used[1] + i] = used[2] + space[PHRASE, i]
        for i in range(state[PARTS]):
            pool[used[2] + i] = space[POOL, i]
        counts[s - start] = state[TUPLES]
        used[0] += state[TUPLES]
        used[1] += state[PHRASES]
        used[2] += state[PARTS]
    return last


def _read_block(
    codes: Codes, first: int, last: int, is_tree: bool, repairs: bool, space: Numbers
) -> _TupleBlock:
    words = int(codes.offsets[last] - codes.offsets[first])
    counts = np.zeros(last - first, np.int64)
    rows = np.empty((words + 64, 3), np.int32)
    phrases, pool = np.empty(words // 4 + 64, np.int64), np.empty(words + 256, np.int32)
    used = np.zeros(3, np.int64)
    at = first
    while at < last:
        at = _read(at, last, first, codes, is_tree, repairs, space, counts, rows, phrases, pool, used)
        if at < last and space[STATE, FULL]:
            space = workspace(2 * space.shape[1])
        elif at < last:
            rows, phrases, pool = _larger(rows), _larger(phrases), _larger(pool)
    return _TupleBlock(
        counts, rows[: used[0]], np.append(phrases[: used[1]], used[2]), pool[: used[2]], space
    )


def _larger(array: Any) -> Any:
    grown = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


def _name_phrases(rows: Numbers, blocks: Sequence[_TupleBlock], texts: Vocabulary) -> None:
    """Replace the numbers of phrases in `rows` by text numbers. A phrase may read like a single word."""
    if not len(rows):
        return
    pool = np.concatenate([block.pool for block in blocks])
    starts = np.concatenate(
        [
            *(
                block.starts[:-1] + before
                for block, before in zip(blocks, offsets_of([len(block.pool) for block in blocks]))
            ),
            [len(pool)],
        ]
    )
    phrases = len(starts) - 1
    if not phrases:
        return
    # Each block numbers its phrases from 0.
    before = np.repeat(
        offsets_of([len(block.starts) - 1 for block in blocks])[:-1], [len(block.rows) for block in blocks]
    )
    firsts, numbers = distinct_runs(pool + 1, starts)
    words = texts.words
    bounds = zip(starts[firsts].tolist(), starts[firsts + 1].tolist())
    flat = pool.tolist() if phrases < 4 * len(firsts) else pool
    named = texts.encode([_text([int(part) for part in flat[a:b]], words) for a, b in bounds])
    chosen = rows[:, 1] < -1
    rows[chosen, 1] = named[numbers[before[chosen] - 2 - rows[chosen, 1]]]


def _text(phrase: list[int], words: Sequence[str]) -> str:
    kind, *rest = phrase
    if kind == WRITTEN:
        return " ".join(words[part] for part in rest)
    if kind == NAMED:
        return _preposition(rest, words)
    name = words[rest[0]]
    if rest[1] >= 0:
        name = f"{name} {words[rest[1]]}"
    if len(rest) > 2:
        name = f"{name} {_preposition(rest[2:], words)}"
    return name.removeprefix("be ")


def _preposition(parts: Iterable[int], words: Sequence[str]) -> str:
    name = "_".join(words[part] for part in parts)
    return "and" if name == "as_well_as" else name.replace("_", " ")
