"""Vectors of captions and tokens by the sentence encoder, computed once for all measures that use it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakSet, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from captious.core.memo import Lock, Product
from captious.corpus import Captions
from captious.vectors import sentence_map
from captious.vectors.sentence_vectors import SentenceEncoder, TokenVectors, find_model


@lru_cache(maxsize=4)
def _encoder(path: Path) -> SentenceEncoder:
    return SentenceEncoder(path)


#: Measures in use that need token vectors. While there are any, one run of the encoder computes sentence
#: vectors, too.
_token_users: WeakSet[EncoderUser] = WeakSet()
#: Captions with vectors, in the order in which they were encoded.
_encoded: WeakValueDictionary[int, Captions] = WeakValueDictionary()
_guard = Lock()

_VECTORS: Product[NDArray[np.float32]] = Product(
    "sentence vectors",
    lambda rows: {"rows": rows},
    lambda arrays: arrays["rows"].astype(np.float32, copy=False),
)
_TOKENS: Product[TokenVectors] = Product(
    "token vectors",
    lambda vectors: vectors._asdict(),
    lambda arrays: TokenVectors(**{name: arrays[name] for name in TokenVectors._fields}),
)


def earlier_vectors(captions: Captions, key: Hashable) -> list[tuple[Sequence[str], Any]]:
    """Return the texts and cached vectors of captions encoded earlier, such as those of other systems."""
    with _guard:
        others = [other for other in _encoded.values() if other is not captions and key in other.memo]
        _encoded.setdefault(id(captions), captions)
    return [(other.texts, other.memo[key]) for other in others]


def sentence_vectors(captions: Captions, encoder: SentenceEncoder) -> NDArray[np.float32]:
    """Return the unit vector of each caption's text. Equal texts are encoded once, also across systems."""
    key = (_VECTORS.name, encoder.digest)

    def make() -> NDArray[np.float32]:
        has_tokens = (_TOKENS.name, encoder.digest) in captions.memo
        with _guard:
            users = list(_token_users)
        if has_tokens or any(user.find() == encoder.source for user in users):
            return token_vectors(captions, encoder).sentences
        return encoder.encode(captions.texts, earlier_vectors(captions, key))

    return captions.product(_VECTORS, key[1:], make)


def mapped_sentence_vectors(captions: Captions, encoder: SentenceEncoder) -> NDArray[np.float32]:
    """Return the unit vector of each caption, mapped if there is a map for this encoder."""
    own_map = sentence_map.map_of(encoder)
    if own_map is None:
        return sentence_vectors(captions, encoder)
    return captions.cached(
        ("mapped sentence vectors", encoder.digest, own_map.digest),
        lambda: own_map.apply(sentence_vectors(captions, encoder)),
    )


def token_vectors(captions: Captions, encoder: SentenceEncoder) -> TokenVectors:
    """Return the unit vectors of each caption's tokens, from the encoder's last layer."""
    key = (_TOKENS.name, encoder.digest)
    return captions.product(
        _TOKENS, key[1:], lambda: encoder.encode_tokens(captions.texts, earlier_vectors(captions, key))
    )


class EncoderUser:
    """Mixin of measures that run the sentence encoder.

    The encoder is loaded when first needed, and shared by all measures with the same model.
    """

    #: Whether the measure needs token vectors.
    tokens = False

    def __init__(self, sentence_model: Any = None) -> None:
        self._model = sentence_model
        if sentence_model is not None:
            self.find()  # report a wrong path before captions are read
        if self.tokens:
            with _guard:
                _token_users.add(self)

    def find(self) -> Path:
        """Return the path of the encoder, or raise an error that says what to install."""
        return find_model(self._model)

    @property
    def encoder(self) -> SentenceEncoder:
        return _encoder(self.find())
