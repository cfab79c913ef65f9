"""Files of language models.

Counts are npz files, LSTMs are safetensors, n-grams of other tools are ARPA files, and transformers models
are folders.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from captious._version import __version__
from captious.core.errors import InputError
from captious.core.writing import atomic_write
from captious.io.content import read_raw, shown_name
from captious.io.npz import read_npz
from captious.metrics.learned.composite_network import pack, unpack
from captious.rerank.language_models.language_model import SPECIAL, LanguageModel, ModelVocabulary
from captious.rerank.language_models.lstm_model import LSTM
from captious.rerank.language_models.ngram import NGram, NGramOrder, Unigram
from captious.text import tokenizers

_FORMAT = 1
_WHAT = "a language model that 'captious train lm' wrote"
#: Kinds of models that captious can train.
KINDS = ("unigram", "ngram", "lstm")


def save(model: Unigram | NGram | LSTM, path: str | Path) -> None:
    """Write a language model: ``.npz`` for counts, safetensors for an LSTM."""
    head = head_of(model)
    if isinstance(model, LSTM):
        data = pack(model.arrays(), head)
    else:
        arrays: dict[str, Any] = {
            "head": np.frombuffer(json.dumps(head).encode(), np.uint8),
            **model.arrays(),
        }
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        data = buffer.getvalue()
    with atomic_write(path) as temporary:
        temporary.write_bytes(data)


def head_of(model: Unigram | NGram | LSTM) -> dict[str, Any]:
    """Return the metadata to save with the arrays."""
    return {
        "language model": model.kind,
        "format": _FORMAT,
        "version": __version__,
        "tokenizer": model.tokenizer,
        "words": model.vocabulary.words[len(SPECIAL) :],
        "made": dict(model.provenance),
    }


def load(path: str | Path, tokenizer: str = "ptb") -> LanguageModel:
    """Read a language model of any kind.

    ``tokenizer`` is the tokenizer of an ARPA file, which does not name it.

    Parameters
    ----------
    path
        An ARPA file, a model of ``captious train lm``, or a folder with a model of the transformers library.
    tokenizer
        Tokenizer of captions for ARPA files, which do not name one.

    Examples
    --------
    >>> import tempfile
    >>> from captious.data import demo_path
    >>> from captious.training import train_language_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = train_language_model(demo_path("references"), f"{folder}/lm.npz", held_out=10)
    ...     load(f"{folder}/lm.npz").name
    'lm'
    """
    where = shown_name(path)
    if Path(path).is_dir():
        from captious.rerank.language_models.causal import Causal

        model: LanguageModel = Causal(path)
    else:
        data = read_raw(path)
        if data.startswith(b"PK\x03\x04"):
            model = _from_npz(data, where)
        elif b"\\data\\" in data[:100_000]:
            from captious.rerank.language_models.arpa import read_arpa

            model = read_arpa(path, tokenizer)
        elif data[8:9] == b"{":
            model = _from_safetensors(data, where)
        else:
            raise InputError(
                f"{where}: not a language model; expected {_WHAT}, an ARPA file, or a folder of a "
                "transformers model"
            )
    model.name = _name(path)
    return model


def _name(path: str | Path) -> str:
    name = Path(path).name
    for ending in (".gz", ".npz", ".safetensors", ".arpa"):
        name = name.removesuffix(ending)
    return name


def _checked(head: Any, where: str) -> tuple[str, ModelVocabulary, str, dict[str, Any]]:
    try:
        kind, form, words, tokenizer, provenance = (
            head["language model"],
            head["format"],
            head["words"],
            head["tokenizer"],
            head["made"],
        )
    except (KeyError, TypeError):
        raise InputError(f"{where}: {_WHAT} was expected") from None
    if form != _FORMAT or kind not in KINDS:
        raise InputError(
            f"{where}: language model of kind {kind!r}, format {form!r}; this version reads "
            f"{', '.join(KINDS)} of format {_FORMAT}"
        )
    if (
        not isinstance(words, list)
        or not all(isinstance(word, str) for word in words)
        or not isinstance(provenance, dict)
    ):
        raise InputError(f"{where}: the words of the language model are damaged")
    tokenizers.get(tokenizer)
    return kind, ModelVocabulary(words), tokenizer, provenance


def _from_npz(data: bytes, where: str) -> LanguageModel:
    arrays = read_npz(data, where, _WHAT)
    try:
        head = json.loads(arrays["head"].astype(np.uint8).tobytes())
    except (KeyError, ValueError):
        raise InputError(f"{where}: {_WHAT} was expected") from None
    kind, vocabulary, tokenizer, provenance = _checked(head, where)
    try:
        if kind == "unigram":
            return Unigram(vocabulary, arrays["counts"], tokenizer, provenance)
        orders: list[NGramOrder] = []
        while f"keys.{len(orders) + 1}" in arrays:
            keys, log, backoff = (arrays[f"{name}.{len(orders) + 1}"] for name in NGramOrder._fields)
            orders.append(
                NGramOrder(keys.astype(np.int64), log.astype(np.float64), backoff.astype(np.float64))
            )
        return NGram(vocabulary, orders, tokenizer, provenance)
    except (KeyError, ValueError) as error:
        if isinstance(error, InputError):
            raise InputError(f"{where}: {error}") from None
        raise InputError(f"{where}: a part of the language model is missing ({error})") from None


def _from_safetensors(data: bytes, where: str) -> LanguageModel:
    arrays, head = unpack(data, where)
    _, vocabulary, tokenizer, provenance = _checked(head, where)
    try:
        return LSTM(vocabulary, arrays, tokenizer, provenance)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
