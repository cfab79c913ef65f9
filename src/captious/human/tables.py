"""Results of agreement as tables of text, for terminals and documents."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from captious.human.agreement import HumanAgreement, MetricComparison
from captious.human.curves import AgreementCurve
from captious.human.relations import MetricCorrelations, PairOfMetrics


@dataclass(frozen=True)
class TextTable:
    """A titled table; the first column names the rows."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    #: Columns that hold words and not numbers.
    words: tuple[int, ...] = (0,)


def percent(value: float) -> str:
    """100 times a coefficient, as the literature prints them."""
    return "–" if value != value else f"{100 * value:.3f}"


def _short(value: float) -> str:
    return "–" if value != value else f"{100 * value:.1f}"


def with_interval(item: HumanAgreement) -> str:
    """100 times a coefficient with its interval, if there is one."""
    text = percent(item.value)
    return text if item.interval is None else f"{text} [{_short(item.interval[0])}, {_short(item.interval[1])}]"


def p_value(p: float | None) -> str:
    """A p-value; small ones as a bound."""
    if p is None or p != p:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def overview(found: Sequence[HumanAgreement]) -> TextTable:
    """One row for each metric, one column for each set: the number each set is known for."""
    first: dict[str, HumanAgreement] = {}
    for item in found:
        first.setdefault(item.judgements, item)
    columns = list(first)
    cells = {(item.metric, item.judgements): item for item in reversed(found)}
    names = list(dict.fromkeys(item.metric for item in found))
    header = ["metric", *(f"{name} ({_column(first[name])})" for name in columns)]
    rows = [[name, *(with_interval(cells[name, c]) if (name, c) in cells else "" for c in columns)] for name in names]
    return TextTable("Agreement with people, × 100", header, rows)


def _column(item: HumanAgreement) -> str:
    part = f"{item.part}, " if item.part else ""
    return f"{part}{item.coefficient}"


def of_set(found: Sequence[HumanAgreement]) -> TextTable:
    """One set: one row for each metric, one column for each part and coefficient."""
    columns = list(dict.fromkeys((item.part, item.coefficient) for item in found))
    cells = {(item.metric, item.part, item.coefficient): item for item in found}
    names = list(dict.fromkeys(item.metric for item in found))
    one = found[0]
    unit = "systems" if one.level == "system" else "images"
    most = max(found, key=lambda item: item.rows)
    level = {"caption": "", "image": ", mean within images", "system": ", over systems"}[one.level]
    rows = [[name, *(with_interval(cells[name, p, c]) if (name, p, c) in cells else "" for p, c in columns)] for name in names]
    title = f"{one.judgements}: agreement × 100{level}; {most.rows:,} rows of {most.units:,} {unit}"
    notes = []
    undefined = {item.metric: item.undefined for item in found if item.undefined}
    if undefined:
        alike = len(set(undefined.values())) == 1 and len(undefined) == len(names)
        every = f"{next(iter(undefined.values())):,} rows for every metric"
        listed = every if alike else ", ".join(f"{name} {count:,} rows" for name, count in undefined.items())
        notes.append(f"Left out as undefined: {listed}.")
    header = ["metric", *(f"{part or 'all'} ({coefficient})" for part, coefficient in columns)]
    return TextTable(title, header, rows, notes)


def comparisons(found: Sequence[MetricComparison]) -> TextTable:
    """Pairs of metrics with their tests, and which is better where one is."""
    one = found[0]
    rows = [
        [
            c.a, c.b, percent(c.value_a), percent(c.value_b),
            f"{100 * c.difference:+.3f} [{_short(c.interval[0])}, {_short(c.interval[1])}]",
            p_value(c.p_bootstrap), p_value(c.p_williams), p_value(c.p_holm),
            f"{c.better} is better" if c.better else "no difference shown",
        ]
        for c in found
    ]  # fmt: skip
    part = f" ({one.part})" if one.part else ""
    title = f"{one.judgements}{part}: differences between metrics, {one.coefficient} × 100, {one.rows:,} rows"
    header = ["A", "B", "A", "B", "A − B", "p, bootstrap", "p, Williams", "p, Holm", "verdict"]
    return TextTable(title, header, rows, words=(0, 1, 8))


def curve(found: AgreementCurve) -> TextTable:
    """One row for each metric, one column for each point."""
    names = list(dict.fromkeys(item.metric for point in found.points for item in point.found))
    cells = {(point.label, item.metric): item for point in found.points for item in point.found}
    rows = [[name, *(with_interval(cells[p.label, name]) if (p.label, name) in cells else "" for p in found.points)] for name in names]
    coefficient = found.points[0].found[0].coefficient if found.points else ""
    header = ["metric", *(point.label for point in found.points)]
    return TextTable(f"{found.judgements}: {coefficient} × 100 by {found.axis}", header, rows)


def correlations(found: MetricCorrelations) -> TextTable:
    """The matrix of correlations between metrics."""
    rows = [[name, *(f"{value:.2f}" for value in row)] for name, row in zip(found.metrics, found.matrix.tolist())]
    return TextTable(f"Metrics with each other ({found.coefficient}) over {found.rows:,} {found.over}", ["metric", *found.metrics], rows)


def pairs(found: Sequence[PairOfMetrics], number: int = 10) -> TextTable:
    """The pairs of metrics that gain most over the better of the two."""
    rows = [
        [
            f"{p.a} + {p.b}", percent(p.value_a), percent(p.value_b), percent(p.combined), f"{p.share_a:.2f}",
            f"{100 * p.gain:+.3f} [{_short(p.interval[0])}, {_short(p.interval[1])}]", p_value(p.p_holm),
            "yes" if p.complementary else "not shown",
        ]
        for p in found[:number]
    ]  # fmt: skip
    one = found[0]
    header = ["pair", "first", "second", "together", "share of first", "gain", "p, Holm", "better than either"]
    return TextTable(f"{one.judgements}: pairs of metrics, cross-validated by image, {one.coefficient} × 100", header, rows, words=(0, 7))


def as_markdown(tables: Sequence[TextTable], signatures: Sequence[str] = ()) -> str:
    """Tables as Markdown, with signatures below."""
    lines: list[str] = []
    for table in tables:
        lines += [f"**{table.title}**", "", _line(table.header), "|" + "|".join("---" if k in table.words else "---:" for k in range(len(table.header))) + "|"]
        lines += [_line(row) for row in table.rows]
        lines += ["", *(f"{note}\n" for note in table.notes)]
    if signatures:
        lines += ["Signatures:", "", *(f"- `{text}`" for text in signatures), ""]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_csv(tables: Sequence[TextTable]) -> str:
    """Tables one after the other as CSV, each under its title."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for table in tables:
        writer.writerows([[table.title], table.header, *table.rows, []])
    return out.getvalue()
