"""Scene graphs of captions: of one text, and of whole corpora."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from captious.core.memo import Product
from captious.core.ragged import IntArray, runs
from captious.corpus import Captions
from captious.parser import ParsedBatch, Parser
from captious.parser.choice import batch_of
from captious.parser.choice import get as get_parser
from captious.scene.graphs import SceneGraph, SceneGraphs
from captious.scene.sentence_tuples import read_tuples
from captious.scene.tuple_table import Tuple, TupleTable
from captious.text.synonyms import Synonyms


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
    text : str or sequence of str
        A caption, or several captions of one image.
    tokenizer : str
        ``"ptb"`` tokenizes as for SPICE: lower case, no punctuation. ``"none"`` splits at spaces.
    synonyms : Synonyms, optional
        The dictionary. Without it, WordNet's synonyms, which ship with captious.
    meteor_data : str or Path, optional
        A folder with METEOR's data, to take the synonyms from.
    parser : Parser or str, optional
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
