"""n-best lists of the demo's images: sampled captions with made-up log P."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from captious.data import demo_path
from captious.io import read


def rows(images: int = 60, seed: int = 0) -> list[dict[str, Any]]:
    """Rows as ``captious generate`` writes them, likeliest first."""
    rng = random.Random(seed)
    file = read(demo_path("sampling"), "predictions", several=True)
    found = []
    for image, captions in list(zip(file.ids, file.captions))[:images]:
        texts = list(dict.fromkeys(captions))
        logprobs = sorted((-rng.uniform(5, 15) for _ in texts), reverse=True)
        found.append(
            {"image_id": int(image) if image.isdecimal() else image, "captions": texts, "logprobs": logprobs}
        )
    return found


def write(path: Path, listed: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in listed), encoding="utf-8")
    return path
