"""``captious df``: tables of document frequencies for CIDEr."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Option, command, group
from captious.cli.output import say

Out = Annotated[Path, Option("--output", "-o", metavar="FILE", help="Where to write the table.")]


def build(references: options.References, output: Out, tokenizer: options.Tokenizer = None) -> None:
    """Count in how many images' references each n-gram occurs."""
    from captious.corpus.frequencies import FrequencyTable
    from captious.io.frequency_files import save_frequencies
    from captious.results.references import References

    table = FrequencyTable.build(References.read(references, tokenizer).captions)
    save_frequencies(table, output)
    _describe(output, table, output)


def import_table(
    source: Annotated[
        Path,
        Argument(
            metavar="FILE", help="A pickle of the COCO tools, or lines with an n-gram, a tab and a count."
        ),
    ],
    output: Out,
    images: Annotated[
        int | None, Option(min=1, help="Number of images counted, if the file does not say.")
    ] = None,
) -> None:
    """Import document frequencies made by other tools."""
    from captious.io.frequency_files import read_frequencies, save_frequencies

    table = read_frequencies(source, images)
    save_frequencies(table, output)
    _describe(output, table, output)


def show(source: Annotated[Path, Argument(metavar="FILE")]) -> None:
    """Show what a table contains."""
    from captious.io.frequency_files import read_frequencies

    _describe(source, read_frequencies(source))


def _describe(path: Path, table: object, output: Path | None = None) -> None:
    from captious.corpus.frequencies import FrequencyTable

    assert isinstance(table, FrequencyTable)
    sizes = ", ".join(f"{len(table.table[n]):,} {n}-grams" for n in sorted(table.table))
    say(f"{path}: {table.images:,} images; {sizes}; df:{table.label}@{table.digest}", output)


COMMAND = group(
    "df",
    "Make and import document frequencies for CIDEr.",
    command("build", build, options.Columns),
    command("import", import_table),
    command("show", show, options.PrintedOutput),
)
