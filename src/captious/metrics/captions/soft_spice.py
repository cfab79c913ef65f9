"""Soft-SPICE (Li et al. 2023): scene graphs compared by the similarity of their tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.container import StoredTexts, text_arrays
from captious.core.memo import Arrays, Product
from captious.core.ragged import IntArray, offsets_of
from captious.core.threads import one_blas_thread
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Resource, ratio
from captious.metrics.captions.encoded_captions import EncoderUser, earlier_vectors
from captious.metrics.captions.spice import Scenes, Spice
from captious.metrics.options import METEOR_DATA, PARSER, SENTENCE_MODEL, Option
from captious.parser import Parser
from captious.scene.graphs import SceneGraph, candidate_graphs
from captious.vectors.sentence_map import SentenceMap
from captious.vectors.sentence_vectors import SentenceEncoder


class ScenePhrases(NamedTuple):
    """Phrases of scenes: scene i has ``numbers[offsets[i]:offsets[i + 1]]``, rows of unit vectors."""

    numbers: IntArray
    offsets: IntArray
    vectors: NDArray[np.float32]
    #: Text of each row.
    texts: Sequence[str]

    def of(self, i: int) -> NDArray[np.float32]:
        """Return the vectors of one scene's phrases."""
        return self.vectors[self.numbers[self.offsets[i] : self.offsets[i + 1]]]

    def key(self, i: int) -> bytes:
        """Return a key that is equal for equal scenes."""
        return self.numbers[self.offsets[i] : self.offsets[i + 1]].tobytes()


def tuple_phrases(graph: SceneGraph) -> list[str]:
    """Return objects, attributes with their object, and subject-relation-object, each by its first word."""
    names = [concept.words[0] for concept in graph.concepts]
    phrases = list(names)
    for name, attributes in zip(names, graph.attribute_concepts):
        phrases += [f"{attribute.words[0]} {name}" for attribute in attributes]
    for (subject, target), relations in graph.relation_concepts.items():
        phrases += [f"{names[subject]} {relation.words[0]} {names[target]}" for relation in relations]
    return phrases


def _pack(phrases: ScenePhrases) -> Arrays:
    return {**phrases._asdict(), **text_arrays("texts", phrases.texts)}


def _unpack(arrays: Arrays) -> ScenePhrases:
    texts = StoredTexts(arrays["texts"], arrays["texts/offsets"])
    return ScenePhrases(arrays["numbers"], arrays["offsets"], arrays["vectors"], texts)


_PHRASES: Product[ScenePhrases] = Product("phrases of scenes", _pack, _unpack)


def _encoded(
    graphs: Sequence[SceneGraph], encoder: SentenceEncoder, earlier: Sequence[ScenePhrases] = ()
) -> ScenePhrases:
    """Return the phrases of scenes. Those of ``earlier`` scenes are not encoded again."""
    numbered: dict[str, int] = {}
    numbers: list[int] = []
    lengths: list[int] = []
    for graph in graphs:
        own = tuple_phrases(graph)
        lengths.append(len(own))
        numbers += [numbered.setdefault(text, len(numbered)) for text in own]
    vectors = encoder.encode(list(numbered), [(phrases.texts, phrases.vectors) for phrases in earlier])
    return ScenePhrases(np.array(numbers, np.int64), offsets_of(lengths), vectors, list(numbered))


def reference_phrases(references: Captions, scenes: Scenes, encoder: SentenceEncoder) -> ScenePhrases:
    """Return the phrases of each image's references together, cached with the references."""
    parameters = (scenes.parser.label, scenes.parser.digest, scenes.synonyms.digest, encoder.digest)
    return references.product(_PHRASES, parameters, lambda: _encoded(scenes.references, encoder))


