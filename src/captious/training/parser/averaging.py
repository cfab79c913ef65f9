"""Average the weights of parser models of which one was trained further from the other.

    python -m captious.training.parser.averaging a.npz b.npz --output c.npz

All models need the same word classes. The result has the tags and relations of the first one. Continued
training stays near its starting point, and the mean of two nearby networks is often better than either.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.core.errors import InputError, one_message
from captious.parser.network_model import read_arrays
from captious.training.parser.export_model import quantise, write_model

Arrays = dict[str, NDArray[Any]]
#: Arrays that have to be equal.
SHARED = ("format", "words", "word_classes", "spellings")


def with_names_of(first: Arrays, model: Arrays, path: Path) -> Arrays:
    """Return the model with only the tags and relations of the first one, in that order."""
    reduced = dict(model)
    for kind, arrays in (("tags", ("heads", "heads_bias")), ("relations", ("label_out", "label_bias"))):
        wanted, own = (json.loads(bytes(arrays[kind]).decode()) for arrays in (first, model))
        missing = sorted(set(wanted) - set(own))
        if missing:
            raise InputError(f"{path}: lacks the {kind} {', '.join(missing)}; name this model first")
        for name in arrays:
            before = len(model[name]) - len(own)  # tags are the last rows of several layers' outputs
            reduced[name] = np.concatenate(
                [model[name][:before], model[name][before:][[own.index(n) for n in wanted]]]
            )
        reduced[kind] = first[kind]
    return reduced


def average(paths: Sequence[Path], output: Path) -> None:
    """Write the mean of the models, with the exceptions of lemmas of the first one."""
    models = [read_arrays(path) for path in paths]
    first = models[0]
    models = [with_names_of(first, model, path) for path, model in zip(paths, models)]
    for path, model in zip(paths[1:], models[1:]):
        different = [name for name in SHARED if not np.array_equal(first[name], model[name])]
        if different or model.keys() != first.keys():
            raise InputError(
                f"{path}: other {', '.join(different) or 'arrays'} than {paths[0]}; "
                "average only models that were trained from one another (--initial)"
            )
    mean: dict[str, Any] = dict(first)
    for name, array in first.items():
        if array.dtype == np.float16:
            mean[name] = np.mean([model[name].astype(np.float32) for model in models], axis=0)
            mean[name] = mean[name].astype(np.float16)
    vectors = [model["embedding"].astype(np.float32) * model["embedding_scale"][:, None] for model in models]
    mean["embedding"], mean["embedding_scale"] = quantise(np.mean(vectors, axis=0, dtype=np.float32))
    write_model(output, mean)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m captious.training.parser.averaging", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "models",
        type=Path,
        nargs="+",
        help="models written by python -m captious.training.parser.train_parser",
    )
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args(argv)
    average(options.models, options.output)


if __name__ == "__main__":
    with one_message():
        main()
