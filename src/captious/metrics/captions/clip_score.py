"""CLIP-S and RefCLIP-S (Hessel et al. 2021): similarity of a caption and its image by a dual encoder.

CLIP-S = w · max(cos(image, caption), 0) with w = 2.5. RefCLIP-S is the harmonic mean of CLIP-S and
max(cos(caption, reference), 0) with the nearest reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, MissingInputError
from captious.corpus import Captions, Corpus
from captious.metrics.base import FloatArray, Measure, Need, Resource, as_statistics, check_needs
from captious.metrics.captions.over_references import combined, pair_cosines
from captious.metrics.options import CLIP, IMAGE_VECTORS, PICTURES, TEXT_VECTORS, Option
from captious.vectors import clip_encoders as encoders
from captious.vectors.keyed_vectors import KeyedVectors, read_vectors

Floats = NDArray[np.float32]

#: Weight that spreads cosines, which CLIP keeps below 0.4, over about the unit interval.
W = 2.5


class _Clip(Measure):
    """Base of both measures. Vectors come from files or from a model: images by id, captions by text."""

    options: ClassVar[tuple[Option, ...]] = (IMAGE_VECTORS, TEXT_VECTORS, CLIP, PICTURES)
    # The best possible value depends on the image.
    perfect_is_maximum = False

    def __init__(
        self,
        image_vectors: str | Path | KeyedVectors | None = None,
        text_vectors: str | Path | KeyedVectors | None = None,
        clip: str | Path | None = None,
        pictures: str | Path | None = None,
    ) -> None:
        self._of_images = _read(image_vectors)
        self._of_texts = _read(text_vectors)
        self._folder = None if clip is None else encoders.find_folder(clip)
        self._pictures = None if pictures is None else encoders.ImageFolder(pictures)
        if clip is not None and self._of_images is None and self._pictures is None:
            raise InputError(
                "--clip also encodes pictures: pass their folder (--pictures DIR) or --image-vectors FILE"
            )
        if self._pictures is not None and clip is None:
            raise InputError("--pictures needs the model that encodes them: pass its folder (--clip FOLDER)")
        for one, other, vectors in (
            (image_vectors, text_vectors, "--text-vectors"),
            (text_vectors, image_vectors, "--image-vectors"),
        ):
            if one is not None and other is None and clip is None:
                raise InputError(
                    f"{self.name} compares vectors of images and of captions: pass {vectors} FILE, too"
                )

        self.fixed: Mapping[str, str] = {
            "w": f"{W:g}",
            **({} if self._of_texts is not None or clip is None else {"prompt": encoders.PROMPT.strip()}),
        }

    @property
    def _encoder(self) -> encoders.DualEncoder:
        assert self._folder is not None
        return encoders.load(self._folder)

    def _has_source(self) -> bool:
        return self._of_images is not None or self._of_texts is not None or self._folder is not None

    def check(self, corpus: Corpus | None = None) -> None:
        if not self._has_source():
            raise MissingInputError(
                f"{self.name} compares captions with images: pass vectors of both "
                "(--image-vectors FILE --text-vectors FILE), "
                "or a CLIP model and the pictures (--clip FOLDER --pictures DIR)"
            )
        images = self._of_images.width if self._of_images is not None else self._encoder.width
        texts = self._of_texts.width if self._of_texts is not None else self._encoder.width
        if images != texts:
            raise InputError(
                f"image vectors have {images} numbers and caption vectors {texts}; use one model for both"
            )
        if corpus is not None:
            check_needs(self, corpus)
            # All missing inputs are reported before anything is computed.
            if self._of_images is not None:
                self._of_images.of_images(corpus.image_names)
            elif self._pictures is not None:
                self._pictures.paths(corpus.image_names)
            if self._of_texts is not None:
                for captions in (corpus.candidates, corpus.references)[: 1 + self.uses_references()]:
                    self.text_rows(captions)

    def resources(self) -> dict[str, Resource]:
        if not self._has_source():
            return {}
        return {"images": self._of_images or self._encoder, "texts": self._of_texts or self._encoder}

    def image_rows(self, corpus: Corpus) -> Floats:
        """Return the unit vector of each image."""
        if self._of_images is not None:
            return self._of_images.of_images(corpus.image_names)
        assert self._pictures is not None
        return self._encoder.images(self._pictures.paths(corpus.image_names))

    def text_rows(self, captions: Captions) -> Floats:
        """Return the unit vector of each caption's text. An empty caption has a zero vector."""
        source = self._of_texts if self._of_texts is not None else self._encoder

        def make() -> Floats:
            said = [i for i, text in enumerate(captions.texts) if text.strip()]
            texts = [captions.texts[i] for i in said]
            rows = np.zeros((len(captions), source.width), np.float32)
            rows[said] = source.of_texts(texts) if isinstance(source, KeyedVectors) else source.texts(texts)
            return rows

        return captions.cached(("texts of a dual encoder", source.digest), make)

    def to_image(self, corpus: Corpus) -> FloatArray:
        """Return CLIP-S of each caption."""
        ours, images = self.text_rows(corpus.candidates), self.image_rows(corpus)
        cosines = np.einsum("ij,ij->i", ours, images[corpus.candidates.image_of], dtype=np.float64)
        scores: FloatArray = W * np.clip(cosines, 0.0, 1.0)
        return scores


class ClipS(_Clip):
    """Similarity of a caption and its image. Needs no references."""

    name = "CLIP-S"
    summary = "nearness of caption and image by a dual encoder's vectors (Hessel et al. 2021)"
    bounds = (0.0, W)
    needs: frozenset[Need] = frozenset()

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        return as_statistics(self.to_image(corpus))


class RefClipS(_Clip):
    """Harmonic mean of CLIP-S and the similarity to the nearest reference."""

    name = "RefCLIP-S"
    summary = "harmonic mean of CLIP-S and the nearest reference (Hessel et al. 2021)"
    bounds = (0.0, 2 * W / (W + 1))

    def prepare(self, references: Captions) -> None:
        if self._of_texts is None and self._folder is not None:
            self.text_rows(references)

    def statistics(self, corpus: Corpus, state: None) -> FloatArray:
        ours, theirs = self.text_rows(corpus.candidates), self.text_rows(corpus.references)
        nearest = np.maximum(combined(corpus, pair_cosines(corpus, ours, theirs), "max"), 0.0)
        image = self.to_image(corpus)
        total = image + nearest
        return as_statistics(
            np.divide(2 * image * nearest, total, out=np.where(np.isnan(total), np.nan, 0.0), where=total > 0)
        )


def _read(vectors: str | Path | KeyedVectors | None) -> KeyedVectors | None:
    return read_vectors(vectors) if isinstance(vectors, str | Path) else vectors
