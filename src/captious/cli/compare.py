"""``captious compare``: which system is really better?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from captious.cli import options
from captious.cli.look import interval, number, takes_look
from captious.cli.look import score as shown
from captious.cli.output import SUFFIX, is_taken, note, print_table, write_json
from captious.cli.score import print_origin, print_signatures
from captious.errors import InputError


def register(app: typer.Typer) -> None:
    app.command("compare")(options.takes_jobs(options.takes_columns(options.takes_measure_options(options.takes_output(takes_look(compare))))))


def compare(
    inputs: Annotated[
        list[Path],
        typer.Argument(metavar="REFS A B", help="Reference captions and predictions, one file per system; or saved scores alone."),
    ],
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", "-m", help="Names separated by commas (default: coco, or what the saved scores have in common)."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="NAME", help="Compare every system with this one instead of all pairs.")
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="Largest corrected p-value at which a system counts as ahead.")
    ] = 0.05,
    tokenizer: options.Tokenizer = None,
    subset: options.Subset = False,
    allow_several: options.AllowSeveral = False,
    resamples: Annotated[int, typer.Option(min=10, help="Bootstrap resamples.")] = 1000,
    trials: Annotated[int, typer.Option(min=10, help="Trials of the randomisation test.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of both tests.")] = 12345,
    name: options.Names = None,
    signature: options.WithSignatures = False,
    json: options.JsonOut = None,
    *,
    given: dict[str, Any],
) -> None:
    """Compare systems on the same images: differences, intervals and p-values for each metric.

    Compares all pairs of systems, or each system with a baseline. Saved scores are not computed again.
    """
    from captious.comparison import compare as compare_all
    from captious.references import load_systems
    from captious.scores import Scores

    references, systems = split(inputs)
    if name and len(name) != len(systems):
        raise InputError(f"{len(systems)} systems were given and {len(name)} name{'s' if len(name) != 1 else ''}; give one name for each system (--name)")
    if references is None:
        if tokenizer is not None or subset or allow_several:
            raise InputError("--tokenizer, --subset and --allow-several are for captions; saved scores already have their tokenizer and images")
        given_systems: list[Any] = list(systems) if not name else [Scores.load(path) for path in systems]
    else:
        fresh = [path for path in systems if not is_scores(path)]
        loaded = iter(load_systems(references, fresh, tokenizer=tokenizer, subset=subset, several=allow_several or None))
        given_systems = [path if is_scores(path) and not name else Scores.load(path) if is_scores(path) else next(loaded) for path in systems]
    for system, called in zip(given_systems, name or ()):
        if isinstance(system, Scores):
            system.system = called
        else:
            system.name = called
    found = compare_all(
        *given_systems, metrics=metrics, baseline=_name(baseline, systems), alpha=alpha, resamples=resamples, trials=trials,
        seed=seed, **given,
    )  # fmt: skip
    if json is not None:
        write_json({**({"references": str(references)} if references is not None else {}), **found.to_json()}, json)
    if not is_taken(json):
        show(found)
        if signature:
            print_signatures(found.scores)


def is_scores(path: Path) -> bool:
    """Whether a file has saved scores, by its name: a damaged one should be called damaged, not taken for captions."""
    return path.name.endswith(SUFFIX)


def split(inputs: list[Path]) -> tuple[Path | None, list[Path]]:
    """References, if any, and systems."""
    references, systems = (None, inputs) if is_scores(inputs[0]) else (inputs[0], inputs[1:])
    if len(systems) < 2:
        raise InputError(
            "a comparison needs two systems: 'captious compare REFS A B' with captions, "
            f"or 'captious compare A{SUFFIX} B{SUFFIX}' with saved scores"
        )
    if references is None and not all(map(is_scores, systems)):
        wrong = next(path for path in systems if not is_scores(path))
        raise InputError(f"{wrong} has captions, which need references: 'captious compare REFS {inputs[0]} {wrong}'")
    return references, systems


def _name(baseline: str | None, systems: list[Path]) -> str | int | None:
    """A baseline may also be named by its file."""
    files = [str(path) for path in systems]
    return files.index(baseline) if baseline in files else baseline


def show(found: Any) -> None:
    """The tables: who is ahead of how many others, where there are more than two, and every comparison."""
    several = len(found.systems) > 2
    images = len(next(iter(found.scores[0].values())).ids)
    if several:
        print_standings(found)
    rows = []
    for row in found:
        rows.append(
            [
                row.metric, *([row.system_a, row.system_b] if several else []),
                shown(row.a, row.format), shown(row.b, row.format), shown(row.difference, "+" + row.format), interval(row.interval, "+" + row.format),
                number(row.p_bootstrap), number(row.p_randomisation), number(row.p_corrected), row.ahead or "–",
            ]
        )  # fmt: skip
    values = ["A", "B", "value of A", "value of B"] if several else found.systems
    header = [
        "metric", *values, "difference", f"{100 * (1 - found.alpha):g} % interval", "p (bootstrap)", "p (randomis.)",
        "p (Holm)", "ahead",
    ]  # fmt: skip
    last = len(header) - 1
    print_table(f"{images:,} images, paired tests", header, rows, text=(0, 1, 2, last) if several else (0, last), keys=3 if several else 1)
    print_origin(found.scores)
    pairs = len(found) // len(found.metrics)
    note(
        f"p (Holm): randomisation, corrected for {found.family:,} comparisons ({_many(pairs, 'pair')} × "
        f"{_many(len(found.metrics), 'metric')}); ahead: at most {found.alpha:g}"
    )


def print_standings(found: Any) -> None:
    """The value of each system, and of how many of those it was compared with it is significantly ahead."""
    rows = []
    for name, scores in zip(found.systems, found.scores):
        cells = []
        for metric in found.metrics:
            met = sum(row.metric == metric and name in (row.system_a, row.system_b) for row in found)
            cells.append(f"{shown(scores[metric].value, scores[metric].measure.format)} ({len(found.beaten(metric, name))}/{met})")
        rows.append([name, *cells])
    print_table("in brackets: ahead of how many of those compared with", ["system", *found.metrics], rows, turn=True)


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
