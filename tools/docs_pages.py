"""Pages of the documentation site that lie outside ``docs/``: each text has one home, and its links work there and on the site."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

#: Page of the site → file of the repository.
PAGES = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "gold.md": "tests/gold/README.md",
    "example.md": "docs/example.ipynb",
}


def _from_notebook(path: str) -> str:
    """The cells of a notebook as a page."""
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return "\n\n".join(f"```python\n{text}\n```" if kind == "code" else text for kind, text in texts)


def on_files(files: Files, config: Any) -> Files:
    for page, path in PAGES.items():
        made = {"content": _from_notebook(path)} if path.endswith(".ipynb") else {"abs_src_path": path}
        files.append(File.generated(config, page, **made))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links as they are in the repository become links of the site."""
    homes = {home: name for name, home in PAGES.items()}
    inside = page.file.src_uri in PAGES

    def changed(link: re.Match[str]) -> str:
        target = link[1]
        path = target if inside else target.removeprefix("../")
        return f"]({homes.get(path, path.removeprefix('docs/') if inside else target)}"

    return re.sub(r"\]\(([^)#\s]+)", changed, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Docstrings name things as Sphinx does (:func:`…`); the role is not for readers."""
    return re.sub(r":(?:func|class|meth|mod|attr|data|exc):(?=<code>)", "", html)
