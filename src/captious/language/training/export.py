"""Write a trained network as the file that `model.py` reads: plain arrays, no code, no torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from captious.language.classes import WordClasses
from captious.language.model import FORMAT, UPPER_LAYERS, quantise, read_model
from captious.writing import atomic_write

PARTS = ("arc_dependent", "arc_head", "label_dependent", "label_head", "tag")


def read_exported(path: Path) -> dict[str, Any]:
    """What `export` has written, as a checkpoint to go on from: the weights of `network.Network`, the classes' vectors, tags and relations."""
    model = read_model(path)  # complains if it is none
    with np.load(path, allow_pickle=False) as stored:
        arrays = {name: np.asarray(stored[name], np.float32) for name in stored.files if stored[name].dtype in (np.float16, np.float32, np.int8)}
    state: dict[str, Any] = {"vectors": arrays["embedding"] * arrays["embedding_scale"][:, None]}
    for layer in ("first", *UPPER_LAYERS):
        for side in ("", "_reverse"):
            if f"{layer}_input{side}" in arrays:
                state[f"{layer}.weight_ih_l0{side}"] = arrays[f"{layer}_input{side}"]
                state[f"{layer}.weight_hh_l0{side}"] = arrays[f"{layer}_recurrent{side}"]
                state[f"{layer}.bias_ih_l0{side}"] = arrays[f"{layer}_bias{side}"]
                state[f"{layer}.bias_hh_l0{side}"] = np.zeros_like(arrays[f"{layer}_bias{side}"])
    arc, label = len(arrays["arc_bias"]), len(arrays["label_root"])
    cuts = np.cumsum([arc, arc, label, label]).tolist()
    for part, weight, bias in zip(PARTS, np.split(arrays["heads"], cuts), np.split(arrays["heads_bias"], cuts)):
        state[f"{part}.weight"] = weight
        if part != "label_head":  # has none
            state[f"{part}.bias"] = bias
    for name in ("arc_bilinear", "arc_bias", "arc_root", "arc_distance", "label_root"):
        state[name] = arrays[name]
    state["label_out.weight"], state["label_out.bias"] = arrays["label_out"], arrays["label_bias"]
    return {"state": {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in state.items()}, "tags": model.tags, "relations": model.relations}


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
    halves["heads"] = np.concatenate([array(f"{part}.weight") for part in PARTS])
    halves["heads_bias"] = np.concatenate(
        [array(f"{part}.bias") if f"{part}.bias" in state else np.zeros(len(state[f"{part}.weight"]), np.float32) for part in PARTS]
    )
    for name in ("arc_bilinear", "arc_bias", "arc_root", "arc_distance", "label_root"):
        halves[name] = array(name)
    halves["label_out"], halves["label_bias"] = array("label_out.weight"), array("label_out.bias")
    stored.update({name: weights.astype(np.float16) for name, weights in halves.items()})
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **stored)
