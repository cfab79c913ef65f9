"""Report object: saved to a file, opened in a browser, or shown in a notebook."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from captious.core.errors import InputError
from captious.core.writing import atomic_write, is_standard
from captious.reporting import image_links as pictures
from captious.reporting.document import document

#: Maximum size (characters) of a page in a notebook, which stores it. Larger ones show only the table.
NOTEBOOK = 6_000_000


class Report:
    """Data of the page. :meth:`save` writes it, and notebooks show it."""

    def __init__(
        self, meta: dict[str, Any], blocks: Mapping[str, Any], ids: Sequence[str], images: str | None
    ) -> None:
        self.meta = meta
        self._blocks = blocks
        self._ids = ids
        self._images = images
        if images is not None:
            # Report a missing folder now, not when the page is saved.
            pictures.find(images, ids, None)

    def html(self, page: str | Path | None = None) -> str:
        """Return the whole page. Picture files are relative to ``page``, if set."""
        blocks, meta, policy = dict(self._blocks), {**self.meta, "pictures": self._images is not None}, ""
        if self._images is not None:
            links = pictures.find(self._images, self._ids, Path(page) if page is not None else None)
            blocks["pictures"], policy = links.addresses, links.policy
        meta["blocks"] = list(blocks)
        return document(str(meta["title"]), meta, blocks, policy)

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
