"""The COCO pipeline's tokenizer: Stanford PTBTokenizer 3.4.1 with ``-preserveLines -lowerCase``, in Python.

``tokenize`` and ``tokenize_batch`` return the words of captions, ``tokenize_flat`` those of many captions in one flat
list, which is what a corpus stores. A caption is one caption even when it contains line breaks: they are white space.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.text.ptb.lexer import lexer

__all__ = ["PUNCTUATION", "tokenize", "tokenize_batch", "tokenize_flat"]

# Dropped by the COCO pipeline after lowercasing, so the lowercase names of brackets stay in.
PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
)


def tokenize(text: str, keep_punctuation: bool = False, *, lowercase: bool = True) -> list[str]:
    """Tokens of one caption."""
    tokens = lexer().tokens(text.replace("\n", " "))
    if lowercase:
        tokens = [token.lower() for token in tokens]
    return tokens if keep_punctuation else [token for token in tokens if token not in PUNCTUATION]


def tokenize_batch(
    texts: Sequence[str], keep_punctuation: bool = False, *, lowercase: bool = True
) -> list[list[str]]:
    """Tokens of each caption."""
    return [tokenize(text, keep_punctuation, lowercase=lowercase) for text in texts]


def tokenize_flat(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """All words of all captions in one list, lowercase and without punctuation, and the number of words of each."""
    words: list[str] = []
    counts = np.zeros(len(texts), dtype=np.int64)
    for index, text in enumerate(texts):
        tokens = tokenize(text)
        words += tokens
        counts[index] = len(tokens)
    return words, counts
