"""Files of trained parser networks: plain arrays that `captious.parser.network_model` reads without torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.writing import atomic_write
from captious.parser.network_model import FORMAT, UPPER_LAYERS, Model, WordClasses, read_arrays

PARTS = ("arc_dependent", "arc_head", "label_dependent", "label_head", "tag")


def quantise(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return rows as 8-bit integers, with a scale for each row."""
    scale = np.maximum(np.abs(matrix).max(1), 1e-8).astype(np.float32) / np.float32(127)
    return np.rint(matrix / scale[:, None]).astype(np.int8), scale.astype(np.float32)


def write_model(path: Path, arrays: dict[str, Any]) -> None:
    """Write the arrays of a model."""
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_exported(path: Path) -> dict[str, Any]:
    """Read a model as a checkpoint: weights of `ParserNetwork`, vectors of classes, tags and relations."""
    import torch  # only here, so that models can be averaged without it

    stored = read_arrays(path)
    model = Model(stored)
    arrays = {
        name: np.asarray(array, np.float32)
        for name, array in stored.items()
        if array.dtype in (np.float16, np.float32, np.int8)
    }
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
    for part, weight, bias in zip(
        PARTS, np.split(arrays["heads"], cuts), np.split(arrays["heads_bias"], cuts)
    ):
        state[f"{part}.weight"] = weight
        if part != "label_head":  # which has no bias
            state[f"{part}.bias"] = bias
    for name in ("arc_bilinear", "arc_bias", "arc_root", "arc_distance", "label_root"):
        state[name] = arrays[name]
    state["label_out.weight"], state["label_out.bias"] = arrays["label_out"], arrays["label_bias"]
    return {
        "state": {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in state.items()},
        "tags": model.tags,
        "relations": model.relations,
    }


def export(
    state: dict[str, Any],
    vectors: NDArray[np.float32],
    classes: WordClasses,
    tags: list[str],
    relations: list[str],
    exceptions: dict[str, str],
    path: Path,
) -> None:
    """Write the weights of a `ParserNetwork`: embeddings in 8 bits, the others in half precision."""

    def text(content: str) -> NDArray[np.uint8]:
        return np.frombuffer(content.encode(), np.uint8)

    def array(name: str) -> NDArray[np.float32]:
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
                halves[f"{layer}_bias{side}"] = array(f"{layer}.bias_ih_l0{side}") + array(
                    f"{layer}.bias_hh_l0{side}"
                )
    halves["heads"] = np.concatenate([array(f"{part}.weight") for part in PARTS])
    halves["heads_bias"] = np.concatenate(
        [
            array(f"{part}.bias")
            if f"{part}.bias" in state
            else np.zeros(len(state[f"{part}.weight"]), np.float32)
            for part in PARTS
        ]
    )
    for name in ("arc_bilinear", "arc_bias", "arc_root", "arc_distance", "label_root"):
        halves[name] = array(name)
    halves["label_out"], halves["label_bias"] = array("label_out.weight"), array("label_out.bias")
    stored.update({name: weights.astype(np.float16) for name, weights in halves.items()})
    write_model(path, stored)
