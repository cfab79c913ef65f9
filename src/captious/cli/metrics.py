"""``captious metrics``: the list of all measures."""

from __future__ import annotations

from captious.cli.command import command
from captious.cli.formatting import Tables
from captious.cli.options import JsonOut, PrintedOutput
from captious.cli.output import note, print_table, write_json


def metrics(json: JsonOut = None) -> None:
    """List all measures, what they measure and which options they take."""
    from captious.metrics import registry

    rows = []
    for name in registry.usable():
        made = registry.create(name)
        takes, needs = sorted(option.name for option in made.options), sorted(made.needs)
        rows.append((name, made.rows, made.higher_is_better, made.bounds, takes, needs, made.summary))
    if json is not None:
        write_json(
            [
                {
                    "name": n,
                    "rows": r,
                    "higher_is_better": h,
                    "bounds": b,
                    "options": o,
                    "needs": d,
                    "summary": s,
                }
                for n, r, h, b, o, d, s in rows
            ],
            json,
        )
    if json == "-":
        return
    table = [
        [name, unit, "higher" if higher else "lower", _bounds(bounds), ", ".join(takes), summary]
        for name, unit, higher, bounds, takes, _, summary in rows
    ]
    print_table(
        "", ["metric", "of a", "better", "range", "options", "what it measures"], table, text=(0, 1, 2, 4, 5)
    )
    groups = "; ".join(f"{group} = {', '.join(members)}" for group, members in registry.GROUPS.items())
    note(
        f"groups: {groups}; all, sets, corpus = every measure of a caption, of the captions of an image, of "
        "a corpus"
    )


def _bounds(bounds: tuple[float | None, float | None]) -> str:
    low, high = ("∞" if bound is None else f"{bound:g}" for bound in bounds)
    return f"{low} … {high}"


COMMAND = command("metrics", metrics, PrintedOutput, Tables)
