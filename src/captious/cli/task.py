"""``captious task`` and ``captious why``: benchmarks by name, and numbers that do not match."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli.command import INPUT, Argument, Flag, command
from captious.cli.formatting import IntervalTables, Tables
from captious.cli.options import Confidence, JsonOut, PrintedOutput, Subset, WithSignatures
from captious.cli.output import is_taken, note, print_table, write_json
from captious.cli.score_tables import show, systems_json
from captious.core.errors import InputError, printable

ReferenceFile = Annotated[
    Path | None,
    Flag(
        "--references", "-r", metavar="FILE", help="References of the task, from your files.", heading=INPUT
    ),
]


def task(
    name: Annotated[str | None, Argument(metavar="TASK", help="Name of a task, or a task file.")] = None,
    results: Annotated[
        list[Path] | None, Argument(metavar="PRED", help="Predictions, one file per system.")
    ] = None,
    references: ReferenceFile = None,
    subset: Subset = False,
    ci: Confidence = False,
    signature: WithSignatures = False,
    json: JsonOut = None,
) -> None:
    """Score systems on a named benchmark. Without PRED, describe the task; without TASK, list all."""
    from captious.tasks import load_task, read_references, run_task, task_names

    if name is None:
        rows = [[one, load_task(one).about] for one in task_names()]
        print_table("", ["task", "what it is"], rows, text=(0, 1))
        return
    if not results:
        chosen = load_task(name)
        note(f"{chosen.name}: {chosen.about}\nreferences: {chosen.what}; split {chosen.split or 'none'}")
        note(f"metrics: {', '.join(chosen.metrics)}; groups: {chosen.group or 'none'}")
        if references is not None:
            present = read_references(chosen, references)
            note(f"{printable(str(references))}: {len(present):,} images, digest {present.captions.digest}")
        for row in chosen.published:
            listed = ", ".join(f"{metric} {value:g}" for metric, value in row.scores.items())
            note(f"published: {row.system}: {listed} ({row.source})")
        return
    done = run_task(name, results, references, subset=subset)
    if json is not None:
        systems = systems_json(done.scores, done.groups, ci=ci)
        write_json({"task": done.task.name, "systems": systems}, json)
    if is_taken(json):
        return
    show(done.scores, ci=ci, signature=signature, grouped=done.groups, title=done.task.about)
    for row in done.task.published:
        listed = ", ".join(f"{metric} {value:g}" for metric, value in row.scores.items())
        note(f"published: {row.system}: {listed} ({row.source})")


def why(
    results: Annotated[Path, Argument(metavar="PRED", help="Predictions whose numbers do not match.")],
    published: Annotated[
        str, Flag("--published", metavar="TEXT", help="Published scores: 'CIDEr 131.2 BLEU-4 39.1'.")
    ],
    references: ReferenceFile = None,
    name: Annotated[
        str | None, Flag("--task", metavar="TASK", help="Task of the published scores.", heading=INPUT)
    ] = None,
    json: JsonOut = None,
) -> None:
    """Say why a number does not match a published one: score in the ways in which evaluations differ."""
    from captious.tasks import diagnose, load_task, parse_published, published_fractions, remarks, rounding
    from captious.tasks.diagnosis import AS_GIVEN

    chosen = None if name is None else load_task(name)
    source = references or (chosen.path if chosen is not None else None)
    if source is None:
        raise InputError("references are missing: give --references FILE")
    wanted = parse_published(published)
    variants = diagnose(source, results, wanted, tolerance=rounding(published), task=chosen)
    if json is not None:
        write_json([vars(variant) for variant in variants], json)
    if is_taken(json):
        return
    rows = [
        [variant.name, *(f"{variant.values[metric]:.1f}" for metric in wanted), f"{variant.distance:.1f}"]
        for variant in variants
    ]
    rows.append(["published", *(f"{value:.1f}" for value in wanted.values()), ""])
    print_table(printable(str(results)), ["evaluation", *wanted, "largest difference"], rows)
    if fractions := published_fractions(published):
        note(f"the published {', '.join(fractions)} are fractions; all numbers here are in percent")
    nearest = variants[0]
    if nearest.matches and nearest.name == AS_GIVEN:
        note("as given: your captions give the published numbers, up to rounding")
        return
    note(
        f"nearest: {nearest.name} (largest difference {nearest.distance:.1f})"
        + ("" if nearest.matches else "; none of these differences explains the numbers exactly")
    )
    for remark in remarks(source, results, task=chosen):
        note(remark)


TASK = command("task", task, PrintedOutput, IntervalTables)
WHY = command("why", why, PrintedOutput, Tables)
