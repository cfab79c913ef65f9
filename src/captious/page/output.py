"""A report that was made: kept in a file, opened in a browser, or shown in a notebook."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from captious.errors import InputError
from captious.page import pictures
from captious.page.document import document
from captious.writing import atomic_write, is_standard

#: A notebook keeps what it shows; beyond so many characters it gets the table alone.
NOTEBOOK = 6_000_000


class Report:
    """The page as data. :meth:`save` writes it; in a notebook it shows itself."""

    def __init__(self, meta: dict[str, Any], blocks: Mapping[str, Any], ids: Sequence[str], images: str | None) -> None:
        self.meta = meta
        self._blocks = blocks
        self._ids = ids
        self._images = images
        if images is not None:
            # A folder that is not there is reported now, not when the page is kept.
            pictures.find(images, ids, None)

    def html(self, page: str | Path | None = None) -> str:
        """The whole page. Pictures in files are named relative to where it will be (``page``), if that is given."""
        blocks, meta, policy = dict(self._blocks), {**self.meta, "pictures": self._images is not None}, ""
        if self._images is not None:
            found = pictures.find(self._images, self._ids, Path(page) if page is not None else None)
            blocks["pictures"], policy = found.addresses, found.policy
        meta["blocks"] = list(blocks)
        return document(str(meta["title"]), meta, blocks, policy)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, in one step; ``-`` is standard output."""
        text = self.html(None if is_standard(path) else path)
        with atomic_write(path) as temporary:
            temporary.write_bytes(text.encode("utf-8"))
        return Path(path)

    def open(self, path: str | Path) -> Path:
        """Write the page to a file and show it in the browser."""
        if is_standard(path):
            raise InputError("what goes to standard output cannot be opened; give the name of a file")
        saved = self.save(path)
        webbrowser.open(saved.resolve().as_uri())
        return saved

    def __repr__(self) -> str:
        return f"Report({len(self.meta['systems'])} systems, {self.meta['images']:,} images, {len(self.meta['metrics'])} metrics)"

    def _repr_html_(self) -> str:
        page = self.html()
        if len(page) > NOTEBOOK:
            size = f"{len(page) / 1e6:.0f} MB"
            return _table(self.meta) + f"<p>The whole report has {size}, too much for a notebook: <code>report.save('report.html')</code></p>"
        # Apart from the notebook: the page can run its own script, and reach nothing else.
        frame = 'sandbox="allow-scripts allow-downloads" style="width:100%;height:760px;border:1px solid #8884;border-radius:8px"'
        return f'<iframe title="{escape(str(self.meta["title"]), quote=True)}" {frame} srcdoc="{escape(page, quote=True)}"></iframe>'


def _table(meta: Mapping[str, Any]) -> str:
    head = "".join(f"<th>{escape(metric['name'])}</th>" for metric in meta["metrics"])
    rows = ""
    for i, system in enumerate(meta["systems"]):
        cells = "".join(f"<td>{'–' if m['values'][i] is None else format(m['values'][i], m['format'])}</td>" for m in meta["metrics"])
        rows += f"<tr><th>{escape(system['name'])}</th>{cells}</tr>"
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>"
