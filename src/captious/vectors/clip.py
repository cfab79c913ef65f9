"""Captions and image files through a CLIP model whose weights are in a local folder, as ``transformers`` or ``open_clip`` saves them.

Nothing is ever downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import InputError, MissingExtraError, some
from captious.io.align import plain_id
from captious.vectors.dual import PROMPT, DualEncoder, unreadable

__all__ = ["PROMPT", "ClipEncoder", "DualEncoder", "ImageFolder", "find_folder", "load"]

_ENDINGS = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif")
#: The file by which a folder of ``open_clip`` is known.
OPEN_CLIP = "open_clip_config.json"


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


def _pooled(found: Any) -> Any:
    """The projected vectors: what older versions return, or a part of what newer ones do."""
    return getattr(found, "pooler_output", found)


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
