"""``captious tokenize``, ``parse``, ``scene`` and ``facts``: tokens, syntax and content of captions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from captious.cli import options
from captious.cli.command import Argument, Flag, command
from captious.cli.output import is_taken, rich_console, write_json
from captious.core.errors import InputError, printable

if TYPE_CHECKING:
    from rich.tree import Tree

    from captious.scene import SceneGraph

#: Lines that are tokenized at once.
_BATCH = 20_000


def tokenize(
    file: Annotated[Path, Argument(metavar="FILE", help="Captions, one per line; '-' for stdin.")] = Path(
        "-"
    ),
    keep_punctuation: Annotated[
        bool, Flag("--keep-punctuation", help="Keep the punctuation tokens that the COCO tools drop.")
    ] = False,
    output: options.PrintTo = None,
) -> None:
    """Tokenize captions as the COCO tools do: one line of output for each line of input."""
    from captious.core.progress import track
    from captious.core.writing import STANDARD, atomic_write
    from captious.io.content import read_lines
    from captious.text.ptb import tokenize_batch

    lines = read_lines(file)
    with atomic_write(output or STANDARD) as temporary, temporary.open("wb") as out:
        for start in track(range(0, len(lines), _BATCH), "tokenizing"):
            batch = tokenize_batch(lines[start : start + _BATCH], keep_punctuation)
            # A lone surrogate cannot be written, and is no reason to fail.
            out.write("".join(" ".join(tokens) + "\n" for tokens in batch).encode("utf-8", "replace"))


def parse(
    file: Annotated[
        Path, Argument(metavar="FILE", help="Captions: one per line, or any caption file; '-' for stdin.")
    ] = Path("-"),
    tree: Annotated[bool, Flag("--tree", help="Draw trees instead of printing CoNLL-U.")] = False,
    tokenizer: Annotated[
        str, Flag("--tokenizer", help="ptb, or none where spaces separate the tokens already.")
    ] = "ptb",
    parser: options.ParserName = None,
    grammar: options.Grammar = None,
    output: options.PrintTo = None,
) -> None:
    """Parse captions: tags, lemmas, dependencies and the collapsed graph."""
    from captious.core.writing import STANDARD, atomic_write
    from captious.io.reading import read_named_captions
    from captious.parser import parse as parse_captions
    from captious.parser.choice import get as get_parser
    from captious.parser.conllu import render

    names, captions = read_named_captions(file)
    batch = get_parser(options.parser_choice(parser, grammar)).parse_batch
    texts = render(parse_captions(captions, tokenizer=tokenizer, batch=batch), names, trees=tree)
    with (
        atomic_write(output or STANDARD) as temporary,
        temporary.open("w", encoding="utf-8", errors="backslashreplace") as out,
    ):
        for text in texts:
            print(text, file=out)


def scene(
    captions: Annotated[
        list[str], Argument(metavar="CAPTION", help="Captions of one image, each in quotes.")
    ],
    tokenizer: options.Tokenizer = None,
    meteor_data: options.MeteorData = None,
    parser: options.ParserName = None,
    grammar: options.Grammar = None,
    json: options.JsonOut = None,
) -> None:
    """Show the objects, attributes and relations that a caption names. Several captions form one graph."""
    from captious.scene import scene_graph

    if not all(caption.strip() for caption in captions):
        raise InputError("the caption is empty; give it in quotes: captious scene 'a dog on a sofa'")
    graph = scene_graph(
        captions,
        tokenizer=tokenizer or "ptb",
        meteor_data=meteor_data,
        parser=options.parser_choice(parser, grammar),
    )
    if json is not None:
        write_json(
            {
                "captions": captions,
                "objects": graph.objects,
                "attributes": graph.attributes,
                "relations": graph.relations,
            },
            json,
        )
    if is_taken(json):
        return
    console = rich_console(highlight=False, markup=False)
    if not graph.tuples:
        console.print("no tuples: the caption has no noun")
        return
    for item in graph.tuples:
        console.print(printable(f"({', '.join(item)})"), soft_wrap=True)
    console.print()
    console.print(_tree(graph))


def _tree(graph: SceneGraph) -> Tree:
    """Draw objects as branches, with their attributes and relations as leaves."""
    from rich.text import Text
    from rich.tree import Tree

    names = graph.objects
    tree = Tree(Text("scene", style="dim"), guide_style="dim")
    for i, name in enumerate(names):
        branch = tree.add(Text(printable(name), style="bold cyan"))
        for attribute in graph.attribute_concepts[i]:
            branch.add(Text(printable(attribute.name), style="green"))
        for (subject, target), relations in graph.relation_concepts.items():
            if subject == i:
                for relation in relations:
                    branch.add(
                        Text.assemble(
                            (printable(relation.name), "yellow"), " → ", (printable(names[target]), "cyan")
                        )
                    )
    return tree


def facts(
    text: Annotated[list[str], Argument(metavar="TEXT", help="A description; several are read as one.")],
    tokenizer: options.Tokenizer = None,
    parser: options.ParserName = None,
    grammar: options.Grammar = None,
    json: options.JsonOut = None,
) -> None:
    """Split a description into atomic facts: one statement about an object each, sentence by sentence."""
    from captious.metrics.captions.fact_coverage import atomic_facts

    if not all(part.strip() for part in text):
        raise InputError("the text is empty; give it in quotes: captious facts 'A dog sleeps. It is brown.'")
    rows = atomic_facts(
        " ".join(text), tokenizer=tokenizer or "ptb", parser=options.parser_choice(parser, grammar)
    )
    if json is not None:
        listed = [{"fact": row.text, "sentence": row.sentence + 1} for row in rows]
        write_json({"text": " ".join(text), "facts": listed}, json)
    if is_taken(json):
        return
    console = rich_console(highlight=False, markup=False)
    for row in rows:
        console.print(printable(f"{row.sentence + 1}  {row.text}"), soft_wrap=True)
    if not rows:
        console.print("no facts: the text has no noun")


TOKENIZE = command("tokenize", tokenize)
PARSE = command("parse", parse, options.Jobs, options.ColumnOptions)
SCENE = command("scene", scene, options.Jobs, options.PrintedOutput)
FACTS = command("facts", facts, options.Jobs, options.PrintedOutput)
