"""Write src/captious/text/unicode_classes.txt: the characters of some general categories of Unicode, as ranges.

    python -m tools.make_unicode_classes

They come from the package regex (``pip install regex``), which has newer tables than Python.
"""

from __future__ import annotations

from pathlib import Path

import regex

TARGET = Path(__file__).parent.parent / "src" / "captious" / "text" / "unicode_classes.txt"
CLASSES = ("L", "Ll", "Lo", "Lu", "N", "So")


def main() -> None:
    characters = "".join(map(chr, range(0x110000)))
    lines = []
    for name in CLASSES:
        found = [(match.start(), match.end() - 1) for match in regex.finditer(rf"\p{{{name}}}+", characters)]
        lines.append(" ".join([name, *(f"{first:x}-{last:x}" for first, last in found)]))
    TARGET.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
