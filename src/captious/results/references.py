"""References that are read, tokenized and encoded once for any number of systems."""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from captious.core.container import Grouped, StoredTexts
from captious.core.errors import InputError
from captious.core.memo import Lock
from captious.core.progress import track
from captious.core.writing import is_standard
from captious.corpus import Captions, Corpus, places
from captious.io import CaptionFile, CaptionWarning, align, read
from captious.io.caption_files import split_names
from captious.io.describe import has_both_sides
from captious.io.image_columns import of_split
from captious.io.reading import caption_file, is_prepared, open_prepared, save_prepared
from captious.metrics.base import Measure

#: The tokenizer of the COCO tools.
DEFAULT_TOKENIZER = "ptb"

#: A path, a mapping from image id to captions, rows, or a data frame.
Source = Any


class References:
    """Encoded reference captions.

    Products of measures (n-gram tables, scene graphs, …) are cached with them, and :meth:`save` writes them
    to a file. References never change, so any number of systems, threads and training steps can share them.
    """

    def __init__(self, file: CaptionFile, captions: Captions) -> None:
        self.file = file
        self.captions = captions
        self._parts: WeakValueDictionary[tuple[str, ...], Captions] = WeakValueDictionary()
        self._lock = Lock()

    def __reduce__(self) -> tuple[object, ...]:
        return References, (self.file, self.captions)

    @classmethod
    def read(
        cls,
        source: Any,
        tokenizer: str | None = None,
        split: str | Iterable[str] | None = None,
        *,
        strict: bool = False,
    ) -> References:
        """Read anything that :func:`captious.io.read` takes, or a file of prepared references.

        The tokenizer is ``ptb`` by default. Prepared references have their own, and no other is accepted.
        ``split`` selects images by their split ("test", "train,restval").
        """
        splits = split_names(split if split is None or isinstance(split, str) else list(split))
        if splits and isinstance(source, References | CaptionFile):
            raise InputError("a split is chosen when references are read; pass the file itself with split=…")
        if isinstance(source, References):
            references = source
        elif isinstance(source, str | os.PathLike) and is_prepared(Path(source)):
            if splits:
                raise InputError(
                    f"{source} has prepared references, which have no splits; prepare those of the split "
                    f"('captious prepare REFS --split {','.join(splits)}')"
                )
            captions, name = open_prepared(Path(source))
            references = cls(caption_file(captions, name, Path(source)), captions)
        else:
            file = source if isinstance(source, CaptionFile) else read(source, "references")
            _check_format(file, strict)
            if splits:
                file = of_split(file, source, splits)
            captions = Captions.of(file.captions, tokenizer or DEFAULT_TOKENIZER, ids=file.ids)
            if isinstance(captions.encoding.texts, StoredTexts):
                # Share the texts with the encoding instead of storing them twice.
                file = replace(file, captions=Grouped(captions.encoding.texts, captions.image_offsets))
            return cls(file, captions)
        if tokenizer is not None and tokenizer != references.captions.tokenizer:
            raise InputError(
                f"{references.file.label} was prepared with the tokenizer '{references.captions.tokenizer}', "
                f"and '{tokenizer}' was asked for; prepare the references again with that tokenizer, or "
                "leave it out"
            )
        return references

    def prepare(self, measures: Iterable[Measure]) -> References:
        """Compute the products of measures that depend on references only, once for all systems."""
        for measure in track(list(measures), "preparing references", label=lambda one: one.name):
            measure.prepare(self.captions)
        return self

    @property
    def products(self) -> list[str]:
        """Names of the products that measures have computed from the references."""
        memos = (self.captions.encoding.memo, self.captions.memo)
        return sorted({key[0] for memo in memos for key, _ in memo.products()})

    def save(self, path: str | Path) -> None:
        """Write the references and their cached products to a file, which :meth:`read` maps into memory."""
        save_prepared(path, self.captions, self.file.name)

    def __len__(self) -> int:
        return self.captions.n_images

    def __repr__(self) -> str:
        images = f"{len(self):,} images x {self.captions.sizes}"
        return f"References({self.file.name!r}, {images}, {self.captions.digest})"

    def corpus(
        self, predictions: CaptionFile, name: str, *, subset: bool = False, part: bool = False
    ) -> Corpus:
        """Combine a system's captions with these references (see :func:`captious.load`)."""
        aligned = align(self.file, predictions, subset=subset or part)
        captions, left_out, images = self.captions, 0, None
        if part:
            images = places(aligned.ids, captions)
        elif aligned.left_out:
            captions, left_out = self._of(tuple(aligned.ids)), aligned.left_out
        candidates = Captions.of(aligned.candidates, captions.tokenizer, ids=aligned.ids, over=captions)
        return Corpus(candidates, captions, name=name, left_out=left_out, images=images)

    def _of(self, ids: tuple[str, ...]) -> Captions:
        """Return the references of some images. Systems that cover the same images share them."""
        with self._lock:
            part = self._parts.get(ids)
            if part is None:
                self._parts[ids] = part = self.captions.take_images(places(ids, self.captions))
            return part


