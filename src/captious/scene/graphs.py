"""Scene graphs: objects with attributes, and relations between them, where synonyms are one thing.

Graphs live in arrays (:class:`SceneGraphs`). A :class:`SceneGraph` is one of them, for people to look at.
:func:`scene_graph` builds the graph of one text, :func:`reference_graphs` and :func:`candidate_graphs` those
of whole corpora.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from captious.core import notebook_html as html
from captious.core.memo import Arrays, Product, cached_property
from captious.core.ragged import IntArray, offsets_of, places_in, runs
from captious.corpus import Captions
from captious.corpus.corpus import distinct_runs
from captious.parser import ParsedBatch, Parser
from captious.parser.choice import batch_of
from captious.parser.choice import get as get_parser
from captious.scene.merging import GraphArrays, Meanings, look_up, merge_tuples
from captious.scene.sentence_tuples import Numbers, Tuple, TupleTable, read_tuples
from captious.text.stemmer import java_hash
from captious.text.synonyms import Synonyms
from captious.text.vocabulary import Vocabulary


class Concept(NamedTuple):
    """Words or phrases that mean the same thing in one scene, in the order in which they joined it."""

    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The words joined by ``/``, in the order in which the reference implementation prints them."""
        return self.words[0] if len(self.words) == 1 else "/".join(sorted(self.words, key=_java_bucket))


@lru_cache(maxsize=1 << 16)
def _java_bucket(word: str) -> int:
    """Bucket of a word in a Java hash set of up to twelve strings, which prints its elements by bucket."""
    value = java_hash(word)
    return (value ^ (value >> 16)) & 15


