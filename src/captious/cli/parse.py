"""``captious parse``: the syntax of captions, as CoNLL-U or as trees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Option, command


def parse(
    file: Annotated[
        Path, Argument(metavar="FILE", help="Captions: one per line, or any caption file; '-' for stdin.")
    ] = Path("-"),
    tree: Annotated[bool, Option("--tree", help="Draw trees instead of printing CoNLL-U.")] = False,
    tokenizer: Annotated[
        str, Option("--tokenizer", help="ptb, or none where spaces separate the tokens already.")
    ] = "ptb",
    parser: options.ParserName = None,
    grammar: options.Grammar = None,
    output: options.PrintTo = None,
) -> None:
    """Parse captions: tags, lemmas, dependencies and the collapsed graph."""
    from captious.core.writing import STANDARD, atomic_write
    from captious.parser import parse as parse_captions
    from captious.parser.choice import get as get_parser
    from captious.parser.conllu import render

    names, captions = _captions(file)
    batch = get_parser(options.parser_choice(parser, grammar)).parse_batch
    texts = render(parse_captions(captions, tokenizer=tokenizer, batch=batch), names, trees=tree)
    with (
        atomic_write(output or STANDARD) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace") as out,
    ):
        for text in texts:
            print(text, file=out)


def _captions(file: Path) -> tuple[list[str], list[str]]:
    """Names and texts: lines are named by their number, captions of an image by its id and their number."""
    from captious.io.content import check_lines, decode, read_bytes, shown_name
    from captious.io.reading import read_content

    data = read_bytes(file)
    if data[:4] == b"PAR1" or data.lstrip()[:1] in (b"{", b"[") or file.suffix in (".csv", ".tsv"):
        found = read_content(data, file, "references")
        pairs = [
            (f"{i}.{n}", c)
            for i, captions in zip(found.ids, found.captions)
            for n, c in enumerate(captions, 1)
        ]
        return [name for name, _ in pairs], [caption for _, caption in pairs]
    lines = decode(data, shown_name(file)).split("\n")
    check_lines(lines, shown_name(file))
    if lines and not lines[-1]:
        lines.pop()
    return [str(number) for number in range(1, len(lines) + 1)], [line.rstrip("\r") for line in lines]


COMMAND = command("parse", parse, options.Jobs, options.Columns)
