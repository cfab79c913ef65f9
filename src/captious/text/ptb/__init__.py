"""The COCO pipeline's tokenizer: Stanford PTBTokenizer 3.4.1 with ``-preserveLines -lowerCase``, in Python.

``tokenize`` and ``tokenize_batch`` return the words of captions, ``tokenize_flat`` those of many captions in one flat
list, which is what a corpus stores. ``tokenize_lines`` takes captions as lines of one file, as the reference does: there a
line's tokens can depend on how the next line begins. A caption is one caption even when it contains line breaks: they are white space.
A token may contain a no-break space (where the reference keeps a space inside a token, as in a mixed number), so join
and split tokens at plain spaces only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from captious.text.ptb.grammar import words_with_period
from captious.text.ptb.lexer import NEXT_LINE, Lexer, kept_lexer, lexer
from captious.text.ptb.plain import PlainPath

__all__ = ["PUNCTUATION", "tokenize", "tokenize_batch", "tokenize_flat", "tokenize_lines"]

# Dropped by the COCO pipeline after lowercasing, so the lowercase names of brackets stay in.
PUNCTUATION = frozenset(
    ["''", "'", "``", "`", "-LRB-", "-RRB-", "-LCB-", "-RCB-", ".", "?", "!", ",", ":", "-", "--", "...", ";"]
)


# White space, line ends included, as the rules that look at the next line see it.
_BLANK = " \t\r\n\u000b\u000c\u0085\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u3000"


def tokenize(
    text: str, keep_punctuation: bool = False, *, lowercase: bool = True, following: str = NEXT_LINE
) -> list[str]:
    """Tokens of one caption. ``following`` is what stands behind it: after an abbreviation or a single letter with a period
    the reference looks there."""
    return _tokens(lexer(), text, keep_punctuation, lowercase, following)


def _tokens(by: Lexer, text: str, keep_punctuation: bool = False, lowercase: bool = True, following: str = NEXT_LINE) -> list[str]:
    tokens = by.tokens(text.replace("\n", " "), following)
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


def tokenize_many(texts: Sequence[str]) -> list[list[str]]:
    """Words of captions that are not plain, out of many that are."""
    by = kept_lexer()
    return [_tokens(by, text) for text in texts]


def tokenize_lines(texts: Sequence[str], keep_punctuation: bool = False) -> list[list[str]]:
    """Lowercase tokens of captions that stand one below the other in a file, as the reference tokenizes them: a caption that
    ends in an abbreviation, an acronym or a single letter is divided by what the next one begins with."""
    words, counts = _flat(texts, keep_punctuation, as_lines=True)
    ends = np.cumsum(counts)
    return [words[start:end] for start, end in zip((ends - counts).tolist(), ends.tolist())]


def _behind(texts: Sequence[str], index: int) -> str:
    """What the rules see behind a line: all up to the end of the next line that is not blank, or to the end of the file."""
    end = index + 1
    while end < len(texts) and not texts[end].strip(_BLANK):
        end += 1
    return "\n".join(["", *texts[index + 1 : end + 1], *([""] if end + 1 < len(texts) else [])])


def _flat(
    texts: Sequence[str], keep_punctuation: bool, *, as_lines: bool = False
) -> tuple[list[str], NDArray[np.int64]]:
    lines = "\n".join(["", *texts, ""])
    if lines.count("\n") != len(texts) + 1:
        texts = [text.replace("\n", " ") for text in texts]
        lines = "\n".join(["", *texts, ""])
    words, counts, plain = _plain_path().split(lines, keep_punctuation)
    others = np.flatnonzero(~plain)
    if not len(others):
        return words, counts
    places = (np.cumsum(counts) - counts)[others].tolist()  # where words of the other captions belong
    known: dict[tuple[str, str], list[str]] = {}
    pieces: list[str] = []
    done = 0
    for index, place in zip(others.tolist(), places):
        text, following = texts[index], _behind(texts, index) if as_lines else NEXT_LINE
        tokens = known.get((text, following))
        if tokens is None:
            tokens = known[text, following] = tokenize(text, keep_punctuation, following=following)
        pieces += words[done:place]
        pieces += tokens
        done = place
        counts[index] = len(tokens)
    pieces += words[done:]
    return pieces, counts


@lru_cache(maxsize=1)
def _plain_path() -> PlainPath:
    return PlainPath(words_with_period())
