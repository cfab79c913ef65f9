"""ARPA files of n-gram models, read into and written from the arrays of
:mod:`captious.rerank.language_models.ngram`.

The format is that of SRILM and KenLM.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np

from captious.core.errors import InputError
from captious.core.writing import atomic_write
from captious.io.content import decode, read_bytes, shown_name
from captious.rerank.language_models.language_model import BEGIN, END, SPECIAL, UNKNOWN, ModelVocabulary
from captious.rerank.language_models.ngram import NGram, NGramOrder

_COUNT = re.compile(r"ngram\s+(\d+)\s*=\s*(\d+)")
_SECTION = re.compile(r"\\(\d+)-grams:")
#: Spellings of the three special words in ARPA files.
_NAMES = {"</s>": END, "<s>": BEGIN, "<unk>": UNKNOWN, "<UNK>": UNKNOWN}
_LN10 = math.log(10)
#: log10 probability that stands for "impossible" in ARPA files.
_NEVER = -99.0


def read_arpa(path: str | Path, tokenizer: str = "ptb") -> NGram:
    """Read an n-gram model from an ARPA file (also gzip). Its words must be tokens of ``tokenizer``."""
    where = shown_name(path)
    sections = _sections(decode(read_bytes(path), where), where)
    vocabulary, number = _vocabulary(sections[0], where)
    size = len(vocabulary)
    orders: list[NGramOrder] = []
    below: dict[tuple[int, ...], int] = {}
    for n, rows in enumerate(sections, 1):
        grams = {}
        for line, log, words, backoff in rows:
            try:
                gram = tuple(number[word] for word in words)
            except KeyError as error:
                raise InputError(
                    f"{where}, line {line:,}: the word {error} is not among the 1-grams"
                ) from None
            if gram in grams:
                raise InputError(
                    f"{where}, line {line:,}: the {n}-gram '{' '.join(words)[:80]}' occurs twice"
                )
            grams[gram] = (
                line,
                log * _LN10 if log > _NEVER else -np.inf,
                backoff * _LN10 if backoff > _NEVER else -np.inf,
            )
        if n == 1:
            # A model without <unk> gives unknown words probability 0.
            grams |= {(i,): (0, -np.inf, 0.0) for i in range(size) if (i,) not in grams}
            grams[BEGIN,] = (0, -np.inf, grams[BEGIN,][2])
        keyed = []
        for gram, (line, log, backoff) in grams.items():
            context = below.get(gram[:-1]) if n > 1 else 0
            if context is None:
                raise InputError(
                    f"{where}, line {line:,}: the context of this {n}-gram is not among the {n - 1}-grams"
                )
            keyed.append((context * size + gram[-1], gram, log, backoff))
        keyed.sort()
        below = {gram: i for i, (_, gram, _, _) in enumerate(keyed)}
        columns = list(zip(*keyed)) if keyed else [(), (), (), ()]
        orders.append(
            NGramOrder(
                np.array(columns[0], np.int64),
                np.array(columns[2], np.float64),
                np.array(columns[3], np.float64),
            )
        )
    return NGram(vocabulary, orders, tokenizer, {"order": len(orders), "from": "ARPA"})


Row = tuple[int, float, list[str], float]


def _sections(text: str, where: str) -> list[list[Row]]:
    announced: dict[int, int] = {}
    by_order: dict[int, list[Row]] = {}
    rows: list[Row] | None = None
    n = 0
    started = ended = False
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or ended:
            continue
        if line == "\\data\\":
            started = True
        elif not started:
            continue  # free text before the header
        elif line == "\\end\\":
            ended = True
        elif match := _SECTION.fullmatch(line):
            n = int(match[1])
            rows = by_order.setdefault(n, [])
        elif match := _COUNT.fullmatch(line):
            announced[int(match[1])] = int(match[2])
        elif rows is None:
            raise InputError(f"{where}, line {number:,}: 'ngram N=COUNT' was expected, not '{line[:60]}'")
        else:
            rows.append(_row(line, n, number, where, last=n == len(announced)))
    if not started or not ended:
        raise InputError(f"{where}: not a complete ARPA file ('\\data\\' or '\\end\\' is missing)")
    if (
        not announced
        or list(announced) != list(range(1, len(announced) + 1))
        or list(by_order) != list(announced)
    ):
        raise InputError(
            f"{where}: the header must announce all orders from 1 on, and each order must be listed"
        )
    for order, count in announced.items():
        if len(by_order[order]) != count:
            raise InputError(
                f"{where}: {count:,} {order}-grams are announced, but {len(by_order[order]):,} are listed"
            )
    return [by_order[order] for order in announced]


def _row(line: str, n: int, number: int, where: str, *, last: bool) -> Row:
    parts = line.split()
    try:
        if len(parts) not in ((n + 1,) if last else (n + 1, n + 2)):
            raise ValueError
        log, backoff = float(parts[0]), float(parts[n + 1]) if len(parts) == n + 2 else 0.0
        if not log <= 0 or math.isnan(backoff):
            raise ValueError
    except ValueError:
        raise InputError(
            f"{where}, line {number:,}: expected log10 P (0 or less), {n} words and an optional backoff "
            "weight, "
            f"not '{line[:60]}'"
        ) from None
    return number, log, parts[1 : n + 1], backoff


def _vocabulary(rows: list[Row], where: str) -> tuple[ModelVocabulary, dict[str, int]]:
    words = [words[0] for _, _, words, _ in rows]
    for special in SPECIAL[:2]:
        if special not in words:
            raise InputError(f"{where}: the 1-grams lack {special}; captions need a beginning and an end")
    listed = [word for word in dict.fromkeys(words) if word not in _NAMES]
    vocabulary = ModelVocabulary(listed)
    number = {word: i for i, word in enumerate(vocabulary.words)}
    return vocabulary, number | {word: i for word, i in _NAMES.items() if word in words}


def write_arpa(model: NGram, path: str | Path) -> None:
    """Write an n-gram model as an ARPA file."""
    size = len(model.vocabulary)
    words = model.vocabulary.words
    lines = ["\\data\\", *(f"ngram {n}={len(order.keys)}" for n, order in enumerate(model.orders, 1))]
    names: list[str] = [""]
    for n, order in enumerate(model.orders, 1):
        lines += ["", f"\\{n}-grams:"]
        names = [
            f"{names[key // size]} {words[key % size]}" if n > 1 else words[key]
            for key in order.keys.tolist()
        ]
        log = np.maximum(order.log / _LN10, _NEVER)
        backoff = np.maximum(order.backoff / _LN10, _NEVER)
        for name, p, weight in zip(names, log.tolist(), backoff.tolist()):
            lines.append(f"{p:.9g}\t{name}" + (f"\t{weight:.9g}" if n < model.order else ""))
    lines += ["", "\\end\\", ""]
    with atomic_write(path) as temporary:
        temporary.write_text("\n".join(lines), encoding="utf-8")
