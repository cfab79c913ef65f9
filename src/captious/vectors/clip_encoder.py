"""CLIP encoders of captions and image files, from a local folder saved by ``transformers`` or ``open_clip``.

Nothing is downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, MissingExtraError, some
from captious.io.align import plain_id
from captious.vectors.dual_encoder import PROMPT, DualEncoder, unreadable

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
        from captious.vectors.open_clip_encoder import OpenClipEncoder

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
