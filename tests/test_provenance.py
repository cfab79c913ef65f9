"""docs/background/provenance.md lists every data file that ships."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "captious"


def test_every_shipped_data_file_is_listed() -> None:
    listed = re.findall(
        r"^\| `([^`]+)`", (ROOT / "docs" / "background" / "provenance.md").read_text(), re.MULTILINE
    )
    code = {".py", ".pyc", ".nbi", ".nbc", ".typed"}
    # The library of kernels is built from the sources.
    built = PACKAGE / "kernels" / "lib"
    data = [
        path
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix not in code and built not in path.parents
    ]
    assert len(data) > 8
    # A licence belongs to the data in its folder.
    data = [path for path in data if path.name != "LICENSE"]
    unlisted = [
        path for path in data if not any(fnmatch(path.relative_to(ROOT).as_posix(), name) for name in listed)
    ]
    assert unlisted == []
    for name in listed:
        assert list(ROOT.glob(name)), f"{name} is listed but does not exist"


def test_wordnet_comes_with_its_licence() -> None:
    text = (PACKAGE / "data" / "wordnet" / "LICENSE").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in text
    assert "src/captious/data/wordnet/LICENSE" in (ROOT / "pyproject.toml").read_text()
