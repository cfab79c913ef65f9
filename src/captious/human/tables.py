"""Tables of agreement for documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from captious.human.agreement import Agreement
from captious.writing import atomic_write


def as_markdown(found: Sequence[Agreement], path: Path) -> None:
    """Write a Markdown table, one row per metric and one column per set of judgements, with the signatures below."""
    sets = list(dict.fromkeys(item.judgements for item in found))
    names = list(dict.fromkeys(item.metric for item in found))
    cell = {(item.metric, item.judgements): item for item in found}
    heads = [next(f"{s} (tau-{item.variant} × 100)" for item in found if item.judgements == s) for s in sets]
    lines = ["| metric | " + " | ".join(heads) + " |", "|---" + "|---:" * len(sets) + "|"]
    for name in names:
        values = [f"{cell[name, s].tau:.3f}" if (name, s) in cell else "" for s in sets]
        lines.append(f"| {name} | " + " | ".join(values) + " |")
    lines += ["", "Signatures:", "", *(f"- `{item.signature}`" for item in found if item.judgements == sets[0])]
    with atomic_write(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
