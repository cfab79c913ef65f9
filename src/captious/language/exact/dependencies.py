"""Basic Universal Dependencies (version 1) of a phrase-structure tree."""

from __future__ import annotations

from captious.language.exact.coordination import regroup
from captious.language.exact.head_rules import find_head
from captious.language.exact.relations import attach
from captious.language.exact.trees import Node


def convert(tree: Node) -> tuple[list[int], list[str]]:
    """For each word the number of its head word (from 1; 0 is the root) and its relation to it.

    The tree is changed: flat coordinations get their phrases.
    """
    phrases: list[Node] = []
    _prepare(tree, 0, phrases)
    for node in phrases:  # from the leaves upwards
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


def _prepare(node: Node, start: int, phrases: list[Node]) -> int:
    """Set spans and parents; collect the phrases, daughters before mothers."""
    node.start = start
    if node.word is not None:
        node.end = start + 1
        node.head = node
        return start + 1
    regroup(node)
    for child in node.children:
        child.parent = node
        start = _prepare(child, start, phrases)
    node.end = start
    phrases.append(node)
    return start
