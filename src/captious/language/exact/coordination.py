"""Flat coordinations get the phrases that their readers hear in them: `a [black and white] dog`."""

from __future__ import annotations

from captious.language.exact.trees import Node


def regroup(node: Node) -> None:
    """Put the conjuncts of a flat noun phrase into phrases of their own."""
    if node.label != "NP":
        return
    children = node.children
    n = len(children)
    if n < 4:
        return
    at = -1
    for i, child in enumerate(children):
        if child.word is None:
            return
        if child.label == "CC":
            if at >= 0:
                return
            at = i
    if at < 1 or at == n - 1:
        return
    if at == 1 and children[0].label != "NNS":
        _group(node, 0, 3)
    elif at == 2 and n == 5 and children[0].label == "DT":
        _group(node, 1, 4)
    elif n - at > 2:
        left = _name(children[at - 1])
        right = _name(children[-1])
        node.children = [Node(left, children[:at]), children[at], Node(right, children[at + 1 :])]


def _name(last: Node) -> str:
    return "ADJP" if last.label.startswith("JJ") else "NP"


def _group(node: Node, start: int, end: int) -> None:
    children = node.children
    label = _name(children[start])
    node.children = [*children[:start], Node(label, children[start:end]), *children[end:]]
