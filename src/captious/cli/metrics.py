"""``captious metrics``: what there is."""

from __future__ import annotations

import typer

from captious.cli.options import JsonOut
from captious.cli.output import print_table, write_json


def register(app: typer.Typer) -> None:
    app.command("metrics")(metrics)


def metrics(json: JsonOut = None) -> None:
    """List the metrics, what they measure and which options they take."""
    from captious.metrics import registry

    rows = []
    for name in registry.names():
        kind = registry.metric_class(name)
        made = registry.create(name) if name not in registry.ON_REQUEST else None
        summary = made.summary if made is not None else kind.summary
        rows.append((name, kind.higher_is_better, kind.bounds, sorted(kind.options), sorted(kind.needs), summary))
    if json is not None:
        write_json(
            [
                {"name": n, "higher_is_better": h, "bounds": b, "options": o, "needs": d, "summary": s}
                for n, h, b, o, d, s in rows
            ],
            json,
        )
    if json == "-":
        return
    table = [
        [name, "higher" if higher else "lower", _bounds(bounds), ", ".join(takes), summary]
        for name, higher, bounds, takes, _, summary in rows
    ]
    print_table("", ["metric", "better", "range", "options", "what it measures"], table, text=(0, 1, 3, 4))
    groups = "; ".join(f"{group} = {', '.join(members)}" for group, members in registry.GROUPS.items())
    print(f"groups: {groups}; all = every metric that needs no file")


def _bounds(bounds: tuple[float | None, float | None]) -> str:
    low, high = ("∞" if bound is None else f"{bound:g}" for bound in bounds)
    return f"{low} … {high}"
