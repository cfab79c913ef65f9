"""Captions, ids and names that do harm if a page treats them as anything but text."""

from __future__ import annotations

TEXTS = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(3)>",
    '"><svg onload=alert(4)>',
    "<iframe src=https://example.org/></iframe>",
    "javascript:alert(5)",
    "<style>*{display:none}</style>",
    "{{constructor.constructor('alert(6)')()}} ${alert(7)} `${alert(8)}`",
    "&lt;b&gt; &amp; &#60;script&#62;",
    "<b>unclosed <i>broken</b> <table><tr><td>",
    "מכונית אדומה ليلة سعيدة \u202egnp.exe\u202c",
    "\u2066\u2067\u2068 isolates never closed",
    "👩‍👩‍👧‍👦 👍🏽 🇩🇪 e\u0301 \u200b\u00ad \ufeff",
    "line\u2028separator\u2029paragraph\x00null\x07bell\x1b[31mred",
    '=HYPERLINK("https://example.org","click")',
    "+1+1|cmd' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1+1",
    "\\input{/etc/passwd} \\write18{ls} $x^2$ 50% a_b #1 {~}",
    "| a | b |\n|---|---|\n**bold** [link](javascript:alert(9)) ![x](https://example.org/x.png)",
    "__proto__",
    "constructor toString hasOwnProperty",
    "",
    "   ",
    "dog " * 10_000,
    "x" * 5_000,
]

IDS = [f"{text[:60]} {n}".strip() for n, text in enumerate(TEXTS)]
NAMES = [
    "<img src=x onerror=alert('name')>",
    '=1+1 & "quoted" </script> $_% \\name',
    "\u202eesrever 👾 __proto__",
]


def references() -> dict[str, list[str]]:
    """Every image has a hostile reference, and an ordinary one beside it."""
    return {
        image: [TEXTS[(n + 3) % len(TEXTS)] or "a cat", f"a dog number {n} on a street"]
        for n, image in enumerate(IDS)
    }


def systems() -> list[dict[str, str]]:
    """The texts in three orders."""
    return [{image: TEXTS[(n + shift) % len(TEXTS)] for n, image in enumerate(IDS)} for shift in (0, 5, 11)]


def samples() -> dict[str, list[str]]:
    """Sets of captions."""
    return {image: [TEXTS[(n + k) % len(TEXTS)][:400] for k in (0, 7, 13)] for n, image in enumerate(IDS)}
