"""Made-up sets of captions for the tests of this folder."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from captious.corpus import Corpus

WORDS = [
    "a",
    "the",
    "man",
    "woman",
    "dog",
    "cat",
    "on",
    "with",
    "riding",
    "holding",
    "red",
    "blue",
    "bike",
    "street",
    "grass",
    "table",
    "food",
    "pizza",
    "big",
    "small",
]


def made_up(images: int, sizes: tuple[int, ...] = (10,), references: int = 5, seed: int = 0) -> Corpus:
    """Captions of 1 to 12 common words; set sizes in turn; some captions repeated."""
    generator = random.Random(seed)

    def caption() -> str:
        return " ".join(generator.choices(WORDS, k=generator.randint(1, 12)))

    candidates = []
    for i in range(images):
        captions = [caption() for _ in range(sizes[i % len(sizes)])]
        if len(captions) > 2 and generator.random() < 0.5:
            captions[1] = captions[0]
        candidates.append(captions)
    given = [[caption() for _ in range(references)] for _ in range(images)]
    return Corpus.build([f"i{k}" for k in range(images)], candidates, given, tokenizer="none", name="made up")


@pytest.fixture
def make() -> Callable[..., Corpus]:
    return made_up
