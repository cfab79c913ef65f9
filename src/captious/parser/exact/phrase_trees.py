"""Phrase-structure trees, and a reader of bracket notation: `(ROOT (NP (DT a) (NN dog)))`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from captious.core.errors import InputError
from captious.parser.exact.word_forms import PHRASES

_PIECES = re.compile(r"[()]|[^\s()]+")


class Node:
    """A phrase or, if `word` is set, a tag with its word. `start` and `end` count words from 0."""

    __slots__ = ("children", "end", "head", "head_child", "label", "parent", "start", "word")

    label: str
    word: str | None
    children: list[Node]
    parent: Node | None
    start: int
    end: int
    head: Node  # the tag of the head word, set by `typed_dependencies.convert`
    head_child: Node | None

    def __init__(self, label: str, children: list[Node] | None = None, word: str | None = None) -> None:
        self.label = label
        self.word = word
        self.children = children or []
        self.parent = None
        self.head_child = None

    def __str__(self) -> str:
        if self.word is not None:
            return f"({self.label} {self.word})"
        return f"({self.label} {' '.join(map(str, self.children))})"

    def leaves(self) -> Iterator[Node]:
        """Yield the tags of the words, from left to right."""
        if self.word is not None:
            yield self
        for child in self.children:
            yield from child.leaves()


def read_tree(text: str) -> Node:
    """Read a tree in bracket notation."""
    stack: list[Node] = []
    root: Node | None = None
    pieces = _PIECES.findall(text)
    position = 0
    while position < len(pieces):
        piece = pieces[position]
        position += 1
        if piece == "(":
            label = pieces[position] if position < len(pieces) else ")"
            if root is not None or label in "()":
                raise _bad(text, "a second tree" if root is not None else "a bracket without a label")
            position += 1
            node = Node(label)
            if stack:
                if stack[-1].word is not None:
                    raise _bad(text, f"the word {stack[-1].word!r} beside a phrase")
                stack[-1].children.append(node)
            stack.append(node)
        elif not stack:
            raise _bad(text, f"{piece!r} outside the brackets")
        elif piece == ")":
            node = stack.pop()
            if node.word is None and not node.children:
                raise _bad(text, f"an empty {node.label}")
            if node.word is not None and node.label in PHRASES:
                raise _bad(text, f"the word {node.word!r} without a tag in {node.label}")
            if not stack:
                root = node
        else:
            if stack[-1].children or stack[-1].word is not None:
                raise _bad(text, f"the word {piece!r} without a tag of its own")
            stack[-1].word = piece
    if root is None:
        raise _bad(text, "brackets that are not closed" if stack else "no tree")
    return root


def _bad(text: str, problem: str) -> InputError:
    shown = text if len(text) <= 120 else text[:117] + "..."
    return InputError(
        f"not a tree in brackets ({problem}): {shown!r}; expected a tree such as (ROOT (NP (DT a) (NN dog)))"
    )
