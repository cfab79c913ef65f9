"""Average the weights of models that come from one another: ``python -m captious.language.training.average a.npz b.npz --output c.npz``.

All must have the same classes; of tags and relations, those of the first are kept. Training that went on from a model stays near it, and the middle of two near networks is one, often a better one than either.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.cache import atomic_write
from captious.errors import InputError, one_message
from captious.language.model import quantise, read_model

Arrays = dict[str, NDArray[Any]]
NAMES = ("format", "words", "word_classes", "spellings")


def with_names_of(first: Arrays, model: Arrays, path: Path) -> Arrays:
    """The model with the first one's tags and relations only, in that order."""
    chosen = dict(model)
    for kind, arrays in (("tags", ("heads", "heads_bias")), ("relations", ("label_out", "label_bias"))):
        wanted, own = (json.loads(bytes(arrays[kind]).decode()) for arrays in (first, model))
        missing = sorted(set(wanted) - set(own))
        if missing:
            raise InputError(f"{path}: does not know the {kind} {', '.join(missing)}; give it first")
        for name in arrays:
            before = len(model[name]) - len(own)  # the tags are the last rows of several layers' outputs
            chosen[name] = np.concatenate([model[name][:before], model[name][before:][[own.index(n) for n in wanted]]])
        chosen[kind] = first[kind]
    return chosen


def average(paths: Sequence[Path], output: Path) -> None:
    """Write the mean of the models; exceptions of lemmas are those of the first."""
    models: list[Arrays] = []
    for path in paths:
        read_model(path)  # complains if it is none
        with np.load(path, allow_pickle=False) as stored:
            models.append(dict(stored))
    first = models[0]
    models = [with_names_of(first, model, path) for path, model in zip(paths, models)]
    for path, model in zip(paths[1:], models[1:]):
        different = [name for name in NAMES if not np.array_equal(first[name], model[name])]
        if different or model.keys() != first.keys():
            raise InputError(f"{path}: not the same {', '.join(different) or 'arrays'} as {paths[0]}; only models that come from one another can be averaged")
    mixed: dict[str, Any] = dict(first)
    for name, array in first.items():
        if array.dtype == np.float16:
            mixed[name] = np.mean([model[name].astype(np.float32) for model in models], axis=0).astype(np.float16)
    vectors = [model["embedding"].astype(np.float32) * model["embedding_scale"][:, None] for model in models]
    mixed["embedding"], mixed["embedding_scale"] = quantise(np.mean(vectors, axis=0, dtype=np.float32))
    with atomic_write(output) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **mixed)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m captious.language.training.average", description=__doc__.splitlines()[0])
    parser.add_argument("models", type=Path, nargs="+", help="written by python -m captious.language.training.train")
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args(argv)
    average(options.models, options.output)


if __name__ == "__main__":
    with one_message():
        main()