def _check_format(file: CaptionFile, strict: bool) -> None:
    """Warn of a system's results in place of references; refuse them if ``strict``."""
    if file.format != "coco-results" or file.several or file.path is None:
        return
    message = (
        f"{file.label} has one caption per image in the format of COCO results, as a system writes it, "
        "but references are expected"
    )
    if strict:
        raise InputError(f"{message}; if they are references, save them as JSON lines or CSV")
    warnings.warn(CaptionWarning(f"{message}; give the references first"), stacklevel=3)


def load(
    references: Source | None,
    predictions: Source,
    *,
    tokenizer: str | None = None,
    subset: bool = False,
    part: bool = False,
    several: bool | None = None,
    name: str | None = None,
    split: str | Iterable[str] | None = None,
) -> Corpus:
    """Read references and predictions into a corpus.

    Parameters
    ----------
    references
        A path, a mapping from image id to captions, rows, a data frame, or prepared references. None for
        measures that need no references.
    predictions
        Captions of one system, in any of these forms.
    tokenizer
        "ptb" (default), "simple", "none", "spacy-like" or "raw". Prepared references have their own.
    subset
        Score only the images that both have, against the references of those images, as in the COCO tools.
    part
        Score the images of the predictions against all references, which all count for document frequencies,
        so that the scores of several parts can be merged.
    several
        Whether an image may have several predictions, if the file does not tell.
    name
        Name of the system (default: that of the file).
    split
        Use only the references of these splits ("test", "train,restval"), for Karpathy's files and files
        with a column ``split``.

    Examples
    --------
    >>> load({1: ["a dog runs"]}, {1: "a dog"}).ids
    ('1',)
    """
    return load_systems(
        references,
        [predictions],
        tokenizer=tokenizer,
        subset=subset,
        part=part,
        several=several,
        names=[name],
        split=split,
    )[0]


def parallel(
    predictions: Sequence[str | Sequence[str]],
    references: Sequence[str | Sequence[str]],
    tokenizer: str | None = None,
    name: str = "predictions",
) -> Corpus:
    """Build a corpus from two parallel lists: element i is one caption or several of image i."""
    for side, captions in (("predictions", predictions), ("references", references)):
        if isinstance(captions, str) or not isinstance(captions, Sequence):
            raise InputError(f"{side} are a list with one element per image, not {type(captions).__name__}")
    if len(predictions) != len(references):
        raise InputError(
            f"{len(predictions):,} predictions and {len(references):,} references were given; give "
            "references for each prediction"
        )
    ids = [str(i) for i in range(len(predictions))]
    corpus = Corpus.build(
        ids,
        _lists(predictions, "predictions"),
        _lists(references, "references"),
        tokenizer=tokenizer or DEFAULT_TOKENIZER,
        name=name,
    )
    _warn_of_empty(corpus)
    return corpus


def _lists(captions: Sequence[str | Sequence[str]], side: str) -> list[list[str]]:
    """Return a list of captions per image."""
    groups = [
        [one] if isinstance(one, str) else list(one) if isinstance(one, Sequence) else [one]
        for one in captions
    ]
    for place, group in enumerate(groups):
        for text in group:
            if not isinstance(text, str):
                raise InputError(
                    f"{side}[{place}] has {type(text).__name__} where a caption (text) is expected"
                )
    return groups


