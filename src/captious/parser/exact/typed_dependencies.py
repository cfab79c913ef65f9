"""Basic Universal Dependencies (version 1) of a phrase-structure tree, as CoreNLP 3.6.0 derives them.

The rules follow the published descriptions (Collins 1999 on heads; de Marneffe et al. 2006 and 2014 on
relations and on content words as heads; the guidelines of Universal Dependencies 1) and the observed output
of the tool.
"""

from __future__ import annotations

from captious.parser.exact.coordination import regroup
from captious.parser.exact.grammatical_relations import attach
from captious.parser.exact.head_rules import find_head
from captious.parser.exact.phrase_trees import Node


def convert(tree: Node) -> tuple[list[int], list[str]]:
    """Return the head of each word (from 1; 0 is the root) and its relation to the head.

    Temporal noun phrases have to be labelled `NP-TMP`; other functional annotations have to be removed. The
    tree is modified: flat coordinations get phrases of their own.
    """
    phrases = _prepare(tree)
    for node in phrases:
        head_child = find_head(node)
        node.head_child = head_child
        node.head = head_child.head
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
    """Return the phrases, daughters before parents, after setting spans and parents."""
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
