"""Files of judgement sets: where they are, where to get missing ones, and the references of their images.

Nothing is downloaded.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from captious.core.errors import InputError
from captious.io.content import decode, read_bytes, read_json
from captious.io.judgements.judged_rows import read_rows, table_cells

#: Where to get the files of each set.
SOURCES = {
    "flickr8k": "Flickr8k_text.zip of Hodosh et al. 2013 (University of Illinois, and mirrors)",
    "flickr30k": "the Flickr30k annotations of Young et al. 2014 (University of Illinois)",
    "coco": "the COCO 2014 annotations (annotations_trainval2014.zip on cocodataset.org)",
    "composite": "AMT_eval of Aditya et al. 2015 (the DeepIU project page, Arizona State University)",
    "pascal50s": "the consensus data of Vedantam et al. 2015 (vrama91.github.io/cider)",
    "abstract50s": "the consensus data of Vedantam et al. 2015 (vrama91.github.io/cider)",
    "fense": "the FENSE repository of Zhou et al. 2022, as JSON lines with a field 'references'",
    "msvd-eval": "the G-VEval repository of Tong et al. 2024, as JSON lines",
    "thumb": "the THumB repository of Kasai et al. 2022 (mscoco_THumB-1.0.jsonl)",
    "capeval1k": "the UMIC repository of Lee et al. 2021; save its pickle as JSON lines or CSV "
    "first, because a pickle can run code",
    "polaris": "the Polaris data set of Wada et al. 2024 (polaris_test.csv)",
    "nebula": "the Nebula data set of Matsuda et al. 2024",
    "cxc": "the Crisscrossed Captions repository of Parekh et al. 2021 (sts_val.csv), with "
    "dataset_coco.json of Karpathy's splits",
    "challenge2015": "the leaderboard of the COCO captioning challenge 2015 (cocodataset.org), saved as "
    "JSON lines or CSV",
    "hat": "the ALOHa repository of Petryk et al. 2024 (HAT), saved as JSON lines",
    "nocaps-foil": "the ALOHa repository of Petryk et al. 2024 (nocaps-FOIL), saved as JSON lines",
    "imageinwords": "the ImageInWords data of Garg et al. 2024 (google/imageinwords)",
    "faithscore": "the FAITHSCORE repository of Jing et al. 2024 (annotation.jsonl)",
    "distractions": "the binary forced-choice tasks of Hodosh & Hockenmaier 2016 (University of Illinois)",
}


@dataclass(frozen=True)
class Place:
    """Folder of a set, with the folders beside and below it that can hold its other files."""

    folder: Path

    def find(self, names: Sequence[str], inside: Sequence[str] = ()) -> Path | None:
        """Return the first file with one of these names (patterns with ``*``), also with ``.gz``.

        Searched are this folder, its subfolders ``inside``, and folders of these names beside it.
        """
        return self._first(names, [*self._below(inside), *(self.folder.parent / name for name in inside)])

    def holds(self, names: Sequence[str], inside: Sequence[str] = ()) -> bool:
        """Whether one of these files is in this folder or its subfolders ``inside``."""
        return self._first(names, self._below(inside)) is not None

    def _below(self, inside: Sequence[str]) -> list[Path]:
        return [self.folder, *(self.folder / name for name in inside)]

    @staticmethod
    def _first(names: Sequence[str], folders: Sequence[Path]) -> Path | None:
        for name in names:
            for folder in folders:
                for ending in ("", ".gz"):
                    pattern = name + ending
                    files = sorted(folder.glob(pattern)) if "*" in name else [folder / pattern]
                    if files and files[0].is_file():
                        return files[0]
        return None

    def need(self, names: Sequence[str], source: str, inside: Sequence[str] = ()) -> Path:
        """Return the file that :meth:`find` returns, or raise an error that says where to get it."""
        path = self.find(names, inside)
        if path is None:
            searched = ", ".join([str(self.folder), *(f"{name}/" for name in inside)])
            raise InputError(f"no {' or '.join(names)} in {searched}; get it from {SOURCES[source]}")
        return path

    def subfolder(self, name: str) -> Place:
        """Return the subfolder of this name if there is one, else this folder."""
        return Place(self.folder / name) if (self.folder / name).is_dir() else self


_NAMES = {
    "flickr8k": ("Flickr8k.token.txt", "captions.jsonl"),
    "flickr30k": ("results_20130124.token", "results.csv", "captions.jsonl"),
    "coco": ("captions_val2014.json", "references.jsonl"),
}
_FOLDERS = {
    "flickr8k": ("flickr8k", "Flickr8k_text"),
    "flickr30k": ("flickr30k",),
    "coco": ("coco", "annotations"),
}


def image_key(image: str) -> str:
    """Return the key of an image: the file name without folders and extension, for COCO the number."""
    stem = image.replace("\\", "/").rpartition("/")[2].partition("#")[0]
    stem = re.sub(r"\.(jpe?g|png)$", "", stem, flags=re.IGNORECASE)
    coco = re.fullmatch(r"(?:coco_(?:train|val|test)20\d\d_)0*(\d+)", stem, flags=re.IGNORECASE)
    return coco[1] if coco else stem


def read_references(place: Place, collection: str) -> dict[str, list[str]]:
    """Return the captions of a collection by image key, from the authors' file or that of captious."""
    # Search its own folder first, because `captions.jsonl` is a common name.
    own = next(
        (Place(place.folder / name) for name in _FOLDERS[collection] if (place.folder / name).is_dir()), place
    )
    path = own.find(_NAMES[collection]) if _belongs(own, collection) else None
    if path is None:
        path = place.need(_NAMES[collection], collection, _FOLDERS[collection])
    return _read(path)


def _belongs(place: Place, collection: str) -> bool:
    """Whether files with common names in this folder can belong to this collection."""
    others = [name for other, names in _FOLDERS.items() if other != collection for name in names]
    return place.folder.name not in others


def caption_ids(path: Path) -> dict[str, str]:
    """Return the captions of a ``.token`` file by caption id (``image.jpg#2``)."""
    text = decode(read_bytes(path), str(path))
    captions_by_key: dict[str, str] = {}
    for line, cells in table_cells(text, path, "\t", csv.QUOTE_NONE):
        if len(cells) != 2 or "#" not in cells[0]:
            raise InputError(
                f"{path}, line {line:,}: expected a caption's id (image.jpg#0), a tab and the caption"
            )
        captions_by_key[cells[0]] = cells[1]
    return captions_by_key


def _read(path: Path) -> dict[str, list[str]]:
    captions_by_key: dict[str, list[str]] = {}
    if ".token" in path.name:
        for name, caption in caption_ids(path).items():
            captions_by_key.setdefault(image_key(name), []).append(caption)
        return captions_by_key
    if path.name.removesuffix(".gz").endswith(".json"):
        try:
            annotations = read_json(path, "expected COCO annotations")["annotations"]
            for row in annotations:
                captions_by_key.setdefault(str(row["image_id"]), []).append(str(row["caption"]))
        except (KeyError, TypeError) as problem:
            raise InputError(
                f"{path}: not COCO annotations with 'annotations' of 'image_id' and 'caption' ({problem})"
            ) from None
        return captions_by_key
    for row in read_rows(path):
        key = image_key(row.name("image", "image_id", "image_name"))
        captions_by_key.setdefault(key, []).extend(row.texts("captions", "references", "caption", "comment"))
    return captions_by_key
