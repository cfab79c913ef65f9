"""CLIP models saved by ``open_clip``: a folder with ``open_clip_config.json`` and the weights.

Its text towers differ in marks and padding, so texts are split into windows by words, and the model's own
tokenizer encodes each window.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import CaptiousError, MissingExtraError
from captious.core.memo import cached_property
from captious.vectors.dual_encoder import PROMPT, DualEncoder, unreadable


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
