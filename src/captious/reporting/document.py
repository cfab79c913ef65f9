"""HTML document: one file with its data, style and script, and a security policy that allows nothing else."""

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

#: Parts of the script, in order.
SCRIPTS = (
    "base.js",
    "store.js",
    "charts.js",
    "export.js",
    "leaderboard.js",
    "why.js",
    "detail.js",
    "images.js",
    "compare.js",
    "diversity.js",
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
