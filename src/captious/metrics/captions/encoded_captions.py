"""Vectors of captions and tokens by the sentence encoder, computed once for all measures that use it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from captious.core.locks import Lock
from captious.core.memo import Product
from captious.corpus import Captions
from captious.vectors.sentence_vectors import SentenceEncoder, TokenVectors, find_model


@lru_cache(maxsize=4)
def _encoder(path: Path) -> SentenceEncoder:
    return SentenceEncoder(path)


#: Measures in use that need token vectors. While there are any, one run of the encoder computes sentence
#: vectors, too.
_token_users: WeakSet[EncoderUser] = WeakSet()
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


def sentence_vectors(captions: Captions, encoder: SentenceEncoder) -> NDArray[np.float32]:
    """Return the unit vector of each caption's text. Equal texts are encoded once."""

    def make() -> NDArray[np.float32]:
        has_tokens = (_TOKENS.name, encoder.digest) in captions.memo
        with _guard:
            users = list(_token_users)
        if has_tokens or any(user.find() == encoder.source for user in users):
            return token_vectors(captions, encoder).sentences
        return encoder.encode(captions.texts)

    return captions.product(_VECTORS, (encoder.digest,), make)


def token_vectors(captions: Captions, encoder: SentenceEncoder) -> TokenVectors:
    """Return the unit vectors of each caption's tokens, from the encoder's last layer."""
    return captions.product(_TOKENS, (encoder.digest,), lambda: encoder.encode_tokens(captions.texts))


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
