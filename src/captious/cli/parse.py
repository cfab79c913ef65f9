"""``captious parse``: the syntax of captions, as CoNLL-U or as trees."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("parse")(parse)


def parse(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Captions: one per line, or any caption file; '-' for standard input.")
    ],
    tree: Annotated[bool, typer.Option("--tree", help="Draw trees instead of printing CoNLL-U.")] = False,
    tokenizer: Annotated[
        str, typer.Option("--tokenizer", help="ptb, or none where spaces separate the tokens already.")
    ] = "ptb",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Threads to use.")] = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="OUT", help="Write to a file instead of standard output.")
    ] = None,
) -> None:
    """Parse captions: tags, lemmas, dependencies and the collapsed graph."""
    from captious.language import parse as parse_captions
    from captious.language.conllu import render

    names, captions = _captions(file)
    texts = render(parse_captions(captions, jobs=jobs, tokenizer=tokenizer), names, trees=tree)
    if output is None:
        for text in texts:
            print(text)
        return
    from captious.writing import atomic_write

    with atomic_write(output) as temporary, temporary.open("w", encoding="utf-8") as out:
        for text in texts:
            print(text, file=out)


def _captions(file: Path) -> tuple[list[str], list[str]]:
    """Names and texts: lines are named by their number, captions of an image by its id and their number."""
    from captious.io import read
    from captious.io.content import decode, read_bytes

    if str(file) == "-":
        text = decode(sys.stdin.buffer.read(), "standard input")
    else:
        data = read_bytes(file)
        if data[:4] == b"PAR1" or data.lstrip()[:1] in (b"{", b"[") or file.suffix in (".csv", ".tsv"):
            found = read(file, "references")
            pairs = [(f"{i}.{n}", c) for i, captions in zip(found.ids, found.captions) for n, c in enumerate(captions, 1)]
            return [name for name, _ in pairs], [caption for _, caption in pairs]
        text = decode(data, str(file))
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [str(number) for number in range(1, len(lines) + 1)], [line.rstrip("\r") for line in lines]
