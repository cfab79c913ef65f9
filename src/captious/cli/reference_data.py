"""``captious prepare``, ``df`` and ``concepts``: files made from references once and used by many runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command, group
from captious.cli.formatting import Tables
from captious.cli.output import is_taken, print_table, say, write_json

if TYPE_CHECKING:
    from captious.corpus.frequencies import FrequencyTable

Out = Annotated[Path, options.to_file("FILE", "Where to write the table.")]


def prepare(
    references: options.References,
    output: Annotated[
        Path,
        options.to_file("FILE", "Where to write the prepared references."),
    ],
    metrics: options.Metrics = "coco",
    tokenizer: options.Tokenizer = None,
    split: options.Split = None,
    *,
    metric_options: options.MeasureOptions,
) -> None:
    """Do the work on references once: tokens, n-gram tables, document frequencies, scene graphs, sentence
    vectors.
    """
    from captious.api import prepare as prepare_references

    prepared = prepare_references(references, metrics, tokenizer=tokenizer, split=split, **metric_options)
    prepared.save(output)
    captions = prepared.captions
    size = f"{output.stat().st_size / 1e6:,.1f} MB; " if output.is_file() and not is_taken(output) else ""
    say(
        f"{output}: {len(prepared):,} images x {captions.sizes} references, {size}"
        f"{', '.join(prepared.products) or 'no products'}; refs:{captions.digest}",
        output,
    )


def build_frequencies(
    references: options.References, output: Out, tokenizer: options.Tokenizer = None
) -> None:
    """Count in how many images' references each n-gram occurs."""
    from captious.corpus.frequencies import FrequencyTable
    from captious.io.frequency_files import save_frequencies
    from captious.results.references import References

    table = FrequencyTable.build(References.read(references, tokenizer).captions)
    save_frequencies(table, output)
    _describe(output, table, output)


def import_frequencies(
    source: Annotated[
        Path,
        Argument(
            metavar="FILE", help="A pickle of the COCO tools, or lines with an n-gram, a tab and a count."
        ),
    ],
    output: Out,
    images: Annotated[
        int | None, Flag(min=1, help="Number of images counted, if the file does not say.")
    ] = None,
) -> None:
    """Import document frequencies made by other tools."""
    from captious.io.frequency_files import read_frequencies, save_frequencies

    table = read_frequencies(source, images)
    save_frequencies(table, output)
    _describe(output, table, output)


def show_frequencies(
    source: Annotated[Path, Argument(metavar="FILE", help="A table made by 'captious df'.")],
) -> None:
    """Show what a table contains."""
    from captious.io.frequency_files import read_frequencies

    _describe(source, read_frequencies(source))


def _describe(path: Path, table: FrequencyTable, output: Path | None = None) -> None:
    sizes = ", ".join(f"{len(table.table[n]):,} {n}-grams" for n in sorted(table.table))
    say(f"{path}: {table.images:,} images; {sizes}; df:{table.label}@{table.digest}", output)


def build_concepts(
    references: options.References,
    output: Out,
    tokenizer: options.Tokenizer = None,
    meteor_data: options.MeteorData = None,
    parser: options.ParserName = None,
    grammar: options.Grammar = None,
) -> None:
    """Count in how many images' references each object, attribute and relation occurs."""
    from captious.parser.choice import get as get_parser
    from captious.results.references import References
    from captious.scene import ConceptTable
    from captious.text.synonyms import Synonyms

    synonyms = Synonyms.load(meteor_data)
    captions = References.read(references, tokenizer).captions
    table = ConceptTable.build(captions, get_parser(options.parser_choice(parser, grammar)), synonyms)
    table.save(output)
    say(f"{output}: {table.images:,} images, {len(table.counts):,} concepts, digest {table.digest}", output)


def import_concepts(
    source: Annotated[
        Path, Argument(metavar="FILE", help="Pickled dictionary: concept → number of images that have it.")
    ],
    output: Out,
    images: Annotated[int | None, Flag("--images", min=1, help="Number of images counted.")] = None,
) -> None:
    """Import concept frequencies, a pickled dictionary of counts, as Wang et al. (2020) use them.

    A dictionary of uniqueness (values up to 1) needs no import: --concepts reads it.
    """
    from captious.scene.uniqueness import import_concepts as convert

    table = convert(source, output, images)
    say(f"{output}: {table.images:,} images, {len(table.counts):,} concepts, digest {table.digest}", output)


def show_concepts(
    table: Annotated[Path, Argument(metavar="FILE", help="A table made by 'captious concepts build'.")],
    number: Annotated[int, Flag("--number", "-n", min=1, help="How many to list.")] = 20,
    json: options.JsonOut = None,
) -> None:
    """Show what a table contains, and list the most frequent concepts."""
    from captious.scene import ConceptTable

    concepts = ConceptTable.load(table)
    top = concepts.most_frequent(number)
    if json is not None:
        write_json(
            {
                "images": concepts.images,
                "concepts": len(concepts.counts),
                "digest": concepts.digest,
                "most_frequent": [
                    {"concept": list(item), "images": count, "uniqueness": concepts.uniqueness(item)}
                    for item, count in top
                ],
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


PREPARE = command("prepare", prepare, options.Jobs, options.ColumnOptions)
DF = group(
    "df",
    "Make and import document frequencies for CIDEr.",
    command("build", build_frequencies, options.ColumnOptions),
    command("import", import_frequencies),
    command("show", show_frequencies, options.PrintedOutput),
)
CONCEPTS = group(
    "concepts",
    "Make and inspect concept frequencies for SPICE-U.",
    command("build", build_concepts, options.ColumnOptions),
    command("import", import_concepts),
    command("show", show_concepts, options.PrintedOutput, Tables),
)
