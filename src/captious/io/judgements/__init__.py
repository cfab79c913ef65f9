"""Sets of human judgements, each read from its authors' files, from ours, or from anyone's own table."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from captious.errors import InputError, did_you_mean
from captious.io.judgements import coco_sets, composite, fifty, flickr8k, own
from captious.io.judgements.places import Place
from captious.io.judgements.sets import (
    CaptionPairs,
    JudgementSet,
    Protocol,
    RatedCaptions,
    RatedSystems,
    own_key,
    plain_words,
    with_protocol,
)
from captious.writing import is_standard

__all__ = [
    "SETS",
    "CaptionPairs",
    "JudgementSet",
    "Protocol",
    "RatedCaptions",
    "RatedSystems",
    "find_judgements",
    "load_judgements",
    "own_key",
    "plain_words",
    "with_protocol",
]


class SetReader(NamedTuple):
    """How one set is recognised in a folder and read from it."""

    holds: Callable[[Place], bool]
    load: Callable[[Place], JudgementSet]
    #: Whether a folder that holds it means this set too; variants must be asked for by name.
    usual: bool = True


SETS: dict[str, SetReader] = {
    "flickr8k-expert": SetReader(flickr8k.holds, flickr8k.expert),
    "flickr8k-cf": SetReader(flickr8k.holds, flickr8k.crowd),
    "flickr8k-cf-all": SetReader(flickr8k.holds, flickr8k.crowd_all, usual=False),
    "composite": SetReader(composite.holds, composite.load),
    "pascal-50s": SetReader(fifty.holds_pascal, fifty.pascal),
    "abstract-50s": SetReader(fifty.holds_abstract, fifty.abstract),
    "thumb": SetReader(coco_sets.holds_thumb, coco_sets.thumb),
    "thumb-p": SetReader(coco_sets.holds_thumb, partial(coco_sets.thumb, criterion="P"), usual=False),
    "thumb-r": SetReader(coco_sets.holds_thumb, partial(coco_sets.thumb, criterion="R"), usual=False),
    "thumb-machine": SetReader(coco_sets.holds_thumb, partial(coco_sets.thumb, people=False), usual=False),
    "capeval1k": SetReader(coco_sets.holds_capeval1k, coco_sets.capeval1k),
    "polaris": SetReader(coco_sets.holds_polaris, coco_sets.polaris),
    "nebula": SetReader(coco_sets.holds_nebula, coco_sets.nebula),
    "cxc": SetReader(coco_sets.holds_cxc, coco_sets.cxc),
    "coco-2015": SetReader(coco_sets.holds_challenge, coco_sets.challenge),
    "coco-2015-c40": SetReader(coco_sets.holds_challenge, partial(coco_sets.challenge, test="c40"), usual=False),
}


def find_judgements(source: str | Path, data: str | Path | None = None) -> list[Callable[[], JudgementSet]]:
    """What a name stands for, as functions that read it.

    ``NAME`` is a set known by name, under ``data`` (else CAPTIOUS_DATA, else here); ``NAME=FOLDER`` says where it is; a folder
    stands for all sets that it holds; a file is one's own table of judgements.
    """
    text = str(source)
    name, equals, folder = text.partition("=")
    if name.casefold() in SETS:
        where = folder if equals else data or os.environ.get("CAPTIOUS_DATA") or "."
        return [partial(_load_named, name.casefold(), Place(_folder(where)))]
    path = Path(text)
    if path.is_dir():
        place = Place(path)
        held = [partial(_load_named, key, place) for key, reader in SETS.items() if reader.usual and reader.holds(place)]
        if not held:
            raise InputError(f"{path} holds no set of judgements that captious knows ({', '.join(SETS)}; docs/agreement.md)")
        return list(held)
    if path.exists() or is_standard(text):  # a pipe will do, too
        return [partial(own.load, path)]
    raise InputError(
        f"'{text}' is neither a file or folder nor a set known by name{did_you_mean(text, SETS)} (known: {', '.join(SETS)})"
    )


def load_judgements(source: str | Path, data: str | Path | None = None) -> JudgementSet:
    """One set of judgements; see :func:`find_judgements`."""
    found = find_judgements(source, data)
    if len(found) > 1:
        raise InputError(f"{source} holds {len(found)} sets of judgements; name one of them: {', '.join(SETS)}")
    return found[0]()


def _load_named(name: str, place: Place) -> JudgementSet:
    return SETS[name].load(place)


def _folder(folder: str | Path) -> Path:
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; give the one that holds the set's files")
    return path
