"""Agreement results as text tables, for terminals and documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from captious.agreement.agreement_curves import AgreementCurve
from captious.agreement.agreement_scores import HumanAgreement, MetricComparison
from captious.agreement.metric_relations import MetricCorrelations, PairOfMetrics


@dataclass(frozen=True)
class TextTable:
    """A titled table; the first column names the rows."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    #: Columns with text, aligned left.
    words: tuple[int, ...] = (0,)


def percent(value: float, digits: int | None = None) -> str:
    """Format a coefficient × 100, as papers print it, with 3 digits by default."""
    return "–" if value != value else f"{100 * value:.{3 if digits is None else digits}f}"


def bounds(interval: tuple[float, float], digits: int | None = None) -> str:
    """Format an interval × 100, with 1 digit by default."""
    low, high = (percent(bound, 1 if digits is None else digits) for bound in interval)
    return f"[{low}, {high}]"


def _signed(value: float, digits: int | None) -> str:
    text = percent(value, digits)
    return text if value != value or value < 0 else f"+{text}"


def with_interval(item: HumanAgreement, digits: int | None = None) -> str:
    """Format a coefficient × 100 with its interval, if it has one."""
    text = percent(item.value, digits)
    return text if item.interval is None else f"{text} {bounds(item.interval, digits)}"


def p_value(p: float | None) -> str:
    """Format a p-value. Small ones are shown as a bound."""
    if p is None or p != p:
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def overview(agreements: Sequence[HumanAgreement], digits: int | None = None) -> TextTable:
    """Build a table with one row per metric and one column per set (its first coefficient)."""
    first: dict[str, HumanAgreement] = {}
    for item in agreements:
        first.setdefault(item.judgements, item)
    columns = list(first)
    cells = {(item.metric, item.judgements): item for item in reversed(agreements)}
    names = list(dict.fromkeys(item.metric for item in agreements))
    header = ["metric", *(f"{name} ({_column(first[name])})" for name in columns)]
    rows = [
        [name, *(with_interval(cells[name, c], digits) if (name, c) in cells else "" for c in columns)]
        for name in names
    ]
    return TextTable("Agreement with people, × 100", header, rows)


def _column(item: HumanAgreement) -> str:
    part = f"{item.part}, " if item.part else ""
    return f"{part}{item.coefficient}"


def of_set(agreements: Sequence[HumanAgreement], digits: int | None = None) -> TextTable:
    """Build the table of one set: one row per metric, one column per part and coefficient."""
    columns = list(dict.fromkeys((item.part, item.coefficient) for item in agreements))
    cells = {(item.metric, item.part, item.coefficient): item for item in agreements}
    names = list(dict.fromkeys(item.metric for item in agreements))
    one = agreements[0]
    unit = "systems" if one.level == "system" else "images"
    most = max(agreements, key=lambda item: item.rows)
    level = {"caption": "", "image": ", mean within images", "system": ", over systems"}[one.level]
    rows = [
        [
            name,
            *(with_interval(cells[name, p, c], digits) if (name, p, c) in cells else "" for p, c in columns),
        ]
        for name in names
    ]
    title = f"{one.judgements}: agreement × 100{level}; {most.rows:,} rows of {most.units:,} {unit}"
    notes = []
    undefined = {item.metric: item.undefined for item in agreements if item.undefined}
    if undefined:
        alike = len(set(undefined.values())) == 1 and len(undefined) == len(names)
        every = f"{next(iter(undefined.values())):,} rows for every metric"
        listed = every if alike else ", ".join(f"{name} {count:,} rows" for name, count in undefined.items())
        notes.append(f"Left out as undefined: {listed}.")
    header = ["metric", *(f"{part or 'all'} ({coefficient})" for part, coefficient in columns)]
    return TextTable(title, header, rows, notes)


def comparisons(compared: Sequence[MetricComparison], digits: int | None = None) -> TextTable:
    """Build a table of compared pairs of metrics, with tests and verdicts."""
    one = compared[0]
    rows = [
        [
            c.a, c.b, percent(c.value_a, digits), percent(c.value_b, digits),
            f"{_signed(c.difference, digits)} {bounds(c.interval, digits)}",
            p_value(c.p_bootstrap), p_value(c.p_williams), p_value(c.p_holm),
            f"{c.better} is better" if c.better else "no difference shown",
        ]
        for c in compared
    ]  # fmt: skip
    part = f" ({one.part})" if one.part else ""
    title = f"{one.judgements}{part}: differences between metrics, {one.coefficient} × 100, {one.rows:,} rows"
    header = ["A", "B", "A", "B", "A − B", "p, bootstrap", "p, Williams", "p, Holm", "verdict"]
    return TextTable(title, header, rows, words=(0, 1, 8))


def curve(agreement_curve: AgreementCurve, digits: int | None = None) -> TextTable:
    """Build the table of a curve: one row per metric, one column per point."""
    names = list(dict.fromkeys(item.metric for point in agreement_curve.points for item in point.agreements))
    cells = {
        (point.label, item.metric): item for point in agreement_curve.points for item in point.agreements
    }
    rows = [
        [
            name,
            *(
                with_interval(cells[p.label, name], digits) if (p.label, name) in cells else ""
                for p in agreement_curve.points
            ),
        ]
        for name in names
    ]
    coefficient = agreement_curve.points[0].agreements[0].coefficient if agreement_curve.points else ""
    header = ["metric", *(point.label for point in agreement_curve.points)]
    return TextTable(
        f"{agreement_curve.judgements}: {coefficient} × 100 by {agreement_curve.axis}", header, rows
    )


def correlations(matrix: MetricCorrelations) -> TextTable:
    """Build a table of the correlation matrix of metrics."""
    rows = [
        [name, *(f"{value:.2f}" for value in row)]
        for name, row in zip(matrix.metrics, matrix.matrix.tolist())
    ]
    return TextTable(
        f"Metrics with each other ({matrix.coefficient}) over {matrix.rows:,} {matrix.over}",
        ["metric", *matrix.metrics],
        rows,
    )


def pairs(metric_pairs: Sequence[PairOfMetrics], digits: int | None = None, number: int = 10) -> TextTable:
    """Build a table of the pairs of metrics with the largest gain over the better of the two."""
    rows = [
        [
            f"{p.a} + {p.b}",
            *(percent(value, digits) for value in (p.value_a, p.value_b, p.combined)), f"{p.share_a:.2f}",
            f"{_signed(p.gain, digits)} {bounds(p.interval, digits)}", p_value(p.p_holm),
            "yes" if p.complementary else "not shown",
        ]
        for p in metric_pairs[:number]
    ]  # fmt: skip
    first = metric_pairs[0]
    header = [
        "pair",
        "first",
        "second",
        "together",
        "share of first",
        "gain",
        "p, Holm",
        "better than either",
    ]
    return TextTable(
        f"{first.judgements}: pairs of metrics, cross-validated by image, {first.coefficient} × 100",
        header,
        rows,
        words=(0, 7),
    )


def as_markdown(tables: Sequence[TextTable], signatures: Sequence[str] = ()) -> str:
    """Format tables as Markdown, followed by signatures."""
    lines: list[str] = []
    for table in tables:
        lines += [
            f"**{table.title}**",
            "",
            _line(table.header),
            "|" + "|".join("---" if k in table.words else "---:" for k in range(len(table.header))) + "|",
        ]
        lines += [_line(row) for row in table.rows]
        lines += ["", *(f"{note}\n" for note in table.notes)]
    if signatures:
        lines += ["Signatures:", "", *(f"- `{text}`" for text in signatures), ""]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
