"""Tools that features are computed with: encoder, parser, word vectors. Each is loaded on first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from captious.core.memo import cached_property
from captious.corpus import Captions, Corpus
from captious.metrics.base import Resource
from captious.metrics.captions.encoded_captions import EncoderUser
from captious.metrics.captions.soft_spice import reference_phrases
from captious.metrics.captions.spice import Scenes, Spice
from captious.metrics.captions.token_alignment import Reader, agreement, by_encoder, by_words
from captious.metrics.learned import word_order as order
from captious.metrics.options import METEOR_DATA, PARSER, SENTENCE_MODEL, VECTORS, Option
from captious.vectors import WordVectors, caption_vectors, get, sentence_map
from captious.vectors.caption_vectors import CaptionVectors
from captious.vectors.sentence_map import SentenceMap
from captious.vectors.sentence_vectors import SentenceEncoder, load_pieces

#: Options of each tool. Phrases of scenes and the agreement of references only take work beforehand.
OPTIONS: Mapping[str, tuple[Option, ...]] = {
    "encoder": (SENTENCE_MODEL,),
    "map": (),
    "scenes": (METEOR_DATA, PARSER),
    "words": (VECTORS,),
    "captions": (),
    "mapped captions": (),
    "phrases": (),
    "token agreement": (),
    "mapped token agreement": (),
}


class _Tokens(EncoderUser):
    """Requests token vectors along with sentence vectors."""

    tokens = True


class Tools:
    """Encoder, scenes and word vectors selected by options."""

    def __init__(self, options: Mapping[str, Any] | None = None) -> None:
        self.options = {name: value for name, value in (options or {}).items() if value is not None}
        # Report a wrong path before captions are read.
        self.encoder_user = _Tokens(self.options.get("sentence_model"))
        if "vectors" in self.options:
            _ = self.vectors

    @cached_property
    def vectors(self) -> WordVectors:
        return get(self.options.get("vectors"))

    @property
    def encoder(self) -> SentenceEncoder:
        return self.encoder_user.encoder

    @cached_property
    def spice(self) -> Spice:
        return Spice(meteor_data=self.options.get("meteor_data"), parser=self.options.get("parser"))

    def scenes(self, corpus: Corpus) -> Scenes:
        """Return the reader of scenes, with the scenes of the corpus's references."""
        return self.spice.prepare(corpus.references)

    @property
    def own_map(self) -> SentenceMap | None:
        """The map of the encoder's vectors, None for an encoder that it was not learned for."""
        return sentence_map.map_of(self.encoder)

    def tokens(self) -> Reader:
        """Return the reader of captions as the encoder's tokens."""
        return by_encoder(self.encoder)

    def mapped_tokens(self) -> Reader:
        """Return the reader of captions as the encoder's tokens, mapped."""
        return by_encoder(self.encoder, self.own_map)

    def words(self) -> Reader:
        """Return the reader of captions as word vectors."""
        return by_words(self.vectors)

    @property
    def captions(self) -> CaptionVectors:
        """The distilled caption vectors that ship."""
        return caption_vectors.load()

    @property
    def mapped_captions(self) -> CaptionVectors:
        """The distilled caption vectors, mapped so that captions of one image come nearer."""
        return caption_vectors.load_mapped()

    def caption_words(self) -> Reader:
        """Return the reader of captions as words of the distilled table."""
        return by_words(self.captions.words)

    def check(self, used: frozenset[str]) -> None:
        """Raise an error that says what to install if a tool in use is missing."""
        if "encoder" in used:
            self.encoder_user.find()
        if "scenes" in used:
            self.spice.resources()

    def resources(self, used: frozenset[str]) -> dict[str, Resource]:
        """Return the tools in use, by their names in signatures."""
        resources: dict[str, Resource] = {}
        if "encoder" in used:
            resources["model"] = self.encoder
        if "map" in used and self.own_map is not None:
            resources["map"] = self.own_map
        if "scenes" in used:
            resources.update(self.spice.resources())
            resources["order"] = order.load()
        if "words" in used:
            resources["vectors"] = self.vectors
        if "captions" in used:
            resources["captions"] = self.captions
        if "mapped captions" in used:
            resources["mapped"] = self.mapped_captions
        if used & {"encoder", "words", "captions"}:
            resources["idf"] = load_pieces()
        return resources

    def prepare(self, references: Captions, used: frozenset[str]) -> None:
        """Derive the data that the tools in use need from references. They are cached with the references."""
        if "encoder" in used:
            self.tokens().read(references)
        if "scenes" in used:
            scenes = self.spice.prepare(references)
            if "phrases" in used:
                reference_phrases(references, scenes, self.encoder)
        if "token agreement" in used:
            agreement(references, self.tokens())
        if "mapped token agreement" in used:
            agreement(references, self.mapped_tokens())
