"""What features are computed with: the encoder, the parser, word vectors. Each is loaded when a feature asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from captious.corpus import Captions, Corpus
from captious.learned import order
from captious.measures.options import METEOR_DATA, PARSER, SENTENCE_MODEL, VECTORS, Option
from captious.measures.resources import Resource
from captious.metrics.alignment import Reader, by_encoder, by_words
from captious.metrics.encoded import EncoderUser
from captious.metrics.spice import Scenes, Spice
from captious.vectors import WordVectors, get, pieces
from captious.vectors.sentences import SentenceEncoder

#: The options that decide each tool.
OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "encoder": (SENTENCE_MODEL,),
    "scenes": (METEOR_DATA, PARSER),
    "words": (VECTORS,),
}


class _Tokens(EncoderUser):
    """Asks for token vectors along with sentence vectors."""

    tokens = True


class Tools:
    """The encoder, the scenes and the word vectors that some options name."""

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self.options = {name: value for name, value in (options or {}).items() if value is not None}
        # A wrong path is reported here, before captions are read.
        self.encoder_user = _Tokens(self.options.get("sentence_model"))
        self.vectors: WordVectors = get(self.options.get("vectors"))

    @property
    def encoder(self) -> SentenceEncoder:
        return self.encoder_user.encoder

    @cached_property
    def spice(self) -> Spice:
        return Spice(meteor_data=self.options.get("meteor_data"), parser=self.options.get("parser"))

    def scenes(self, corpus: Corpus) -> Scenes:
        """How scenes are read, with those of the corpus's references."""
        return self.spice.prepare(corpus.references)

    def tokens(self) -> Reader:
        """Captions as the encoder's tokens."""
        return by_encoder(self.encoder)

    def words(self) -> Reader:
        """Captions as word vectors."""
        return by_words(self.vectors)

    def check(self, used: frozenset[str]) -> None:
        """An error that says what to install, where something that is used is not there."""
        if "encoder" in used:
            self.encoder_user.find()
        if "scenes" in used:
            self.spice.resources()

    def resources(self, used: frozenset[str]) -> dict[str, Resource]:
        """Those of the tools in use, by their names in signatures."""
        found: dict[str, Resource] = {}
        if "encoder" in used:
            found["model"] = self.encoder
        if "scenes" in used:
            found.update(self.spice.resources())
            found["order"] = order.load()
        if "words" in used:
            found["vectors"] = self.vectors
        if used & {"encoder", "words"}:
            found["idf"] = pieces.load()
        return found

    def prepare(self, references: Captions, used: frozenset[str]) -> None:
        """Derive from references what the tools in use need of them; it is kept with the references."""
        if "encoder" in used:
            self.tokens().read(references)
        if "scenes" in used:
            self.spice.prepare(references)
