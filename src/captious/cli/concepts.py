"""``captious concepts``: tables of concept frequencies for SPICE-U."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from captious.cli import options
from captious.cli.command import Argument, Option, command, group
from captious.cli.formatting import Tables
from captious.cli.output import say

File = Annotated[Path, Argument(metavar="FILE", help="A table made by 'captious concepts build'.")]


def build(
    references: options.References,
    output: Annotated[Path, Option("--output", "-o", metavar="FILE", help="Where to write the table.")],
    tokenizer: options.Tokenizer = None,
    meteor_data: options.MeteorData = None,
    parser: options.ParserName = None,
    grammar: options.Grammar = None,
) -> None:
    """Count in how many images' references each object, attribute and relation occurs."""
    from captious.parser.choice import get as get_parser
    from captious.results.references import References
    from captious.scene import ConceptTable, reference_graphs
    from captious.text.synonyms import Synonyms

    synonyms = Synonyms.load(meteor_data)
    captions = References.read(references, tokenizer).captions
    graphs = reference_graphs(captions, get_parser(options.parser_choice(parser, grammar)), synonyms)
    table = ConceptTable.of(graph.tuples for graph in graphs)
    table.save(output)
    say(f"{output}: {table.images:,} images, {len(table.counts):,} concepts, digest {table.digest}", output)


def show(
    table: File,
    number: Annotated[int, Option("--number", "-n", min=1, help="How many to list.")] = 20,
    json: options.JsonOut = None,
) -> None:
    """Show what a table contains, and list the most frequent concepts."""
    from captious.cli.output import is_taken, print_table, write_json
    from captious.scene import ConceptTable

    concepts = ConceptTable.load(table)
    top = sorted(concepts.counts.items(), key=lambda item: (-item[1], item[0]))[:number]
    if json is not None:
        listed = [
            {"concept": list(item), "images": count, "uniqueness": concepts.uniqueness(item)}
            for item, count in top
        ]
        write_json(
            {
                "images": concepts.images,
                "concepts": len(concepts.counts),
                "digest": concepts.digest,
                "most_frequent": listed,
            },
            json,
        )
    if is_taken(json):
        return
    rows = [[", ".join(item), f"{count:,}", f"{concepts.uniqueness(item):.4f}"] for item, count in top]
    title = (
        f"{table}: {concepts.images:,} images, {len(concepts.counts):,} concepts, digest {concepts.digest}"
    )
    print_table(title, ["concept", "images", "uniqueness"], rows)


COMMAND = group(
    "concepts",
    "Make and inspect concept frequencies for SPICE-U.",
    command("build", build, options.Columns),
    command("show", show, options.PrintedOutput, Tables),
)
