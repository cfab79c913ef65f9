"""Dual encoders: models that put captions and pictures into one space, so that they can be compared.

A caption that is too long for a model goes through it in windows, and the mean of their vectors is its vector; nothing is cut off.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious import digest
from captious.cache import content_digest
from captious.errors import InputError
from captious.progress import track

Floats = NDArray[np.float32]

#: What the authors of CLIPScore put before every caption.
PROMPT = "A photo depicts "
TEXTS_AT_ONCE, IMAGES_AT_ONCE = 256, 32
#: Files that decide the vectors.
_WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt")


class DualEncoder(ABC):
    """A model from a folder: texts and images to unit vectors of one space."""

    #: Names the library in signatures.
    library: ClassVar[str]
    #: The length of the vectors.
    width: int

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._images: dict[Path, Floats] = {}

    @property
    def label(self) -> str:
        return f"{self.library}-{self.width}"

    @cached_property
    def digest(self) -> str:
        files = sorted({path for pattern in _WEIGHTS for path in self.folder.glob(pattern)})
        return digest.of_lines(f"{path.name} {content_digest(path)}" for path in files)

    @abstractmethod
    def windows(self, text: str) -> list[list[int]]:
        """The tokens of a text, with the prompt, in as few windows as hold them, all about equally long, each between the marks."""

    @abstractmethod
    def read(self, tokens: Sequence[Sequence[int]]) -> NDArray[Any]:
        """The vectors of windows that have the same number of tokens."""

    @abstractmethod
    def see(self, pictures: Sequence[Any]) -> NDArray[Any]:
        """The vectors of pictures (PIL)."""

    def texts(self, texts: Sequence[str]) -> Floats:
        """The vector of each text; of a long one the mean of its windows' vectors, of length one."""
        distinct = list(dict.fromkeys(texts))
        pieces: list[list[int]] = []
        owner: list[int] = []
        for place, text in enumerate(distinct):
            for window in self.windows(text):
                pieces.append(window)
                owner.append(place)
        # Those of one length together: then nothing needs to be filled up, and nothing changes with what is beside it.
        order = sorted(range(len(pieces)), key=lambda k: len(pieces[k]))
        rows = np.zeros((len(distinct), self.width))
        batches = [order[a : a + TEXTS_AT_ONCE] for a in range(0, len(order), TEXTS_AT_ONCE)]
        for batch in track(batches, "encoding captions"):
            by_length: dict[int, list[int]] = {}
            for k in batch:
                by_length.setdefault(len(pieces[k]), []).append(k)
            for same in by_length.values():
                np.add.at(rows, [owner[k] for k in same], _unit(self.read([pieces[k] for k in same])))
        place_of = {text: place for place, text in enumerate(distinct)}
        return _unit(rows)[[place_of[text] for text in texts]]

    def images(self, paths: Sequence[Path]) -> Floats:
        """The vector of each image file; what was encoded once is kept."""
        todo = [path for path in dict.fromkeys(paths) if path not in self._images]
        for at in track(range(0, len(todo), IMAGES_AT_ONCE), "encoding images"):
            batch = todo[at : at + IMAGES_AT_ONCE]
            self._images.update(zip(batch, _unit(self.see([_opened(path) for path in batch]))))
        return np.stack([self._images[path] for path in paths]) if paths else np.zeros((0, self.width), np.float32)


def unreadable(folder: Path, library: str, error: Exception) -> InputError:
    """What to say of a folder that a library cannot read."""
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{folder} is no CLIP model that {library} can read ({first}); give the folder that it was saved to")


def _unit(rows: NDArray[Any]) -> Floats:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    units: Floats = (rows / np.maximum(lengths, 1e-12)[:, None]).astype(np.float32)
    return units


def _opened(path: Path) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except (OSError, UnidentifiedImageError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{path} is no picture that can be read ({error}); replace it, or leave the image out") from None
