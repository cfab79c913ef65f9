"""What the benchmarks share: data, clocks, and a child process that reports its peak memory."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent


def data_folder() -> Path | None:
    """The public data sets, if they are there (CAPTIOUS_DATA, else ../shared/data)."""
    folder = Path(os.environ.get("CAPTIOUS_DATA") or ROOT.parent / "shared" / "data")
    return folder if folder.is_dir() else None


def read_jsonl(path: Path) -> list[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def coco(
    system: str = "Dai-et-al-2017", images: int | None = None
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """References and one system's predictions, raw text: COCO where the data are, else made up in the same shape."""
    folder = data_folder()
    if folder is None:
        return made_up(images or 12_454)
    references = {
        str(r["image_id"]): r["captions"] for r in read_jsonl(folder / "coco" / "references.jsonl.gz")
    }
    rows = read_jsonl(folder / "coco" / "systems" / f"{system}.jsonl.gz")
    predictions = {str(r["image_id"]): r["caption"] for r in rows if str(r["image_id"]) in references}
    keep = list(references)[:images]
    return {i: references[i] for i in keep}, {i: predictions[i] for i in keep}


def made_up(images: int, seed: int = 0) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Captions of the length and word-frequency curve of COCO (about 10 words, Zipf's law)."""
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(20_000)]
    weights = [1 / (rank + 2.7) for rank in range(len(words))]

    def caption() -> str:
        return " ".join(rng.choices(words, weights, k=max(5, round(rng.gauss(10.5, 2))))).capitalize() + "."

    references = {str(i): [caption() for _ in range(5)] for i in range(images)}
    return references, {i: caption() for i in references}


def write_coco(
    folder: Path, references: dict[str, list[str]], predictions: dict[str, str]
) -> tuple[Path, Path]:
    """COCO's annotations and results."""
    annotations = [
        {"image_id": int(image), "id": k, "caption": text}
        for k, (image, text) in enumerate((i, t) for i, own in references.items() for t in own)
    ]
    head = {
        "info": {},
        "licenses": [],
        "type": "captions",
        "images": [{"id": int(image)} for image in references],
    }
    (folder / "references.json").write_text(json.dumps({**head, "annotations": annotations}))
    (folder / "results.json").write_text(
        json.dumps([{"image_id": int(image), "caption": text} for image, text in predictions.items()])
    )
    return folder / "references.json", folder / "results.json"


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result of ``work`` and its wall-clock seconds."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def best_of(times: int, work: Callable[[], T]) -> tuple[T, float]:
    """The result and the shortest of several runs: what the machine can do when it is not disturbed."""
    runs = [timed(work) for _ in range(times)]
    return runs[0][0], min(seconds for _, seconds in runs)


def in_child(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module arguments`` and read the JSON object on its last line."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode:
        sys.exit(f"{module} {' '.join(arguments)} failed:\n{done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return report


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
