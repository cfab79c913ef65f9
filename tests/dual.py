"""Vectors of images and captions, as of a dual encoder: for tests of all measures, some of which look at images."""

from __future__ import annotations

import zlib

import numpy as np

from captious.corpus import Corpus
from captious.vectors import keyed_vectors as keyed
from captious.vectors.keyed_vectors import KeyedVectors


def vectors_for(*corpora: Corpus) -> dict[str, KeyedVectors]:
    """The options of measures that look at images, with vectors of all that these corpora hold."""
    images = [image for corpus in corpora for image in corpus.ids]
    texts = [
        text
        for corpus in corpora
        for captions in (corpus.candidates, corpus.references)
        for text in captions.texts
    ]
    return {"image_vectors": _vectors(images), "text_vectors": _vectors(texts)}


def _vectors(names: list[str]) -> KeyedVectors:
    known = list(dict.fromkeys(names))
    return keyed.from_arrays(
        [np.random.default_rng(zlib.crc32(name.encode())).normal(0.3, 1, 8) for name in known], known
    )
