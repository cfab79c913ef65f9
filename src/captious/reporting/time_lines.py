"""Page about dense captions: a table of systems, and a time line per video with everyone's events."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from captious.core.writing import atomic_write
from captious.dense.dense_scores import read_predictions, read_references
from captious.io.caption_files import CaptionWarning
from captious.io.event_files import Event, Source
from captious.reporting.document import _hash
from captious.results.scores import Scores

#: Width of a time line, and the height of a row of events.
_WIDTH, _ROW = 1000.0, 22
_STYLE = """
:root{color-scheme:light dark}
body{font:15px/1.4 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #8884}
th:first-child,td:first-child{text-align:left}section{margin:2rem 0}svg{width:100%;height:auto}
svg text{font:11px system-ui,sans-serif;fill:currentColor}.ref{fill:#4477aa}.pred{fill:#ee7733}
.axis{stroke:currentColor;stroke-opacity:.4}li{margin:.1rem 0}.time{opacity:.7}details{margin:.4rem 0}
"""


@dataclass(frozen=True)
class TimeLinePage:
    """The page as text. :meth:`save` writes it."""

    html: str
    videos: tuple[str, ...]

    def save(self, path: str | Path) -> Path:
        """Write the page to a file atomically."""
        with atomic_write(path) as temporary:
            temporary.write_bytes(self.html.encode("utf-8", "replace"))
        return Path(path)


def time_line_page(
    references: Source | Iterable[Source],
    predictions: Iterable[Source],
    scores: Sequence[Scores],
    *,
    title: str = "Dense captions",
    as_published: bool = False,
) -> TimeLinePage:
    """Return a page about systems whose ``scores`` are those of :func:`captious.score_dense_systems`.

    The page has no script and loads nothing.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptionWarning)  # score_dense_systems warned of the same files
        known = read_references(references, as_published=as_published)
        systems = [read_predictions(source, known, as_published=as_published) for source in predictions]
    sections = []
    for video in known.videos:
        lanes = [
            (f"annotator {number}", "ref", one.videos.get(video, []))
            for number, one in enumerate(known.annotators, 1)
        ]
        lanes += [(own.system, "pred", one.videos.get(video, [])) for own, one in zip(scores, systems)]
        end = max([known.durations.get(video, 0.0), *(event.end for _, _, own in lanes for event in own)])
        values = [
            f"{escape(own.system)}: "
            + ", ".join(
                f"{escape(name)} {own[name].per_image[video]:.3f}"
                for name in own
                if "@" not in name and video in own[name].per_image
            )
            for own in scores
        ]
        sections.append(_section(video, lanes, max(end, 1e-3), values))
    policy = f"default-src 'none'; style-src '{_hash(_STYLE)}'; base-uri 'none'; form-action 'none'"
    html = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1>{_table(scores)}{''.join(sections)}</body></html>\n"
    )
    return TimeLinePage(html, known.videos)


def _table(scores: Sequence[Scores]) -> str:
    names = [name for name in scores[0] if "@" not in name] if scores else []
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = ""
    for own in scores:
        cells = ""
        for name in names:
            low, high = own[name].interval()
            cells += f"<td>{own[name].value:.4f} [{low:.4f}, {high:.4f}]</td>"
        rows += f"<tr><th>{escape(own.system)}</th>{cells}</tr>"
    note = "<p>Means over videos with 95 % bootstrap intervals over videos.</p>"
    return f"<table><thead><tr><th>system</th>{head}</tr></thead><tbody>{rows}</tbody></table>{note}"


def _section(
    video: str, lanes: Sequence[tuple[str, str, Sequence[Event]]], end: float, values: Sequence[str]
) -> str:
    """Return the time line of a video: a lane per annotator and system, then all sentences."""
    drawn, lists, top = "", "", 0
    for label, kind, events in lanes:
        drawn += f'<text x="0" y="{top + 12}">{escape(label)}</text>'
        top += 16
        # Events that overlap in time get rows of their own.
        ends: list[float] = []
        for event in sorted(events, key=lambda one: (one.start, one.end)):
            row = next((k for k, other in enumerate(ends) if other <= event.start), len(ends))
            ends[row : row + 1] = [event.end]
            left, width = _WIDTH * event.start / end, max(_WIDTH * (event.end - event.start) / end, 2.0)
            drawn += (
                f'<rect class="{kind}" x="{left:.1f}" y="{top + row * _ROW}" width="{width:.1f}" '
                f'height="{_ROW - 4}" rx="3"><title>{_times(event)} {escape(event.sentence)}</title></rect>'
            )
        top += max(len(ends), 1) * _ROW
        items = "".join(
            f'<li><span class="time">{_times(event)}</span> {escape(event.sentence)}</li>' for event in events
        )
        lists += f"<h4>{escape(label)}</h4><ul>{items or '<li>no events</li>'}</ul>"
    axis = f'<line class="axis" x1="0" x2="{_WIDTH:g}" y1="{top}" y2="{top}"/>'
    axis += f'<text x="0" y="{top + 14}">0 s</text>'
    axis += f'<text x="{_WIDTH:g}" y="{top + 14}" text-anchor="end">{end:g} s</text>'
    lines = "".join(f"<p>{value}</p>" for value in values)
    return (
        f"<section><h2>{escape(video)}</h2>{lines}"
        f'<svg viewBox="0 0 {_WIDTH:g} {top + 20}" role="img" aria-label="time line">{drawn}{axis}</svg>'
        f"<details><summary>sentences</summary>{lists}</details></section>"
    )


def _times(event: Event) -> str:
    return f"{event.start:g}–{event.end:g} s"
