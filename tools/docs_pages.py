"""MkDocs hooks: pages whose source is outside ``docs/``, and reference pages generated from the code."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
#: Page of the site → file of the repository.
PAGES = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "background/gold.md": "tests/gold/README.md",
    "tutorials/example.md": "docs/tutorials/example.ipynb",
}


def _from_notebook(path: Path) -> str:
    """Return the cells of a notebook as Markdown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    return "\n\n".join(f"```python\n{text}\n```" if kind == "code" else text for kind, text in texts)


def _commands(
    command: click.Command, path: str, parent: click.Context | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the name and the help text of every command below ``command``."""
    context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent, terminal_width=100)
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                yield from _commands(child, f"{path} {name}", context)


def commands_page() -> str:
    """Return the reference of the command line."""
    from captious.cli.app import app

    parts = [
        "# Commands\n\nThe help text of every command, generated from the program. `captious COMMAND --help` prints the same."
    ]
    parts += [f"## {path}\n\n```\n{text}\n```" for path, text in _commands(app, "captious")]
    return "\n\n".join(parts) + "\n"


def metrics_page() -> str:
    """Return the list of all measures, as ``captious metrics`` prints it."""
    from click.testing import CliRunner

    from captious.cli.app import app
    from captious.metrics.registry import OF_FILES, names

    pages = []
    for words in ([], [",".join([*names(), *OF_FILES])]):
        result = CliRunner().invoke(app, ["metrics", *words, "--format", "markdown", "--quiet"])
        if result.exit_code:
            raise RuntimeError(f"captious metrics failed: {result.output}")
        pages.append(result.stdout)
    # The second page repeats the list, then describes all options.
    options = pages[1].removeprefix(pages[0]).strip()
    return (
        "# All metrics\n\nThis page is generated. `captious metrics` prints the same list.\n\n"
        f"{pages[0]}\n## Options of metrics\n\n`captious metrics NAME` prints the options of a metric. From "
        f"Python, they are keyword arguments: `captious.score(…, df=…)`.\n\n{options}\n"
    )


#: Page of the site → function that writes it.
GENERATED: dict[str, Callable[[], str]] = {
    "reference/commands.md": commands_page,
    "reference/metrics/index.md": metrics_page,
}


def on_files(files: Files, config: Any) -> Files:
    sys.path.insert(0, str(ROOT / "src"))
    for page, source in PAGES.items():
        path = ROOT / source
        content = (
            {"content": _from_notebook(path)} if path.suffix == ".ipynb" else {"abs_src_path": str(path)}
        )
        files.append(File.generated(config, page, **content))
    for page, write in GENERATED.items():
        files.append(File.generated(config, page, content=write()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links between files of the repository into links between pages of the site."""
    name = page.file.src_uri
    if name in GENERATED:
        return markdown
    source = PAGES.get(name, f"docs/{name}")
    pages = {home: page for page, home in PAGES.items()}

    def replace(link: re.Match[str]) -> str:
        if re.match(r"[a-z]+:", link[1]):
            return link[0]
        target = os.path.normpath(os.path.join(os.path.dirname(source), link[1]))  # noqa: PTH118, PTH120
        target = pages.get(target, target.removeprefix("docs/"))
        return f"]({os.path.relpath(target, os.path.dirname(name) or '.')}"  # noqa: PTH120

    return re.sub(r"\]\(([^)#\s]+)", replace, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Remove Sphinx roles (:func:`…`) that docstrings contain."""
    return re.sub(r":(?:func|class|meth|mod|attr|data|exc):(?=<code>)", "", html)