def load_systems(
    references: Source | None,
    predictions: Iterable[Source],
    *,
    tokenizer: str | None = None,
    subset: bool = False,
    part: bool = False,
    several: bool | None = None,
    names: Iterable[str | None] | None = None,
    split: str | Iterable[str] | None = None,
) -> list[Corpus]:
    """Load several systems on the same references, which are read and encoded only once.

    Parameters
    ----------
    references
        A caption file, a mapping from image to captions, or prepared references. None: there are none.
    predictions
        A caption file or mapping for each system.
    tokenizer
        Name of a tokenizer (default: ``ptb``, or that of prepared references).
    subset
        Use only the images that both sides have.
    part
        Accept predictions of some of the images, against the references of all.
    several
        Whether several rows of one image are several captions. By default, most images decide.
    names
        Names of the systems (default: those of the files).
    split
        Splits of the references to use.

    Examples
    --------
    >>> from captious.data import demo_path
    >>> systems = load_systems(demo_path("references"), [demo_path("good"), demo_path("poor")])
    >>> [(system.name, len(system.ids)) for system in systems]
    [('good', 60), ('poor', 60)]
    """
    if subset and part:
        raise InputError(
            "--subset scores against the references of the images that both have, --part against all; "
            "give one of them"
        )
    sources = list(predictions)
    chosen_names = list(names) if names is not None else [None] * len(sources)
    if len(chosen_names) != len(sources):
        raise InputError(
            f"{len(sources)} systems were given and {len(chosen_names)} "
            f"name{'s' if len(chosen_names) != 1 else ''}; give one name for each system (--name, names=…)"
        )
    check_repeated(references, sources)
    files = [s if isinstance(s, CaptionFile) else read(s, "predictions", several=several) for s in sources]
    labels = system_names(files, chosen_names, "captions" if references is None else None)
    if references is None:
        corpora = [
            Corpus.build(file.ids, file.captions, tokenizer=tokenizer or DEFAULT_TOKENIZER, name=name)
            for file, name in zip(files, labels)
        ]
    else:
        encoded = References.read(references, tokenizer, split)
        corpora = [encoded.corpus(file, name, subset=subset, part=part) for file, name in zip(files, labels)]
    for corpus in corpora:
        _warn_of_empty(corpus)
    return corpora


def check_repeated(references: Source | None, predictions: Sequence[Source]) -> None:
    """Refuse references that are also predictions, and warn of a system that is given twice."""
    if (reference := _file_key(references)) is not None:
        same = next((source for source in predictions if _file_key(source) == reference), None)
        if same is not None and not _has_both_sides(same):
            raise InputError(
                f"{_label(same)} is given as references and as predictions; "
                "give the captions of a system to score"
            )
    seen = set()
    for source in predictions:
        if (key := _file_key(source)) is not None:
            if key in seen:
                warnings.warn(
                    CaptionWarning(f"{_label(source)} is given twice: two systems are equal"), stacklevel=3
                )
            seen.add(key)


def _has_both_sides(source: Source) -> bool:
    """Whether a file has references and, in other fields, predictions."""
    path = source.path if isinstance(source, CaptionFile) else source
    return isinstance(path, str | os.PathLike) and not is_prepared(Path(path)) and has_both_sides(path)


def _label(source: Source) -> str:
    return source.label if isinstance(source, CaptionFile) else str(source)


def _file_key(source: Source) -> tuple[int, int] | None:
    """Return the identity of a file, or None for other sources."""
    if isinstance(source, References | CaptionFile):
        source = (source.file if isinstance(source, References) else source).path
    if not isinstance(source, str | os.PathLike) or is_standard(source):
        return None
    try:
        status = Path(source).stat()
    except (OSError, ValueError):  # reported when the file is read
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def system_names(
    files: Sequence[CaptionFile], chosen: Sequence[str | None], unnamed: str | None = None
) -> list[str]:
    """Return the names of systems in tables.

    They are the names that the caller chose, or those of the files, with their folders where names are equal.
    """
    names = [
        name or (unnamed if unnamed is not None and file.path is None else file.system_name)
        for file, name in zip(files, chosen)
    ]
    paths = [file.path if name is None else None for file, name in zip(files, chosen)]
    return tell_apart(names, paths)


def _warn_of_empty(corpus: Corpus) -> None:
    for side, captions in (("predictions", corpus.candidates), ("references", corpus.references)):
        empty = np.flatnonzero(captions.lengths == 0)
        if len(empty):
            first = captions.ids[captions.image_of[empty[0]]]
            warnings.warn(
                CaptionWarning(
                    f"{corpus.name}: {len(empty):,} of {len(captions):,} captions of the {side} have no "
                    f"words (the first is of image {first}); they are scored as empty"
                ),
                stacklevel=3,
            )


# Names of systems ---------------------------------------------------------------------------------


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
