"""Scene graphs of captions: from text, and for whole corpora."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from captious.collector import collector_paused
from captious.corpus import Captions
from captious.language import ParsedBatch, Parser, Sentence, parses_of
from captious.language.parsers import batch_of
from captious.language.parsers import get as get_parser
from captious.memo import Product
from captious.progress import track
from captious.ragged import IntArray, runs
from captious.scene.flat.meanings import meanings
from captious.scene.flat.merge import flat_graphs
from captious.scene.flat.sentences import flat_tuples, worth_compiling
from captious.scene.graph import SceneGraph
from captious.scene.packed import PackedGraphs, pack, unpack
from captious.scene.rules import Tuple, tuples
from captious.text.synonyms import Synonyms


def scene_graph(
    text: str | Sequence[str],
    *,
    tokenizer: str = "ptb",
    synonyms: Synonyms | None = None,
    meteor_data: str | Path | None = None,
    parser: Parser | str | None = None,
) -> SceneGraph:
    """The scene graph of a caption, or one graph of several captions of the same image.

    The text is tokenized as for SPICE: lower case, no punctuation. Synonyms are WordNet's, which ship with
    captious, or those of a folder with METEOR's data.
    """
    captions = Captions.of([[text] if isinstance(text, str) else list(text)], tokenizer)
    known = synonyms if synonyms is not None else Synonyms.load(meteor_data)
    return SceneGraph((item for stated in caption_tuples(captions, get_parser(parser)) for item in stated), known)


def caption_tuples(captions: Captions, parser: Parser) -> list[list[Tuple]]:
    """The tuples of each caption, those of its sentences together. Equal captions share one list."""
    return captions.cached(("scene tuples", parser.label, parser.digest), lambda: _caption_tuples(captions, parser))


def _caption_tuples(captions: Captions, parser: Parser) -> list[list[Tuple]]:
    known: dict[int, list[Tuple]] = {}
    stated: list[list[Tuple]] = []
    with collector_paused():
        for parse in track(parses_of(captions, parser), "reading scenes"):
            if len(parse) == 1:
                stated.append(_sentence_tuples(parse[0], known))
            else:
                stated.append([item for sentence in parse for item in _sentence_tuples(sentence, known)])
    return stated


def _sentence_tuples(sentence: Sentence, known: dict[int, list[Tuple]]) -> list[Tuple]:
    """Equal sentences of a corpus are one object, so its identity will do to know them again."""
    key = id(sentence)
    if key not in known:
        known[key] = list(dict.fromkeys(tuples(sentence)))
    return known[key]


def reference_graphs(captions: Captions, parser: Parser, synonyms: Synonyms) -> Sequence[SceneGraph]:
    """One graph per image, of all its captions; kept with the captions, for the next system."""
    kind: Product[Sequence[SceneGraph]] = Product("scene graphs", pack, lambda arrays: unpack(arrays, synonyms))
    parameters = (parser.label, parser.digest, synonyms.digest)
    return captions.product(kind, parameters, lambda: _graphs(captions, parser, synonyms))


def _graphs(captions: Captions, parser: Parser, synonyms: Synonyms) -> Sequence[SceneGraph]:
    flat = _flat_graphs(captions, parser, synonyms, captions.image_offsets)
    if flat is not None:
        return flat
    stated = caption_tuples(captions, parser)
    bounds = captions.image_offsets.tolist()
    with collector_paused():
        return [
            SceneGraph((item for i in range(first, last) for item in stated[i]), synonyms)
            for first, last in track(itertools.pairwise(bounds), "joining scenes", total=captions.n_images)
        ]


def candidate_graphs(captions: Captions, parser: Parser, synonyms: Synonyms) -> Sequence[SceneGraph]:
    """One graph per caption."""

    def make() -> Sequence[SceneGraph]:
        flat = _flat_graphs(captions, parser, synonyms, np.arange(len(captions) + 1, dtype=np.int64))
        if flat is not None:
            return flat
        stated = caption_tuples(captions, parser)
        with collector_paused():
            return [SceneGraph(own, synonyms) for own in stated]

    return captions.cached(("scene graph of each", parser.label, parser.digest, synonyms), make)


def _flat_graphs(captions: Captions, parser: Parser, synonyms: Synonyms, groups: IntArray) -> PackedGraphs | None:
    """Graphs of groups of captions, made in arrays; none if there is too little to do, or the parser gives only objects."""
    if not worth_compiling(int(captions.token_offsets[-1])):
        return None
    batch = batch_of(captions, parser)
    if type(batch) is not ParsedBatch:
        return None
    tuples = captions.cached(("flat tuples", parser.label, parser.digest), lambda: flat_tuples(batch))
    places, offsets = runs(batch.caption_offsets, captions.unique[1])
    known = meanings(tuples.texts, synonyms)
    flat = flat_graphs(tuples, batch.sentence_of[places], offsets[groups], known)
    return PackedGraphs(tuples.texts, flat, synonyms, known=known)