class SceneGraph:
    """Scene that one or several captions describe.

    Parameters
    ----------
    tuples : iterable of tuple of str
        Objects (noun,), attributes (noun, word) and relations (noun, phrase, noun). They are added one by
        one; a synonym of a word in the graph joins it.
    synonyms
        The dictionary. Without it, WordNet's synonyms, which ship with captious.

    Examples
    --------
    >>> graph = SceneGraph([("sofa", "red"), ("couch", "old"), ("dog", "on", "couch")])
    >>> graph.objects
    ['sofa/couch', 'dog']
    >>> graph.relations
    [('dog', 'on', 'sofa/couch')]
    """

    def __init__(self, tuples: Iterable[Tuple] = (), synonyms: Synonyms | None = None) -> None:
        self._graphs = SceneGraphs.from_tuples(
            [tuples], synonyms if synonyms is not None else Synonyms.load()
        )
        self._index = 0

    @classmethod
    def _view(cls, graphs: SceneGraphs, index: int) -> SceneGraph:
        graph = cls.__new__(cls)
        graph._graphs, graph._index = graphs, index
        return graph

    def __reduce__(self) -> tuple[object, ...]:
        return SceneGraph._view, (self.alone, 0)

    def _repr_html_(self) -> str:
        return html.scene_graph(self)

    @property
    def alone(self) -> SceneGraphs:
        """The graph in arrays of its own."""
        return self._graphs.take(np.array([self._index]))

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of objects, attributes and relations."""
        objects, attributes, relations = self._graphs.arrays.sizes[self._index].tolist()
        return objects, attributes, relations

    @cached_property
    def _concepts(self) -> list[Concept]:
        return self._graphs.concepts_of(self._index)

    @property
    def concepts(self) -> list[Concept]:
        """The objects, in the order in which they came."""
        return self._concepts[: self.sizes[0]]

    @cached_property
    def attribute_concepts(self) -> list[list[Concept]]:
        """Attributes of each object."""
        objects = self.sizes[0]
        by_object: list[list[Concept]] = [[] for _ in range(objects)]
        for owner, concept in zip(self._graphs.owners_of(self._index), self._concepts[objects:]):
            by_object[owner].append(concept)
        return by_object

    @cached_property
    def relation_concepts(self) -> dict[tuple[int, int], list[Concept]]:
        """Relations by subject and object, which are numbers of objects."""
        by_pair: dict[tuple[int, int], list[Concept]] = {}
        concepts = self._concepts[sum(self.sizes[:2]) :]
        for (subject, target), concept in zip(self._graphs.ends_of(self._index), concepts):
            by_pair.setdefault((subject, target), []).append(concept)
        return by_pair

    @property
    def objects(self) -> list[str]:
        """Names of the objects. Names of joined words are separated by ``/``."""
        return [concept.name for concept in self.concepts]

    @property
    def attributes(self) -> list[tuple[str, str]]:
        """Pairs (object, attribute)."""
        return [
            (name, attribute.name)
            for name, attributes in zip(self.objects, self.attribute_concepts)
            for attribute in attributes
        ]

    @property
    def relations(self) -> list[tuple[str, str, str]]:
        """Triples (subject, relation, object)."""
        names = self.objects
        return [
            (names[subject], relation.name, names[target])
            for (subject, target), relations in self.relation_concepts.items()
            for relation in relations
        ]

    @property
    def tuples(self) -> list[Tuple]:
        """Objects, then attributes, then relations."""
        return [*((name,) for name in self.objects), *self.attributes, *self.relations]


class SceneGraphs(Sequence[SceneGraph]):
    """Scene graphs in arrays. Each becomes an object when it is accessed."""

    def __init__(
        self,
        words: Sequence[str],
        arrays: GraphArrays,
        synonyms: Synonyms,
        meanings: Meanings | None = None,
        packed: Arrays | None = None,
    ) -> None:
        """Wrap arrays whose concepts are indices into `words`.

        `meanings` and `packed` save computing them again.
        """
        self.words = words
        # Arrays of a prepared file are mapped, and may be of another type.
        self.arrays = GraphArrays(
            *(np.require(array, kind, ["C", "A"]) for array, kind in zip(arrays, _DTYPES))
        )
        self.synonyms = synonyms
        self._meanings = meanings
        self._packed = packed
        sizes = self.arrays.sizes.astype(np.int64)
        #: Where the concepts, attributes and relations of each graph start.
        self.starts: IntArray = np.stack(
            [offsets_of(sizes.sum(axis=1)), offsets_of(sizes[:, 1]), offsets_of(sizes[:, 2])], axis=1
        )

    @classmethod
    def from_tuples(cls, groups: Iterable[Iterable[Tuple]], synonyms: Synonyms) -> SceneGraphs:
        """Build one graph from each group of tuples."""
        table = TupleTable.from_groups(groups)
        count = len(table.offsets) - 1
        return cls.merge(table, np.arange(count), np.arange(count + 1), synonyms)

    @classmethod
    def merge(
        cls, tuples: TupleTable, sentences: IntArray, offsets: IntArray, synonyms: Synonyms
    ) -> SceneGraphs:
        """Build a graph from each group of sentences; group g is ``sentences[offsets[g]:offsets[g + 1]]``."""
        meanings = look_up(tuples.names, synonyms)
        return cls(tuples.names, merge_tuples(tuples, sentences, offsets, meanings), synonyms, meanings)

    @classmethod
    def unpack(cls, packed: Arrays, synonyms: Synonyms) -> SceneGraphs:
        """Restore graphs from :meth:`pack`."""
        words = packed["words"].tobytes().decode("utf-8", "surrogatepass").split("\n")
        # Files of version 0.5 and before have no synsets.
        meanings = (
            Meanings.of(packed["synsets"], packed["synset_offsets"])
            if len(packed.get("synset_offsets", ())) == len(words) + 1
            else None
        )
        arrays = GraphArrays(*(packed[name] for name in GraphArrays._fields))
        return cls(words, arrays, synonyms, meanings, packed)

    def pack(self) -> Arrays:
        """Return the graphs as named arrays for a file. Words are numbered in the order of their use."""
        if self._packed is None:
            used, first, places = np.unique(self.arrays.concepts, return_index=True, return_inverse=True)
            order = np.argsort(first)
            numbers = np.empty(len(used), np.int32)
            numbers[order] = np.arange(len(used), dtype=np.int32)
            words = [self.words[i] for i in used[order].tolist()]
            meanings = self.meanings.take(used[order].astype(np.int64))
            text = "\n".join(words).encode("utf-8", "surrogatepass")
            self._packed = {
                "words": np.frombuffer(text, np.uint8),
                "synsets": meanings.synsets,
                "synset_offsets": meanings.offsets,
                **self.arrays._asdict(),
                "concepts": numbers[places.reshape(-1)],
            }
        return self._packed

    @property
    def meanings(self) -> Meanings:
        """Synsets of the words."""
        if self._meanings is None:
            self._meanings = look_up(self.words, self.synonyms)
        return self._meanings

    def take(self, graphs: IntArray) -> SceneGraphs:
        """Select graphs, with only their words."""
        concepts, _ = runs(self.starts[:, 0], graphs)
        places, concept_offsets = runs(self.arrays.concept_offsets, concepts)
        used, numbers = np.unique(self.arrays.concepts[places], return_inverse=True)
        arrays = GraphArrays(
            numbers.reshape(-1).astype(np.int32),
            concept_offsets,
            self.arrays.sizes[graphs],
            self.arrays.owners[runs(self.starts[:, 1], graphs)[0]],
            self.arrays.ends[runs(self.starts[:, 2], graphs)[0]],
        )
        words = [self.words[i] for i in used.tolist()]
        return SceneGraphs(words, arrays, self.synonyms, self.meanings.take(used.astype(np.int64)))

    def objects_only(self) -> SceneGraphs:
        """Return the graphs without attributes and relations."""
        sizes = self.arrays.sizes.astype(np.int64)
        concepts = np.repeat(self.starts[:-1, 0], sizes[:, 0]) + places_in(sizes[:, 0])
        places, concept_offsets = runs(self.arrays.concept_offsets, concepts)
        arrays = GraphArrays(
            self.arrays.concepts[places],
            concept_offsets,
            self.arrays.sizes * np.array([1, 0, 0], np.int32),
            self.arrays.owners[:0],
            self.arrays.ends[:0],
        )
        return SceneGraphs(self.words, arrays, self.synonyms, self._meanings)

    @cached_property
    def tuple_table(self) -> TupleTable:
        """All tuples of each graph, as :attr:`SceneGraph.tuples` has them."""
        names, numbers = self._concept_names()
        sizes = self.arrays.sizes.astype(np.int64)
        starts = self.starts[:, 0]
        # The graph of each object, attribute and relation, and its place among all concepts.
        graphs = [np.repeat(np.arange(len(sizes)), sizes[:, kind]) for kind in range(3)]
        objects, attributes, relations = (
            starts[graph] + sizes[graph, :kind].sum(axis=1) + places_in(sizes[:, kind])
            for kind, graph in enumerate(graphs)
        )
        rows = np.full((int(starts[-1]), 3), -1, np.int32)
        rows[objects, 0] = numbers[objects]
        rows[attributes, 0] = numbers[starts[graphs[1]] + self.arrays.owners]
        rows[attributes, 1] = numbers[attributes]
        rows[relations, 0] = numbers[starts[graphs[2]] + self.arrays.ends[:, 0]]
        rows[relations, 1] = numbers[relations]
        rows[relations, 2] = numbers[starts[graphs[2]] + self.arrays.ends[:, 1]]
        return TupleTable(names, rows, starts)

    def _concept_names(self) -> tuple[list[str], Numbers]:
        """Return distinct names, and the name of each concept. Different concepts may have equal names."""
        first, concept_of = distinct_runs(self.arrays.concepts, self.arrays.concept_offsets)
        places, starts = runs(self.arrays.concept_offsets, first)
        numbers = self.arrays.concepts[places].tolist()
        names = Vocabulary()
        encoded = names.encode(
            [
                Concept(tuple(self.words[i] for i in numbers[a:b])).name
                for a, b in itertools.pairwise(starts.tolist())
            ]
        )
        return names.words, encoded[concept_of]

    def __len__(self) -> int:
        return len(self.arrays.sizes)

    @overload
    def __getitem__(self, i: int) -> SceneGraph: ...
    @overload
    def __getitem__(self, i: slice) -> list[SceneGraph]: ...
    def __getitem__(self, i: int | slice) -> SceneGraph | list[SceneGraph]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        return SceneGraph._view(self, i % len(self))

    def concepts_of(self, i: int) -> list[Concept]:
        """Concepts of one graph: objects, attributes, relations."""
        first, last = self.starts[i : i + 2, 0].tolist()
        bounds = self.arrays.concept_offsets[first : last + 1].tolist()
        numbers = self.arrays.concepts[bounds[0] : bounds[-1]].tolist()
        return [
            Concept(tuple(self.words[n] for n in numbers[a - bounds[0] : b - bounds[0]]))
            for a, b in itertools.pairwise(bounds)
        ]

    def owners_of(self, i: int) -> list[int]:
        """The object of each attribute of one graph."""
        owners: list[int] = self.arrays.owners[slice(*self.starts[i : i + 2, 1].tolist())].tolist()
        return owners

    def ends_of(self, i: int) -> list[list[int]]:
        """Subject and object of each relation of one graph."""
        ends: list[list[int]] = self.arrays.ends[slice(*self.starts[i : i + 2, 2].tolist())].tolist()
        return ends


#: Types of the arrays in a `GraphArrays`.
_DTYPES: tuple[Any, ...] = (np.int32, np.int64, np.int32, np.int32, np.int32)


def scene_graph(
    text: str | Sequence[str],
    *,
    tokenizer: str = "ptb",
    synonyms: Synonyms | None = None,
    meteor_data: str | Path | None = None,
    parser: Parser | str | None = None,
) -> SceneGraph:
    """Build the scene graph of a caption, or one graph of several captions of the same image.

    Parameters
    ----------
    text
        A caption, or several captions of one image.
    tokenizer
        ``"ptb"`` tokenizes as for SPICE: lower case, no punctuation. ``"none"`` splits at spaces.
    synonyms
        The dictionary. Without it, WordNet's synonyms, which ship with captious.
    meteor_data
        A folder with METEOR's data, to take the synonyms from.
    parser
        ``"fast"`` (the default), ``"grammar"``, ``"exact"``, or a parser of your own.

    Returns
    -------
    SceneGraph
        Objects, attributes and relations, where synonyms are one object.

    Examples
    --------
    >>> import captious
    >>> captious.scene_graph("two young girls sit at a wooden table").relations
    [('girl', 'sit at', 'table')]
    """
    captions = Captions.of([[text] if isinstance(text, str) else list(text)], tokenizer)
    dictionary = synonyms if synonyms is not None else Synonyms.load(meteor_data)
    return _graphs(captions, get_parser(parser), dictionary, captions.image_offsets)[0]


def caption_tuples(captions: Captions, parser: Parser) -> list[list[Tuple]]:
    """Return the tuples of each caption, without repetitions in a sentence. Equal captions share one list."""

    def make() -> list[list[Tuple]]:
        batch, table = _tuples(captions, parser)
        sentences = [list(dict.fromkeys(table.of(s))) for s in range(len(table.offsets) - 1)]
        chosen = batch.sentence_of.tolist()
        distinct = [
            [item for s in chosen[a:b] for item in sentences[s]]
            for a, b in itertools.pairwise(batch.caption_offsets.tolist())
        ]
        return [distinct[i] for i in captions.unique[1].tolist()]

    return captions.cached(("scene tuples", parser.label, parser.digest), make)


def reference_graphs(captions: Captions, parser: Parser, synonyms: Synonyms) -> SceneGraphs:
    """Build one graph per image from all its captions. The graphs are cached with the captions."""
    kind: Product[SceneGraphs] = Product(
        "scene graphs", SceneGraphs.pack, lambda arrays: SceneGraphs.unpack(arrays, synonyms)
    )
    parameters = (parser.label, parser.digest, synonyms.digest)
    return captions.product(
        kind, parameters, lambda: _graphs(captions, parser, synonyms, captions.image_offsets)
    )


def candidate_graphs(captions: Captions, parser: Parser, synonyms: Synonyms) -> SceneGraphs:
    """Build one graph per caption."""
    groups = np.arange(len(captions) + 1, dtype=np.int64)
    return captions.cached(
        ("scene graph of each", parser.label, parser.digest, synonyms),
        lambda: _graphs(captions, parser, synonyms, groups),
    )


def _graphs(captions: Captions, parser: Parser, synonyms: Synonyms, groups: IntArray) -> SceneGraphs:
    """Build a graph from each group of captions; group g is ``groups[g]:groups[g + 1]``."""
    batch, tuples = _tuples(captions, parser)
    places, offsets = runs(batch.caption_offsets, captions.unique[1])
    return SceneGraphs.merge(tuples, batch.sentence_of[places], offsets[groups], synonyms)


def _tuples(captions: Captions, parser: Parser) -> tuple[ParsedBatch, TupleTable]:
    """Parse the distinct captions, and read the tuples of their distinct sentences."""
    batch = batch_of(captions, parser)
    return batch, captions.cached(("tuples", parser.label, parser.digest), lambda: read_tuples(batch))
