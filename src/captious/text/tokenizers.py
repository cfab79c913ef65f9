"""Tokenizers by name: from captions to one flat list of words and the number of words of each caption."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, did_you_mean

Flat = tuple[list[str], NDArray[np.int64]]
Tokenizer = Callable[[Sequence[str]], Flat]

_UNSPACED = re.compile(r"[^ \t\r\n\f\v]+")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def _ptb(texts: Sequence[str]) -> Flat:
    from captious.text.ptb import tokenize_flat

    return tokenize_flat(texts)


def _simple(texts: Sequence[str]) -> Flat:
    """Split into lowercase words."""
    return _flatten([_WORD.findall(text.lower()) for text in texts])


def _none(texts: Sequence[str]) -> Flat:
    """Split tokenized text at spaces, tabs and line ends. A no-break space can be part of a PTB token."""
    return _flatten([_UNSPACED.findall(text) for text in texts])


def _raw(texts: Sequence[str]) -> Flat:
    """Split at all white space and change nothing else, as scorers of the COCO tools split captions."""
    return _flatten([text.split() for text in texts])


#: Replacements for characters at which the tokenizer "none" would split a token, and for the empty token.
_INSIDE = str.maketrans({"\t": "\ue000", "\r": "\ue001", "\n": "\ue002", "\f": "\ue003", "\v": "\ue004"})
_EMPTY = "\ue005"


def pieces(text: str) -> str:
    """Return a text whose tokens, by the tokenizer "none", are those of ``text.split(" ")``.

    ROUGE-L of the COCO tools splits so: the empty text between two spaces is a word, and an empty caption has
    one.
    """
    return " ".join(piece.translate(_INSIDE) or _EMPTY for piece in text.split(" "))


def _flatten(captions: list[list[str]]) -> Flat:
    counts = np.fromiter(map(len, captions), dtype=np.int64, count=len(captions))
    return [word for words in captions for word in words], counts


def _spacy_like(texts: Sequence[str]) -> Flat:
    from captious.text.spacy_like import tokenize_flat

    return tokenize_flat(texts)


_BY_NAME: dict[str, Tokenizer] = {
    "ptb": _ptb,
    "simple": _simple,
    "none": _none,
    "spacy-like": _spacy_like,
    "raw": _raw,
}


def names() -> list[str]:
    """Return the names of all tokenizers."""
    return list(_BY_NAME)


def get(name: str) -> Tokenizer:
    """Return the tokenizer of a name."""
    if name not in _BY_NAME:
        raise InputError(
            f"unknown tokenizer '{name}'{did_you_mean(name, names())} (known: {', '.join(names())})"
        )
    return _BY_NAME[name]
