"""Files of dense captions, and judgements of captions of sounds and videos."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from captious.io.event_files import read_events
from captious.io.judgements import load_judgements
from tests.fuzz.formats import Format, captions


def _times(count: int) -> list[list[float]]:
    return [[7.25 * k, 7.25 * k + 9.5] for k in range(count)]


def _references() -> Any:
    texts = captions(1_500)
    return {
        f"v_{i}": {"duration": 40.0, "timestamps": _times(5), "sentences": texts[5 * i : 5 * i + 5]}
        for i in range(300)
    }


def _predictions() -> Any:
    texts = captions(1_500, seed=1)
    rows = [
        [{"timestamp": time, "sentence": text} for time, text in zip(_times(5), texts[5 * i : 5 * i + 5])]
        for i in range(300)
    ]
    return {"version": "1", "results": {f"v_{i}": one for i, one in enumerate(rows)}, "external_data": {}}


def _audio_pairs() -> list[dict[str, Any]]:
    texts = captions(1_500)
    return [
        {
            "raw_name": f"{i}.wav",
            "references": texts[5 * i : 5 * i + 3],
            "HM": [texts[5 * i + 3], texts[5 * i + 4], "p", "m", [1, -1, 1, 0]],
        }
        for i in range(300)
    ]


def _rated_videos() -> list[dict[str, Any]]:
    texts = captions(1_500)
    return [
        {
            "video": f"vid{i}",
            "caption": texts[5 * i],
            "references": texts[5 * i + 1 : 5 * i + 5],
            "scores": [[i % 5, 3, 2.5], [1, 2, 1.5]],
        }
        for i in range(300)
    ]


def _file(name: str, content: Callable[[], Any], *, lines: bool = False) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        rows = content() if lines else [content()]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return folder / name

    return write


def _read_judgements(name: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        judged = load_judgements(f"{name}={path.parent}")
        return vars(judged) | {"protocol": str(judged.protocol)}

    return read


EVENTS = {
    "dense references": Format(_file("val_1.json", _references), read_events),
    "dense predictions": Format(_file("pred.json", _predictions), read_events),
    "judgements, audio pairs": Format(
        _file("clotho_eval.jsonl", _audio_pairs, lines=True), _read_judgements("clotho-eval")
    ),
    "judgements, MSVD-Eval": Format(
        _file("msvd_eval.jsonl", _rated_videos, lines=True), _read_judgements("msvd-eval")
    ),
}
