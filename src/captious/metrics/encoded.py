"""What metrics on the sentence encoder share: the encoder, and one run of it over captions."""

from __future__ import annotations

import threading
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from captious.corpus import Captions
from captious.memo import Product
from captious.vectors.sentences import SentenceEncoder, TokenVectors, find_model


@lru_cache(maxsize=4)
def _encoder(path: Path) -> SentenceEncoder:
    return SentenceEncoder(path)


#: Measures in use that will want the vectors of tokens, too: while there are any, one run of the encoder makes both.
_token_users: WeakSet[EncoderUser] = WeakSet()
_guard = threading.Lock()

_VECTORS: Product[NDArray[np.float32]] = Product(
    "sentence vectors", lambda rows: {"rows": rows}, lambda arrays: arrays["rows"].astype(np.float32, copy=False)
)
_TOKENS: Product[TokenVectors] = Product(
    "token vectors", lambda made: made._asdict(), lambda arrays: TokenVectors(**{name: arrays[name] for name in TokenVectors._fields})
)


def sentence_vectors(captions: Captions, encoder: SentenceEncoder) -> NDArray[np.float32]:
    """The unit vector of each caption's text as it was given, equal texts encoded once."""

    def make() -> NDArray[np.float32]:
        known = (_TOKENS.name, encoder.digest) in captions.memo
        with _guard:
            users = list(_token_users)
        if known or any(user.find() == encoder.source for user in users):
            return token_vectors(captions, encoder).sentences
        return encoder.encode(captions.texts)

    return captions.product(_VECTORS, (encoder.digest,), make)


def token_vectors(captions: Captions, encoder: SentenceEncoder) -> TokenVectors:
    """The unit vectors of each caption's tokens, from the encoder's last layer."""
    return captions.product(_TOKENS, (encoder.digest,), lambda: encoder.encode_tokens(captions.texts))


class EncoderUser:
    """A measure that runs the sentence encoder. The encoder is loaded when first needed and shared by all on the same model."""

    #: Whether the measure looks at single tokens.
    tokens = False

    def __init__(self, sentence_model: Any = None) -> None:
        self._model = sentence_model
        if sentence_model is not None:
            self.find()  # a wrong path is reported before captions are read
        if self.tokens:
            with _guard:
                _token_users.add(self)

    def find(self) -> Path:
        """Where the encoder is; an error that says what to install where there is none."""
        return find_model(self._model)

    @property
    def encoder(self) -> SentenceEncoder:
        return _encoder(self.find())
