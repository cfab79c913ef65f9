"""``captious train lceval|nneval|FEATURES…``: a learned metric from people's captions and worse ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from captious.cli import options
from captious.cli.output import note, print_table, write_json
from captious.errors import InputError

if TYPE_CHECKING:
    from captious.learned.features import Features
    from captious.learned.training.examples import Examples
    from captious.learned.training.trainer import Judged
    from captious.measures.base import FloatArray

#: Hidden layers as published; those of a list of features are LCEval's.
PUBLISHED = {"lceval": ("LCEval", "12"), "nneval": ("NNEval", "72,72")}


class _ByFeatures(TyperGroup):
    """What is no command is the first of a list of features."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            args = ["composite", *args]
        return super().resolve_command(ctx, args)


def register(group: typer.Typer) -> None:
    group.info.cls = _ByFeatures
    taken = options.takes_columns(options.takes_measure_options(composite))
    for name, (title, hidden) in PUBLISHED.items():
        help_ = f"Train {title}: its published features and hidden layers ({hidden.replace(',', ' and ')})."
        group.command(name, help=help_)(options.takes_columns(options.takes_measure_options(_published(name))))
    group.command("composite", help="Train a metric on features of your choice; 'captious train FEATURES…' is the same.")(taken)


ReferenceFile = Annotated[Path, typer.Option("--references", metavar="REFS", help="People's captions, five or more for each image.")]
MachineFiles = Annotated[
    list[Path] | None, typer.Option("--machine", metavar="PRED", help="Captions by a system for these images; repeatable.")
]
TrainingSet = Annotated[
    str,
    typer.Option("--set", help="What people's captions stand against: systems, mixed, others (captions of other images) or neighbours."),
]
ValidateBy = Annotated[
    str, typer.Option("--validate", metavar="SETS", help="Sets of judgements that choose the epoch, or 'none' for the last epoch.")
]
DataFolder = Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Folder of those sets (else CAPTIOUS_DATA, else here).")]
Images = Annotated[int | None, typer.Option("--images", min=2, help="Images to draw examples from (default: all).")]
Epochs = Annotated[int, typer.Option("--epochs", min=1, help="Epochs at most.")]
Hidden = Annotated[str | None, typer.Option("--hidden", metavar="N,…", help="Sizes of the hidden layers; 0 for none.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of examples and weights.")]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="OUT.safetensors", help="Where to write the weights.")]


def _published(kind: str) -> Any:
    def command(
        references: ReferenceFile,
        output: Output,
        machine: MachineFiles = None,
        training_set: TrainingSet = "others",
        validate: ValidateBy = "thumb,capeval1k",
        data: DataFolder = None,
        images: Images = None,
        epochs: Epochs = 800,
        hidden: Hidden = None,
        seed: Seed = 1,
        json: options.JsonOut = None,
        *,
        given: dict[str, Any],
    ) -> None:
        composite([kind], references, output, machine, training_set, validate, data, images, epochs, hidden, seed, json, given=given)

    return command


