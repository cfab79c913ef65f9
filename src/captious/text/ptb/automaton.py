"""A small scanner generator: regular expressions in, a lazily built deterministic automaton out.

The reference tokenizer is a table-driven scanner: at every position all rules run at once, the longest match wins,
and between equally long matches the rule listed first wins. A backtracking engine cannot do that faithfully (its
alternation prefers order over length) nor safely (hostile text makes it exponential), so rules are compiled into one
automaton here. States are made when text first reaches them, which keeps start-up cheap.

Expressions know literals, ``[sets]`` with ranges and negation, ``( )``, ``|``, ``* + ?``, ``{m,n}``, ``{NAME}`` for
a named part and backslash escapes. ``.`` is a literal dot. A literal ASCII letter matches both cases, a letter in a
set only itself.

An automaton with all its states is a table, which can be kept (:mod:`captious.text.ptb.tables`) and read where it lies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNITS = 0x10000  # text is scanned as UTF-16 code units, as Java does
Charset = NDArray[np.bool_]
#: A named part: an expression, or what makes a set.
Part = str | Callable[[], Charset]
Node = tuple[Any, ...]  # ("set", key) | ("cat", [nodes]) | ("alt", [nodes]) | ("rep", node, low, high or -1)

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}


def charset(ranges: Iterable[tuple[int, int]]) -> Charset:
    members = np.zeros(UNITS, dtype=np.bool_)
    for low, high in ranges:
        members[low : high + 1] = True
    return members


class _Parser:
    """Recursive descent over one expression; sets are interned in the shared list of the scanner."""

    def __init__(self, source: str, parts: Mapping[str, Node], sets: _Sets) -> None:
        self.source, self.at, self.parts, self.sets = source, 0, parts, sets

    def parse(self) -> Node:
        node = self.alternatives()
        if self.at != len(self.source):
            raise ValueError(f"unexpected {self.source[self.at]!r} at {self.at} in {self.source!r}")
        return node

    def peek(self) -> str:
        return self.source[self.at] if self.at < len(self.source) else ""

    def take(self) -> str:
        self.at += 1
        return self.source[self.at - 1]

    def alternatives(self) -> Node:
        branches = [self.sequence()]
        while self.peek() == "|":
            self.take()
            branches.append(self.sequence())
        return branches[0] if len(branches) == 1 else ("alt", branches)

    def sequence(self) -> Node:
        items: list[Node] = []
        while self.peek() not in ("", "|", ")"):
            items.append(self.repeated())
        return items[0] if len(items) == 1 else ("cat", items)

    def repeated(self) -> Node:
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


class Automaton(ABC):
    """States and the steps between them."""

    #: The class of each unit.
    class_of: NDArray[np.uint8]
    n_classes: int
    #: The rule accepted in each state, -1 for none.
    accepts: Sequence[int]

    @abstractmethod
    def following(self, state: int, kind: int) -> int:
        """The state after ``state`` on a unit of class ``kind``; -1 when there is none."""

    def classes(self, text: str) -> list[int]:
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
        return self.class_of[units].tolist()  # type: ignore[no-any-return]

    def longest(self, kinds: Sequence[int], start: int, dead: set[int] | None = None) -> tuple[int, int]:
        """(rule, end) of the longest match at ``start``; rule -1 when nothing matches.

        For long text, ``dead`` collects (place, state) pairs from which nothing more was accepted (Reps 1998), so that
        scans that went on and on without ever matching again are not repeated: the whole of a text is scanned in
        linear time, where text made for it would cost the square of its length.
        """
        following, accepts = self.following, self.accepts
        state, rule, end = 0, -1, start
        pending: list[int] = []
        for at in range(start, len(kinds)):
            state = following(state, kinds[at])
            if state < 0:
                break
            accepted = accepts[state]
            if accepted >= 0:
                rule, end = accepted, at + 1
                pending.clear()
            elif dead is not None:
                key = at << 32 | state
                if key in dead:
                    break
                pending.append(key)
        if dead is not None:
            dead.update(pending)
        return rule, end


class Table(Automaton):
    """All states of an automaton: ``steps[state, class]`` is the next one, -1 where there is none."""

    def __init__(self, class_of: NDArray[np.uint8], steps: NDArray[np.int16], accepts: NDArray[np.int16]) -> None:
        self.class_of, self.steps, self.accepted = class_of, steps, accepts
        self.accepts = accepts.tolist()
        self.n_classes = steps.shape[1]
        # Single numbers are read from a view in half the time that an array takes.
        self._steps = np.ascontiguousarray(steps).reshape(-1).data

    def following(self, state: int, kind: int) -> int:
        return self._steps[state * self.n_classes + kind]


class Scanner(Automaton):
    """The automaton of an ordered list of rules.

    ``parts`` are named expressions in order of definition (or a set, by what makes it); ``rules`` are
    expressions, the earlier the stronger.
    """

    def __init__(self, parts: Mapping[str, Part], rules: Sequence[str]) -> None:
        sets = _Sets()
        nodes: dict[str, Node] = {}
        for name, value in parts.items():
            nodes[name] = (
                _Parser(value, nodes, sets).parse() if isinstance(value, str) else ("set", sets.intern(value()))
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
        self.accepts: list[int] = []
        self.rows: list[list[int]] = []  # next state by character class; -1 = dead, -2 = not computed yet
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

    # --- character classes: units that no set tells apart share one

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

    # --- from the nondeterministic automaton to states, as they are needed

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
            index = self._states[members] = len(self.rows)
            self.accepts.append(min((self._rule[n] for n in members if n in self._rule), default=-1))
            self._kernels.append(members)
            self.rows.append([-2] * self.n_classes)
        return index

    def following(self, state: int, kind: int) -> int:
        found = self.rows[state][kind]
        return found if found != -2 else self._step(state, kind)

    def _step(self, state: int, kind: int) -> int:
        """Compute and remember it."""
        reached: set[int] = set()
        for node in self._kernels[state]:
            move = self._move[node]
            if move is not None and self._has[move[0]][kind]:
                reached |= self._closure(move[1])
        following = self._state(frozenset(reached)) if reached else -1
        self.rows[state][kind] = following
        return following

    def table(self) -> Table:
        """All states, those included that no text has reached yet."""
        state = 0
        while state < len(self.rows):
            for kind in range(self.n_classes):
                self.following(state, kind)
            state += 1
        return Table(self.class_of, np.array(self.rows, dtype=np.int16), np.array(self.accepts, dtype=np.int16))
