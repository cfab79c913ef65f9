"""Distinct names for systems. Files of one name are distinguished by their folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def distinct(names: Sequence[str]) -> list[str]:
    """Number repeated names: the second ``pred`` becomes ``pred (2)``."""
    seen: set[str] = set()
    result: list[str] = []
    for name in names:
        unique, count = name, 1
        while unique in seen:
            count += 1
            unique = f"{name} ({count})"
        seen.add(unique)
        result.append(unique)
    return result


def tell_apart(names: Sequence[str], paths: Sequence[Path | None]) -> list[str]:
    """Distinguish systems of one name by the paths of their files: ``runA/results``, ``runB/results``.

    Files in one folder are distinguished by their extensions. The same file twice is numbered.
    """
    result = list(names)
    for name in {name for name in names if list(names).count(name) > 1}:
        group = [i for i, other in enumerate(names) if other == name]
        places = [paths[i] for i in group]
        if any(place is None for place in places):
            continue
        absolute = [Path(place).absolute() for place in places if place is not None]
        for i, unique in zip(group, _by_folder(name, absolute)):
            result[i] = unique
    return distinct(result)


def _by_folder(name: str, paths: list[Path]) -> list[str]:
    if len(set(paths)) == 1:
        return [name for _ in paths]
    folders = [path.parent.parts for path in paths]
    if len(set(folders)) < len(set(paths)):
        # Files in one folder differ in their extensions.
        name_of = {path: path.name for path in paths}
    else:
        name_of = dict.fromkeys(paths, name)
    if len(set(name_of.values())) == len(paths):
        return [name_of[path] for path in paths]
    for depth in range(1, max(map(len, folders), default=0) + 1):
        full = ["/".join([*folder[-depth:], name_of[path]]) for path, folder in zip(paths, folders)]
        if len(set(full)) == len(set(paths)):
            # Leave out the folders between the first one, which differs, and the file.
            short = [_shortened(folder[-depth:], name_of[path]) for path, folder in zip(paths, folders)]
            return short if len(set(short)) == len(set(paths)) else full
    return list(name_of.values())


def _shortened(folders: tuple[str, ...], name: str) -> str:
    return "/".join([folders[0], *(["…"] if len(folders) > 1 else []), name]) if folders else name
