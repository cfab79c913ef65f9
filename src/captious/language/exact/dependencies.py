"""Basic Universal Dependencies (version 1) of a phrase-structure tree, as CoreNLP 3.6.0 gives them.

The rules follow the published descriptions (Collins 1999 on heads; de Marneffe et al. 2006 and 2014 on relations and on content
words as heads; the guidelines of Universal Dependencies 1) and what the tool was seen to do with trees.
"""

from __future__ import annotations

from captious.language.exact.coordination import regroup
from captious.language.exact.head_rules import find_head
from captious.language.exact.relations import attach
from captious.language.exact.trees import Node


def convert(tree: Node) -> tuple[list[int], list[str]]:
    """For each word the number of its head word (from 1; 0 is the root) and its relation to it.

    Times are to be told by `NP-TMP`; other functional annotations are to be removed. The tree is changed: flat
    coordinations get their phrases.
    """
    phrases = _prepare(tree)
    for node in phrases:
        chosen = find_head(node)
        node.head_child = chosen
        node.head = chosen.head
    heads = [0] * tree.end
    relations = ["root"] * tree.end
    for node in phrases:
        head = node.head_child
        for child in node.children:
            if child is not head:
                governor, name = attach(node, child)
                dependent = child.head.start
                heads[dependent] = governor.head.start + 1
                relations[dependent] = name
    return heads, relations


def _prepare(tree: Node) -> list[Node]:
    """The phrases, daughters before mothers; spans and mothers are set."""
    phrases: list[Node] = []
    position = 0
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.word is not None:
            node.start = position
            position += 1
            node.end = position
            node.head = node
        else:
            regroup(node)
            phrases.append(node)
            children = node.children
            for child in children:
                child.parent = node
            stack.extend(reversed(children))
    phrases.reverse()
    for node in phrases:
        node.start = node.children[0].start
        node.end = node.children[-1].end
    return phrases
