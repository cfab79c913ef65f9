"""The COCO pipeline's tokenizer: Stanford PTBTokenizer 3.4.1 with ``-preserveLines -lowerCase``, in Python.

``tokenize`` and ``tokenize_batch`` return the words of captions, ``tokenize_flat`` those of many captions in one flat
list, which is what a corpus stores. A caption is one caption even when it contains line breaks: they are white space.
A token may contain a no-break space (where the reference keeps a space inside a token, as in a mixed number), so join
and split tokens at plain spaces only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from captious.text.ptb.grammar import words_with_period
from captious.text.ptb.lexer import lexer
from captious.text.ptb.plain import PlainPath

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
    """Tokens of each caption; fast for lowercase tokens, the plain ones of which never see the lexer."""
    if lowercase:
        words, counts = _flat(texts, keep_punctuation)
        ends = np.cumsum(counts)
        return [words[start:end] for start, end in zip((ends - counts).tolist(), ends.tolist())]
    known: dict[str, list[str]] = {}
    for text in texts:
        if text not in known:
            known[text] = tokenize(text, keep_punctuation, lowercase=lowercase)
    return [list(known[text]) for text in texts]


def tokenize_flat(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """All words of all captions in one list, lowercase and without punctuation, and the number of words of each."""
    return _flat(texts, keep_punctuation=False)


def _flat(texts: Sequence[str], keep_punctuation: bool) -> tuple[list[str], NDArray[np.int64]]:
    lines = "\n".join(["", *texts, ""])
    if lines.count("\n") != len(texts) + 1:
        texts = [text.replace("\n", " ") for text in texts]
        lines = "\n".join(["", *texts, ""])
    words, counts, plain = _plain_path().split(lines, keep_punctuation)
    others = np.flatnonzero(~plain)
    if not len(others):
        return words, counts
    places = (np.cumsum(counts) - counts)[others].tolist()  # where words of the other captions belong
    known: dict[str, list[str]] = {}
    pieces: list[str] = []
    done = 0
    for index, place in zip(others.tolist(), places):
        text = texts[index]
        tokens = known.get(text)
        if tokens is None:
            tokens = known[text] = tokenize(text, keep_punctuation)
        pieces += words[done:place]
        pieces += tokens
        done = place
        counts[index] = len(tokens)
    pieces += words[done:]
    return pieces, counts


@lru_cache(maxsize=1)
def _plain_path() -> PlainPath:
    return PlainPath(words_with_period())
