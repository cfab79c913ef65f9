"""Dual encoders: models that map captions and images to vectors of one space.

A caption that is too long for a model is encoded in windows, and its vector is the mean of their vectors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.cache import content_digest
from captious.core.errors import InputError
from captious.core.memo import cached_property
from captious.core.progress import track

Floats = NDArray[np.float32]

#: Prefix of every caption, from the authors of CLIPScore.
PROMPT = "A photo depicts "
TEXTS_AT_ONCE, IMAGES_AT_ONCE = 256, 32
#: Files that determine the vectors.
_WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt")


class DualEncoder(ABC):
    """A model in a folder that maps texts and images to unit vectors of one space."""

    #: Name of the library in signatures.
    library: ClassVar[str]
    #: Number of dimensions.
    width: int

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._images: dict[Path, Floats] = {}

    @property
    def label(self) -> str:
        """Library and dimensions, for signatures."""
        return f"{self.library}-{self.width}"

    @cached_property
    def digest(self) -> str:
        """Digest of the model's files."""
        files = sorted({path for pattern in _WEIGHTS for path in self.folder.glob(pattern)})
        return digest.of_lines(f"{path.name} {content_digest(path)}" for path in files)

    @abstractmethod
    def windows(self, text: str) -> list[list[int]]:
        """Return the tokens of prompt and text, with marks, in the fewest windows of similar length."""

    @abstractmethod
    def read(self, tokens: Sequence[Sequence[int]]) -> NDArray[Any]:
        """Return the vectors of windows with equal numbers of tokens."""

    @abstractmethod
    def see(self, pictures: Sequence[Any]) -> NDArray[Any]:
        """Return the vectors of PIL images."""

    def texts(self, texts: Sequence[str]) -> Floats:
        """Return the unit vector of each text, the normalised mean of its windows' vectors."""
        distinct, inverse = distinct_texts(texts)
        windows: list[list[int]] = []
        owner: list[int] = []
        for place, text in enumerate(distinct):
            for window in self.windows(text):
                windows.append(window)
                owner.append(place)
        # Windows of equal length are encoded together: without padding, results do not depend on the batch.
        order = sorted(range(len(windows)), key=lambda k: len(windows[k]))
        rows = np.zeros((len(distinct), self.width))
        batches = [order[a : a + TEXTS_AT_ONCE] for a in range(0, len(order), TEXTS_AT_ONCE)]
        for batch in track(batches, "encoding captions"):
            by_length: dict[int, list[int]] = {}
            for k in batch:
                by_length.setdefault(len(windows[k]), []).append(k)
            for same in by_length.values():
                np.add.at(rows, [owner[k] for k in same], unit_rows(self.read([windows[k] for k in same])))
        return unit_rows(rows)[inverse]

    def images(self, paths: Sequence[Path]) -> Floats:
        """Return the vector of each image file. Vectors are cached by path."""
        todo = [path for path in dict.fromkeys(paths) if path not in self._images]
        for at in track(range(0, len(todo), IMAGES_AT_ONCE), "encoding images"):
            batch = todo[at : at + IMAGES_AT_ONCE]
            self._images.update(zip(batch, unit_rows(self.see([_opened(path) for path in batch]))))
        return (
            np.stack([self._images[path] for path in paths])
            if paths
            else np.zeros((0, self.width), np.float32)
        )


def unreadable(folder: Path, library: str, error: Exception) -> InputError:
    """Return the error for a folder that a library cannot read."""
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(
        f"{folder}: not a CLIP model that {library} can read ({first}); pass the folder it was saved to"
    )


def distinct_texts(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct texts, and the index of each text among them."""
    numbers: dict[str, int] = {}
    inverse = np.fromiter((numbers.setdefault(text, len(numbers)) for text in texts), np.int64, len(texts))
    return list(numbers), inverse


def row_lengths(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the Euclidean length of each row."""
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return lengths


def unit_rows(rows: NDArray[Any]) -> Floats:
    """Return the rows scaled to unit length."""
    units: Floats = (rows / np.maximum(row_lengths(rows), 1e-12)[:, None]).astype(np.float32)
    return units


def _opened(path: Path) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except (OSError, UnidentifiedImageError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(
            f"{path}: not a readable picture ({error}); replace it, or leave the image out"
        ) from None
