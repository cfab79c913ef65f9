"""The part of pycocotools that caption scores need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from captious.core.errors import InputError, some


class COCO:
    """The part of pycocotools' COCO that caption scores need.

    :class:`captious.compat.COCOEvalCap` takes objects of pycocotools as well.
    """

    def __init__(self, annotation_file: str | Path | None = None) -> None:
        self.dataset: dict[str, Any] = {}
        self.anns: dict[Any, dict[str, Any]] = {}
        self.imgs: dict[Any, dict[str, Any]] = {}
        self.imgToAnns: dict[Any, list[dict[str, Any]]] = defaultdict(list)
        if annotation_file is not None:
            dataset = _read(annotation_file)
            if not isinstance(dataset, dict) or "annotations" not in dataset:
                raise InputError(
                    f"{annotation_file}: no COCO annotations (an object with the key 'annotations' is "
                    "expected)"
                )
            self.dataset = dataset
            self.createIndex()

    def createIndex(self) -> None:  # noqa: N802  (its name in pycocotools)
        """Index ``dataset``, which code can also set itself."""
        self.anns, self.imgs = {}, {}
        self.imgToAnns = defaultdict(list)
        dataset = self.dataset
        try:
            for place, row in enumerate(dataset.get("annotations", ())):
                self.imgToAnns[row["image_id"]].append(row)
                self.anns[row.get("id", place)] = row
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"COCO annotations are objects with 'image_id' and 'caption'; one is not ({error})"
            ) from error
        listed = dataset.get("images") or [{"id": image} for image in self.imgToAnns]
        self.imgs = {row["id"]: row for row in listed}

    def getImgIds(self, imgIds: Any = (), catIds: Any = ()) -> list[Any]:  # noqa: N802
        """Return all image ids, or those among ``imgIds``. Captions have no categories."""
        wanted = set(_listed(imgIds))
        return [image for image in self.imgs if not wanted or image in wanted]

    def getAnnIds(  # noqa: N802
        self, imgIds: Any = (), catIds: Any = (), areaRng: Any = (), iscrowd: bool | None = None
    ) -> list[Any]:
        """Return the ids of all captions, or of those of some images."""
        images = _listed(imgIds)
        if not images:
            return list(self.anns)
        wanted = {id(row) for image in images for row in self.imgToAnns.get(image, ())}
        return [number for number, row in self.anns.items() if id(row) in wanted]

    def loadAnns(self, ids: Any = ()) -> list[dict[str, Any]]:  # noqa: N802
        """Return the rows of some caption ids."""
        return [self.anns[number] for number in _listed(ids)]

    def loadImgs(self, ids: Any = ()) -> list[dict[str, Any]]:  # noqa: N802
        """Return the rows of some image ids."""
        return [self.imgs[image] for image in _listed(ids)]

    def info(self) -> None:
        """Print the information of the file."""
        for key, value in self.dataset.get("info", {}).items():
            print(f"{key}: {value}")

    def loadRes(self, resFile: str | Path | Sequence[Mapping[str, Any]]) -> COCO:  # noqa: N802
        """Read results, ``[{"image_id": …, "caption": …}, …]``, from a file or a list."""
        listed = _read(resFile) if isinstance(resFile, str | Path) else list(resFile)
        if not isinstance(listed, list):
            raise InputError("COCO results are a list of objects with 'image_id' and 'caption'")
        results = COCO()
        rows = [{**row, "id": place} for place, row in enumerate(listed, 1)]
        unknown = [row["image_id"] for row in rows if "image_id" in row and row["image_id"] not in self.imgs]
        if unknown:
            raise InputError(f"results for images that the references do not have: {some(unknown)}")
        present = {row.get("image_id") for row in rows}
        images = [row for image, row in self.imgs.items() if image in present]
        results.dataset = {"annotations": rows, "images": images}
        results.createIndex()
        return results


def _listed(ids: Any) -> list[Any]:
    """Return ids as a list; a single id counts as one."""
    return list(ids) if isinstance(ids, Iterable) and not isinstance(ids, str) else [ids]


def _read(path: str | Path) -> Any:
    from captious.io.content import read_json

    return read_json(path, "expected COCO annotations or results")
