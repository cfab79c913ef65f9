"""Encoders of captions and image files in one space, saved by ``transformers`` or ``open_clip``.

A caption that is too long for a model is encoded in windows, and its vector is the mean of their vectors.
Nothing is downloaded.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.core import digests as digest
from captious.core.cache import content_digest
from captious.core.errors import CaptiousError, InputError, MissingExtraError, some
from captious.core.memo import cached_property
from captious.core.progress import track
from captious.io.id_matching import plain_id

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


__all__ = ["PROMPT", "ClipEncoder", "DualEncoder", "ImageFolder", "find_folder", "load"]

_EXTENSIONS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif")
#: The file that identifies a folder of ``open_clip``.
OPEN_CLIP = "open_clip_config.json"


class ClipEncoder(DualEncoder):
    """A model saved by ``transformers``."""

    library = "clip"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        try:
            import torch
            from transformers import AutoTokenizer, CLIPImageProcessor, CLIPModel
        except ImportError as error:
            raise MissingExtraError("transformers", "clip", "encoding captions and images") from error
        try:
            self.model = CLIPModel.from_pretrained(folder, local_files_only=True).eval()
            self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self.processor = CLIPImageProcessor.from_pretrained(folder, local_files_only=True)
        except Exception as error:  # damaged files raise all kinds of exceptions
            raise unreadable(folder, "transformers", error) from error
        self.torch: Any = torch
        self.width = int(self.model.config.projection_dim)
        #: Tokens per window, without the marks at both ends.
        self.window = int(self.model.config.text_config.max_position_embeddings) - 2

    def windows(self, text: str) -> list[list[int]]:
        ids: list[int] = self.tokenizer(PROMPT + text, add_special_tokens=False)["input_ids"]
        count = max(1, -(-len(ids) // self.window))
        first, last = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        return [[first, *part.tolist(), last] for part in np.array_split(np.array(ids, np.int64), count)]

    def read(self, tokens: Sequence[Sequence[int]]) -> NDArray[Any]:
        ids = self.torch.tensor(tokens)
        with self.torch.inference_mode():
            vectors: NDArray[Any] = _pooled(
                self.model.get_text_features(input_ids=ids, attention_mask=self.torch.ones_like(ids))
            ).numpy()
        return vectors

    def see(self, pictures: Sequence[Any]) -> NDArray[Any]:
        pixels = self.processor(images=list(pictures), return_tensors="pt")["pixel_values"]
        with self.torch.inference_mode():
            vectors: NDArray[Any] = _pooled(self.model.get_image_features(pixel_values=pixels)).numpy()
        return vectors


def _pooled(output: Any) -> Any:
    """Return the projected vectors: the output of older versions, a field of it in newer ones."""
    return getattr(output, "pooler_output", output)


@lru_cache(maxsize=2)
def load(folder: Path) -> DualEncoder:
    """Load the encoder of a folder. Encoders are cached."""
    if (folder / OPEN_CLIP).is_file():
        from captious.vectors.clip_encoders import OpenClipEncoder

        return OpenClipEncoder(folder)
    return ClipEncoder(folder)


def find_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder of a model, after checking that it has one."""
    path = Path(folder).expanduser()
    if not any((path / name).is_file() for name in (OPEN_CLIP, "config.json")):
        raise InputError(
            f"no CLIP model at {path}; pass a folder saved by transformers (config.json, weights, "
            "tokenizer files) "
            f"or by open_clip ({OPEN_CLIP} and weights)"
        )
    return path.resolve()


class ImageFolder:
    """Picture files by image id. A file is named by the id, with or without an extension, or as in COCO."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser()
        if not self.folder.is_dir():
            raise InputError(f"no folder of pictures at {self.folder}; pass the folder with the image files")
        files = sorted(path for path in self.folder.iterdir() if path.suffix.lower() in _EXTENSIONS)
        self._by_name = {name: path for path in reversed(files) for name in (path.name, path.stem)}
        self._by_plain: dict[str, Path] = {}
        for path in files:
            self._by_plain.setdefault(plain_id(path.name), path)

    def paths(self, ids: Sequence[str]) -> list[Path]:
        """Return the file of each image."""
        files = [self._by_name.get(image) or self._by_plain.get(plain_id(image)) for image in ids]
        missing = [image for image, path in zip(ids, files) if path is None]
        if missing:
            raise InputError(
                f"{self.folder} has no picture of image {some(missing)}; name each file by the image's id "
                f"({', '.join(_EXTENSIONS)})"
            )
        return [path for path in files if path is not None]


class OpenClipEncoder(DualEncoder):
    """A model of any architecture that ``open_clip`` supports."""

    library = "open-clip"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        try:
            import open_clip
            import torch
        except ImportError as error:
            raise MissingExtraError("open_clip_torch", "open-clip", "encoding captions and images") from error
        except RuntimeError as error:  # a torchvision built for another torch
            raise CaptiousError(
                f"open_clip is installed but does not load ({error}); "
                "install a torchvision that fits your torch"
            ) from error
        try:
            # Towers of other libraries have to be in the folder, too: nothing is downloaded.
            self.model, _, self.transform = open_clip.create_model_and_transforms(
                f"local-dir:{folder}", pretrained_text=False
            )
            self.tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
            self.model.eval()
            #: Tokens per window, including the marks.
            self.window = int(self.tokenizer.context_length)
            with torch.inference_mode():
                self.width = int(self.model.encode_text(self.tokenizer([PROMPT])).shape[1])
        except Exception as error:  # damaged files raise all kinds of exceptions
            raise unreadable(folder, "open_clip", error) from error
        self.torch: Any = torch

    def windows(self, text: str) -> list[list[int]]:
        text = PROMPT + text
        count = self._least(text)
        while True:
            parts = _parts(text, count)
            # Encoded with room for one more token: if that is not padding, the part is too long. One letter
            # always fits.
            longer = self.tokenizer(parts, context_length=self.window + 1)
            if count >= len(text) or bool((longer[:, -1] == self._padding).all()):
                windows: list[list[int]] = self.tokenizer(parts).tolist()
                return windows
            count += 1

    @cached_property
    def _padding(self) -> int:
        """The token after the end of a text."""
        return int(self.tokenizer([""], context_length=self.window)[0, -1])

    def _least(self, text: str) -> int:
        """Return the least number of windows for the tokens of a text."""
        row = self.tokenizer([text], context_length=self.window + 1)[0]
        if int(row[-1]) == self._padding:
            return 1
        # A text never has more tokens than bytes.
        whole = self.tokenizer([text], context_length=len(text.encode()) + 8)[0]
        length = int((whole != self._padding).nonzero().max()) + 1
        return -(-length // self.window)

    def read(self, tokens: Sequence[Sequence[int]]) -> NDArray[Any]:
        with self.torch.inference_mode():
            vectors: NDArray[Any] = self.model.encode_text(self.torch.tensor(tokens)).float().numpy()
        return vectors

    def see(self, pictures: Sequence[Any]) -> NDArray[Any]:
        with self.torch.inference_mode():
            pixels = self.torch.stack([self.transform(picture) for picture in pictures])
            vectors: NDArray[Any] = self.model.encode_image(pixels).float().numpy()
        return vectors


def _parts(text: str, count: int) -> list[str]:
    """Split a text into `count` parts of similar numbers of words, or of letters if it has too few words."""
    words = text.split()
    if count <= len(words):
        return [" ".join(part.tolist()) for part in np.array_split(np.array(words, dtype=object), count)]
    return [
        "".join(part.tolist())
        for part in np.array_split(np.array(list(text), dtype=object), min(count, len(text)))
    ]
