"""Captions and image files through a CLIP model whose weights are in a local folder, as ``transformers`` or ``open_clip`` saves them.

Nothing is ever downloaded. A caption that is too long for the model goes through it in windows, and the mean of their vectors is
its vector; nothing is cut off.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious import digest
from captious.cache import content_digest
from captious.errors import InputError, MissingExtraError, some
from captious.io.align import plain_id
from captious.progress import track

Floats = NDArray[np.float32]

#: What the authors of CLIPScore put before every caption.
PROMPT = "A photo depicts "
TEXTS_AT_ONCE, IMAGES_AT_ONCE = 256, 32
_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif")
#: Files that decide the vectors.
_WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt")
#: The file by which a folder of ``open_clip`` is known.
OPEN_CLIP = "open_clip_config.json"


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


class ClipEncoder(DualEncoder):
    """A model as ``transformers`` saves it."""

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
        except Exception as error:  # the library raises whatever the damage leads to
            raise unreadable(folder, "transformers", error) from error
        self.torch: Any = torch
        self.width = int(self.model.config.projection_dim)
        #: Tokens of a window, without the marks at both ends.
        self.window = int(self.model.config.text_config.max_position_embeddings) - 2

    def windows(self, text: str) -> list[list[int]]:
        ids: list[int] = self.tokenizer(PROMPT + text, add_special_tokens=False)["input_ids"]
        count = max(1, -(-len(ids) // self.window))
        first, last = self.tokenizer.bos_token_id, self.tokenizer.eos_token_id
        return [[first, *part.tolist(), last] for part in np.array_split(np.array(ids, np.int64), count)]

    def read(self, tokens: Sequence[Sequence[int]]) -> NDArray[Any]:
        ids = self.torch.tensor(tokens)
        with self.torch.inference_mode():
            found: NDArray[Any] = _pooled(self.model.get_text_features(input_ids=ids, attention_mask=self.torch.ones_like(ids))).numpy()
        return found

    def see(self, pictures: Sequence[Any]) -> NDArray[Any]:
        pixels = self.processor(images=list(pictures), return_tensors="pt")["pixel_values"]
        with self.torch.inference_mode():
            found: NDArray[Any] = _pooled(self.model.get_image_features(pixel_values=pixels)).numpy()
        return found


def unreadable(folder: Path, library: str, error: Exception) -> InputError:
    """What to say of a folder that a library cannot read."""
    first = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(f"{folder} is no CLIP model that {library} can read ({first}); give the folder that it was saved to")


def _pooled(found: Any) -> Any:
    """The projected vectors: what older versions return, or a part of what newer ones do."""
    return getattr(found, "pooler_output", found)


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


@lru_cache(maxsize=2)
def load(folder: Path) -> DualEncoder:
    """The encoder of a folder, loaded once."""
    if (folder / OPEN_CLIP).is_file():
        from captious.vectors.open_clip import OpenClipEncoder

        return OpenClipEncoder(folder)
    return ClipEncoder(folder)


def find_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder of a model, if it is there."""
    path = Path(folder).expanduser()
    if not any((path / name).is_file() for name in (OPEN_CLIP, "config.json")):
        raise InputError(
            f"no CLIP model at {path}: it needs a folder as transformers saves it (config.json, the weights in safetensors, the tokenizer's files) "
            f"or as open_clip does ({OPEN_CLIP} and the weights)"
        )
    return path.resolve()


class ImageFolder:
    """Pictures by image id: a file is named by the id, with or without an ending, or as COCO names its files."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser()
        if not self.folder.is_dir():
            raise InputError(f"no folder of pictures at {self.folder}; give the one that holds the images' files")
        found = sorted(path for path in self.folder.iterdir() if path.suffix.lower() in _ENDINGS)
        self._by_name = {name: path for path in reversed(found) for name in (path.name, path.stem)}
        self._by_plain: dict[str, Path] = {}
        for path in found:
            self._by_plain.setdefault(plain_id(path.name), path)

    def paths(self, ids: Sequence[str]) -> list[Path]:
        """The file of each image."""
        found = [self._by_name.get(image) or self._by_plain.get(plain_id(image)) for image in ids]
        missing = [image for image, path in zip(ids, found) if path is None]
        if missing:
            raise InputError(f"{self.folder} has no picture of image {some(missing)}; a file is named by the image's id ({', '.join(_ENDINGS)})")
        return [path for path in found if path is not None]
