"""The COCO pipeline's tokenizer: Stanford PTBTokenizer 3.4.1 with ``-preserveLines -lowerCase``, in Python.

``tokenize`` and ``tokenize_batch`` return the words of captions, ``tokenize_flat`` those of many captions
in one flat list. ``tokenize_lines`` takes captions as lines of one file, as the reference does: there the
tokens of a line can depend on the beginning of the next line. Line breaks within a caption are white space.

A token can contain a no-break space where the reference keeps a space inside a token, as in a mixed number.
So join and split tokens at plain spaces only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.core.container import StoredTexts
from captious.text.ptb.lexer import PUNCTUATION, tokenize
from captious.text.ptb.numbering import number
from captious.text.vocabulary import WordTable

__all__ = ["PUNCTUATION", "tokenize", "tokenize_batch", "tokenize_flat", "tokenize_lines"]


def tokenize_batch(texts: Sequence[str], keep_punctuation: bool = False) -> list[list[str]]:
    """Return the lowercase tokens of each caption."""
    return _split(*_flat(texts, keep_punctuation))


def tokenize_flat(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return all words of all captions, lowercase and without punctuation, and the number of words of
    each caption."""
    return _flat(texts)


def tokenize_lines(texts: Sequence[str], keep_punctuation: bool = False) -> list[list[str]]:
    """Return the lowercase tokens of captions that are the lines of one file.

    A final period after an abbreviation, an acronym or a single letter is divided according to the
    beginning of the next line, as in the reference.
    """
    return _split(*_flat(texts, keep_punctuation, as_lines=True))


def _flat(
    texts: Sequence[str], keep_punctuation: bool = False, *, as_lines: bool = False
) -> tuple[list[str], NDArray[np.int64]]:
    table = WordTable.of([])
    tokens, counts = number(
        *StoredTexts.of(texts).arrays, table, keep_punctuation=keep_punctuation, as_lines=as_lines
    )
    words = table.words()
    return [words[token] for token in tokens.tolist()], counts


def _split(words: list[str], counts: NDArray[np.int64]) -> list[list[str]]:
    ends = np.cumsum(counts)
    return [words[start:end] for start, end in zip((ends - counts).tolist(), ends.tolist())]
