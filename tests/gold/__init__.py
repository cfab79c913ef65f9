"""What the reference tools say of the demo and of captions of our own; ``README.md`` says how each file was made."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

SYSTEMS = ("good", "generic", "poor")


@lru_cache(maxsize=None)
def load(name: str) -> Any:
    """The content of a gold file, by its name without endings. It is shared between tests: do not change it."""
    path = Path(__file__).parent / f"{name}.json.gz"
    return json.loads(gzip.decompress(path.read_bytes()))
