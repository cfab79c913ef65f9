"""A small scanner generator: regular expressions in, the table of a deterministic automaton out.

The reference tokenizer is a table-driven scanner: at every position all rules run at once, the longest
match wins, and between equally long matches the rule listed first wins. A backtracking engine cannot do
that faithfully (its alternation prefers order over length) nor safely (hostile text makes it exponential),
so rules are compiled into one automaton here. The result ships with captious
(:mod:`captious.text.ptb.lexer`); nothing else uses this module.

Expressions know literals, ``[sets]`` with ranges and negation, ``( )``, ``|``, ``* + ?``, ``{m,n}``,
``{NAME}`` for a named part and backslash escapes. ``.`` is a literal dot. A literal ASCII letter matches
both cases, a letter in a set only itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from captious.text.ptb.lexer import Automaton
from captious.text.ptb.lexer_rules import PARTS, RULES, UNITS, Charset, Part, charset

Node = tuple[Any, ...]  # ("set", key) | ("cat", [nodes]) | ("alt", [nodes]) | ("rep", node, low, high or -1)

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}


class _Parser:
    """Recursive-descent parser of one expression. Sets are interned in the shared list of the scanner."""

    def __init__(self, source: str, parts: Mapping[str, Node], sets: _Sets) -> None:
        self.source, self.at, self.parts, self.sets = source, 0, parts, sets

    def parse(self) -> Node:
        """Return the syntax tree of the whole expression."""
        node = self.alternatives()
        if self.at != len(self.source):
            raise ValueError(f"unexpected {self.source[self.at]!r} at {self.at} in {self.source!r}")
        return node

    def peek(self) -> str:
        """Return the next character, or an empty text at the end."""
        return self.source[self.at] if self.at < len(self.source) else ""

    def take(self) -> str:
        """Return the next character and move past it."""
        self.at += 1
        return self.source[self.at - 1]

    def alternatives(self) -> Node:
        """Parse sequences separated by ``|``."""
        branches = [self.sequence()]
        while self.peek() == "|":
            self.take()
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else ("alt", branches)

    def sequence(self) -> Node:
        """Parse items up to the end, a ``|`` or a closing bracket."""
        items: list[Node] = []
        while self.peek() not in ("", "|", ")"):
            items.append(self.repeated())
        return items[0] if len(items) == 1 else ("cat", items)

    def repeated(self) -> Node:
        """Parse an item and the ``*``, ``+``, ``?`` or ``{low,high}`` after it."""
        node = self.atom()
        while self.peek() in ("*", "+", "?", "{"):
            if self.peek() == "{":
                end = self.source.index("}", self.at)
                body = self.source[self.at + 1 : end]
                if not body[:1].isdigit():
                    break
                low, _, high = body.partition(",")
                node = ("rep", node, int(low), int(high or low))
                self.at = end + 1
            else:
                low_high = {"*": (0, -1), "+": (1, -1), "?": (0, 1)}[self.take()]
                node = ("rep", node, *low_high)
        return node

    def atom(self) -> Node:
        char = self.take()
        if char == "(":
            node = self.alternatives()
            if self.peek() != ")":
                raise ValueError(f"unclosed group in {self.source!r}")
            self.take()
            return node
        if char == "{":
            end = self.source.index("}", self.at)
            name = self.source[self.at : end]
            self.at = end + 1
            return self.parts[name]
        if char == "[":
            return self.brackets()
        if char == "\\":
            char = self.escape()
        return ("set", self.sets.literal(char))

    def escape(self) -> str:
        char = self.take()
        return _ESCAPES.get(char, char)

    def brackets(self) -> Node:
        negated = self.peek() == "^"
        if negated:
            self.take()
        ranges: list[tuple[int, int]] = []
        while self.peek() != "]":
            char = self.take()
            if char == "\\":
                char = self.escape()
            high = char
            if self.peek() == "-" and self.source[self.at + 1] != "]":
                self.take()
                high = self.take()
                if high == "\\":
                    high = self.escape()
            ranges.append((ord(char), ord(high)))
        self.take()
        members = charset(ranges)
        return ("set", self.sets.intern(~members if negated else members))


class _Sets:
    """All distinct character sets of a scanner."""

    def __init__(self) -> None:
        self.arrays: list[Charset] = []
        self._index: dict[bytes, int] = {}
        self._literals: dict[str, int] = {}

    def literal(self, char: str) -> int:
        if char not in self._literals:
            both = {char, char.lower(), char.upper()} if char.isascii() else {char}
            self._literals[char] = self.intern(charset((ord(c), ord(c)) for c in both))
        return self._literals[char]

    def intern(self, members: Charset) -> int:
        key = np.packbits(members).tobytes()
        if key not in self._index:
            self._index[key] = len(self.arrays)
            self.arrays.append(members)
        return self._index[key]


class Scanner:
    """Builder of the automaton of an ordered list of rules.

    ``parts`` are named expressions (or functions that return a set) in order of definition. ``rules`` are
    expressions. Of equally long matches, that of the first rule wins.
    """

    def __init__(self, parts: Mapping[str, Part], rules: Sequence[str]) -> None:
        sets = _Sets()
        nodes: dict[str, Node] = {}
        for name, value in parts.items():
            nodes[name] = (
                _Parser(value, nodes, sets).parse()
                if isinstance(value, str)
                else ("set", sets.intern(value()))
            )
        self._epsilon: list[list[int]] = []
        self._move: list[tuple[int, int] | None] = []  # (set, target)
        self._rule: dict[int, int] = {}
        start = self._node()
        for index, rule in enumerate(rules):
            first, last = self._build(_Parser(rule, nodes, sets).parse())
            self._epsilon[start].append(first)
            self._rule[last] = index
        self._classify(sets.arrays)
        self._states: dict[frozenset[int], int] = {}
        self._accepts: list[int] = []
        self._kernels: list[frozenset[int]] = []
        self._closures: dict[int, frozenset[int]] = {}
        self._state(self._closure(start))

    # --- from expressions to a nondeterministic automaton

    def _node(self) -> int:
        self._epsilon.append([])
        self._move.append(None)
        return len(self._epsilon) - 1

    def _build(self, node: Node) -> tuple[int, int]:
        kind = node[0]
        if kind == "set":
            first, last = self._node(), self._node()
            self._move[first] = (node[1], last)
            return first, last
        if kind == "cat":
            first = last = self._node()
            for item in node[1]:
                a, b = self._build(item)
                self._epsilon[last].append(a)
                last = b
            return first, last
        if kind == "alt":
            first, last = self._node(), self._node()
            for item in node[1]:
                a, b = self._build(item)
                self._epsilon[first].append(a)
                self._epsilon[b].append(last)
            return first, last
        _, item, low, high = node
        first = last = self._node()
        for _ in range(low):
            a, b = self._build(item)
            self._epsilon[last].append(a)
            last = b
        if high < 0:
            loop, (a, b) = self._node(), self._build(item)
            self._epsilon[last].append(loop)
            self._epsilon[loop].append(a)
            self._epsilon[b].append(loop)
            return first, loop
        end = self._node()
        self._epsilon[last].append(end)
        for _ in range(high - low):
            a, b = self._build(item)
            self._epsilon[last].append(a)
            self._epsilon[b].append(end)
            last = b
        return first, end

    # --- character classes: units that no set distinguishes share one

    def _classify(self, arrays: Sequence[Charset]) -> None:
        table = np.stack(arrays)
        changes = np.zeros(UNITS, dtype=np.bool_)
        changes[0] = True
        changes[1:] = (table[:, 1:] != table[:, :-1]).any(axis=0)
        starts = np.flatnonzero(changes)
        columns = np.packbits(table[:, starts], axis=0).T.copy()
        number: dict[bytes, int] = {}
        kinds = [number.setdefault(column.tobytes(), len(number)) for column in columns]
        self.n_classes = len(number)
        if self.n_classes > 256:
            raise ValueError("more than 256 character classes")
        lengths = np.diff(np.append(starts, UNITS))
        self.class_of = np.repeat(np.array(kinds, dtype=np.uint8), lengths)
        representative = starts[[kinds.index(kind) for kind in range(self.n_classes)]]
        self._has: list[list[bool]] = [members[representative].tolist() for members in arrays]

    # --- from the nondeterministic automaton to states

    def _closure(self, node: int) -> frozenset[int]:
        known = self._closures.get(node)
        if known is None:
            seen, todo = {node}, [node]
            while todo:
                for following in self._epsilon[todo.pop()]:
                    if following not in seen:
                        seen.add(following)
                        todo.append(following)
            known = frozenset(n for n in seen if self._move[n] is not None or n in self._rule)
            self._closures[node] = known
        return known

    def _state(self, members: frozenset[int]) -> int:
        index = self._states.get(members)
        if index is None:
            index = self._states[members] = len(self._kernels)
            self._accepts.append(min((self._rule[n] for n in members if n in self._rule), default=-1))
            self._kernels.append(members)
        return index

    def _following(self, state: int, kind: int) -> int:
        """Return the state after ``state`` on a unit of class ``kind``, or -1."""
        reached: set[int] = set()
        for node in self._kernels[state]:
            move = self._move[node]
            if move is not None and self._has[move[0]][kind]:
                reached |= self._closure(move[1])
        return self._state(frozenset(reached)) if reached else -1

    def automaton(self) -> Automaton:
        """Return all reachable states."""
        rows: list[list[int]] = []
        while len(rows) < len(self._kernels):
            rows.append([self._following(len(rows), kind) for kind in range(self.n_classes)])
        return Automaton(
            self.class_of, np.array(rows, dtype=np.int16), np.array(self._accepts, dtype=np.int16)
        )


def generate() -> Automaton:
    """Return the automaton of the tokenizer's rules."""
    return Scanner(PARTS, [f"({rule.expression})({rule.context})" for rule in RULES]).automaton()
