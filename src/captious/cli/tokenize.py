"""``captious tokenize``: text in, tokens out, one line per line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Option, command

_AT_ONCE = 20_000


def tokenize(
    file: Annotated[Path, Argument(metavar="FILE", help="Captions, one per line; '-' for stdin.")] = Path(
        "-"
    ),
    keep_punctuation: Annotated[
        bool, Option("--keep-punctuation", help="Keep the punctuation tokens that the COCO tools drop.")
    ] = False,
    output: options.PrintTo = None,
) -> None:
    """Tokenize captions as the COCO tools do: one line of output for each line of input."""
    from captious.core.progress import track
    from captious.core.writing import STANDARD, atomic_write
    from captious.io.content import check_lines, decode, read_bytes, shown_name
    from captious.text.ptb import tokenize_batch

    lines = decode(read_bytes(file), shown_name(file)).split("\n")
    check_lines(lines, shown_name(file))
    if lines[-1] == "":
        lines.pop()
    with atomic_write(output or STANDARD) as temporary, temporary.open("wb") as out:
        for start in track(range(0, len(lines), _AT_ONCE), "tokenizing"):
            batch = tokenize_batch(lines[start : start + _AT_ONCE], keep_punctuation)
            # A lone surrogate cannot be written, and a token is not worth failing for.
            out.write("".join(" ".join(tokens) + "\n" for tokens in batch).encode("utf-8", "replace"))


COMMAND = command("tokenize", tokenize)
