"""HTML for notebooks. Names and captions are untrusted text, so everything is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from captious.corpus import Corpus
    from captious.results.comparison_result import Comparison
    from captious.results.regression_check import CheckResult
    from captious.results.scores import Score, Scores
    from captious.scene.graphs import SceneGraph

#: Number of images of a corpus that are shown.
_SHOWN = 5


def _table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    caption: str = "",
    below: str = "",
    bold: Sequence[bool] = (),
) -> str:
    """Return a table of texts. The first column is left-aligned, and rows marked in ``bold`` are bold."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        ('<tr style="font-weight:bold">' if number < len(bold) and bold[number] else "<tr>")
        + "".join(
            f'<td style="text-align:{"left" if k == 0 else "right"}">{_lines(cell)}</td>'
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for number, row in enumerate(rows)
    )
    title = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + (
        f"<small>{escape(below)}</small>" if below else ""
    )


def _lines(text: str) -> str:
    return "<br>".join(escape(line) for line in text.split("\n"))


def _value(score: Score) -> str:
    return "–" if score.value != score.value else format(score.value, score.measure.format)


def score(one: Score) -> str:
    """Return a score with its interval."""
    low, high = one.interval() if len(one.ids) > 1 else (one.value, one.value)
    form = one.measure.format
    row = [
        one.name + ("" if one.measure.higher_is_better else " ↓"),
        _value(one),
        f"[{low:{form}}, {high:{form}}]",
        f"{len(one.ids):,}",
    ]
    return _table(["metric", "value", "95 % interval", "images"], [row], below=str(one.signature))


def scores(listed: Scores) -> str:
    """Return the scores of a system with their intervals."""
    rows = []
    for name, one in listed.items():
        low, high = one.interval() if len(one.ids) > 1 else (one.value, one.value)
        form = one.measure.format
        arrow = " ↑" if one.measure.higher_is_better else " ↓"
        rows.append([name + arrow, _value(one), f"[{low:{form}}, {high:{form}}]", f"{len(one.ids):,}"])
    return _table(
        ["metric", "value", "95 % interval", "images"],
        rows,
        caption=listed.system,
        below="↑ higher is better, ↓ lower is better; intervals by bootstrap over images",
    )


def comparisons(rows: Sequence[Comparison]) -> str:
    """Return paired tests, one row per metric and pair. Significant differences are bold."""
    if not rows:
        return "<p>no comparisons</p>"
    several = len({(row.system_a, row.system_b) for row in rows}) > 1
    values = ["A", "B", "value of A", "value of B"] if several else [rows[0].system_a, rows[0].system_b]
    level = f"{100 * (1 - rows[0].alpha):g} % interval"
    header = ["metric", *values, "difference", level, "p (Holm)", "ahead"]
    cells = []
    for row in rows:
        form = row.format
        low, high = row.interval
        cells.append(
            [
                row.metric + (" ↑" if row.higher_is_better else " ↓"),
                *([row.system_a, row.system_b] if several else []),
                *(_number(value, form) for value in (row.a, row.b)),
                _number(row.difference, "+" + form),
                f"[{_number(low, '+' + form)}, {_number(high, '+' + form)}]",
                _number(row.p_corrected, ".4f"),
                row.ahead or "–",
            ]
        )
    return _table(
        header,
        cells,
        caption=f"{rows[0].images:,} images, paired tests",
        below=f"ahead: p ≤ {rows[0].alpha:g} after Holm's correction for {rows[0].family:,} comparisons",
        bold=[row.ahead is not None for row in rows],
    )


def check(result: CheckResult) -> str:
    """Return the verdict of a check and its rules."""
    cells = []
    for one in result:
        row = one.comparison
        cells.append(
            [
                one.verdict,
                str(one.rule),
                _number(row.a, row.format),
                _number(row.b, row.format),
                one.change_text,
                _number(row.p_corrected, ".4f"),
            ]
        )
    header = ["verdict", "fails if", result.old, result.new, "change", "p (Holm)"]
    return _table(header, cells, caption=result.headline, bold=[one.failed for one in result])


def _number(value: float, form: str) -> str:
    return "–" if value != value else format(value, form)


def corpus(shown: Corpus) -> str:
    """Return the first images with their captions."""
    candidates, references = shown.candidates, shown.references
    rows = []
    for i, image in enumerate(shown.ids[:_SHOWN]):
        own = candidates.texts[candidates.image_offsets[i] : candidates.image_offsets[i + 1]]
        place = int(shown.images[i])
        theirs = references.texts[references.image_offsets[place] : references.image_offsets[place + 1]]
        rows.append([str(image), "\n".join(own[:_SHOWN]), "\n".join(theirs[:_SHOWN])])
    more = f"; the first {_SHOWN} are shown" if len(shown) > _SHOWN else ""
    sizes = f"{candidates.sizes} candidates and {references.sizes} references per image"
    title = f"{shown.name}: {len(shown):,} images, {sizes}{more}"
    return _table(["image", "candidates", "references"], rows, caption=title)


def scene_graph(graph: SceneGraph) -> str:
    """Return the objects of a scene graph with their attributes and relations."""
    rows = []
    for i, name in enumerate(graph.objects):
        attributes = [concept.name for concept in graph.attribute_concepts[i]]
        relations = [
            f"{relation.name} → {graph.objects[target]}"
            for (subject, target), listed in graph.relation_concepts.items()
            if subject == i
            for relation in listed
        ]
        rows.append([name, ", ".join(attributes), "\n".join(relations)])
    return _table(["object", "attributes", "relations"], rows)
