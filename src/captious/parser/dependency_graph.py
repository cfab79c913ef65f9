"""Collapsed graphs with conjunctions propagated (CoreNLP's `CCprocessed` dependencies), from basic trees.

The steps, in order: join prepositions of several words; give conjoined prepositional phrases a copy of their
governor; move prepositions and conjunctions into the names of relations; copy the relations of a word to its
conjuncts. The result depends on the tree, the words and the tags alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from captious.core.errors import InputError
from captious.kernels import inner, kernel
from captious.kernels.types import Int32, Int32x2, Out
from captious.parser.graph_codes import (
    ACL,
    ADVCL,
    ADVMOD,
    AGENT,
    ARCS,
    AUXPASS,
    BY,
    CASE,
    CC,
    CCOMP,
    CONJ,
    CONJUNCT,
    CSUBJ,
    CSUBJPASS,
    DEP,
    DEPENDENT,
    EMPTY,
    EXPRESSION,
    FINITE,
    FIRST,
    FLAT_ROWS,
    FULL,
    GOVERNOR,
    HEAD,
    IS_AGENT,
    IS_OF,
    IS_POSS,
    JOINED,
    JOINT,
    KIND,
    LAST_CASE,
    LEMMA,
    MARK,
    MARKED,
    MARKED_ACL,
    MARKED_ADVCL,
    MARKED_CONJ,
    MARKER_WORD,
    MWE,
    NESTED_ROWS,
    NMOD,
    NODES,
    NONE,
    NSUBJ,
    NSUBJPASS,
    OF,
    PARATAXIS,
    POSS,
    RELATION,
    RELCL,
    ROOM,
    ROOT,
    SEEN,
    SHARES,
    STATE,
    SUBJECT,
    SUBJECT_RELATION,
    TAG,
    THREE_ROWS,
    VOICE,
    WORD,
    bits_of_tags,
    bits_of_texts,
    encode_relations,
    new_texts,
    workspace,
)

# (governor, dependent, relation). Words count from 1, 0 is the root, x.5 is a copy of word x.
Edge = tuple[float, float, str]


def collapse(
    forms: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> list[Edge]:
    """Return the collapsed, CC-processed edges of a sentence, ordered by dependent, then governor."""
    n = len(forms)
    for place, head in enumerate(heads, 1):
        if not 0 <= head <= n:
            raise InputError(
                f"Word {place} of a parsed sentence has the head {head}, but the sentence has {n} words. "
                "Heads count from 1; 0 is the root."
            )
    texts = new_texts()
    words = [form.lower() for form in forms]
    names = list(dict.fromkeys(relations))
    codes, _ = encode_relations(names, texts)
    name_of = dict(zip(codes.tolist(), names))
    code_of = dict(zip(names, codes.tolist()))
    tree = np.zeros((4, n), np.int32)
    tree[:] = texts.encode(words), bits_of_tags(tags), heads, [code_of[name] for name in relations]
    space = workspace(4 * n + 16)
    while not collapse_sentence(tree, space, bits_of_texts(texts), THREE_ROWS, NESTED_ROWS, FLAT_ROWS):
        space = workspace(2 * space.shape[1])
    # Words that continue the expression that another word begins.
    parts: dict[int, list[int]] = {}
    for word, (head, relation) in enumerate(space[[HEAD, RELATION], 1 : n + 1].T.tolist(), 1):
        if relation == MWE:
            parts.setdefault(head, []).append(word)

    def name(kind: int, marker: int) -> str:
        if kind not in _MARKED:
            return name_of.get(kind) or _NAMES[kind]
        expression = "_".join(words[part - 1] for part in sorted([marker, *parts.get(marker, ())]))
        return f"{_MARKED[kind]}:{'and' if expression == 'as_well_as' else expression}"

    copies = {copy: word + 0.5 for word, copy in enumerate(space[SEEN, : n + 1].tolist()) if copy}
    arcs = space[[GOVERNOR, DEPENDENT, KIND, MARKER_WORD], : space[STATE, ARCS]].T.tolist()
    return [
        (float(copies.get(governor, governor)), float(copies.get(dependent, dependent)), name(kind, marker))
        for governor, dependent, kind, marker in arcs
    ]


#: Relations that are named by a word of the sentence.
_MARKED = {MARKED: "nmod", MARKED_ACL: "acl", MARKED_ADVCL: "advcl", MARKED_CONJ: "conj"}
#: Relations that the rules introduce.
_NAMES = {
    NMOD: "nmod", POSS: "nmod:poss", AGENT: "nmod:agent", OF: "nmod:of", MWE: "mwe", CASE: "case", CC: "cc",
    NSUBJ: "nsubj", NSUBJPASS: "nsubjpass",
}  # fmt: skip


@kernel
def collapse_sentence(
    tree: Int32x2, space: Out[Int32x2], bits: Int32, three: Int32x2, nested: Int32x2, flat: Int32x2
) -> bool:
    """Fill the workspace with the arcs of one sentence; return whether it has the room.

    The rows of `tree` are text numbers of words, bits of tags, heads and relations.
    """
    n = tree.shape[1]
    space[STATE, FULL] = 0
    space[WORD, 0], space[TAG, 0], space[HEAD, 0], space[RELATION, 0] = 0, 0, -1, NONE
    for i in range(n):
        space[WORD, i + 1] = tree[0, i]
        space[TAG, i + 1] = tree[1, i]
        space[HEAD, i + 1] = tree[2, i]
        space[RELATION, i + 1] = tree[3, i]
    collapse_tree(n, space, bits, three, nested, flat)
    fits: bool = space[STATE, FULL] == 0
    return fits


@inner
def collapse_tree(
    n: int, space: Out[Int32x2], bits: Int32, three: Int32x2, nested: Int32x2, flat: Int32x2
) -> None:
    """Make the arcs of a sentence of n words, ordered by dependent, then governor."""
    _join_prepositions(n, space, bits, three, nested, flat)
    _look_around(n, space)
    _add_tree(n, space, bits)
    if space[STATE, JOINED]:
        _copy_governors(n, space, bits)
        _propagate(space)
        _sort(space)
    _number_copies(n, space)


@inner
def _has_three(table: Int32x2, a: int, b: int, c: int) -> bool:
    for i in range(table.shape[0]):  # noqa: SIM110 - Numba compiles no generators
        if table[i, 0] == a and table[i, 1] == b and table[i, 2] == c:
            return True
    return False


@inner
def _has_two(table: Int32x2, a: int, b: int) -> bool:
    for i in range(table.shape[0]):  # noqa: SIM110 - Numba compiles no generators
        if table[i, 0] == a and table[i, 1] == b:
            return True
    return False


@inner
def _replace(n: int, space: Out[Int32x2], old: int, new: int, relation: int) -> None:
    """Give `new`, a child of `old`, its place and its other children."""
    above = space[HEAD, old]
    for child in range(1, n + 1):
        if space[HEAD, child] == old and child != new:
            space[HEAD, child] = new
    space[HEAD, new] = above
    space[RELATION, new] = relation


@inner
def _join_prepositions(
    n: int, space: Out[Int32x2], bits: Int32, three: Int32x2, nested: Int32x2, flat: Int32x2
) -> None:
    word, head, relation = space[WORD], space[HEAD], space[RELATION]
    for a in range(1, n):
        if not bits[word[a]] & FIRST:
            continue
        b = a + 1
        c = a + 2
        if c <= n and _has_three(three, word[a], word[b], word[c]):
            noun = head[c]
            if (
                head[a] == b
                and relation[a] == CASE
                and (relation[c] == CASE or relation[c] == MARK)
                and noun > 0
                and head[noun] == b
                and (relation[noun] == NMOD or relation[noun] == ACL or relation[noun] == ADVCL)
            ):
                role = relation[noun] if relation[b] == NMOD else relation[b]
                marker = relation[c]
                _replace(n, space, b, noun, role)
                head[a], relation[a] = noun, marker
                head[b], relation[b] = a, MWE
                head[c], relation[c] = a, MWE
                continue
        if relation[b] != CASE:
            continue
        if _has_two(nested, word[a], word[b]):
            noun = head[b]
            if noun > 0 and head[noun] == a and relation[noun] == NMOD:
                role = relation[a]
                if role != ROOT and role != CCOMP and role != ADVCL and role != RELCL and role != PARATAXIS:
                    role = NMOD
                _replace(n, space, a, noun, role)
                head[a], relation[a] = noun, CASE
                head[b], relation[b] = a, MWE
                continue
        if (
            _has_two(flat, word[a], word[b])
            and head[a] == head[b]
            and (relation[a] == ADVMOD or relation[a] == CASE or relation[a] == DEP)
        ):
            head[a], relation[a] = head[b], CASE
            head[b], relation[b] = a, MWE


@inner
def _look_around(n: int, space: Out[Int32x2]) -> None:
    for i in range(n + 1):
        space[LAST_CASE, i] = 0
        space[EXPRESSION, i] = 0
        space[VOICE, i] = 0
        space[SUBJECT, i] = 0
    for d in range(1, n + 1):
        head, relation = space[HEAD, d], space[RELATION, d]
        if relation == CASE:
            space[LAST_CASE, head] = d
        elif relation == MWE:
            space[EXPRESSION, head] += 1
        elif relation == AUXPASS:
            space[VOICE, head] = 1
        elif (relation in (NSUBJ, NSUBJPASS, CSUBJ, CSUBJPASS)) and not space[SUBJECT, head]:
            space[SUBJECT, head] = d
            space[SUBJECT_RELATION, head] = relation


@inner
def _modifier(space: Int32x2, bits: Int32, head: int, relation: int, marker: int) -> int:
    """Return the relation of a modifier with its preposition."""
    if relation != NMOD:
        return MARKED_ACL if relation == ACL else MARKED_ADVCL
    if space[EXPRESSION, marker]:
        return MARKED
    own = bits[space[WORD, marker]]
    if own & IS_OF:
        return OF
    if own & IS_AGENT or (own & BY and space[VOICE, head]):
        return AGENT
    if own & IS_POSS:
        return POSS
    return MARKED


@inner
def _by(n: int, space: Int32x2, bits: Int32, noun: int, marker: int) -> int:
    """Return the "by" of a noun that has several prepositions, or else `marker`, the last of them.

    The agent of a passive counts as such even if another preposition follows "by".
    """
    for c in range(1, marker):
        if (
            space[RELATION, c] == CASE
            and space[HEAD, c] == noun
            and bits[space[WORD, c]] & BY
            and not space[EXPRESSION, c]
        ):
            return c
    return marker


@inner
def _joiner(n: int, space: Int32x2, bits: Int32, head: int, conjunct: int) -> int:
    """Return the conjunction of a word and its conjunct, or 0.

    It is the last one before the conjunct, or else the first after it.
    """
    joiner = 0
    for j in range(1, n + 1):
        if space[RELATION, j] == CC and space[HEAD, j] == head and (j < conjunct or not joiner):
            joiner = j
    return 0 if bits[space[WORD, joiner]] & EMPTY and not space[EXPRESSION, joiner] else joiner


@inner
def _find(space: Int32x2, governor: int, dependent: int) -> int:
    for i in range(space[STATE, ARCS]):
        if space[GOVERNOR, i] == governor and space[DEPENDENT, i] == dependent:
            return i
    return -1


@inner
def _put(space: Out[Int32x2], at: int, governor: int, dependent: int, kind: int, marker: int) -> None:
    """Write an arc at a place, or as a new one for −1."""
    if at < 0:
        at = space[STATE, ARCS]
        if at == space[STATE, ROOM]:
            space[STATE, FULL] = 1
            return
        space[STATE, ARCS] += 1
    space[GOVERNOR, at] = governor
    space[DEPENDENT, at] = dependent
    space[KIND, at] = kind
    space[MARKER_WORD, at] = marker


@inner
def _drop(space: Out[Int32x2], at: int) -> None:
    """Remove an arc. Arcs are sorted at the end."""
    if at >= 0:
        space[STATE, ARCS] -= 1
        last = space[STATE, ARCS]
        space[GOVERNOR, at] = space[GOVERNOR, last]
        space[DEPENDENT, at] = space[DEPENDENT, last]
        space[KIND, at] = space[KIND, last]
        space[MARKER_WORD, at] = space[MARKER_WORD, last]


@inner
def _join(space: Out[Int32x2], first: int, conjunct: int) -> None:
    at = space[STATE, JOINED]
    space[JOINT, at] = first
    space[CONJUNCT, at] = conjunct
    space[STATE, JOINED] += 1


@inner
def _part(space: Out[Int32x2], first: int, conjunct: int) -> None:
    """Remove a pair of joined words. The others stay in order."""
    left = 0
    for i in range(space[STATE, JOINED]):
        if space[JOINT, i] != first or space[CONJUNCT, i] != conjunct:
            space[JOINT, left] = space[JOINT, i]
            space[CONJUNCT, left] = space[CONJUNCT, i]
            left += 1
    space[STATE, JOINED] = left


@inner
def _add_tree(n: int, space: Out[Int32x2], bits: Int32) -> None:
    space[STATE, ARCS] = 0
    space[STATE, JOINED] = 0
    for d in range(1, n + 1):
        head, relation, marker = space[HEAD, d], space[RELATION, d], 0
        if relation in (NMOD, ACL, ADVCL):
            if space[LAST_CASE, d]:
                marker = space[LAST_CASE, d]
                if relation == NMOD and space[VOICE, head]:
                    marker = _by(n, space, bits, d, marker)
                relation = _modifier(space, bits, head, relation, marker)
        elif relation == CONJ:
            marker = _joiner(n, space, bits, head, d)
            if marker:
                relation = MARKED_CONJ
                _join(space, 2 * head, 2 * d)
        _put(space, -1, 2 * head, 2 * d, relation, marker)


@inner
def _copy_governors(n: int, space: Out[Int32x2], bits: Int32) -> None:
    """Give conjoined prepositional phrases a governor each: the second governs from a copy of the word."""
    for d in range(1, n + 1):
        first = space[HEAD, d]
        joiner = _joiner(n, space, bits, first, d) if space[RELATION, d] == CONJ and first > 0 else 0
        if joiner == 0:
            continue
        head = space[HEAD, first]
        if space[RELATION, first] == NMOD and space[LAST_CASE, first] and space[LAST_CASE, d] and head > 0:
            # "with a hat and with a cane"
            _drop(space, _find(space, 2 * first, 2 * d))
            _part(space, 2 * first, 2 * d)
            for other in range(1, n + 1):
                if space[RELATION, other] == CC and space[HEAD, other] == first:
                    _drop(space, _find(space, 2 * first, 2 * other))
                    _put(space, _find(space, 2 * head, 2 * other), 2 * head, 2 * other, CC, 0)
            marker = space[LAST_CASE, d]
            kind = _modifier(space, bits, head, NMOD, marker)
            _put(space, _find(space, 2 * head + 1, 2 * d), 2 * head + 1, 2 * d, kind, marker)
        elif space[RELATION, first] == CASE and head > 0 and space[HEAD, head] > 0:
            # "in and around the house"
            role = space[RELATION, head]
            if role != NMOD and role != ACL and role != ADVCL:
                continue
            _part(space, 2 * first, 2 * d)
            governor = space[HEAD, head]
            kind = _modifier(space, bits, governor, role, d)
            _put(space, _find(space, 2 * governor + 1, 2 * head), 2 * governor + 1, 2 * head, kind, d)
            head = governor
        else:
            continue
        if _find(space, 2 * head, 2 * head + 1) < 0:
            _put(space, -1, 2 * head, 2 * head + 1, MARKED_CONJ, joiner)
            _join(space, 2 * head, 2 * head + 1)


@inner
def _propagate(space: Out[Int32x2]) -> None:
    """Let each conjunct take part in what the word it is joined to takes part in."""
    before = space[STATE, ARCS]
    for k in range(space[STATE, JOINED]):
        first, conjunct = space[JOINT, k], space[CONJUNCT, k]
        for i in range(before):
            governor = space[GOVERNOR, i]
            takes_part = space[DEPENDENT, i] == first and space[KIND, i] != ROOT and governor != conjunct
            if takes_part and _find(space, governor, conjunct) < 0:
                _put(space, -1, governor, conjunct, space[KIND, i], space[MARKER_WORD, i])
        is_copy = conjunct & 1
        own = conjunct >> 1
        subject = space[SUBJECT, first >> 1]
        tag = space[TAG, own]
        if subject and tag & SHARES and (is_copy or not space[SUBJECT, own]):
            relation = space[SUBJECT_RELATION, first >> 1]
            if relation == NSUBJPASS and tag & FINITE:
                relation = NSUBJ
            elif relation == NSUBJ and not is_copy and space[VOICE, own]:
                relation = NSUBJPASS
            if _find(space, conjunct, 2 * subject) < 0:
                _put(space, -1, conjunct, 2 * subject, relation, 0)


@inner
def _sort(space: Out[Int32x2]) -> None:
    """Sort arcs by dependent, then governor. Most are in order already."""
    for i in range(1, space[STATE, ARCS]):
        governor, dependent, kind, marker = (
            space[GOVERNOR, i],
            space[DEPENDENT, i],
            space[KIND, i],
            space[MARKER_WORD, i],
        )
        k = i - 1
        while k >= 0 and (
            space[DEPENDENT, k] > dependent
            or (space[DEPENDENT, k] == dependent and space[GOVERNOR, k] > governor)
        ):
            space[GOVERNOR, k + 1] = space[GOVERNOR, k]
            space[DEPENDENT, k + 1] = space[DEPENDENT, k]
            space[KIND, k + 1] = space[KIND, k]
            space[MARKER_WORD, k + 1] = space[MARKER_WORD, k]
            k -= 1
        space[GOVERNOR, k + 1], space[DEPENDENT, k + 1], space[KIND, k + 1], space[MARKER_WORD, k + 1] = (
            governor,
            dependent,
            kind,
            marker,
        )


@inner
def _numbered(space: Out[Int32x2], end: int) -> int:
    """Return the node of one end of an arc. A copy gets the next number, and the text and tag of its word."""
    own = end >> 1
    if not end & 1:
        return own
    if not space[SEEN, own]:
        new = space[STATE, NODES]
        space[SEEN, own] = new
        space[WORD, new] = space[WORD, own]
        space[LEMMA, new] = space[LEMMA, own]
        space[TAG, new] = space[TAG, own]
        space[STATE, NODES] += 1
    return space[SEEN, own]


@inner
def _number_copies(n: int, space: Out[Int32x2]) -> None:
    space[STATE, NODES] = n + 1
    for i in range(n + 1):
        space[SEEN, i] = 0
    for i in range(space[STATE, ARCS]):
        space[GOVERNOR, i] = _numbered(space, space[GOVERNOR, i])
        space[DEPENDENT, i] = _numbered(space, space[DEPENDENT, i])
