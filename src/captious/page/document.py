"""The HTML file: one document with its data, its style and its script inside, and a policy that allows nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

#: Parts of the script, in the order in which they stand in the page.
SCRIPTS = (
    "base.js", "store.js", "charts.js", "export.js", "leaderboard.js", "why.js", "detail.js", "images.js", "compare.js", "diversity.js", "main.js",
)  # fmt: skip


def document(title: str, meta: Mapping[str, Any], blocks: Mapping[str, Any], pictures: str = "") -> str:
    """The page. ``meta`` is there at once; ``blocks`` are compressed, and read when they are needed. ``pictures`` is what
    the policy allows for them."""
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
        title=escape(title.encode("utf-8", "replace").decode()), policy=escape(policy, quote=True), style=style, script=script, data="\n".join(data)
    )


def _data(name: str, kind: str, text: str) -> str:
    """A block that is never executed: its type is no script's."""
    return f'<script type="{kind}" id="data-{name}">{text}</script>'


def _json(value: Any) -> str:
    """JSON in which nothing ends the block or opens another: every ``<`` is written by its number, all else is ASCII."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _packed(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")


@cache
def _asset(name: str) -> str:
    return files("captious.page").joinpath("assets").joinpath(name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    """All parts in one function: they share names, and nothing is left in the page's own scope."""
    return "(() => {\n'use strict';\n" + "\n".join(_asset(name) for name in SCRIPTS) + "\n})();\n"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
