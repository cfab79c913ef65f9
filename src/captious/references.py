"""References, prepared once for any number of systems: read, tokenised, encoded, and all that measures derive from them."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from captious.corpus import Captions, Corpus, places
from captious.errors import InputError
from captious.io import CaptionFile, CaptionWarning, align, read
from captious.io.prepared import caption_file, is_prepared, open_captions, save
from captious.measures.base import Measure

#: As the COCO tools.
DEFAULT_TOKENIZER = "ptb"

#: A path, a mapping from image id to captions, rows, or a data frame.
Source = Any


class References:
    """Reference captions that are encoded already. What measures derive from them stays with them, and can be kept in a file
    (:meth:`save`). They never change: any number of systems, threads and training steps can share them."""

    def __init__(self, file: CaptionFile, captions: Captions) -> None:
        self.file = file
        self.captions = captions
        self._parts: WeakValueDictionary[tuple[str, ...], Captions] = WeakValueDictionary()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        return References, (self.file, self.captions)

    @classmethod
    def read(cls, source: Any, tokenizer: str | None = None) -> References:
        """From whatever :func:`captious.io.read` takes, or from a file of prepared references.

        The tokenizer is ``ptb`` unless told; prepared references have theirs, and no other can be asked of them.
        """
        if isinstance(source, References):
            found = source
        elif isinstance(source, str | os.PathLike) and is_prepared(Path(source)):
            captions, name = open_captions(Path(source))
            found = cls(caption_file(captions, name, Path(source)), captions)
        else:
            file = source if isinstance(source, CaptionFile) else read(source, "references")
            return cls(file, Captions.of(file.captions, tokenizer or DEFAULT_TOKENIZER, ids=file.ids))
        if tokenizer is not None and tokenizer != found.captions.tokenizer:
            raise InputError(
                f"{found.file.label} was prepared with the tokenizer '{found.captions.tokenizer}', and '{tokenizer}' was "
                "asked for; prepare the references again with that tokenizer, or leave it out"
            )
        return found

    def prepare(self, measures: Iterable[Measure]) -> References:
        """Make now what measures need of the references, so that it need not be made for each system."""
        for measure in measures:
            measure.prepare(self.captions)
        return self

    def save(self, path: str | Path) -> None:
        """Keep them in a file, with all that was derived from them so far; :meth:`read` maps it into memory."""
        save(path, self.captions, self.file.name)

    def __len__(self) -> int:
        return self.captions.n_images

    def __repr__(self) -> str:
        return f"References({self.file.name!r}, {len(self):,} images x {self.captions.sizes}, {self.captions.digest})"

    def corpus(self, predictions: CaptionFile, name: str, *, subset: bool = False, part: bool = False) -> Corpus:
        """A system on these references (see :func:`captious.load`)."""
        aligned = align(self.file, predictions, subset=subset or part)
        captions, left_out, images = self.captions, 0, None
        if part:
            images = places(aligned.ids, captions)
        elif aligned.left_out:
            captions, left_out = self._of(tuple(aligned.ids)), aligned.left_out
        candidates = Captions.of(aligned.candidates, captions.tokenizer, ids=aligned.ids, over=captions)
        return Corpus(candidates, captions, name=name, left_out=left_out, images=images)

    def _of(self, ids: tuple[str, ...]) -> Captions:
        """The references of some images; systems that cover the same images share them, for as long as there are any."""
        with self._lock:
            part = self._parts.get(ids)
            if part is None:
                self._parts[ids] = part = self.captions.take_images(places(ids, self.captions))
            return part


def load(
    references: Source | None,
    predictions: Source,
    *,
    tokenizer: str | None = None,
    subset: bool = False,
    part: bool = False,
    several: bool | None = None,
    name: str | None = None,
) -> Corpus:
    """Read references and predictions into a corpus. ``references`` may be prepared ones, or ``None`` for measures that
    need none.

    ``subset`` scores the images that both have, against the references of those images, as the COCO tools do; ``part``
    scores them against all references (document frequencies are counted over all of them), so that the scores of several
    parts can be merged. ``several`` states that an image may have several predictions where the file leaves that in doubt.
    """
    return load_systems(
        references, [predictions], tokenizer=tokenizer, subset=subset, part=part, several=several, names=[name]
    )[0]


def load_systems(
    references: Source | None,
    predictions: Iterable[Source],
    *,
    tokenizer: str | None = None,
    subset: bool = False,
    part: bool = False,
    several: bool | None = None,
    names: Iterable[str | None] | None = None,
) -> list[Corpus]:
    """Several systems on the same references, which are read and encoded once."""
    sources = list(predictions)
    called = list(names) if names is not None else [None] * len(sources)
    files = (s if isinstance(s, CaptionFile) else read(s, "predictions", several=several) for s in sources)
    if references is None:
        corpora = [_without_references(file, tokenizer, name) for file, name in zip(files, called)]
    else:
        known = References.read(references, tokenizer)
        corpora = [known.corpus(file, name or file.system_name, subset=subset, part=part) for file, name in zip(files, called)]
    for corpus in corpora:
        _warn_of_empty(corpus)
    return corpora


def _without_references(file: CaptionFile, tokenizer: str | None, name: str | None) -> Corpus:
    called = name or (file.system_name if file.path is not None else "captions")
    return Corpus.build(file.ids, file.captions, tokenizer=tokenizer or DEFAULT_TOKENIZER, name=called)


def _warn_of_empty(corpus: Corpus) -> None:
    for side, captions in (("predictions", corpus.candidates), ("references", corpus.references)):
        empty = np.flatnonzero(captions.lengths == 0)
        if len(empty):
            images = captions.ids[captions.image_of[empty[0]]]
            warnings.warn(
                CaptionWarning(
                    f"{corpus.name}: {len(empty):,} of {len(captions):,} captions of the {side} have no words "
                    f"(the first is of image {images}); they are scored as empty"
                ),
                stacklevel=3,
            )
