"""Explanations as HTML, for notebooks and ``captious explain --html``.

Captions are untrusted text, so everything is escaped. Status is always a mark and a word, never colour alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from captious.core.writing import atomic_write

if TYPE_CHECKING:
    from captious.results.caption_explanations import Explanation

#: Status of a sentence of a description → its mark. "neutral" sentences name nothing that is judged.
SENTENCE_MARKS = {"supported": "✓", "unsupported": "✗", "ambiguous": "?", "neutral": "·"}
#: Columns of parts under other headings.
HEADINGS = {"ngram": "n-gram", "name": "feature", "share": "moved by"}
#: Status of a sentence or a part → colours of text and ground (contrast at least 4.5) and line below.
_LOOKS = {
    "supported": ("#00523c", "#dff3ec", "solid"),
    "unsupported": ("#8f3200", "#fdeadf", "double"),
    "ambiguous": ("#5c4a00", "#fbf1cc", "dashed"),
    "neutral": ("#4a4740", "#f3f1ec", "none"),
}
_SAME = {"matched": "supported", "extra": "unsupported", "hallucinated": "unsupported", "missed": "neutral"}
#: The page loads nothing and runs no script.
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
color: #1d1c1a; background: #fff }}
article {{ border-top: 1px solid #b9b3a8; padding: 1rem 0 2rem }}
table {{ border-collapse: collapse; font-size: .875rem }}
th, td {{ text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #dedad2 }}
.wide {{ overflow-x: auto }}
</style></head><body><main><h1>{title}</h1>
{body}
</main></body></html>
"""


def explanation_html(explanation: Explanation) -> str:
    """Return an explanation as an HTML fragment: the caption by sentences, the summary and the parts."""
    score = cell("score", explanation.score)
    return (
        f"<article><h2>{escape(explanation.image)}: {escape(explanation.metric)} {score}</h2>"
        f"{_caption(explanation)}<p>{escape(explanation.summary)}</p>{_parts(explanation.parts)}</article>"
    )


def save_html(
    explanations: Sequence[Explanation], path: str | os.PathLike[str], title: str = "Explanations"
) -> None:
    """Write explanations to a page that needs no other file.

    Parameters
    ----------
    explanations
        Result of :func:`captious.explain`.
    path
        File to write.
    title
        Title of the page.
    """
    body = "\n".join(map(explanation_html, explanations))
    with atomic_write(path) as target:
        target.write_text(_PAGE.format(title=escape(title), body=body), encoding="utf-8")


def cell(key: str, value: object) -> str:
    """Return a value of a part as text."""
    if not isinstance(value, float):
        return str(value)
    if value != value:
        return "–"
    return f"{value:+.3f}" if key == "share" else f"{value:.4f}"


def _caption(explanation: Explanation) -> str:
    """Return the caption, one item per judged sentence."""
    sentences = explanation.sentences
    if not sentences:
        return f'<blockquote dir="auto">{escape(explanation.caption)}</blockquote>'
    items = "".join(
        f'<li>{_status(status)} <span dir="auto">{escape(text)}</span></li>' for text, status in sentences
    )
    return f"<ol>{items}</ol>"


def _status(status: str) -> str:
    """Return a status as a coloured mark and word."""
    look = _SAME.get(status, status)
    ink, ground, line = _LOOKS[look]
    style = (
        f"color:{ink};background:{ground};border-bottom:2px {line} {ink};padding:0 .3em;white-space:nowrap"
    )
    mark = "○" if status == "missed" else SENTENCE_MARKS[look]
    return f'<span class="{escape(status)}" style="{style}">{mark} {escape(status)}</span>'


def _parts(parts: Sequence[dict[str, Any]]) -> str:
    if not parts:
        return ""
    head = "".join(f'<th scope="col">{escape(HEADINGS.get(key, key))}</th>' for key in parts[0])
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td dir="auto">{_status(value) if key == "status" else escape(cell(key, value))}</td>'
            for key, value in part.items()
        )
        + "</tr>"
        for part in parts
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
