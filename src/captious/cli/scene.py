"""``captious scene``: the tuples of a caption, and its scene graph drawn as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from captious.cli import options
from captious.cli.command import Argument, command
from captious.cli.output import write_json
from captious.core.errors import printable

if TYPE_CHECKING:
    from rich.tree import Tree

    from captious.scene import SceneGraph


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
    """Show what a caption says: objects, attributes and relations. Several captions form one graph."""
    from captious.scene import scene_graph

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
        if json == "-":
            return
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not graph.tuples:
        console.print("no tuples: the caption has no noun")
        return
    for item in graph.tuples:
        console.print(printable(f"({', '.join(item)})"), soft_wrap=True)
    console.print()
    console.print(_tree(graph))


def _tree(graph: SceneGraph) -> Tree:
    """Objects as branches; their attributes and what they relate to as leaves."""
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


COMMAND = command("scene", scene, options.Jobs, options.PrintedOutput)
