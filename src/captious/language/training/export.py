"""Write a trained network as the file that `model.py` reads: plain arrays, no code, no torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.cache import atomic_write
from captious.language.classes import WordClasses
from captious.language.model import FORMAT, UPPER_LAYERS, quantise


def export(state: dict[str, Any], vectors: NDArray[np.float32], classes: WordClasses, tags: list[str], relations: list[str], exceptions: dict[str, str], path: Path) -> None:
    """Store the weights of `network.Network`: embeddings in 8 bits, the rest in half precision."""

    def text(lines: object) -> np.ndarray[Any, np.dtype[np.uint8]]:
        return np.frombuffer(str(lines).encode(), np.uint8)

    def array(name: str) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.asarray(state[name].detach().float().numpy(), np.float32)

    stored: dict[str, Any] = {
        "format": np.int64(FORMAT),
        "words": text("\n".join(classes.words)),
        "word_classes": np.fromiter(classes.words.values(), np.int16, len(classes.words)),
        "spellings": text(json.dumps([dict(classes.spellings), classes.other])),
        "tags": text(json.dumps(tags)),
        "relations": text(json.dumps(relations)),
        "lemmas": text(json.dumps(exceptions, ensure_ascii=False)),
    }
    stored["embedding"], stored["embedding_scale"] = quantise(vectors)
    halves: dict[str, Any] = {}
    for layer in ("first", *UPPER_LAYERS):
        for side in ("", "_reverse"):
            if f"{layer}.weight_ih_l0{side}" in state:
                halves[f"{layer}_input{side}"] = array(f"{layer}.weight_ih_l0{side}")
                halves[f"{layer}_recurrent{side}"] = array(f"{layer}.weight_hh_l0{side}")
                halves[f"{layer}_bias{side}"] = array(f"{layer}.bias_ih_l0{side}") + array(f"{layer}.bias_hh_l0{side}")
    parts = ("arc_dependent", "arc_head", "label_dependent", "label_head", "tag")
    halves["heads"] = np.concatenate([array(f"{part}.weight") for part in parts])
    halves["heads_bias"] = np.concatenate(
        [array(f"{part}.bias") if f"{part}.bias" in state else np.zeros(len(state[f"{part}.weight"]), np.float32) for part in parts]
    )
    for name in ("arc_bilinear", "arc_bias", "arc_root", "arc_distance", "label_root"):
        halves[name] = array(name)
    halves["label_out"], halves["label_bias"] = array("label_out.weight"), array("label_out.bias")
    stored.update({name: weights.astype(np.float16) for name, weights in halves.items()})
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **stored)
