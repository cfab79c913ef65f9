"""Location of METEOR's word lists and paraphrase table: an installed package, or a directory of the user.

The data is not part of captious. The package ``pycocoevalcap`` (extra ``captious[meteor]``) has it: a jar
file (a zip archive with the small lists) and the compressed paraphrase table. Only these files are read. The
package itself is never imported.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from captious.core import digests as digest
from captious.core import limits
from captious.core.errors import InputError, MissingExtraError, printable

#: Environment variable naming a directory with METEOR's data.
VARIABLE = "CAPTIOUS_METEOR_DATA"

_JAR = "meteor-1.5.jar"
_PARAPHRASES = "paraphrase-en.gz"


@dataclass(frozen=True)
class MeteorData:
    """The two files of METEOR's data."""

    jar: Path
    paraphrases: Path

    def lines(self, member: str) -> tuple[str, ...]:
        """Return the lines of a list inside the jar, such as ``function/english.words``."""
        return _lines(self, member)

    def checksum(self, member: str) -> str:
        """Return the checksum and size of a list from the jar's directory, without reading the list."""
        with _member(self, member) as (_, info):
            return f"{info.CRC:08x}-{info.file_size}"

    def digest(self, member: str) -> str:
        """Return the digest of a list's lines."""
        return digest.of_lines(["\n".join(self.lines(member))])


# Each list is requested twice: to look up words, and for its digest in signatures.
@lru_cache(maxsize=8)
def _lines(data: MeteorData, member: str) -> tuple[str, ...]:
    with _member(data, member) as (archive, info):
        limits.CONTENT.check(info.file_size, f"{data.jar}, {member}")
        return tuple(archive.read(info).decode("utf-8").splitlines())


@contextmanager
def _member(data: MeteorData, member: str) -> Iterator[tuple[zipfile.ZipFile, zipfile.ZipInfo]]:
    """Return the opened jar and its directory entry of a list."""
    try:
        with zipfile.ZipFile(data.jar) as archive:
            yield archive, archive.getinfo(member)
    except KeyError:
        raise InputError(
            f"{data.jar} has no '{member}': METEOR needs the file {_JAR} of METEOR 1.5"
        ) from None
    except (
        OSError, EOFError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error, NotImplementedError,
        RuntimeError,
    ) as error:  # fmt: skip
        reason = printable(str(error))[:200]
        raise InputError(
            f"cannot read {data.jar}: {reason}; reinstall with pip install 'captious[meteor]'"
        ) from error


def installed_folder() -> Path | None:
    """Return the folder of the data in the installed package ``pycocoevalcap``, or None.

    Another module can have that name: a stand-in (`captious.compat.install`), or a copy in a project's
    folder. So the path is searched without regard to what is imported under the name, and then the files of
    the installed distribution. Neither runs the package's code.
    """
    # Dense captions are scored a few at a time, and the search takes longer than some of these scores.
    places = tuple(sys.path)
    if places in _located and (_located[places] / _JAR).is_file():
        return _located[places]
    folder = _search()
    if folder is not None:
        _located[places] = folder
    return folder


#: Folder found for a search path.
_located: dict[tuple[str, ...], Path] = {}


def _search() -> Path | None:
    spec = importlib.machinery.PathFinder.find_spec("pycocoevalcap")
    folders = [Path(place) / "meteor" for place in (spec.submodule_search_locations or ())] if spec else []
    if not any((folder / _JAR).is_file() for folder in folders):
        from importlib.metadata import distributions

        listed = [found.locate_file("pycocoevalcap/meteor") for found in distributions(name="pycocoevalcap")]
        folders = [*map(Path, map(str, listed)), *folders]
    return next((folder for folder in folders if (folder / _JAR).is_file()), next(iter(folders), None))


def find(data_dir: str | Path | None = None) -> MeteorData:
    """Locate the data: in ``data_dir``, else in ``$CAPTIOUS_METEOR_DATA``, else in the installed
    ``pycocoevalcap``.

    A directory holds ``meteor-1.5.jar`` and ``paraphrase-en.gz``, the latter there or in its folder ``data``.
    """
    configured = data_dir or os.environ.get(VARIABLE)
    if configured:
        folder = Path(configured).expanduser()
        if not folder.is_dir():
            raise InputError(f"the METEOR data directory {folder} does not exist")
    else:
        installed = installed_folder()
        if installed is None:
            raise MissingExtraError("pycocoevalcap", "meteor", "METEOR (without --meteor-data DIR)")
        folder = installed
    jar = folder / _JAR
    paraphrases = folder / "data" / _PARAPHRASES
    if not paraphrases.is_file() and (folder / _PARAPHRASES).is_file():
        paraphrases = folder / _PARAPHRASES
    missing = [path.name for path in (jar, paraphrases) if not path.is_file()]
    if missing:
        raise InputError(
            f"the METEOR data directory {folder} lacks {' and '.join(missing)}; "
            f"it must hold {_JAR} and data/{_PARAPHRASES}, as the package pycocoevalcap does "
            "(pip install 'captious[meteor]')"
        )
    return MeteorData(jar, paraphrases)