def composite(
    features: Annotated[list[str], typer.Argument(metavar="FEATURES…", help="Metrics, or lexical, semantic, syntactic, lceval, nneval.")],
    references: ReferenceFile,
    output: Output,
    machine: MachineFiles = None,
    training_set: TrainingSet = "others",
    validate: ValidateBy = "thumb,capeval1k",
    data: DataFolder = None,
    images: Images = None,
    epochs: Epochs = 800,
    hidden: Hidden = None,
    seed: Seed = 1,
    json: options.JsonOut = None,
    *,
    given: dict[str, Any],
) -> None:
    """Train a learned metric. A run that was stopped goes on where it was when it is started again."""
    from captious.learned.features import Features
    from captious.learned.network import to_bytes
    from captious.learned.training.examples import SETS, build_examples
    from captious.learned.training.judged import judged_table
    from captious.learned.training.trainer import Plan, train
    from captious.writing import atomic_write

    known = PUBLISHED.get(features[0].casefold()) if len(features) == 1 else None
    name = known[0] if known else "Learned"
    plan = Plan(hidden=_sizes(hidden or (known[1] if known else "12")), epochs=epochs, seed=seed)
    wanted = Features(features, given)
    wanted.check()
    sets = [part.strip() for part in validate.split(",") if part.strip() and part.strip().casefold() != "none"]
    # What is given for training is looked at first; the judged sets are asked for when it is in order.
    people, machines = _captions(references, machine or [], training_set)
    kinds = ("human", *SETS[training_set])
    examples = build_examples(people, machines, images=images, without=_captions_of(sets, data), seed=seed, kinds=kinds)
    rows = examples.chosen(training_set, seed)
    if not len(rows) or (examples.kind[rows] == 0).all():
        raise InputError(f"the training set '{training_set}' needs captions by systems (--machine), or use {', '.join(SETS)} otherwise")
    table = _kept_table(wanted, examples, output)
    judged: list[Judged] = [judged_table(one, data, wanted) for one in sets]
    checkpoint = output.with_name(output.name + ".checkpoint")
    made = {"set": training_set, "images": len(set(examples.image[rows].tolist())), "machines": sorted({s for s in examples.system if s})}
    done = train(name, wanted.names, table[rows], examples.labels[rows], plan, validate=judged, checkpoint=checkpoint, made=made)
    with atomic_write(output) as temporary:
        temporary.write_bytes(to_bytes(done.network))
    for leftover in (checkpoint, _table_file(output)):
        leftover.unlink(missing_ok=True)
    agreed = {one.name: one.tau(done.network) for one in judged}
    accuracy = float(((done.network.score(table[rows]) > 0.5) == (examples.labels[rows] > 0.5)).mean())
    if json is not None:
        write_json({"name": name, "features": list(wanted.names), "examples": len(rows), "epoch": done.epoch, "accuracy": accuracy, "tau_b": agreed}, json)
    if json != "-":
        shown = [[one, f"{100 * value:.1f}"] for one, value in agreed.items()]
        print_table(f"{name}: {len(wanted.names)} features, {len(rows):,} examples, epoch {done.epoch}, {100 * accuracy:.1f} % told apart", ["validated by", "tau-b × 100"], shown)
        note(f"wrote {output}: score with it by -m Learned --weights {output}")


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"hidden layers are sizes separated by commas (12, or 72,72), not '{text}'") from None
    if sizes == (0,):
        return ()
    if not all(0 < size <= 4096 for size in sizes):
        raise InputError(f"a hidden layer has 1 to 4096 places, and '{text}' was given")
    return sizes


def _captions_of(sets: Sequence[str], data: Path | None) -> list[str]:
    from captious.learned.training.judged import rated

    return [caption for name in sets for caption in rated(name, data).captions]


def _captions(references: Path, machine: Sequence[Path], wanted: str) -> tuple[dict[str, list[str]], dict[str, Mapping[str, str]]]:
    """People's captions by image, and each system's."""
    from captious.errors import did_you_mean
    from captious.io import read
    from captious.learned.training.examples import SETS
    from captious.names import tell_apart

    if wanted not in SETS:
        raise InputError(f"unknown training set '{wanted}'{did_you_mean(wanted, SETS)} (known: {', '.join(SETS)})")
    file = read(references, "references")
    people = {image: list(group) for image, group in zip(file.ids, file.captions)}
    machines: dict[str, Mapping[str, str]] = {}
    for name, path in zip(tell_apart([path.name.partition(".")[0] for path in machine], list(machine)), machine):
        found = read(path, "predictions")
        machines[name] = {image: group[0] for image, group in zip(found.ids, found.captions) if image in people and group}
        if not machines[name]:
            raise InputError(f"{path} has no caption of the images of {references}; give a system's captions of these images")
    return people, machines


def _table_file(output: Path) -> Path:
    return output.with_name(output.name + ".features")


def _kept_table(features: Features, examples: Examples, output: Path) -> FloatArray:
    """The features of the examples: the dearest part of a run, so a run that goes on finds them."""
    import numpy as np

    from captious import digest
    from captious.learned.network import pack, unpack
    from captious.writing import atomic_write

    named = [f"{key} {resource.digest}" for key, resource in sorted(features.resources().items())]
    texts = (text for candidate, others in zip(examples.candidates, examples.references) for text in (candidate, "", *others))
    identity = digest.together(digest.of_lines([*features.names, *named]), digest.of_lines(texts))
    path = _table_file(output)
    if path.exists():
        arrays, meta = unpack(path.read_bytes(), str(path))
        if meta.get("identity") == identity:
            return arrays["table"].astype(np.float64)
    table = features.table(examples.corpus()).astype(np.float32)
    with atomic_write(path) as temporary:
        temporary.write_bytes(pack({"table": table}, {"identity": identity}))
    return table.astype(np.float64)
