"""Experiments with models on the public COCO captions. Their results are stored in a folder.

A stopped run continues: files in the folder are not computed again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.captions import public_data, read_jsonl


class Study:
    """COCO captions, and a folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, public_data()
        folder.mkdir(parents=True, exist_ok=True)
        self.rows = read_jsonl(self.data / "coco" / "references.jsonl.gz")
        self.captions: dict[str, list[str]] = {str(row["image_id"]): row["captions"] for row in self.rows}
        #: An oracle: instance labels together with the objects that the references name, those of unseen
        #: images included.
        self.objects = self.data / "coco" / "objects.jsonl.gz"

    def split(self, name: str) -> list[str]:
        """Return the images of a split of COCO."""
        return [str(row["image_id"]) for row in self.rows if row["split"] == name]

    def path(self, name: str) -> Path:
        return self.folder / name

    def stored(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a JSON value from its file, or compute it and write the file."""
        path = self.path(f"{name}.json")
        if not path.exists():
            temporary = path.with_suffix(".part")
            temporary.write_text(json.dumps(compute(), indent=1, ensure_ascii=False), encoding="utf-8")
            temporary.replace(path)
        return json.loads(path.read_text(encoding="utf-8"))

    def captioner(self, name: str, train: Callable[[Path], Any]) -> Any:
        """Load a captioner, or train it to the end."""
        from captious.generate.captioner import captioner_checkpoint as checkpoint

        path = self.path(name)
        if path.exists() and checkpoint.load_unfinished(path)[1] is None:
            return checkpoint.load(path)
        start = time.monotonic()
        trained = train(path)
        print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
        return trained


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write a JSONL file."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def print_row(row: dict[str, Any]) -> None:
    """Print a row of a training log."""
    cells = (
        f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
    )
    print("  " + "  ".join(cells), flush=True)
