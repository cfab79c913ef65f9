"""Sets of human judgements, read from their authors' files, from files of captious or from tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from captious.core.errors import InputError, did_you_mean
from captious.core.writing import is_standard
from captious.io.judgements import (
    audio_video_sets,
    coco_sets,
    description_sets,
    flickr_sets,
    own_format,
    pascal50s,
)
from captious.io.judgements.judged_sets import (
    CaptionPairs,
    JudgementSet,
    Protocol,
    RatedCaptions,
    RatedSystems,
    own_key,
    plain_words,
    with_protocol,
)
from captious.io.judgements.set_files import Place

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
    """Functions that detect a set in a folder and read it."""

    holds: Callable[[Place], bool]
    load: Callable[[Place], JudgementSet]
    #: Whether naming the folder selects this set. Variants must be requested by name.
    usual: bool = True


SETS: dict[str, SetReader] = {
    "flickr8k-expert": SetReader(flickr_sets.holds_flickr8k, flickr_sets.expert),
    "flickr8k-cf": SetReader(flickr_sets.holds_flickr8k, flickr_sets.crowd),
    "flickr8k-cf-all": SetReader(flickr_sets.holds_flickr8k, flickr_sets.crowd_all, usual=False),
    "composite": SetReader(flickr_sets.holds_composite, flickr_sets.composite),
    "pascal-50s": SetReader(pascal50s.holds_pascal, pascal50s.pascal),
    "abstract-50s": SetReader(pascal50s.holds_abstract, pascal50s.abstract),
    "audiocaps-eval": SetReader(audio_video_sets.holds_audiocaps, audio_video_sets.audiocaps),
    "clotho-eval": SetReader(audio_video_sets.holds_clotho, audio_video_sets.clotho),
    "msvd-eval": SetReader(audio_video_sets.holds_msvd, audio_video_sets.msvd),
    "thumb": SetReader(coco_sets.holds_thumb, coco_sets.thumb),
    "thumb-p": SetReader(coco_sets.holds_thumb, partial(coco_sets.thumb, criterion="P"), usual=False),
    "thumb-r": SetReader(coco_sets.holds_thumb, partial(coco_sets.thumb, criterion="R"), usual=False),
    "thumb-machine": SetReader(coco_sets.holds_thumb, partial(coco_sets.thumb, people=False), usual=False),
    "capeval1k": SetReader(coco_sets.holds_capeval1k, coco_sets.capeval1k),
    "polaris": SetReader(coco_sets.holds_polaris, coco_sets.polaris),
    "nebula": SetReader(coco_sets.holds_nebula, coco_sets.nebula),
    "cxc": SetReader(coco_sets.holds_cxc, coco_sets.cxc),
    "coco-2015": SetReader(coco_sets.holds_challenge, coco_sets.challenge),
    "coco-2015-c40": SetReader(
        coco_sets.holds_challenge, partial(coco_sets.challenge, test="c40"), usual=False
    ),
    "hat": SetReader(description_sets.holds_hat, description_sets.hat),
    "nocaps-foil": SetReader(description_sets.holds_foil, description_sets.foil),
    "nocaps-foil-pairs": SetReader(description_sets.holds_foil, description_sets.foil_pairs),
    "imageinwords": SetReader(description_sets.holds_iiw, description_sets.iiw),
    "imageinwords-docci": SetReader(
        description_sets.holds_iiw_docci, description_sets.iiw_docci, usual=False
    ),
    "faithscore": SetReader(description_sets.holds_faithscore, description_sets.faithscore),
}


def find_judgements(source: str | Path, data: str | Path | None = None) -> list[Callable[[], JudgementSet]]:
    """Return functions that read the sets of judgements in a source.

    ``NAME`` is a set in ``SETS``, under ``data`` (else CAPTIOUS_DATA, else the current folder), and
    ``NAME=FOLDER`` also gives its folder. A folder means all sets in it. A file is the user's table.

    Parameters
    ----------
    source
        ``NAME``, ``NAME=FOLDER``, a folder, or a file.
    data
        Folder of the public data sets.

    Examples
    --------
    >>> import json, tempfile
    >>> image = {"image_id": 1, "references": ["a dog runs", "the dog is running"]}
    >>> ratings = {"a dog runs": 5, "a dog sits": 3, "two men": 1}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     for caption, rating in ratings.items():
    ...         print(json.dumps({**image, "caption": caption, "score": rating}), file=file, flush=True)
    ...     [judged.captions for read in find_judgements(file.name) for judged in [read()]]
    [['a dog runs', 'a dog sits', 'two men']]
    """
    text = str(source)
    name, equals, folder = text.partition("=")
    if name.casefold() in SETS:
        where = folder if equals else data or os.environ.get("CAPTIOUS_DATA") or "."
        return [partial(_load_named, name.casefold(), Place(_folder(where)))]
    path = Path(text)
    if path.is_dir():
        place = Place(path)
        held = [
            partial(_load_named, key, place)
            for key, reader in SETS.items()
            if reader.usual and reader.holds(place)
        ]
        if not held:
            raise InputError(
                f"{path} holds no set of judgements that captious knows ({', '.join(SETS)}; "
                "docs/reference/judgements.md)"
            )
        return list(held)
    if path.exists() or is_standard(text):  # or a pipe
        return [partial(own_format.load, path)]
    raise InputError(
        f"'{text}' is neither a file or folder nor a set known by name{did_you_mean(text, SETS)} "
        f"(known: {', '.join(SETS)})"
    )


def load_judgements(source: str | Path, data: str | Path | None = None) -> JudgementSet:
    """Read one set of judgements (see :func:`find_judgements`).

    Parameters
    ----------
    source
        ``NAME``, ``NAME=FOLDER``, a folder with one set, or a file.
    data
        Folder of the public data sets.

    Examples
    --------
    >>> import json, tempfile
    >>> image = {"image_id": 1, "references": ["a dog runs", "the dog is running"]}
    >>> ratings = {"a dog runs": 5, "a dog sits": 3, "two men": 1}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
    ...     for caption, rating in ratings.items():
    ...         print(json.dumps({**image, "caption": caption, "score": rating}), file=file, flush=True)
    ...     judged = load_judgements(file.name)
    >>> judged.captions
    ['a dog runs', 'a dog sits', 'two men']
    """
    loaders = find_judgements(source, data)
    if len(loaders) > 1:
        raise InputError(
            f"{source} holds {len(loaders)} sets of judgements; name one of them: {', '.join(SETS)}"
        )
    return loaders[0]()


def _load_named(name: str, place: Place) -> JudgementSet:
    return SETS[name].load(place)


def _folder(folder: str | Path) -> Path:
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; give the one that holds the set's files")
    return path
