"""Shards for tests, from the captions of the demo."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from captious.data import demo_path
from captious.io import read

REFERENCES = demo_path("references")
Row = tuple[Any, Any]


def rows(times: int = 1) -> list[Row]:
    """Images and captions of the demo's systems, repeated with one more word each time."""
    found: list[Row] = []
    for system in ("good", "poor"):
        file = read(demo_path(system), "predictions")
        found += [(image, captions[0]) for image, captions in zip(file.ids, file.captions)]
    return [
        (image, f"{caption} {'indeed ' * turn}number {turn}" if turn else caption)
        for turn in range(times)
        for image, caption in found
    ]


def parquet(path: Path, given: Sequence[Row], **names: str) -> Path:
    table = {
        names.get("image", "image_id"): [image for image, _ in given],
        names.get("caption", "caption"): [caption for _, caption in given],
    }
    pyarrow.parquet.write_table(pyarrow.table(table), path, row_group_size=50)
    return path


def jsonl(path: Path, given: Sequence[Row]) -> Path:
    text = "".join(json.dumps({"image_id": image, "caption": caption}) + "\n" for image, caption in given)
    path.write_bytes(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())
    return path


def tar(path: Path, given: Sequence[Row], *, as_text: bool = True) -> Path:
    with tarfile.open(path, "w") as archive:
        for number, (image, caption) in enumerate(given):
            parts = {
                "jpg": b"\xff\xd8 a picture",
                "json": json.dumps({"image_id": image, **({} if as_text else {"caption": caption})}).encode(),
            }
            if as_text:
                parts["txt"] = caption.encode()
            for ending, content in parts.items():
                member = tarfile.TarInfo(f"{number:06d}.{ending}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return path


def split(given: Sequence[Row], number: int) -> list[list[Row]]:
    return [list(given[start::number]) for start in range(number)]


def folder(path: Path, number: int = 4, times: int = 1) -> Path:
    """A folder of Parquet shards."""
    path.mkdir(parents=True, exist_ok=True)
    for place, part in enumerate(split(rows(times), number)):
        parquet(path / f"part-{place:03d}.parquet", part)
    return path


class Serial(Executor):
    """Executor that runs everything immediately, in this thread."""

    def submit(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def content(path: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()
    }
