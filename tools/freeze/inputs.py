"""Captions and resources that the frozen items are computed from, written the same way every time.

Each case is a folder with the same file names, so that one list of commands serves all cases.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import captious

#: Image id → captions.
Captions = Mapping[str, list[str]]

#: Files of a case that are options of measures.
OPTIONS = {
    "objects": "objects.jsonl",
    "amber": "amber.json",
    "train": "train.jsonl",
    "norms": "norms.csv",
    "weights": "weights.safetensors",
    "image_vectors": "images.npz",
    "text_vectors": "texts.npz",
}

_PACKAGE = Path(captious.__file__).parent
_SYSTEMS = ("Dai-et-al-2017", "Vinyals-et-al-2017", "Shetty-et-al-2016", "Wu-et-al-2016", "Zhou-et-al-2017")


def write_demo(folder: Path, _: Path, images: int) -> None:
    """Write images of the demo that ships with captious. Very few images are scored without compiled code."""
    demo = _packaged("sampling.jsonl").parent
    references: dict[str, list[str]] = {}
    for row in json.loads((demo / "references.json").read_text())["annotations"]:
        references.setdefault(str(row["image_id"]), []).append(row["caption"])
    systems = [
        {str(row["image_id"]): [row["caption"]] for row in json.loads((demo / f"{name}.json").read_text())}
        for name in ("good", "poor", "generic")
    ]
    samples = {
        str(row["image_id"]): row["captions"] for row in islice(_rows(demo / "sampling.jsonl"), images)
    }
    objects = {str(row["image_id"]): row["objects"] for row in islice(_rows(demo / "objects.jsonl"), images)}
    _write(folder, dict(islice(references.items(), images)), systems, samples, objects)


def write_coco(folder: Path, data: Path, images: int) -> None:
    """Write the first COCO images with systems of the literature. Their captions together are the sets."""
    coco = data / "coco"
    references = _captions(islice(_rows(coco / "references.jsonl.gz"), images))
    systems = [_captions(_rows(coco / "systems" / f"{name}.jsonl.gz"), references) for name in _SYSTEMS]
    samples = {image: [text for system in systems for text in system[image]] for image in references}
    objects = {
        str(row["image_id"]): row["objects"] for row in islice(_rows(coco / "objects.jsonl.gz"), images)
    }
    _write(folder, references, systems, samples, objects)


def write_long(folder: Path, data: Path, images: int) -> None:
    """Write long captions of a vision-language model."""
    home = data / "karpathy_test"
    references = _captions(islice(_rows(home / "references.jsonl.gz"), images))
    systems = [
        _captions(_rows(home / f"LLaVA-1.5-7B{end}.jsonl.gz"), references)
        for end in ("", "-briefly", "-briefly")
    ]
    samples = {image: [*systems[0][image], *systems[1][image]] for image in references}
    _write(folder, references, systems, samples, {image: ["person"] for image in references})


def write_hostile(folder: Path, data: Path, images: int) -> None:
    """Write strings that are hard to tokenize, some of them empty."""
    texts = (row["raw"].replace("\n", " ") for row in _rows(data / "gold" / "tokens_adversarial.jsonl.gz"))
    ids = [f"h{i}" for i in range(images)]
    references = {image: list(islice(texts, 3)) for image in ids}
    samples = {image: [*islice(texts, 2), references[image][0].upper()] for image in ids}
    samples |= {ids[3]: ["", "", "a"], ids[5]: ["  ", "...", "?!"]}
    systems = [{image: [samples[image][k]] for image in ids} for k in range(3)]
    _write(folder, references, systems, samples, {image: ["dog", "person"] for image in ids})


def _write(
    folder: Path,
    references: Captions,
    systems: list[dict[str, list[str]]],
    samples: Captions,
    objects: Captions,
) -> None:
    """Write one case: references, systems a, b and c, samples, and all resources of measures."""
    folder.mkdir(parents=True)
    annotations = [
        {"image_id": image, "caption": text} for image, texts in references.items() for text in texts
    ]
    _write_json(
        folder / "references.json",
        {"images": [{"id": image} for image in references], "annotations": annotations},
    )
    for name, system in zip("abc", systems):
        _write_json(
            folder / f"{name}.json",
            [{"image_id": image, "caption": system[image][0]} for image in references],
        )
    _write_lines(folder / "samples.jsonl", "captions", samples)
    _write_lines(folder / OPTIONS["objects"], "objects", objects)
    annotation = [{"id": image, "truth": sorted(own), "hallu": ["dog"]} for image, own in objects.items()]
    (folder / OPTIONS["amber"]).write_text(json.dumps(annotation))
    _write_lines(
        folder / OPTIONS["train"], "captions", {f"t{image}": texts for image, texts in systems[2].items()}
    )
    shutil.copy(_packaged("captious_score_lite.safetensors"), folder / OPTIONS["weights"])

    groups = [
        *references.values(),
        *samples.values(),
        *(texts for system in systems for texts in system.values()),
    ]
    texts = list(dict.fromkeys(text for group in groups for text in group))
    words = sorted({word.lower() for text in texts for word in text.split() if word.isalpha()})
    ratings = "".join(f"{word},{1 + zlib.crc32(word.encode()) % 41 / 10:.1f}\n" for word in words)
    (folder / OPTIONS["norms"]).write_text(f"word,rating\n{ratings}")
    np.savez(folder / OPTIONS["image_vectors"], vectors=_vectors(references), ids=np.array(list(references)))
    np.savez(folder / OPTIONS["text_vectors"], vectors=_vectors(texts), texts=np.array(texts))

    (folder / "captions.txt").write_text("".join(f"{text.strip() or '.'}\n" for text in texts[:3000]))
    _write_nbest(folder / "nbest.jsonl", samples)
    _write_formats(folder, references, systems[0])


def _write_nbest(path: Path, samples: Captions) -> None:
    """Write samples with invented log-probabilities."""
    rows = []
    for image, group in samples.items():
        texts = list(dict.fromkeys(text for text in group if text.strip()))
        logprobs = sorted((-5 - zlib.crc32(text.encode()) % 1000 / 100 for text in texts), reverse=True)
        rows.append({"image_id": image, "captions": texts, "logprobs": logprobs})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _write_formats(folder: Path, references: Captions, system: Captions) -> None:
    """Write references and one system in other formats, and the system in shards."""
    for name, captions in (("references", references), ("a", system)):
        _write_json(folder / f"{name}.map.json", captions)
        _write_lines(folder / f"{name}.jsonl", "captions", captions)
        (folder / f"{name}.jsonl.gz").write_bytes(
            gzip.compress((folder / f"{name}.jsonl").read_bytes(), mtime=0)
        )
        for suffix, delimiter in (("csv", ","), ("tsv", "\t")):
            with (folder / f"{name}.{suffix}").open("w", newline="") as file:
                writer = csv.writer(file, delimiter=delimiter)
                writer.writerow(["image_id", "caption"])
                writer.writerows([image, text] for image, texts in captions.items() for text in texts)
    shards = folder / "shards"
    shards.mkdir()
    rows = [json.dumps({"image_id": image, "caption": texts[0]}) + "\n" for image, texts in system.items()]
    for number in range(3):
        (shards / f"{number}.jsonl").write_text("".join(rows[number::3]))


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1))


def _write_lines(path: Path, key: str, values: Captions) -> None:
    path.write_text(
        "".join(json.dumps({"image_id": image, key: value}) + "\n" for image, value in values.items())
    )


def _vectors(names: Iterable[str]) -> NDArray[np.float64]:
    return np.array([np.random.default_rng(zlib.crc32(name.encode())).normal(0.3, 1, 8) for name in names])


def _captions(rows: Iterable[dict[str, Any]], only: Captions | None = None) -> dict[str, list[str]]:
    listed = ((str(row["image_id"]), row.get("captions") or [row["caption"]]) for row in rows)
    return {image: texts for image, texts in listed if only is None or image in only}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        yield from map(json.loads, lines)


def _packaged(name: str) -> Path:
    """Return the path of a data file of captious, wherever the package keeps it."""
    return next(iter(sorted(_PACKAGE.rglob(name))))
