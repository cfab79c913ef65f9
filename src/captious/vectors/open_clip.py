"""Models as ``open_clip`` saves them: a folder with ``open_clip_config.json`` and the weights.

Its text towers differ in marks and filling, so windows are made of words, and the model's own tokenizer does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import CaptiousError, MissingExtraError
from captious.vectors.dual import PROMPT, DualEncoder, unreadable


class OpenClipEncoder(DualEncoder):
    """A model of any architecture that ``open_clip`` knows."""

    library = "open-clip"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        try:
            import open_clip
            import torch
        except ImportError as error:
            raise MissingExtraError("open_clip_torch", "open-clip", "encoding captions and images") from error
        except RuntimeError as error:  # a torchvision that was built for another torch
            raise CaptiousError(f"open_clip is installed but does not load ({error}); install a torchvision that fits torch your torch") from error
        try:
            # Towers of other libraries are in the folder too, or are refused: nothing is downloaded.
            self.model, _, self.transform = open_clip.create_model_and_transforms(f"local-dir:{folder}", pretrained_text=False)
            self.tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
            self.model.eval()
            #: Tokens of a window, with the marks.
            self.window = int(self.tokenizer.context_length)
            with torch.inference_mode():
                self.width = int(self.model.encode_text(self.tokenizer([PROMPT])).shape[1])
        except Exception as error:  # the library raises whatever the damage leads to
            raise unreadable(folder, "open_clip", error) from error
        self.torch: Any = torch

    def windows(self, text: str) -> list[list[int]]:
        text = PROMPT + text
        count = self._least(text)
        while True:
            parts = _parts(text, count)
            # One token more than a window has: what stands there was too long. One letter is never too long.
            longer = self.tokenizer(parts, context_length=self.window + 1)
            if count >= len(text) or bool((longer[:, -1] == self._filling).all()):
                found: list[list[int]] = self.tokenizer(parts).tolist()
                return found
            count += 1

    @cached_property
    def _filling(self) -> int:
        """What stands behind the end of a text."""
        return int(self.tokenizer([""], context_length=self.window)[0, -1])

    def _least(self, text: str) -> int:
        """How many windows the tokens of a text need at least."""
        row = self.tokenizer([text], context_length=self.window + 1)[0]
        if int(row[-1]) == self._filling:
            return 1
        # No tokenizer makes more tokens than there are bytes.
        whole = self.tokenizer([text], context_length=len(text.encode()) + 8)[0]
        length = int((whole != self._filling).nonzero().max()) + 1
        return -(-length // self.window)

    def read(self, tokens: Sequence[Sequence[int]]) -> NDArray[Any]:
        with self.torch.inference_mode():
            found: NDArray[Any] = self.model.encode_text(self.torch.tensor(tokens)).float().numpy()
        return found

    def see(self, pictures: Sequence[Any]) -> NDArray[Any]:
        with self.torch.inference_mode():
            found: NDArray[Any] = self.model.encode_image(self.torch.stack([self.transform(picture) for picture in pictures])).float().numpy()
        return found


def _parts(text: str, count: int) -> list[str]:
    """A text in so many parts of about equally many words, or of letters where there are too few words."""
    words = text.split()
    if count <= len(words):
        return [" ".join(part.tolist()) for part in np.array_split(np.array(words, dtype=object), count)]
    return ["".join(part.tolist()) for part in np.array_split(np.array(list(text), dtype=object), min(count, len(text)))]
