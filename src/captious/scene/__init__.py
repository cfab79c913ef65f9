"""From a parsed caption to objects, attributes and relations: enhanced graph, tuples, scene graph, matching.

>>> from captious import scene
>>> scene.scene_graph("two young girls sit at a wooden table").relations
[('girl', 'sit at', 'table')]
"""

from __future__ import annotations

from captious.scene.codes import Dependencies
from captious.scene.graphs import (
    Concept,
    SceneGraph,
    SceneGraphs,
    candidate_graphs,
    caption_tuples,
    reference_graphs,
    scene_graph,
)
from captious.scene.sentence_tuples import Tuple, enhance, tuples
from captious.scene.tuple_match import Match, counts, match, precision_recall_f
from captious.scene.uniqueness import ConceptTable

__all__ = [
    "Concept",
    "ConceptTable",
    "Dependencies",
    "Match",
    "SceneGraph",
    "SceneGraphs",
    "Tuple",
    "candidate_graphs",
    "caption_tuples",
    "counts",
    "enhance",
    "match",
    "precision_recall_f",
    "reference_graphs",
    "scene_graph",
    "tuples",
]