def candidate_phrases(
    captions: Captions, scenes: Scenes, encoder: SentenceEncoder, theirs: ScenePhrases
) -> ScenePhrases:
    """Return the phrases of each caption. Those of references and of other systems are not encoded again."""
    key = ("phrases of each", scenes.parser.label, scenes.parser.digest, scenes.synonyms, encoder.digest)

    def make() -> ScenePhrases:
        graphs = candidate_graphs(captions, scenes.parser, scenes.synonyms)
        return _encoded(
            graphs, encoder, [theirs, *(phrases for _, phrases in earlier_vectors(captions, key))]
        )

    return captions.cached(key, make)


def soft_matches(
    corpus: Corpus, scenes: Scenes, encoder: SentenceEncoder, own_map: SentenceMap | None = None
) -> FloatArray:
    """Return precision, recall and F1 of the phrases of every candidate, cached with the corpus.

    With a map, vectors of phrases are mapped.
    """
    map_digest = "" if own_map is None else own_map.digest
    reader = (scenes.parser.label, scenes.parser.digest, scenes.synonyms)
    key = ("soft matches", *reader, encoder.digest, map_digest)
    return corpus.cached(key, lambda: _soft_matches(corpus, scenes, encoder, own_map))


def _soft_matches(
    corpus: Corpus, scenes: Scenes, encoder: SentenceEncoder, own_map: SentenceMap | None
) -> FloatArray:
    theirs = reference_phrases(corpus.references, scenes, encoder)
    ours = candidate_phrases(corpus.candidates, scenes, encoder, theirs)
    if own_map is not None:
        theirs = theirs._replace(vectors=own_map.apply(theirs.vectors))
        ours = ours._replace(vectors=own_map.apply(ours.vectors))
    table = np.zeros((len(corpus.candidates), 3))
    compared: dict[tuple[bytes, bytes], int] = {}
    # The products are small: threads would mostly wait for each other.
    with one_blas_thread():
        for i, image in enumerate(corpus.images[corpus.candidates.image_of].tolist()):
            # Repeated pairs of scene and references are compared once.
            first = compared.setdefault((ours.key(i), theirs.key(image)), i)
            if first != i:
                table[i] = table[first]
                continue
            a, b = ours.of(i), theirs.of(image)
            if len(a) and len(b):
                similar = np.clip(a @ b.T, 0.0, 1.0)
                table[i, :2] = similar.max(axis=1).mean(), similar.max(axis=0).mean()
    precision, recall = table[:, 0], table[:, 1]
    table[:, 2] = ratio(2 * precision * recall, precision + recall)
    return table


class SoftSpice(EncoderUser, Measure):
    """F1 over tuples as in SPICE, where a tuple counts by its cosine with the nearest one on the other side.

    A tuple is encoded as a short phrase ("brown dog", "man ride horse"). The statistics of a caption are F,
    1, precision and recall.
    """

    name = "Soft-SPICE"
    summary = "F1 over tuples of scene graphs, by the nearness of their sentence vectors (Li et al. 2023)"
    options: ClassVar[tuple[Option, ...]] = (METEOR_DATA, PARSER, SENTENCE_MODEL)
    fixed: Mapping[str, str] = {"tuples": "phrases"}
    # The references of an image together have more tuples than any one of them.
    perfect_is_maximum = False

    def __init__(
        self,
        meteor_data: str | Path | None = None,
        parser: Parser | str | None = None,
        sentence_model: Any = None,
    ) -> None:
        self.spice = Spice(meteor_data=meteor_data, parser=parser)
        super().__init__(sentence_model)

    def check(self, corpus: Corpus | None = None) -> None:
        self.find()
        super().check(corpus)

    def resources(self) -> dict[str, Resource]:
        return {**self.spice.resources(), "model": self.encoder}

    def prepare(self, references: Captions) -> Scenes:
        scenes = self.spice.prepare(references)
        reference_phrases(references, scenes, self.encoder)
        return scenes

    def statistics(self, corpus: Corpus, state: Scenes) -> FloatArray:
        precision, recall, f = soft_matches(corpus, state, self.encoder).T
        return np.stack([f, np.ones_like(f), precision, recall], axis=1)
