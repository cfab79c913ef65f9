"""HTML for notebooks. Names and captions are untrusted text, so everything is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from captious.corpus import Corpus
    from captious.results.scores import Score, Scores
    from captious.scene.graphs import SceneGraph

#: Number of images of a corpus that are shown.
_SHOWN = 5


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str = "", below: str = ""
) -> str:
    """Return a table of texts. The first column is left-aligned."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{"left" if k == 0 else "right"}">{_lines(cell)}</td>'
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
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
    """Return the scores of a system."""
    rows = [
        [name + ("" if one.measure.higher_is_better else " ↓"), _value(one), f"{len(one.ids):,}"]
        for name, one in listed.items()
    ]
    return _table(["metric", "value", "images"], rows, caption=listed.system)


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
