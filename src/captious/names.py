"""Names that tell systems apart: two files of one name get as much of their folders as it takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def distinct(names: Sequence[str]) -> list[str]:
    """The second ``pred`` becomes ``pred (2)``."""
    seen: set[str] = set()
    found: list[str] = []
    for name in names:
        called, count = name, 1
        while called in seen:
            count += 1
            called = f"{name} ({count})"
        seen.add(called)
        found.append(called)
    return found


def tell_apart(names: Sequence[str], paths: Sequence[Path | None]) -> list[str]:
    """Names of systems, those of one name told apart by the paths of their files: ``runA/results``, ``runB/results``.

    Where folders do not differ the files' endings do; the same file twice is numbered.
    """
    found = list(names)
    for name in {name for name in names if list(names).count(name) > 1}:
        group = [i for i, other in enumerate(names) if other == name]
        places = [paths[i] for i in group]
        if any(place is None for place in places):
            continue
        for i, called in zip(group, _by_folder(name, [Path(place).absolute() for place in places if place is not None])):
            found[i] = called
    return distinct(found)


def _by_folder(name: str, paths: list[Path]) -> list[str]:
    if len(set(paths)) == 1:
        return [name for _ in paths]
    folders = [path.parent.parts for path in paths]
    if len(set(folders)) < len(set(paths)):
        # Some are in one folder: their endings differ.
        name_of = {path: path.name for path in paths}
    else:
        name_of = dict.fromkeys(paths, name)
    if len(set(name_of.values())) == len(paths):
        return [name_of[path] for path in paths]
    for depth in range(1, max(map(len, folders), default=0) + 1):
        full = ["/".join([*folder[-depth:], name_of[path]]) for path, folder in zip(paths, folders)]
        if len(set(full)) == len(set(paths)):
            # What all have in common between the folder that differs and the file says nothing.
            short = [_shortened(folder[-depth:], name_of[path]) for path, folder in zip(paths, folders)]
            return short if len(set(short)) == len(set(paths)) else full
    return list(name_of.values())


def _shortened(folders: tuple[str, ...], name: str) -> str:
    return "/".join([folders[0], *(["…"] if len(folders) > 1 else []), name]) if folders else name
