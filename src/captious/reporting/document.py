"""HTML report: one file with its data, style and script, and a security policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import webbrowser
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.core.writing import atomic_write, is_standard
from captious.reporting import image_links

#: Parts of the script, in order.
SCRIPTS = (
    "elements.js",
    "base.js",
    "store.js",
    "charts.js",
    "export.js",
    "leaderboard.js",
    "why.js",
    "description.js",
    "detail.js",
    "images.js",
    "compare.js",
    "diversity.js",
    "datasets.js",
    "main.js",
)


def document(title: str, meta: Mapping[str, Any], blocks: Mapping[str, Any], pictures: str = "") -> str:
    """Return the page.

    ``meta`` is available at once. ``blocks`` are compressed, and read on demand. ``pictures`` is the policy's
    source for images.
    """
    style, script = _asset("page.css"), _script()
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            f"img-src {pictures or chr(39) + 'none' + chr(39)}",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    data = [_data("meta", "application/json", _json(meta))]
    data += [_data(name, "application/octet-stream", _packed(block)) for name, block in blocks.items()]
    return _asset("page.html").format(
        title=escape(title.encode("utf-8", "replace").decode()),
        policy=escape(policy, quote=True),
        style=style,
        script=script,
        data="\n".join(data),
    )


def _data(name: str, kind: str, text: str) -> str:
    """Return a data block, which is never executed because of its type."""
    return f'<script type="{kind}" id="data-{name}">{text}</script>'


def _json(value: Any) -> str:
    """Return ASCII JSON in which nothing can end the block or open another."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _packed(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")


@cache
def _asset(name: str) -> str:
    return files("captious.reporting").joinpath("assets").joinpath(name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """Join all parts in one function: they share names, and the page's scope stays clean."""
    return "(() => {\n'use strict';\n" + "\n".join(_asset(name) for name in SCRIPTS) + "\n})();\n"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


#: Maximum size (characters) of a page in a notebook, which stores it. Larger ones show only the table.
NOTEBOOK = 6_000_000


class Report:
    """Data of the page. :meth:`save` writes it, and notebooks show it."""

    def __init__(
        self,
        meta: dict[str, Any],
        blocks: Mapping[str, Any],
        ids: Sequence[str],
        images: str | None,
        thumbnails: Sequence[str | None] | None = None,
    ) -> None:
        """``images`` names a folder or a pattern to link to, ``thumbnails`` are embedded instead."""
        self.meta = meta
        self._blocks = blocks
        self._ids = ids
        self._images = images
        self._thumbnails = thumbnails
        if images is not None and thumbnails is None:
            # Report a missing folder now, not when the page is saved.
            image_links.find(images, ids, None)

    def html(self, page: str | Path | None = None) -> str:
        """Return the whole page. Picture files are relative to ``page``, if set."""
        meta, blocks, policy = self.parts(page)
        return document(str(meta["title"]), meta, blocks, policy)

    def parts(self, page: str | Path | None = None) -> tuple[dict[str, Any], dict[str, Any], str]:
        """Return metadata, blocks, and the policy's source of pictures."""
        blocks, meta, policy = dict(self._blocks), {**self.meta, "pictures": self._images is not None}, ""
        if self._thumbnails is not None:
            blocks["pictures"], policy = self._thumbnails, "data:"
        elif self._images is not None:
            links = image_links.find(self._images, self._ids, Path(page) if page is not None else None)
            blocks["pictures"], policy = links.addresses, links.policy
        meta["blocks"] = list(blocks)
        return meta, blocks, policy

    def save(self, path: str | Path) -> Path:
        """Write the page to a file atomically. ``-`` is standard output."""
        text = self.html(None if is_standard(path) else path)
        with atomic_write(path) as temporary:
            temporary.write_bytes(text.encode("utf-8"))
        return Path(path)

    def open(self, path: str | Path) -> Path:
        """Write the page to a file and show it in the browser."""
        if is_standard(path):
            raise InputError("standard output cannot be opened in a browser; pass a file name")
        saved = self.save(path)
        webbrowser.open(saved.resolve().as_uri())
        return saved

    def __repr__(self) -> str:
        systems, metrics = len(self.meta["systems"]), len(self.meta["metrics"])
        return f"Report({systems} systems, {self.meta['images']:,} images, {metrics} metrics)"

    def _repr_html_(self) -> str:
        page = self.html()
        if len(page) > NOTEBOOK:
            size = f"{len(page) / 1e6:.0f} MB"
            return (
                _table(self.meta) + f"<p>The whole report has {size}, too much for a notebook: "
                "<code>report.save('report.html')</code></p>"
            )
        # Sandboxed: the page runs its own script and cannot reach the notebook.
        title, source = escape(str(self.meta["title"]), quote=True), escape(page, quote=True)
        style = "width:100%;height:760px;border:1px solid #8884;border-radius:8px"
        sandbox = "allow-scripts allow-downloads"
        return f'<iframe title="{title}" sandbox="{sandbox}" style="{style}" srcdoc="{source}"></iframe>'


class JoinedReport(Report):
    """Reports of several data sets in one page, which shows one at a time and all side by side."""

    def __init__(self, reports: Mapping[str, Report], title: str) -> None:
        self.reports = dict(reports)
        first = next(iter(self.reports.values()))
        images = sum(one.meta["images"] for one in self.reports.values())
        super().__init__({**first.meta, "title": title, "images": images}, {}, (), None)

    def html(self, page: str | Path | None = None) -> str:
        """Return the whole page. Picture files are relative to ``page``, if set."""
        sets, blocks, policies = [], {}, dict[str, None]()
        for number, (name, one) in enumerate(self.reports.items()):
            meta, own, policy = one.parts(page)
            sets.append({"name": name, "meta": {**meta, "title": self.meta["title"]}})
            blocks.update({f"{number}-{key}": block for key, block in own.items()})
            policies.update(dict.fromkeys(policy.split()))
        return document(str(self.meta["title"]), {"datasets": sets}, blocks, " ".join(policies))


def join_reports(reports: Mapping[str, Report], title: str | None = None) -> JoinedReport:
    """Join the reports of several data sets in one page.

    Parameters
    ----------
    reports
        Reports by the name of their data set. Systems of the same name share a row of the overview.
    title
        Title of the page (default: the names of the data sets).

    Examples
    --------
    >>> from captious import report, score
    >>> references = {1: ["a dog runs"], 2: ["a cat sleeps"]}
    >>> own = score(references, {1: "a dog sits", 2: "a cat sleeps"}, "BLEU-1", name="own")
    >>> joined = join_reports({"first": report(own), "second": report(own)}, title="Two data sets")
    >>> "Two data sets" in joined.html()
    True
    """
    if not reports:
        raise InputError("there are no reports to join; give at least one, by the name of its data set")
    return JoinedReport(reports, title if title is not None else ", ".join(reports))


def _table(meta: Mapping[str, Any]) -> str:
    head = "".join(f"<th>{escape(metric['name'])}</th>" for metric in meta["metrics"])
    rows = ""
    for i, system in enumerate(meta["systems"]):
        cells = "".join(
            f"<td>{'–' if m['values'][i] is None else format(m['values'][i], m['format'])}</td>"
            for m in meta["metrics"]
        )
        rows += f"<tr><th>{escape(system['name'])}</th>{cells}</tr>"
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>"
