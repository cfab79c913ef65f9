"""Training a composite metric from files, as ``captious train lceval|nneval|FEATURES…`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from captious.core import digests
from captious.core.errors import InputError, did_you_mean
from captious.core.writing import atomic_write
from captious.io import read
from captious.metrics.learned.composite_network import Network, pack, to_bytes, unpack
from captious.metrics.learned.feature_table import Features
from captious.results.references import tell_apart
from captious.training.composite_examples import SETS, Examples, build_examples

if TYPE_CHECKING:
    from captious.metrics.base import FloatArray

#: Published metrics: name and hidden layers. A list of features has LCEval's hidden layer.
PUBLISHED: dict[str, tuple[str, tuple[int, ...]]] = {
    "lceval": ("LCEval", (12,)),
    "nneval": ("NNEval", (72, 72)),
}


@dataclass(frozen=True)
class TrainedComposite:
    """A composite metric, its file, and how well it separates its examples and agrees with people."""

    path: Path
    name: str
    network: Network
    features: tuple[str, ...]
    examples: int
    epoch: int
    #: Share of examples on the right side of 0.5.
    accuracy: float
    #: Kendall's tau-b with each set of judgements.
    tau_b: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-ready description."""
        return {
            "name": self.name,
            "features": list(self.features),
            "examples": self.examples,
            "epoch": self.epoch,
            "accuracy": self.accuracy,
            "tau_b": self.tau_b,
        }


def train_composite(
    features: str | Sequence[str],
    references: str | Path,
    output: str | Path,
    *,
    machine: Sequence[str | Path] = (),
    training_set: str = "others",
    validate: Sequence[str] = ("thumb", "capeval1k"),
    data: str | Path | None = None,
    images: int | None = None,
    epochs: int = 800,
    hidden: Sequence[int] | None = None,
    seed: int = 1,
    **options: Any,
) -> TrainedComposite:
    """Train a learned metric on human captions and worse ones.

    An interrupted run continues when it is started again.

    Parameters
    ----------
    features
        "lceval", "nneval", or names of metrics and groups of features ("lexical", "semantic", "syntactic").
    references
        File of human captions, five or more for each image.
    output
        File for the weights (safetensors).
    machine
        Files of captions by systems for these images.
    training_set
        Captions that human ones are contrasted with: "systems", "mixed", "others" (of other images) or
        "neighbours".
    validate, data
        Sets of judgements that choose the epoch (none: the last epoch is used), and their folder.
    images
        Number of images to draw examples from (default: all).
    epochs, hidden, seed
        Maximum of epochs, sizes of hidden layers (default: as published), seed of examples and weights.
    options
        Options of metrics.
    """
    from captious.training.composite_trainer import TrainingPlan, train
    from captious.training.judged_captions import judged_table, rated

    features = [features] if isinstance(features, str) else list(features)
    published = PUBLISHED.get(features[0].casefold()) if len(features) == 1 else None
    name, layers = published or ("Learned", PUBLISHED["lceval"][1])
    if hidden is not None:
        layers = _checked_layers(hidden)
    output, folder = Path(output), None if data is None else Path(data)
    chosen = Features(features, options)
    chosen.check()
    # The training files are checked before the sets of judgements are read.
    people, machines = _captions(references, machine, training_set)
    examples = build_examples(
        people,
        machines,
        images=images,
        without=[caption for one in validate for caption in rated(one, folder).captions],
        without_references=[texts for one in validate for texts in rated(one, folder).references],
        seed=seed,
        kinds=("human", *SETS[training_set]),
    )
    rows = examples.chosen(training_set, seed)
    labels = examples.labels[rows]
    if not len(rows) or (examples.kind[rows] == 0).all():
        raise InputError(
            f"the training set '{training_set}' needs captions by systems (--machine), "
            f"or use {', '.join(SETS)} otherwise"
        )
    cached_table = output.with_name(output.name + ".features")
    checkpoint = output.with_name(output.name + ".checkpoint")
    table = _feature_table(chosen, examples, cached_table)[rows]
    judged = [judged_table(one, folder, chosen) for one in validate]
    origin = {
        "set": training_set,
        "images": len(set(examples.image[rows].tolist())),
        "machines": sorted({system for system in examples.system if system}),
    }
    done = train(
        name,
        chosen.names,
        table,
        labels,
        TrainingPlan(hidden=layers, epochs=epochs, seed=seed),
        validate=judged,
        checkpoint=checkpoint,
        made=origin,
    )
    with atomic_write(output) as temporary:
        temporary.write_bytes(to_bytes(done.network))
    for leftover in (checkpoint, cached_table):
        leftover.unlink(missing_ok=True)
    return TrainedComposite(
        path=output,
        name=name,
        network=done.network,
        features=tuple(chosen.names),
        examples=len(rows),
        epoch=done.epoch,
        accuracy=float(((done.network.score(table) > 0.5) == (labels > 0.5)).mean()),
        tau_b={one.name: one.tau(done.network) for one in judged},
    )


def _checked_layers(sizes: Sequence[int]) -> tuple[int, ...]:
    if tuple(sizes) == (0,):
        return ()
    if not all(0 < size <= 4096 for size in sizes):
        raise InputError(f"the size of a hidden layer must be 1 to 4096, not '{','.join(map(str, sizes))}'")
    return tuple(sizes)


def _captions(
    references: str | Path, machine: Sequence[str | Path], training_set: str
) -> tuple[dict[str, list[str]], dict[str, Mapping[str, str]]]:
    """Read human captions by image, and each system's."""
    if training_set not in SETS:
        hint = did_you_mean(training_set, SETS)
        raise InputError(f"unknown training set '{training_set}'{hint} (known: {', '.join(SETS)})")
    file = read(references, "references")
    people = {image: list(group) for image, group in zip(file.ids, file.captions)}
    machines: dict[str, Mapping[str, str]] = {}
    paths = [Path(path) for path in machine]
    for name, path in zip(tell_apart([path.name.partition(".")[0] for path in paths], paths), paths):
        system = read(path, "predictions")
        machines[name] = {
            image: group[0] for image, group in zip(system.ids, system.captions) if image in people and group
        }
        if not machines[name]:
            raise InputError(
                f"{path} has no captions of the images of {references}; "
                "pass a system's captions of these images"
            )
    return people, machines


def _feature_table(features: Features, examples: Examples, path: Path) -> FloatArray:
    """Compute the features of the examples, or read those of an interrupted run."""
    resources = [f"{key} {resource.digest}" for key, resource in sorted(features.resources().items())]
    texts = (
        text
        for candidate, others in zip(examples.candidates, examples.references)
        for text in (candidate, "", *others)
    )
    identity = digests.together(digests.of_lines([*features.names, *resources]), digests.of_lines(texts))
    if path.exists():
        arrays, meta = unpack(path.read_bytes(), str(path))
        if meta.get("identity") == identity:
            return arrays["table"].astype(np.float64)
    table = features.table(examples.corpus()).astype(np.float32)
    with atomic_write(path) as temporary:
        temporary.write_bytes(pack({"table": table}, {"identity": identity}))
    return table.astype(np.float64)
