"""Data of images for measures that need them: random vectors in place of a dual encoder's, and objects."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from captious.corpus import Corpus
from captious.vectors import keyed_vectors as keyed
from captious.vectors.keyed_vectors import KeyedVectors


def vectors_for(*corpora: Corpus) -> dict[str, Any]:
    """Return the options of these measures, for all images and captions of some corpora."""
    images = [image for corpus in corpora for image in corpus.ids]
    texts = [
        text
        for corpus in corpora
        for captions in (corpus.candidates, corpus.references)
        for text in captions.texts
    ]
    amber = {image: {"truth": ["dog", "man"], "hallu": ["cat"]} for image in images}
    return {"image_vectors": _vectors(images), "text_vectors": _vectors(texts), "amber": amber}


def _vectors(names: list[str]) -> KeyedVectors:
    distinct = list(dict.fromkeys(names))
    return keyed.from_arrays(
        [np.random.default_rng(zlib.crc32(name.encode())).normal(0.3, 1, 8) for name in distinct], distinct
    )
