"""Links of the documentation, completeness of the site, and the version in the citation."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import captious

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [
    *sorted(DOCS.rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/gold/README.md")),
]


def _prose(path: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.S | re.M)


def _slug(heading: str) -> str:
    """Return the anchor of a heading of plain words, as Python-Markdown and GitHub name it."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())


def _anchors(path: Path) -> set[str]:
    return {_slug(heading) for heading in re.findall(r"^#{1,6} +(.+?) *$", _prose(path), flags=re.M)}


def broken_links(path: Path) -> list[str]:
    """Return the relative links of a page whose target does not exist."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", _prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(link)
    return broken


def test_link_targets_exist() -> None:
    broken = {str(path.relative_to(ROOT)): links for path in PAGES if (links := broken_links(path))}
    assert not broken


def test_broken_links_are_noticed(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text(
        "# One thing\n[a](b.md) [b](#one-thing) [c](#other) [d](a.md#one-thing) [e](https://example.org)\n```\n[f](g.md)\n```\n"
    )
    assert broken_links(page) == ["b.md", "#other"]


def _nav() -> list[str]:
    nav = re.search(r"^nav:\n((?: .*\n)+)", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.M)
    assert nav
    return re.findall(r": (\S+\.md)$", nav[1], flags=re.M)


def test_every_page_is_in_the_navigation() -> None:
    """Pages outside docs/ come from other files of the repository or are generated (tools/docs_pages.py)."""
    hooks = (ROOT / "tools" / "docs_pages.py").read_text(encoding="utf-8")
    pages = re.findall(r'^    "(\S+)": "(\S+)",$', hooks, flags=re.M)
    generated = re.findall(r'^    "(\S+)": \w+,$', hooks, flags=re.M)
    assert pages and generated and all((ROOT / home).is_file() for _, home in pages)
    written = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(_nav()) == sorted([*written, *(page for page, _ in pages), *generated])


def test_every_public_name_is_on_an_api_page() -> None:
    listed = {
        name
        for path in (DOCS / "reference" / "api").glob("*.md")
        for name in re.findall(r"^::: captious\.(\w+)$", path.read_text(encoding="utf-8"), flags=re.M)
    }
    assert listed == {*captious.__all__, "compat"} - {"__version__"}


def test_the_citation_names_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, flags=re.M) == [captious.__version__]
