"""Scene graphs as short phrases, and the similarity of the phrases of two scenes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious.core.memo import Arrays, Product
from captious.core.ragged import IntArray, offsets_of
from captious.core.threads import one_blas_thread
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray
from captious.metrics.captions.spice import Scenes, ratio
from captious.scene.build import candidate_graphs
from captious.scene.graphs import SceneGraph
from captious.vectors.sentence_vectors import SentenceEncoder


class ScenePhrases(NamedTuple):
    """Phrases of scenes: scene i has ``numbers[offsets[i]:offsets[i + 1]]``, rows of unit vectors."""

    numbers: IntArray
    offsets: IntArray
    vectors: NDArray[np.float32]

    def of(self, i: int) -> NDArray[np.float32]:
        """Return the vectors of one scene's phrases."""
        return self.vectors[self.numbers[self.offsets[i] : self.offsets[i + 1]]]

    def said(self, i: int) -> bytes:
        """Return a key that is equal for equal scenes."""
        return self.numbers[self.offsets[i] : self.offsets[i + 1]].tobytes()


def phrases(graph: SceneGraph) -> list[str]:
    """Return objects, attributes with their object, and subject-relation-object, each by its first word."""
    names = [concept.words[0] for concept in graph.concepts]
    found = list(names)
    for name, attributes in zip(names, graph.attribute_concepts):
        found += [f"{attribute.words[0]} {name}" for attribute in attributes]
    for (subject, target), relations in graph.relation_concepts.items():
        found += [f"{names[subject]} {relation.words[0]} {names[target]}" for relation in relations]
    return found


def _pack(phrases: ScenePhrases) -> Arrays:
    return phrases._asdict()


def _unpack(arrays: Arrays) -> ScenePhrases:
    return ScenePhrases(**{name: arrays[name] for name in ScenePhrases._fields})


_PHRASES: Product[ScenePhrases] = Product("scene phrases", _pack, _unpack)


def _encoded(graphs: Sequence[SceneGraph], encoder: SentenceEncoder) -> ScenePhrases:
    known: dict[str, int] = {}
    numbers: list[int] = []
    lengths: list[int] = []
    for graph in graphs:
        own = phrases(graph)
        lengths.append(len(own))
        numbers += [known.setdefault(text, len(known)) for text in own]
    return ScenePhrases(np.array(numbers, np.int64), offsets_of(lengths), encoder.encode(list(known)))


def reference_phrases(references: Captions, scenes: Scenes, encoder: SentenceEncoder) -> ScenePhrases:
    """Return the phrases of each image's references together, cached with the references."""
    parameters = (scenes.parser.label, scenes.parser.digest, scenes.synonyms.digest, encoder.digest)
    return references.product(_PHRASES, parameters, lambda: _encoded(scenes.references, encoder))


def candidate_phrases(captions: Captions, scenes: Scenes, encoder: SentenceEncoder) -> ScenePhrases:
    """Return the phrases of each caption."""
    key = ("phrases of each", scenes.parser.label, scenes.parser.digest, scenes.synonyms, encoder.digest)
    return captions.cached(
        key, lambda: _encoded(candidate_graphs(captions, scenes.parser, scenes.synonyms), encoder)
    )


def soft_matches(corpus: Corpus, scenes: Scenes, encoder: SentenceEncoder) -> FloatArray:
    """Return precision, recall and F1 of the phrases of every candidate, cached with the corpus."""
    key = ("soft matches", scenes.parser.label, scenes.parser.digest, scenes.synonyms, encoder.digest)
    return corpus.cached(key, lambda: _soft_matches(corpus, scenes, encoder))


def _soft_matches(corpus: Corpus, scenes: Scenes, encoder: SentenceEncoder) -> FloatArray:
    ours = candidate_phrases(corpus.candidates, scenes, encoder)
    theirs = reference_phrases(corpus.references, scenes, encoder)
    table = np.zeros((len(corpus.candidates), 3))
    known: dict[tuple[bytes, bytes], int] = {}
    # The products are small: threads would mostly wait for each other.
    with one_blas_thread():
        for i, image in enumerate(corpus.images[corpus.candidates.image_of].tolist()):
            # Repeated pairs of scene and references are compared once.
            first = known.setdefault((ours.said(i), theirs.said(image)), i)
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
